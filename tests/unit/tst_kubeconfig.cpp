// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/base64.h"
#include "core/backend/kubernetes/kube_settings.h"
#include "core/backend/kubernetes/kube_time.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

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

class TstKubeconfig : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void readsAllParts();
    void mergesFilesAsKubectlDoes();
    void missingFilesAreLeftOut();
    void resolvesPathsAgainstTheFile();
    void complaintsNameFileAndLine_data();
    void complaintsNameFileAndLine();
    void namesThatAreMissingAreSuggested_data();
    void namesThatAreMissingAreSuggested();
    void readsTheUrl_data();
    void readsTheUrl();
    void inCluster();
    void basicAuthenticationAndImpersonation();
    void rereadsATokenFile();
    void times_data();
    void times();
    void base64_data();
    void base64();

private:
    std::string write(const QString &name, const std::string &text, bool program = false);
    [[nodiscard]] Result<Settings> settings(const std::string &text, const std::string &url = "kubernetes:");

    std::unique_ptr<QTemporaryDir> m_directory;
};

void TstKubeconfig::init()
{
    m_directory = std::make_unique<QTemporaryDir>();
    qunsetenv("KUBERNETES_SERVICE_HOST");
    qputenv("KUBECONFIG", m_directory->filePath("none").toUtf8());
}

void TstKubeconfig::cleanup()
{
    qunsetenv("KUBECONFIG");
}

std::string TstKubeconfig::write(const QString &name, const std::string &text, bool program)
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

Result<Settings> TstKubeconfig::settings(const std::string &text, const std::string &url)
{
    qputenv("KUBECONFIG", QByteArray::fromStdString(write("config", text)));
    return settingsOf(StoreUri::parse(url).value());
}

void TstKubeconfig::readsAllParts()
{
    const auto made = settings(std::string(kContexts) + R"(
apiVersion: v1
kind: Config
preferences: {}
clusters:
- name: c
  cluster:
    server: https://127.0.0.1:6443/k8s/clusters/c-1
    certificate-authority-data: Y2EgdGV4dA==
    tls-server-name: kubernetes.default
    proxy-url: http://proxy.test:3128
users:
- name: u
  user:
    client-certificate-data: Y2VydA==
    client-key-data: a2V5
    token: secret-token
)");
    QVERIFY2(made, made ? "" : made.error().text().c_str());
    QCOMPARE(made->context, "one");
    QCOMPARE(made->contextNamespace, "billing");
    QCOMPARE(made->target.url, "https://127.0.0.1:6443/k8s/clusters/c-1");
    QCOMPARE(made->target.tls.caData, "ca text");
    QCOMPARE(made->target.tls.serverName, "kubernetes.default");
    QVERIFY(made->target.tls.verify);
    QCOMPARE(made->target.proxy, std::optional<std::string>("http://proxy.test:3128"));
    QCOMPARE(made->target.tls.certData, "cert");
    QCOMPARE(made->target.tls.keyData, "key");
    QCOMPARE(header(*made->credentials->get(within(1s)), "Authorization"), "Bearer secret-token");

    const auto insecure = settings(std::string(kContexts)
        + "clusters: [{name: c, cluster: {server: 'https://h', insecure-skip-tls-verify: true}}]\n"
          "users: [{name: u, user: {}}]\n");
    QVERIFY2(insecure, insecure ? "" : insecure.error().text().c_str());
    QVERIFY(!insecure->target.tls.verify);
    QVERIFY(insecure->credentials->get(within(1s))->headers.empty());
}

