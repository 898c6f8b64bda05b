// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_backend.h"
#include "redis_server.h"

#include <QDir>
#include <QProcess>
#include <QTest>

#include <csignal>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Result<Reply> once(LeaseStore &store, const Command &command, Duration limit = 3s)
{
    return store.execute({&command, 1}, BootClock::now() + limit).front();
}

Acquire acquireBy(const char *holder, Milliseconds ttl = 500ms)
{
    return {LeaseId::observed("job"), HolderId::parse(holder).value(), Nonce::random(), ttl};
}

std::unique_ptr<LeaseStore> storeFor(const StoreUri &uri)
{
    return makeRedisBackend(uri).value()->makeStore();
}

/// Acquires, waiting out the epoch rule of a server that was just started.
Result<Reply> acquireAfterBarrier(LeaseStore &store, const Acquire &acquire)
{
    Result<Reply> reply;
    (void)QTest::qWaitFor(
        [&] {
            reply = once(store, acquire);
            return !reply || !reply->epochBarrier;
        },
        8000);
    return reply;
}

/// Answers each client with one text.
class Impostor
{
public:
    explicit Impostor(std::string text) : m_port(freePort()), m_text(std::move(text))
    {
        m_fd = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(m_port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (bind(m_fd, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0
            || listen(m_fd, 1) != 0)
            qFatal("no port");
        m_thread = std::thread([this] {
            const int client = accept(m_fd, nullptr, nullptr);
            if (client < 0)
                return;
            (void)!write(client, m_text.data(), m_text.size());
            char sink = 0;
            while (read(client, &sink, 1) > 0) { }
            close(client);
        });
    }
    ~Impostor()
    {
        shutdown(m_fd, SHUT_RDWR);
        m_thread.join();
        close(m_fd);
    }
    Impostor(const Impostor &) = delete;
    Impostor &operator=(const Impostor &) = delete;
    [[nodiscard]] StoreUri uri() const
    {
        StoreUri uri;
        uri.scheme = "redis";
        uri.hosts.emplace_back("127.0.0.1", m_port);
        return uri;
    }

private:
    std::uint16_t m_port;
    std::string m_text;
    int m_fd = -1;
    std::thread m_thread;
};

} // namespace

class TstRedisFaults : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
        if (!RedisServer::installed())
            QSKIP("redis-server is not installed");
    }

    void scriptFlushCostsNothing();
    void aRestartedServerIsNotTrustedForOneTtl();
    void aStoppedServerEndsAtTheDeadline();
    void aReplicaTakesNoWrites();
    void wrongPasswordsAreRejected_data();
    void wrongPasswordsAreRejected();
    void missingRightsAreDenied();
    void whatIsNoRedisSaysSo_data();
    void whatIsNoRedisSaysSo();
    void nobodyListens();
    void tls();
    void tooFewReplicasAreUnknown();
    void feedTellsAndReconnects();
};

void TstRedisFaults::scriptFlushCostsNothing()
{
    RedisServer server;
    const auto store = storeFor(server.socketUri());
    const Acquire first = acquireBy("a");
    const auto granted = acquireAfterBarrier(*store, first);
    QVERIFY2(granted, granted ? "" : granted.error().text().c_str());
    QCOMPARE(granted->outcome, Outcome::Done);
    const Term term{first.holder, first.nonce, granted->record.token};
    for (int i = 0; i < 20; ++i) {
        server.run({"SCRIPT", "FLUSH"});
        const auto renewed = once(*store, Renew{first.lease, term, 500ms});
        QVERIFY2(renewed, renewed ? "" : renewed.error().text().c_str());
        QCOMPARE(renewed->outcome, Outcome::Done);
    }
    QCOMPARE(once(*store, Read{first.lease})->record.transitions, std::uint64_t(0));
}

