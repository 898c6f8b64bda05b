// SPDX-License-Identifier: GPL-3.0-or-later
// Redis servers that answer, but not as one would like: full memory, a disk that cannot be saved
// to, a data set still loading, no room for clients, narrow rights, idle connections closed.
#include "core/backend/redis/redis_backend.h"
#include "redis_server.h"
#include "tests/support/election_kit.h"
#include "core/net/tcp_proxy.h"

#include <QDir>
#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

std::unique_ptr<LeaseStore> storeFor(const StoreUri &uri)
{
    return makeRedisBackend(uri).value()->makeStore();
}

Result<Reply> once(LeaseStore &store, const Command &command)
{
    return store.execute({&command, 1}, BootClock::now() + 3s).front();
}

/// Acquires, waiting out the epoch rule of a server that was just started.
Result<Reply> acquireAfterBarrier(LeaseStore &store)
{
    const Acquire acquire{
        LeaseId::observed("job"), HolderId::parse("b").value(), Nonce::random(), Milliseconds(300)};
    Result<Reply> reply;
    (void)QTest::qWaitFor(
        [&] {
            reply = once(store, acquire);
            return !reply || !reply->epochBarrier;
        },
        8000);
    return reply;
}

std::string textOf(const Result<Reply> &reply)
{
    return reply ? std::string("granted") : reply.error().text();
}

} // namespace

class TstRedisRefusals : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void fullMemoryStopsNewTermsButNoLeader();
    void aDiskThatCannotBeSavedTo();
    void aDataSetStillLoading();
    void noRoomForAnotherClient();
    void withoutTheRightToPublish();
    void anIdleConnectionClosedByTheServer();
    void aLateRenewalDoesNotReviveWhatWasReleased();
};

