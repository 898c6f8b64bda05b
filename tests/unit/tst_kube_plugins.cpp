// SPDX-License-Identifier: GPL-3.0-or-later
// Credential plugins of a kubeconfig: good ones, slow ones, and all that can be wrong with one.
#include "core/backend/kubernetes/kube_settings.h"
#include "core/backend/kubernetes/kube_time.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <unistd.h>

using namespace tenure;
using namespace tenure::kube;
using namespace std::chrono_literals;

namespace
{

Instant within(Duration time)
{
    return BootClock::now() + time;
}

std::string header(const Credential &credential, const std::string &name)
{
    std::string all;
    for (const auto &[key, value] : credential.headers) {
        if (key == name)
            all += (all.empty() ? "" : "|") + value;
    }
    return all;
}

constexpr const char *kContexts = R"(
contexts:
- name: one
  context: {cluster: c, user: u, namespace: billing}
current-context: one
)";

} // namespace

class TstKubePlugins : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void pluginGivesATokenUntilItExpires();
    void pluginGivesACertificate();
    void pluginIsToldWhatItAskedFor();
    void pluginTroubleIsTold_data();
    void pluginTroubleIsTold();
    void aSlowPluginIsWaitedForByTheNextCall();
    void aPluginIsNoShell();
    void aDyingProcessTakesItsChildrenAlong();

private:
    std::string write(const QString &name, const std::string &text, bool program = false);
    [[nodiscard]] Result<Settings> settings(const std::string &text, const std::string &url = "kubernetes:");
    /// A plugin that is a shell script of the test, in a kubeconfig.
    [[nodiscard]] Result<Settings> withPlugin(const std::string &script, const std::string &more = {},
        const std::string &mode = "Never");

    std::unique_ptr<QTemporaryDir> m_directory;
};

void TstKubePlugins::init()
{
    m_directory = std::make_unique<QTemporaryDir>();
    qunsetenv("KUBERNETES_SERVICE_HOST");
    qputenv("KUBECONFIG", m_directory->filePath("none").toUtf8());
}

void TstKubePlugins::cleanup()
{
    qunsetenv("KUBECONFIG");
}

std::string TstKubePlugins::write(const QString &name, const std::string &text, bool program)
{
    const QString path = m_directory->filePath(name);
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("no file");
    file.write(QByteArray::fromStdString(text));
    file.close();
    if (program)
        file.setPermissions(file.permissions() | QFile::ExeOwner);
    return path.toStdString();
}

Result<Settings> TstKubePlugins::settings(const std::string &text, const std::string &url)
{
    qputenv("KUBECONFIG", QByteArray::fromStdString(write("config", text)));
    return settingsOf(StoreUri::parse(url).value());
}

Result<Settings> TstKubePlugins::withPlugin(
    const std::string &script, const std::string &more, const std::string &mode)
{
    write("bin/plugin", "#!/bin/sh\n" + script + "\n", true);
    return settings(std::string(kContexts) + R"(
clusters:
- name: c
  cluster: {server: "https://127.0.0.1:1", tls-server-name: cluster.test, certificate-authority-data: Y2E=}
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/plugin
      args: [first, "two words; exit 9", "$HOME"]
      env: [{name: PLUGIN_MODE, value: "of the test"}]
      installHint: Install it from the moon
      interactiveMode: )" + mode + "\n" + more);
}

namespace
{

std::string credentialText(const std::string &status)
{
    return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" + status + "}";
}

} // namespace

void TstKubePlugins::pluginGivesATokenUntilItExpires()
{
    const auto made = withPlugin("echo x >> runs; n=$(wc -l < runs); echo '"
        + credentialText(R"({"token":"t'$n'","expirationTimestamp":"'$(cat until)'"})") + "'");
    QVERIFY2(made, made ? "" : made.error().text().c_str());
    const QString before = QDir::currentPath();
    QDir::setCurrent(m_directory->path());
    write("until", "2099-01-01T00:00:00Z");
    const auto first = made->credentials->get(within(30s));
    QVERIFY2(first, first ? "" : first.error().text().c_str());
    QCOMPARE(header(*first, "Authorization"), "Bearer t1");
    QCOMPARE(header(*made->credentials->get(within(30s)), "Authorization"), "Bearer t1");
    write("until", microTime(SystemClock::instance().wall() + 2s + 300ms));
    QVERIFY(made->credentials->refuse(first->number)); // the server said 401
    const auto second = made->credentials->get(within(30s));
    QCOMPARE(header(*second, "Authorization"), "Bearer t2");
    QVERIFY(second->number != first->number);
    QTRY_COMPARE(header(*made->credentials->get(within(30s)), "Authorization"), "Bearer t3"); // it expired
    QDir::setCurrent(before);
}

void TstKubePlugins::pluginGivesACertificate()
{
    const auto made = withPlugin("echo '" + credentialText(R"({"clientCertificateData":"CERT","clientKeyData":"KEY"})") + "'");
    const auto credential = made->credentials->get(within(30s));
    QVERIFY2(credential, credential ? "" : credential.error().text().c_str());
    QCOMPARE(credential->certData, "CERT");
    QCOMPARE(credential->keyData, "KEY");
    QVERIFY(header(*credential, "Authorization").empty());
}