void TstRedisFaults::aRestartedServerIsNotTrustedForOneTtl()
{
    RedisServer server;
    const auto store = storeFor(server.socketUri());
    const auto granted = acquireAfterBarrier(*store, acquireBy("a"));
    QVERIFY(granted && granted->outcome == Outcome::Done);
    server.kill();
    server.start();
    Result<Reply> reply;
    const Acquire rival = acquireBy("b");
    QTRY_VERIFY_WITH_TIMEOUT((reply = once(*store, rival)).has_value(), 30'000);
    QCOMPARE(reply->outcome, Outcome::Refused);
    QVERIFY(reply->epochBarrier && reply->retryIn && *reply->retryIn > 0ms);
    QCOMPARE(server.run({"EXISTS", "job"}).number, 0);
    const auto later = acquireAfterBarrier(*store, rival);
    QVERIFY(later && later->outcome == Outcome::Done);
    QVERIFY(later->record.token > granted->record.token);
}

void TstRedisFaults::aStoppedServerEndsAtTheDeadline()
{
    RedisServer server;
    const auto store = storeFor(server.tcpUri());
    QVERIFY(once(*store, Read{LeaseId::observed("job")}));
    server.pause();
    const Instant began = BootClock::now();
    const Command commands[] = {acquireBy("a"), Read{LeaseId::observed("job")}};
    const auto results = store->execute(commands, BootClock::now() + 200ms);
    const Duration took = BootClock::now() - began;
    server.resume();
    QVERIFY(took >= 200ms && took < 1s);
    QCOMPARE(results[0].error().kind, ErrorKind::OutcomeUnknown);
    QCOMPARE(results[1].error().kind, ErrorKind::Unavailable);
    QVERIFY(once(*store, Read{LeaseId::observed("job")})); // a fresh connection
}

void TstRedisFaults::aReplicaTakesNoWrites()
{
    RedisServer server;
    const auto store = storeFor(server.socketUri());
    QVERIFY(acquireAfterBarrier(*store, acquireBy("a", 5000ms)));
    const std::string nowhere = std::to_string(freePort());
    server.run({"REPLICAOF", "127.0.0.1", nowhere});
    const auto reply = once(*store, acquireBy("a"));
    if (reply) // still held: refusing needs no write
        QCOMPARE(reply->outcome, Outcome::Refused);
    server.run({"REPLICAOF", "NO", "ONE"});
    QCOMPARE(server.run({"DEL", "job", "{job}:tenure"}).isError(), false);
    server.run({"REPLICAOF", "127.0.0.1", nowhere});
    const auto write = once(*store, acquireBy("b", 50ms));
    QVERIFY(!write);
    QCOMPARE(write.error().kind, ErrorKind::Unavailable);
    QCOMPARE(write.error().recovery, Recovery::Reconnect);
    QVERIFY2(
        write.error().text().find("replica") != std::string::npos, write.error().text().c_str());
}

void TstRedisFaults::wrongPasswordsAreRejected_data()
{
    QTest::addColumn<QByteArray>("user");
    QTest::addColumn<QByteArray>("password");
    QTest::newRow("none") << QByteArray() << QByteArray();
    QTest::newRow("wrong") << QByteArray() << QByteArray("wr0ng");
    QTest::newRow("wrong user") << QByteArray("nobody") << QByteArray("secret");
}

void TstRedisFaults::wrongPasswordsAreRejected()
{
    QFETCH(QByteArray, user);
    QFETCH(QByteArray, password);
    RedisServer server({"--requirepass", "secret"});
    StoreUri uri = server.socketUri();
    uri.user = user.toStdString();
    uri.password = password.toStdString();
    const auto facts = storeFor(uri)->probe(BootClock::now() + 3s);
    QVERIFY(!facts);
    QCOMPARE(facts.error().kind, ErrorKind::Rejected);
    QVERIFY(password.isEmpty() || facts.error().text().find(uri.password) == std::string::npos);
    uri.user.clear();
    uri.password = "secret";
    QVERIFY(storeFor(uri)->probe(BootClock::now() + 3s));
}

void TstRedisFaults::missingRightsAreDenied()
{
    RedisServer server(
        {"--user", "reader", "on", ">pw", "~*", "&*", "+@read", "+@connection", "+info", "+time"});
    StoreUri uri = server.socketUri();
    uri.user = "reader";
    uri.password = "pw";
    const auto store = storeFor(uri);
    const auto read = once(*store, Read{LeaseId::observed("job")});
    QVERIFY2(read, read ? "" : read.error().text().c_str());
    QVERIFY(once(*store, List{}));
    const auto reply = once(*store, acquireBy("a"));
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::Denied);
}

void TstRedisFaults::whatIsNoRedisSaysSo_data()
{
    QTest::addColumn<QByteArray>("answer");
    QTest::newRow("http") << QByteArray("HTTP/1.1 400 Bad Request\r\n\r\n");
    QTest::newRow("ssh") << QByteArray("SSH-2.0-OpenSSH_9.2\r\n");
    QTest::newRow("pop3") << QByteArray("+OK ready\r\n+OK\r\n");
}

void TstRedisFaults::whatIsNoRedisSaysSo()
{
    QFETCH(QByteArray, answer);
    const Impostor impostor(answer.toStdString());
    const auto facts = storeFor(impostor.uri())->probe(BootClock::now() + 2s);
    QVERIFY(!facts);
    QCOMPARE(facts.error().kind, ErrorKind::BadConfig);
    QVERIFY2(
        facts.error().text().find("not Redis") != std::string::npos, facts.error().text().c_str());
}

void TstRedisFaults::nobodyListens()
{
    StoreUri uri;
    uri.scheme = "redis";
    uri.hosts.emplace_back("127.0.0.1", freePort());
    const auto reply = once(*storeFor(uri), acquireBy("a"));
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::Unavailable); // nothing was sent: not unknown
}