void TstRedisRefusals::initTestCase()
{
    if (!RedisServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("redis-server is not installed");
    QVERIFY2(RedisServer::installed(), "redis-server is not installed");
}

void TstRedisRefusals::fullMemoryStopsNewTermsButNoLeader()
{
    RedisServer server({"--maxmemory-policy", "noeviction"});
    Candidate leader(makeRedisBackend(server.socketUri()).value(), "leader", 900ms);
    leader.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(leader.elector.isLeader(), 30'000);
    (void)server.run({"CONFIG", "SET", "maxmemory", "1"});
    const auto store = storeFor(server.socketUri());
    const auto refused = acquireAfterBarrier(*store);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Unavailable);
    QVERIFY2(textOf(refused).find("memory is full") != std::string::npos, textOf(refused).c_str());
    QVERIFY(server.run({"EXISTS", "job"}).number == 0); // nothing half done
    // Two whole leases later it still leads: its renewals are taken.
    const Instant validUntil = leader.elector.report().validUntil;
    QTRY_VERIFY_WITH_TIMEOUT(leader.elector.report().validUntil > validUntil + 1800ms, 30'000);
    QCOMPARE(leader.diary.count(false), 0U);
    // And gives back at once.
    leader.elector.stop(5s);
    QCOMPARE(server.run({"EXISTS", "billing/scheduler"}).number, 0);
}

void TstRedisRefusals::aDiskThatCannotBeSavedTo()
{
    RedisServer server({"--dbfilename", "gone.rdb"});
    (void)server.run({"CONFIG", "SET", "save", "3600 1"});
    // A directory of that name: the finished file cannot be put in its place.
    QVERIFY(QDir().mkpath(QString::fromStdString(server.path("gone.rdb/x"))));
    (void)server.run({"BGSAVE"});
    const auto failed = [&server] {
        return server.run({"INFO", "persistence"}).text.find("rdb_last_bgsave_status:err") != std::string::npos;
    };
    QTRY_VERIFY_WITH_TIMEOUT(failed(), 30'000);
    const auto store = storeFor(server.socketUri());
    const auto reply = acquireAfterBarrier(*store);
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::Unavailable);
    QVERIFY2(textOf(reply).find("disk") != std::string::npos, textOf(reply).c_str());
    QVERIFY(once(*store, Read{LeaseId::observed("job")})); // looking goes on
}

void TstRedisRefusals::aDataSetStillLoading()
{
    RedisServer server({"--dbfilename", "slow.rdb", "--rdbcompression", "no"});
    const std::string large(4000, 'x');
    for (int i = 0; i < 200; ++i)
        (void)server.run({"SET", "key" + std::to_string(i), large});
    (void)server.run({"SAVE"});
    server.kill();
    // 20 ms a key: this server loads for 4 s, and says so.
    RedisServer loading({"--dbfilename", "slow.rdb", "--dir", server.path(""), "--key-load-delay", "20000",
        "--loading-process-events-interval-bytes", "4096", "--rdbcompression", "no"});
    const auto store = storeFor(loading.socketUri());
    const auto reply = once(*store, Read{LeaseId::observed("job")});
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::Unavailable);
    QVERIFY2(textOf(reply).find("loading") != std::string::npos, textOf(reply).c_str());
    QTRY_VERIFY_WITH_TIMEOUT(once(*store, Read{LeaseId::observed("job")}).has_value(), 30'000);
}

void TstRedisRefusals::noRoomForAnotherClient()
{
    RedisServer server;
    (void)server.run({"CONFIG", "SET", "maxclients", "1"}); // which this very connection takes
    const auto store = storeFor(server.socketUri());
    const auto reply = once(*store, Read{LeaseId::observed("job")});
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::Unavailable);
    (void)server.run({"CONFIG", "SET", "maxclients", "10"});
    QVERIFY(once(*store, Read{LeaseId::observed("job")})); // by itself, as soon as there is room
}

void TstRedisRefusals::withoutTheRightToPublish()
{
    RedisServer server({"--user", "narrow", "on", ">pw", "~*", "resetchannels", "+@all", "-publish", "-psubscribe"});
    StoreUri uri = server.socketUri();
    uri.user = "narrow";
    uri.password = "pw";
    Candidate a(makeRedisBackend(uri).value(), "a", 600ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    Candidate b(makeRedisBackend(uri).value(), "b", 600ms);
    b.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.report().seen.has_value(), 30'000);
    a.elector.stop(5s);
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader(), 30'000); // found by looking, since nobody may tell
    QVERIFY(a.diary.followsGrammar());
}

void TstRedisRefusals::anIdleConnectionClosedByTheServer()
{
    RedisServer server({"--timeout", "1"});
    Candidate leader(makeRedisBackend(server.socketUri()).value(), "leader", 12s);
    leader.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(leader.elector.isLeader(), 30'000);
    // Renewals come 4 s apart: the server has closed the connection before each.
    for (int i = 0; i < 2; ++i) {
        const Instant before = leader.elector.report().validUntil;
        QTRY_VERIFY_WITH_TIMEOUT(leader.elector.report().validUntil > before, 30'000);
    }
    QCOMPARE(leader.diary.count(false), 0U);
}

void TstRedisRefusals::aLateRenewalDoesNotReviveWhatWasReleased()
{
    RedisServer server;
    TcpProxy proxy(server.port());
    StoreUri uri = server.tcpUri();
    uri.hosts.front().second = proxy.port();
    Candidate leader(makeRedisBackend(uri).value(), "leader", 1500ms);
    leader.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(leader.elector.isLeader(), 30'000);
    proxy.setMode(TcpProxy::Mode::SwallowReplies); // a renewal arrives, its answer does not
    const auto renewals = [&server] {
        const std::string renewed = server.run({"HGET", "{billing/scheduler}:tenure", "renewed_us"}).text;
        return renewed;
    };
    const std::string before = renewals();
    QTRY_VERIFY_WITH_TIMEOUT(renewals() != before, 30'000);
    proxy.setMode(TcpProxy::Mode::Pass);
    leader.elector.stop(5s);
    QCOMPARE(server.run({"EXISTS", "billing/scheduler"}).number, 0);
    QCOMPARE(server.run({"HGET", "{billing/scheduler}:tenure", "released"}).text, std::string("1"));
    QVERIFY(leader.diary.followsGrammar());
    QVERIFY(!leader.elector.isLeader());
}

QTEST_GUILESS_MAIN(TstRedisRefusals)
#include "tst_redis_refusals.moc"