void TstKubeconfig::mergesFilesAsKubectlDoes()
{
    const std::string first = write("first", R"(
clusters: [{name: c, cluster: {server: 'https://first'}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
)");
    const std::string second = write("second", R"(
clusters: [{name: c, cluster: {server: 'https://second', tls-server-name: x}}, {name: d, cluster: {server: 'https://d'}}]
users: [{name: u, user: {token: second}}]
contexts: [{name: b, context: {cluster: d, user: u, namespace: n}}]
current-context: b
)");
    qputenv("KUBECONFIG", QByteArray::fromStdString(":" + first + ":" + first + "-missing::" + second));
    const auto current = settingsOf(StoreUri::parse("kubernetes:").value());
    QVERIFY2(current, current ? "" : current.error().text().c_str());
    QCOMPARE(current->context, "b");
    QCOMPARE(current->target.url, "https://d");
    const auto named = settingsOf(StoreUri::parse("kubernetes://a").value());
    QCOMPARE(named->target.url, "https://first"); // the whole entry of the first file
    QVERIFY(named->target.tls.serverName.empty());
    QCOMPARE(header(*named->credentials->get(within(1s)), "Authorization"), "Bearer second");
}

void TstKubeconfig::missingFilesAreLeftOut()
{
    const auto none = settingsOf(StoreUri::parse("kubernetes:").value());
    QVERIFY(!none);
    QCOMPARE(none.error().kind, ErrorKind::BadConfig);
    QVERIFY(none.error().remedy.find("KUBECONFIG") != std::string::npos);
    const auto asked = settingsOf(StoreUri::parse("kubernetes:?kubeconfig=/nowhere/config").value());
    QVERIFY(!asked);
    QVERIFY(asked.error().what.find("/nowhere/config") != std::string::npos);
}

void TstKubeconfig::resolvesPathsAgainstTheFile()
{
    write("sub/pki/ca.crt", "x");
    write("sub/pki/me.crt", "x");
    write("sub/pki/me.key", "x");
    const std::string file = write("sub/config", std::string(kContexts) + R"(
clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: pki/ca.crt}}]
users: [{name: u, user: {client-certificate: ./pki/me.crt, client-key: ../sub/pki/me.key}}]
)");
    const auto made = settingsOf(StoreUri::parse("kubernetes:?kubeconfig=" + file).value());
    QVERIFY2(made, made ? "" : made.error().text().c_str());
    const std::string directory = m_directory->path().toStdString();
    QCOMPARE(made->target.tls.caFile, directory + "/sub/pki/ca.crt");
    QCOMPARE(made->target.tls.certFile, directory + "/sub/pki/me.crt");
    QCOMPARE(made->target.tls.keyFile, directory + "/sub/pki/me.key");
}

void TstKubeconfig::complaintsNameFileAndLine_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("line");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("no YAML") << QByteArray("clusters:\n- name: [\n") << 3 << QByteArray();
    QTest::newRow("a tab") << QByteArray("clusters:\n\t- name: c\n") << 2 << QByteArray();
    QTest::newRow("a list") << QByteArray("- 1\n") << 1 << QByteArray("no kubeconfig");
    QTest::newRow("no list") << QByteArray("\nclusters: 7\n") << 2 << QByteArray("clusters must be a list");
    QTest::newRow("no name") << QByteArray("users:\n- user: {}\n") << 2 << QByteArray("no name");
    QTest::newRow("a name twice") << QByteArray("users:\n- {name: u}\n- {name: u}\n") << 3 << QByteArray("two entries");
    QTest::newRow("base64") << QByteArray("users:\n- name: u\n  user:\n    client-key-data: '?!?'\n") << 4
                            << QByteArray("client-key-data is not base64");
    QTest::newRow("a flag") << QByteArray("clusters:\n- name: c\n  cluster:\n    insecure-skip-tls-verify: maybe\n")
                            << 4 << QByteArray("true or false");
    QTest::newRow("insecure with an authority")
        << QByteArray("clusters:\n- name: c\n  cluster: {insecure-skip-tls-verify: true, certificate-authority-data: Y2E=}\n")
        << 3 << QByteArray("exclude each other");
    QTest::newRow("auth-provider") << QByteArray("users:\n- name: u\n  user:\n    auth-provider: {name: gcp}\n") << 4
                                   << QByteArray("exec plugin");
    QTest::newRow("an old plugin")
        << QByteArray("users:\n- name: u\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1alpha1\n")
        << 5 << QByteArray("v1alpha1");
    QTest::newRow("no mode")
        << QByteArray("users:\n- name: u\n  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: x}\n")
        << 4 << QByteArray("interactiveMode");
    QTest::newRow("impersonation of nobody") << QByteArray("users:\n- name: u\n  user: {as-groups: [g]}\n") << 3
                                             << QByteArray("needs a user");
    QTest::newRow("NUL") << QByteArray("users:\0", 7) << 0 << QByteArray("NUL");
}

void TstKubeconfig::complaintsNameFileAndLine()
{
    QFETCH(QByteArray, text);
    QFETCH(int, line);
    QFETCH(QByteArray, says);
    const auto made = settings(text.toStdString());
    QVERIFY(!made);
    const std::string told = made.error().text();
    QCOMPARE(made.error().kind, ErrorKind::BadConfig);
    const std::string place = m_directory->filePath("config").toStdString()
        + (line > 0 ? ":" + std::to_string(line) : std::string());
    QCOMPARE(made.error().where, place);
    QVERIFY2(told.find(says.toStdString()) != std::string::npos, told.c_str());
}

