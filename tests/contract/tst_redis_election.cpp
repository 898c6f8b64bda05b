// SPDX-License-Identifier: GPL-3.0-or-later
// Electors on real Redis servers: beside contenders that are not ours, through a restart that loses
// everything, through a sentinel failover, and what a waiting standby costs.
#include "core/backend/redis/redis_backend.h"
#include "core/runtime/elector.h"
#include "redis_server.h"
#include "tests/support/election_kit.h"

#include <QProcess>
#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

std::shared_ptr<const Backend> backendOf(const StoreUri &uri)
{
    return makeRedisBackend(uri).value();
}

/// Python with the distribution's python3-redis, or an empty string.
QString pythonWithRedis()
{
    const QString python = QStringLiteral("/usr/bin/python3");
    return QProcess::execute(python, {QStringLiteral("-c"), QStringLiteral("import redis")}) == 0 ? python
                                                                                                  : QString();
}

/// Commands that the clients of the server's TCP port sent within `span`, those of their scripts
/// included, as MONITOR tells them.
int tcpCommandsWithin(RedisServer &server, Milliseconds span)
{
    Endpoint endpoint;
    endpoint.unixPath = server.path("redis.sock");
    const Instant deadline = BootClock::now() + span;
    auto monitor = redis::RespConnection::openPlain(endpoint, deadline);
    redis::Pipeline ask;
    ask.add({"MONITOR"});
    if (!monitor || !(*monitor)->ask(ask, deadline))
        return -1;
    int sum = 0;
    bool inTurn = false; // Redis runs one command at a time: a script's lines follow its caller's
    while (const auto line = (*monitor)->receive(deadline)) {
        if (line->text.find(" lua] ") == std::string::npos)
            inTurn = line->text.find(" 127.0.0.1:") != std::string::npos;
        sum += inTurn ? 1 : 0;
    }
    return sum;
}

} // namespace

class RedisElectionTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void waitsForAPlainClientAndTakesOver();
    void redisPyLockAndOursExclude();
    void standbyCostsAtMostOneCommandASecond();
    void restartEmptyNeverMakesTwo();
    void sentinelFailover();
};