void TstKubePlugins::pluginIsToldWhatItAskedFor()
{
    const std::string out = m_directory->filePath("told").toStdString();
    const auto made = withPlugin("printf '%s\\n' \"$@\" \"$PLUGIN_MODE\" \"$KUBERNETES_EXEC_INFO\" > " + out
            + "; cat >> " + out + "; echo '" + credentialText(R"({"token":"t"})") + "'",
        "      provideClusterInfo: true\n");
    QVERIFY(made->credentials->get(within(30s)));
    QFile file(QString::fromStdString(out));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().split('\n');
    QCOMPARE(lines.at(0), QByteArray("first"));
    QCOMPARE(lines.at(1), QByteArray("two words; exit 9")); // never a shell
    QCOMPARE(lines.at(2), QByteArray("$HOME"));
    QCOMPARE(lines.at(3), QByteArray("of the test"));
    const QByteArray &info = lines.at(4);
    QVERIFY2(info.contains("\"server\":\"https://127.0.0.1:1\""), info.constData());
    QVERIFY(info.contains("\"certificate-authority-data\":\"Y2E=\""));
    QVERIFY(info.contains("\"tls-server-name\":\"cluster.test\""));
    QVERIFY(info.contains("\"interactive\":false"));
}

void TstKubePlugins::pluginTroubleIsTold_data()
{
    QTest::addColumn<QByteArray>("script");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char *name, const std::string &script, const char *says) {
        QTest::newRow(name) << QByteArray::fromStdString(script) << QByteArray(says);
    };
    row("fails", "echo working >&2; echo 'please log in' >&2; echo >&2; exit 3", "exit code 3: please log in");
    row("is killed", "kill -9 $$", "exit code 137");
    row("nonsense", "echo 'Welcome!'", "printed no ExecCredential");
    row("nothing", "true", "printed no ExecCredential");
    row("another kind", R"(echo '{"kind":"Pod"}')", "printed no ExecCredential");
    row("another version", R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}')", "apiVersion");
    row("no status", R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":null}')", "no status");
    row("an empty status", "echo '" + credentialText("{}") + "'", "neither a token");
    row("half a certificate", "echo '" + credentialText(R"({"clientKeyData":"k"})") + "'", "without its key");
    row("no time", "echo '" + credentialText(R"({"token":"t","expirationTimestamp":"soon"})") + "'", "no time");
    row("floods", "yes", "more than a megabyte");
}

void TstKubePlugins::pluginTroubleIsTold()
{
    QFETCH(QByteArray, script);
    QFETCH(QByteArray, says);
    const auto made = withPlugin(script.toStdString());
    const auto credential = made->credentials->get(within(30s));
    QVERIFY(!credential);
    QCOMPARE(credential.error().kind, ErrorKind::Rejected);
    const std::string told = credential.error().text();
    QVERIFY2(told.find(says.toStdString()) != std::string::npos, told.c_str());
    QVERIFY2(told.find("config:") != std::string::npos, told.c_str());
}

void TstKubePlugins::aSlowPluginIsWaitedForByTheNextCall()
{
    const std::string gate = m_directory->filePath("gate").toStdString();
    const auto made = withPlugin("until [ -e " + gate + " ]; do sleep 0.01; done; echo '" + credentialText(R"({"token":"t"})") + "'");
    const auto early = made->credentials->get(within(50ms));
    QVERIFY(!early);
    QCOMPARE(early.error().kind, ErrorKind::Unavailable);
    write("gate", "");
    const auto late = made->credentials->get(within(30s));
    QVERIFY2(late, late ? "" : late.error().text().c_str());
}

void TstKubePlugins::aPluginIsNoShell()
{
    const auto missing = settings(std::string(kContexts) + R"(
clusters: [{name: c, cluster: {server: 'https://h'}}]
users:
- name: u
  user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: "echo hello; true", installHint: "Get it there"}}
)");
    QVERIFY2(missing, missing ? "" : missing.error().text().c_str());
    const auto refused = missing->credentials->get(within(30s));
    QVERIFY(!refused);
    QVERIFY2(refused.error().what.find("was not found") != std::string::npos, refused.error().what.c_str());
    QCOMPARE(refused.error().remedy, "Get it there");

    const auto asking = withPlugin("exit 0", {}, "Always");
    const auto silent = asking->credentials->get(within(30s));
    QVERIFY(!silent); // a test has no terminal to ask on
    if (isatty(0) == 0)
        QVERIFY2(silent.error().what.find("no terminal") != std::string::npos, silent.error().what.c_str());
}

void TstKubePlugins::aDyingProcessTakesItsChildrenAlong()
{
    const std::string pidFile = m_directory->filePath("pid").toStdString();
    {
        const auto made = withPlugin("sleep 1000 & echo $! > " + pidFile + "; wait");
        QVERIFY(!made->credentials->get(within(10ms)));
        QTRY_VERIFY(QFileInfo(QString::fromStdString(pidFile)).size() > 0);
    }
    QFile file(QString::fromStdString(pidFile));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString process = "/proc/" + QString::fromUtf8(file.readAll().trimmed()) + "/stat";
    const auto gone = [&] {
        QFile stat(process);
        return !stat.open(QIODevice::ReadOnly) || stat.readAll().contains(") Z ");
    };
    QTRY_VERIFY(gone());
}

QTEST_GUILESS_MAIN(TstKubePlugins)
#include "tst_kube_plugins.moc"