void TstKubeconfig::namesThatAreMissingAreSuggested_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("url");
    QTest::addColumn<QByteArray>("says");
    const QByteArray rest = "clusters: [{name: c, cluster: {server: 'https://h'}}]\nusers: [{name: u, user: {}}]\n";
    QTest::newRow("context") << QByteArray(kContexts) + rest << QByteArray("kubernetes://onee") << QByteArray("Did you mean one?");
    QTest::newRow("cluster") << QByteArray("contexts: [{name: x, context: {cluster: cc, user: u}}]\ncurrent-context: x\n") + rest
                             << QByteArray("kubernetes:") << QByteArray("no cluster called \"cc\"");
    QTest::newRow("user") << QByteArray("contexts: [{name: x, context: {cluster: c, user: w}}]\ncurrent-context: x\n") + rest
                          << QByteArray("kubernetes:") << QByteArray("no user called \"w\"");
    QTest::newRow("no current context") << rest << QByteArray("kubernetes:") << QByteArray("use-context");
    QTest::newRow("empty file") << QByteArray() << QByteArray("kubernetes:") << QByteArray("no current context");
    QTest::newRow("no server") << QByteArray(kContexts) + "clusters: [{name: c, cluster: {}}]\nusers: [{name: u}]\n"
                               << QByteArray("kubernetes:") << QByteArray("no server");
    QTest::newRow("proxy") << QByteArray(kContexts)
            + "clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'ftp://x'}}]\nusers: [{name: u}]\n"
                           << QByteArray("kubernetes:") << QByteArray("proxy-url");
    QTest::newRow("server") << QByteArray(kContexts) + "clusters: [{name: c, cluster: {server: 'h:1'}}]\nusers: [{name: u}]\n"
                            << QByteArray("kubernetes:") << QByteArray("config:");
}

void TstKubeconfig::namesThatAreMissingAreSuggested()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, url);
    QFETCH(QByteArray, says);
    const auto made = settings(text.toStdString(), url.toStdString());
    QVERIFY(!made);
    QCOMPARE(made.error().kind, ErrorKind::BadConfig);
    const std::string told = made.error().text();
    QVERIFY2(told.find(says.toStdString()) != std::string::npos, told.c_str());
}

void TstKubeconfig::readsTheUrl_data()
{
    QTest::addColumn<QByteArray>("url");
    QTest::addColumn<QStringList>("namespaces");
    QTest::addColumn<bool>("bare");
    QTest::addColumn<bool>("good");
    QTest::newRow("all") << QByteArray("kubernetes:") << QStringList() << false << true;
    QTest::newRow("one") << QByteArray("kubernetes://one/web") << QStringList{"web"} << true << true;
    QTest::newRow("current context, one") << QByteArray("kubernetes:///web") << QStringList{"web"} << true << true;
    QTest::newRow("some") << QByteArray("kubernetes:?namespaces=a,b") << QStringList{"a", "b"} << false << true;
    QTest::newRow("both") << QByteArray("kubernetes://one/web?namespaces=a") << QStringList() << false << false;
    QTest::newRow("bad name") << QByteArray("kubernetes://one/Web") << QStringList() << false << false;
    QTest::newRow("bad show") << QByteArray("kubernetes:?show=some") << QStringList() << false << false;
}

void TstKubeconfig::readsTheUrl()
{
    QFETCH(QByteArray, url);
    QFETCH(QStringList, namespaces);
    QFETCH(bool, bare);
    QFETCH(bool, good);
    const auto made = settings(std::string(kContexts)
            + "clusters: [{name: c, cluster: {server: 'https://h'}}]\nusers: [{name: u, user: {}}]\n",
        url.toStdString());
    QCOMPARE(made.has_value(), good);
    if (!good)
        return;
    QStringList seen;
    for (const std::string &name : made->namespaces)
        seen.append(QString::fromStdString(name));
    QCOMPARE(seen, namespaces);
    QCOMPARE(made->bareNames, bare);
}

void TstKubeconfig::inCluster()
{
    QVERIFY(!inClusterSettings(m_directory->path().toStdString()));
    qputenv("KUBERNETES_SERVICE_HOST", "fd00::1");
    qputenv("KUBERNETES_SERVICE_PORT", "443");
    const std::string directory = m_directory->path().toStdString();
    QVERIFY(!inClusterSettings(directory)); // no ca.crt
    write("ca.crt", "x");
    write("namespace", "team\n");
    write("token", "first\n");
    const auto made = inClusterSettings(directory);
    QVERIFY2(made, made ? "" : made.error().text().c_str());
    QCOMPARE(made->target.url, "https://[fd00::1]:443");
    QCOMPARE(made->target.tls.caFile, directory + "/ca.crt");
    QCOMPARE(made->contextNamespace, "team");
    const auto credential = made->credentials->get(within(1s));
    QCOMPARE(header(*credential, "Authorization"), "Bearer first");
    // Kubernetes rotates the token; a 401 makes it be read before the minute is over.
    write("token", "second");
    QCOMPARE(header(*made->credentials->get(within(1s)), "Authorization"), "Bearer first");
    QVERIFY(made->credentials->refuse(credential->number));
    QCOMPARE(header(*made->credentials->get(within(1s)), "Authorization"), "Bearer second");
    qunsetenv("KUBERNETES_SERVICE_HOST");
    qunsetenv("KUBERNETES_SERVICE_PORT");
}

