// SPDX-License-Identifier: GPL-3.0-or-later
// Whom the HTTP client trusts, and how it introduces itself, against openssl's own server.
#include "core/net/http_client.h"
#include "http_peer.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

/// `openssl s_server -www` with certificates of its own.
class TlsServer
{
public:
    explicit TlsServer(const QStringList &options = {})
    {
        run({"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca",
            "-keyout", path("ca.key"), "-out", path("ca.crt")});
        issue("server", "subjectAltName=DNS:cluster.test");
        issue("client", "extendedKeyUsage=clientAuth");
        HttpPeer probe([](const auto &, const auto &) {});
        m_port = probe.port();
        m_options = options;
    }
    void start()
    {
        m_process.setWorkingDirectory(m_directory.path());
        m_process.start(QStringLiteral("openssl"),
            QStringList{"s_server", "-quiet", "-www", "-accept", "127.0.0.1:" + QString::number(m_port), "-cert",
                path("server.crt"), "-key", path("server.key"), "-CAfile", path("ca.crt")}
                + m_options);
    }
    ~TlsServer()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    TlsServer(const TlsServer &) = delete;
    TlsServer &operator=(const TlsServer &) = delete;
    [[nodiscard]] QString path(const QString &name) const { return m_directory.filePath(name); }
    [[nodiscard]] std::string text(const QString &name) const
    {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
    }
    [[nodiscard]] HttpTarget target() const
    {
        HttpTarget target;
        target.url = "https://127.0.0.1:" + std::to_string(m_port);
        target.tls.caData = text("ca.crt");
        target.tls.serverName = "cluster.test";
        return target;
    }

private:
    static void run(const QStringList &words)
    {
        QProcess openssl;
        openssl.start(QStringLiteral("openssl"), words);
        QVERIFY(openssl.waitForFinished());
        QVERIFY2(openssl.exitCode() == 0, openssl.readAllStandardError().constData());
    }
    void issue(const QString &name, const QString &extension)
    {
        QFile file(path(name + ".ext"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(extension.toUtf8());
        file.close();
        run({"req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-keyout", path(name + ".key"),
            "-out", path(name + ".csr")});
        run({"x509", "-req", "-in", path(name + ".csr"), "-CA", path("ca.crt"), "-CAkey", path("ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", path(name + ".ext"), "-out", path(name + ".crt")});
    }

    QTemporaryDir m_directory;
    QStringList m_options;
    std::uint16_t m_port = 0;
    QProcess m_process;
};

Instant within(Duration time)
{
    return BootClock::now() + time;
}

/// Asks until the server has come up.
Result<HttpResponse> ask(const HttpTarget &target)
{
    auto client = HttpClient::make(target);
    if (!client)
        return fail(client.error());
    Result<HttpResponse> response = fail(ErrorKind::Unavailable, "not asked");
    const Instant until = within(20s);
    do {
        response = (*client)->send({}, within(5s));
    } while (!response && response.error().what.find("refused") != std::string::npos
        && BootClock::now() < until);
    return response;
}

std::string why(const Result<HttpResponse> &response)
{
    return response ? std::string() : response.error().text();
}

} // namespace

class TstHttpTls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void trustsOnlyItsAuthority();
    void showsItsCertificate();
};

void TstHttpTls::trustsOnlyItsAuthority()
{
    if (QStandardPaths::findExecutable("openssl").isEmpty())
        QSKIP("no openssl here");
    TlsServer server;
    server.start();
    const HttpTarget good = server.target();
    const auto trusted = ask(good);
    QVERIFY2(trusted, why(trusted).c_str());
    QCOMPARE(trusted->status, 200);

    HttpTarget file = good;
    file.tls.caData.clear();
    file.tls.caFile = server.path("ca.crt").toStdString();
    QVERIFY(ask(file));

    HttpTarget stranger = good;
    stranger.tls.caData.clear();
    QCOMPARE(ask(stranger).error().kind, ErrorKind::Rejected);
    HttpTarget name = good;
    name.tls.serverName.clear();
    const auto misnamed = ask(name);
    QCOMPARE(misnamed.error().kind, ErrorKind::Rejected);
    QVERIFY2(misnamed.error().what.find("cluster.test") != std::string::npos, why(misnamed).c_str());
    HttpTarget blind = name;
    blind.tls.caData.clear();
    blind.tls.verify = false;
    QVERIFY2(ask(blind), "an unchecked certificate is what insecure asks for");
    HttpTarget nonsense = good;
    nonsense.tls.caData = "no PEM at all";
    QCOMPARE(ask(nonsense).error().kind, ErrorKind::BadConfig);
    HttpTarget missing = good;
    missing.tls.caData.clear();
    missing.tls.caFile = server.path("nowhere.crt").toStdString();
    QCOMPARE(ask(missing).error().kind, ErrorKind::BadConfig);
}

void TstHttpTls::showsItsCertificate()
{
    if (QStandardPaths::findExecutable("openssl").isEmpty())
        QSKIP("no openssl here");
    TlsServer server({"-Verify", "1", "-verify_return_error"});
    server.start();
    HttpTarget files = server.target();
    files.tls.certFile = server.path("client.crt").toStdString();
    files.tls.keyFile = server.path("client.key").toStdString();
    const auto fromFiles = ask(files);
    QVERIFY2(fromFiles, why(fromFiles).c_str());
    HttpTarget data = server.target();
    data.tls.certData = server.text("client.crt");
    data.tls.keyData = server.text("client.key");
    const auto fromData = ask(data);
    QVERIFY2(fromData, why(fromData).c_str());
    QVERIFY(!ask(server.target())); // none shown
    HttpTarget half = data;
    half.tls.keyData.clear();
    QCOMPARE(ask(half).error().kind, ErrorKind::BadConfig);
    HttpTarget broken = data;
    broken.tls.keyData = "no key";
    QCOMPARE(ask(broken).error().kind, ErrorKind::BadConfig);
}

QTEST_GUILESS_MAIN(TstHttpTls)
#include "tst_http_tls.moc"