void RedisElectionTest::initTestCase()
{
    if (!RedisServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("redis-server is not installed");
    QVERIFY2(RedisServer::installed(), "redis-server is not installed");
}

void RedisElectionTest::waitsForAPlainClientAndTakesOver()
{
    RedisServer server;
    QCOMPARE(server.run({"SET", "billing/scheduler", "host-7:4711", "NX", "PX", "2500"}).text, std::string("OK"));
    Candidate ours(backendOf(server.socketUri()), "ours", 500ms);
    ours.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.report().seen.has_value(), 30'000);
    QCOMPARE(ours.elector.report().seen->holder.value_or(""), std::string("host-7:4711"));
    QVERIFY(!ours.elector.isLeader());
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader(), 30'000);
    // And the other way round: a plain client cannot take what we hold.
    QVERIFY(server.run({"SET", "billing/scheduler", "host-7:4711", "NX", "PX", "2500"}).text.empty());
}

void RedisElectionTest::redisPyLockAndOursExclude()
{
    const QString python = pythonWithRedis();
    if (python.isEmpty() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("python3-redis is not installed");
    RedisServer server;
    QProcess rival;
    rival.start(python,
        {QStringLiteral("-c"),
            QStringLiteral("import redis,sys\n"
                           "c=redis.Redis(unix_socket_path=sys.argv[1])\n"
                           "l=c.lock('billing/scheduler',timeout=30)\n"
                           "print(l.acquire(blocking=False),flush=True)\n"
                           "sys.stdin.readline()\n"
                           "l.release()\n"
                           "sys.stdin.readline()\n"
                           "print(l.acquire(blocking=False),flush=True)\n"),
            QString::fromStdString(server.path("redis.sock"))});
    const auto nextLine = [&rival] { // a line may come in pieces
        while (!rival.canReadLine() && rival.waitForReadyRead(20'000)) { }
        return rival.readLine().trimmed();
    };
    QCOMPARE(nextLine(), QByteArray("True"));
    Candidate ours(backendOf(server.socketUri()), "ours", 500ms);
    ours.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.report().seen.has_value(), 30'000);
    QVERIFY(!ours.elector.isLeader());
    rival.write("\n");
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader(), 30'000); // released: found without waiting for its 30 s
    rival.write("\n");
    QCOMPARE(nextLine(), QByteArray("False"));
    QVERIFY(ours.elector.isLeader());
    rival.kill();
    rival.waitForFinished();
}

void RedisElectionTest::standbyCostsAtMostOneCommandASecond()
{
    RedisServer server;
    Candidate leader(backendOf(server.socketUri()), "leader", 3s);
    leader.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(leader.elector.isLeader(), 30'000);
    Candidate standby(backendOf(server.tcpUri()), "standby", 3s);
    standby.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(standby.elector.report().seen.has_value(), 30'000);
    // Its push channel stands too: from here on it only waits.
    const auto listeners = [&server] {
        return QString::fromStdString(server.run({"CLIENT", "LIST", "TYPE", "pubsub"}).text).count(QLatin1String("\n"));
    };
    QTRY_COMPARE_WITH_TIMEOUT(listeners(), 2, 30'000);
    constexpr auto kSpan = 9s; // a rate over three leases
    const int sent = tcpCommandsWithin(server, kSpan);
    QVERIFY2(sent > 0, "a standby that asks nothing at all would trust its push channel blindly");
    QVERIFY2(sent <= kSpan / 1s, qPrintable(QStringLiteral("%1 commands in 9 s").arg(sent)));
    QVERIFY(leader.elector.isLeader());
    QCOMPARE(leader.diary.count(false), 0U);
}

void RedisElectionTest::restartEmptyNeverMakesTwo()
{
    RedisServer server;
    Candidate a(backendOf(server.socketUri()), "a", 1s);
    Candidate b(backendOf(server.socketUri()), "b", 1s);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 8000);
    const FencingToken before = a.elector.token();
    b.elector.start();
    server.kill();
    server.start();
    bool two = false;
    const bool again = QTest::qWaitFor(
        [&] {
            two = two || (a.elector.isLeader() && b.elector.isLeader());
            return std::max(a.elector.token(), b.elector.token()) > before;
        },
        15'000);
    QVERIFY(again); // nobody stays out for ever (FAILURES 24), tokens grow though all was forgotten
    QVERIFY(!two);
    QVERIFY(a.diary.followsGrammar());
}

void RedisElectionTest::sentinelFailover()
{
    auto master = std::make_unique<RedisServer>();
    RedisServer replica({"--replicaof", "127.0.0.1 " + std::to_string(master->port())});
    const std::vector<std::string> lines{
        "sentinel monitor tenure 127.0.0.1 " + std::to_string(master->port()) + " 2",
        "sentinel down-after-milliseconds tenure 500", "sentinel failover-timeout tenure 3000"};
    RedisServer one(lines, "redis-sentinel");
    RedisServer two(lines, "redis-sentinel");
    RedisServer three(lines, "redis-sentinel");
    StoreUri uri;
    uri.scheme = "redis+sentinel";
    uri.path = "tenure";
    for (const RedisServer *sentinel : {&one, &two, &three})
        uri.hosts.emplace_back("127.0.0.1", sentinel->port());
    Candidate ours(backendOf(uri), "ours", 1s);
    ours.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader(), 30'000);
    const FencingToken before = ours.elector.token();
    // The sentinels must know each other and the replica before they can vote.
    QTRY_VERIFY_WITH_TIMEOUT(one.run({"SENTINEL", "CKQUORUM", "tenure"}).text.starts_with("OK"), 20'000);
    QTRY_VERIFY_WITH_TIMEOUT(one.run({"SENTINEL", "REPLICAS", "tenure"}).items.size() == 1, 20'000);
    master->kill();
    QTRY_VERIFY_WITH_TIMEOUT(!ours.elector.isLeader(), 3000); // by the clock, whatever the sentinels do
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader(), 30'000);
    QVERIFY(ours.elector.token() > before); // FAILURES 83: also when the grant was not replicated
    QVERIFY(ours.diary.followsGrammar());
}

QTEST_GUILESS_MAIN(RedisElectionTest)
#include "tst_redis_election.moc"