void TstKubeconfig::basicAuthenticationAndImpersonation()
{
    const auto made = settings(std::string(kContexts) + R"(
clusters: [{name: c, cluster: {server: 'https://h'}}]
users:
- name: u
  user:
    username: ann
    password: "p:w"
    as: robot
    as-uid: "42"
    as-groups: [one, two]
    as-user-extra: {"scope/x": [a, b]}
)");
    QVERIFY2(made, made ? "" : made.error().text().c_str());
    const auto credential = made->credentials->get(within(1s));
    QCOMPARE(header(*credential, "Authorization"), "Basic " + base64Encoded("ann:p:w"));
    QCOMPARE(header(*credential, "Impersonate-User"), "robot");
    QCOMPARE(header(*credential, "Impersonate-Uid"), "42");
    QCOMPARE(header(*credential, "Impersonate-Group"), "one|two");
    QCOMPARE(header(*credential, "Impersonate-Extra-scope%2Fx"), "a|b");
    QVERIFY(!made->credentials->refuse(credential->number)); // nothing could change
}

void TstKubeconfig::rereadsATokenFile()
{
    write("token", " from-file\n");
    const auto made = settings(std::string(kContexts) + R"(
clusters: [{name: c, cluster: {server: 'https://h'}}]
users: [{name: u, user: {tokenFile: token, token: static}}]
)");
    const auto first = made->credentials->get(within(1s));
    QCOMPARE(header(*first, "Authorization"), "Bearer from-file");
    write("token", "");
    QVERIFY(made->credentials->refuse(first->number));
    const auto kept = made->credentials->get(within(1s)); // a rotation under way
    QCOMPARE(header(*kept, "Authorization"), "Bearer from-file");
    QCOMPARE(kept->number, first->number);

    const auto missing = settings(std::string(kContexts) + R"(
clusters: [{name: c, cluster: {server: 'https://h'}}]
users: [{name: u, user: {tokenFile: nowhere}}]
)");
    const auto refused = missing->credentials->get(within(1s));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Rejected);
}

void TstKubeconfig::times_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("micro"); // empty: refused
    QTest::newRow("seconds") << QByteArray("2026-11-29T02:13:44Z") << QByteArray("2026-11-29T02:13:44.000000Z");
    QTest::newRow("micro") << QByteArray("2026-11-29T02:13:44.000123Z") << QByteArray("2026-11-29T02:13:44.000123Z");
    QTest::newRow("nano") << QByteArray("2026-11-29T02:13:44.123456789Z") << QByteArray("2026-11-29T02:13:44.123456Z");
    QTest::newRow("offset") << QByteArray("2026-11-29T02:13:44.5+02:30") << QByteArray("2026-11-28T23:43:44.500000Z");
    QTest::newRow("0001") << QByteArray("0001-01-01T00:00:00Z") << QByteArray("0001-01-01T00:00:00.000000Z");
    QTest::newRow("9999") << QByteArray("9999-12-31T23:59:59.999999Z") << QByteArray("9999-12-31T23:59:59.999999Z");
    for (const char *bad : {"", "null", "2026-11-29", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
             "2026-11-29T25:00:00Z", "2026-11-29T02:13:44", "2026-11-29T02:13:44.Z", "2026-11-29T02:13:44Zx"})
        QTest::addRow("bad %s", bad) << QByteArray(bad) << QByteArray();
}

void TstKubeconfig::times()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, micro);
    const auto time = parseTime(text.toStdString());
    QCOMPARE(time.has_value(), !micro.isEmpty());
    if (time)
        QCOMPARE(microTime(*time), micro.toStdString());
}

void TstKubeconfig::base64_data()
{
    QTest::addColumn<QByteArray>("bytes");
    for (const char *text : {"", "a", "ab", "abc", "abcd", "\xff\xfe\x01"})
        QTest::newRow(text) << QByteArray(text);
}

void TstKubeconfig::base64()
{
    QFETCH(QByteArray, bytes);
    const std::string coded = base64Encoded(bytes.toStdString());
    QCOMPARE(coded, bytes.toBase64().toStdString());
    QCOMPARE(base64Decoded(" " + coded + "\n").value(), bytes.toStdString());
    QVERIFY(!base64Decoded("ab=c") && !base64Decoded("abcde") && !base64Decoded("ab!d"));
}

QTEST_GUILESS_MAIN(TstKubeconfig)
#include "tst_kubeconfig.moc"