void TstRedisFaults::tls()
{
    QTemporaryDir keys;
    QProcess shell;
    shell.setWorkingDirectory(keys.path());
    shell.start(QStringLiteral("sh"), {QStringLiteral("-ec"), QStringLiteral(R"(
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=TestCA
        for who in server client; do
            openssl req -newkey rsa:2048 -nodes -keyout $who.key -out $who.csr -subj /CN=$who
            echo subjectAltName=DNS:redis.test,DNS:localhost > ext
            openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out $who.pem
        done)")});
    QVERIFY(shell.waitForFinished(30'000) && shell.exitCode() == 0);
    const auto file
        = [&](const char *name) { return keys.filePath(QLatin1String(name)).toStdString(); };
    const std::uint16_t port = freePort();
    RedisServer server({"--tls-port", std::to_string(port), "--tls-cert-file", file("server.pem"),
        "--tls-key-file", file("server.key"), "--tls-ca-cert-file", file("ca.pem"),
        "--tls-auth-clients", "yes"});
    StoreUri uri;
    uri.scheme = "rediss";
    uri.hosts.emplace_back("127.0.0.1", port);
    uri.parameters = {{"ca", file("ca.pem")}, {"cert", file("client.pem")},
        {"key", file("client.key")}, {"sni", "redis.test"}};
    const auto good = storeFor(uri)->probe(BootClock::now() + 5s);
    QVERIFY2(good, good ? "" : good.error().text().c_str());

    const auto problem = [](const StoreUri &wrong) {
        const auto facts = storeFor(wrong)->probe(BootClock::now() + 5s);
        return facts ? Error{} : facts.error();
    };
    StoreUri name = uri;
    name.parameters["sni"] = "other.test";
    const Error wrongName = problem(name);
    QCOMPARE(wrongName.kind, ErrorKind::Rejected);
    QVERIFY2(wrongName.what.find("other.test") != std::string::npos
            && wrongName.what.find("redis.test") != std::string::npos,
        wrongName.text().c_str());
    StoreUri authority = uri;
    authority.parameters.erase("ca");
    QCOMPARE(problem(authority).kind, ErrorKind::Rejected);
    StoreUri anonymous = uri;
    anonymous.parameters.erase("cert");
    anonymous.parameters.erase("key");
    const Error noCertificate = problem(anonymous);
    QVERIFY2(noCertificate.kind == ErrorKind::Rejected, noCertificate.text().c_str());
    QVERIFY2(noCertificate.what.find("client certificate") != std::string::npos,
        noCertificate.text().c_str());
    StoreUri plain = uri;
    plain.hosts = {{"127.0.0.1", server.port()}};
    const auto noTls = storeFor(plain)->probe(BootClock::now() + 500ms);
    QVERIFY(!noTls); // a plain Redis waits for the end of a line: nothing is answered
    QVERIFY2(
        noTls.error().text().find("speaks TLS") != std::string::npos, noTls.error().text().c_str());
}

void TstRedisFaults::tooFewReplicasAreUnknown()
{
    RedisServer server;
    StoreUri uri = server.socketUri();
    QVERIFY(acquireAfterBarrier(*storeFor(uri), acquireBy("a", 50ms)));
    uri.parameters["waitReplicas"] = "1";
    const auto store = storeFor(uri);
    Result<Reply> reply;
    const Acquire acquire = acquireBy("b", 60ms);
    QTRY_VERIFY_WITH_TIMEOUT(!(reply = once(*store, acquire, 400ms)), 30'000);
    QCOMPARE(reply.error().kind, ErrorKind::OutcomeUnknown);
}

void TstRedisFaults::feedTellsAndReconnects()
{
    RedisServer server({"--notify-keyspace-events", "Kg$x"});
    const auto backend = makeRedisBackend(server.socketUri("app:")).value();
    std::mutex mutex;
    std::vector<FeedEvent> events;
    const auto count = [&](FeedEvent::Kind kind, const std::string &lease) {
        const std::lock_guard lock(mutex);
        return std::count_if(events.begin(), events.end(),
            [&](const FeedEvent &e) { return e.kind == kind && e.lease.name() == lease; });
    };
    const auto feed = backend->makeFeed();
    feed->start([&](const FeedEvent &event) {
        const std::lock_guard lock(mutex);
        events.push_back(event);
    });
    QTRY_COMPARE_WITH_TIMEOUT(count(FeedEvent::Kind::Opened, ""), 1, 30'000);
    QVERIFY(events.front().renewals);
    server.run({"SET", "app:x", "somebody", "NX", "PX", "100"});
    QTRY_VERIFY_WITH_TIMEOUT(count(FeedEvent::Kind::Changed, "x") >= 1, 30'000);
    QTRY_COMPARE_WITH_TIMEOUT(count(FeedEvent::Kind::Released, "x"), 1, 30'000);
    server.run({"SET", "other:x", "1"});
    server.kill();
    QTRY_VERIFY_WITH_TIMEOUT(count(FeedEvent::Kind::Closed, "") >= 1, 30'000);
    server.start();
    QTRY_COMPARE_WITH_TIMEOUT(count(FeedEvent::Kind::Opened, ""), 2, 30'000);
    server.run({"PUBLISH", "{app:y}:tenure:events", "released"});
    QTRY_COMPARE_WITH_TIMEOUT(count(FeedEvent::Kind::Released, "y"), 1, 30'000);
    QCOMPARE(count(FeedEvent::Kind::Changed, "other:x"), 0);
    const Instant began = BootClock::now();
    feed->stop();
    QVERIFY(BootClock::now() - began < 1s);
}

QTEST_GUILESS_MAIN(TstRedisFaults)
#include "tst_redis_faults.moc"
