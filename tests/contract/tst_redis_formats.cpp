// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_backend.h"
#include "core/backend/redis/redis_keys.h"
#include "redis_server.h"

#include <QTest>

#include <csignal>
#include <map>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

constexpr const char *kThread = "6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b:42";

Result<Reply> once(LeaseStore &store, const Command &command, Duration limit = 5s)
{
    return store.execute({&command, 1}, BootClock::now() + limit).front();
}

LeaseId id(const char *name)
{
    return LeaseId::observed(name);
}

} // namespace

class TstRedisFormats : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
        if (!RedisServer::installed())
            QSKIP("redis-server is not installed");
        m_server = std::make_unique<RedisServer>(std::vector<std::string>{
            "--user", "default", "on", "nopass", "~*", "&*", "+@all", "-info"});
        m_store = makeRedisBackend(m_server->socketUri()).value()->makeStore();
    }
    void init() { m_server->run({"FLUSHALL"}); }
    void cleanupTestCase()
    {
        m_store.reset();
        m_server.reset();
    }

    void kinds_data();
    void kinds();
    void cacheKeysAreNoLeases();
    void redissonLock();
    void otherTypesAreNamedAndKept();
    void hugeAndBinaryValues();
    void aPlainContenderIsHonoured();
    void aDeletedKeyKeepsOthersOut();
    void foreignLocksAreHeldAndClearedByComparison();
    void waitingIsOneCommand();
    void tenThousandAreListed();
    void companionsRoundTrip_data();
    void companionsRoundTrip();

private:
    std::map<std::string, LeaseRecord> listAll()
    {
        std::map<std::string, LeaseRecord> all;
        List list;
        do {
            const auto page = once(*m_store, list);
            if (!page)
                qFatal("%s", page.error().text().c_str());
            for (const LeaseRecord &record : page->records)
                all[record.lease.name()] = record;
            list.cursor = page->cursor;
        } while (!list.cursor.empty());
        return all;
    }

    std::unique_ptr<RedisServer> m_server;
    std::unique_ptr<LeaseStore> m_store;
};

void TstRedisFormats::kinds_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("holder");
    const QString hex = QStringLiteral("0123456789abcdef0123456789abcdef");
    QTest::newRow("redlock") << "jobs" << hex << "token" << hex;
    QTest::newRow("spring") << "registry:job"
                            << "6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b"
                            << "spring"
                            << "6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b";
    QTest::newRow("shedlock")
        << "job-lock:prod:report"
        << "ADDED:2026-01-01T10:00:00.1Z@web-1:6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b"
        << "shedlock"
        << "web-1";
    QTest::newRow("redbeat") << "redbeat::lock" << hex << "redbeat" << hex;
    QTest::newRow("resque") << "resque:resque_scheduler_master_lock"
                            << "web-1:4711"
                            << "resque-scheduler"
                            << "web-1:4711";
}

void TstRedisFormats::kinds()
{
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, kind);
    QFETCH(QString, holder);
    m_server->run({"SET", key.toStdString(), value.toStdString(), "NX", "PX", "50000"});
    const auto all = listAll();
    QCOMPARE(all.size(), std::size_t(1));
    const LeaseRecord &record = all.at(key.toStdString());
    QCOMPARE(record.kind, kind.toStdString());
    QCOMPARE(record.holder.value_or(""), holder.toStdString());
    QVERIFY(record.remaining && *record.remaining > 40s && *record.remaining <= 50s);
    QCOMPARE(record.version, value.toStdString());
}

void TstRedisFormats::cacheKeysAreNoLeases()
{
    m_server->run({"SET", "page:1", "<html>", "PX", "50000"});
    m_server->run({"SET", "user:1", "{\"name\":\"x\"}", "PX", "50000"});
    m_server->run({"SET", "counter", "17"});
    m_server->run({"SET", "session:lock-time", "0123456789abcdef", "PX", "864000000"});
    m_server->run({"SET", "bull:q:7:lock", "6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b", "PX", "30000"});
    m_server->run({"HSET", "profile", "name", "x", "age", "3"});
    m_server->run({"RPUSH", "list", "0123456789abcdef0123456789abcdef"});
    QVERIFY(listAll().empty());
}

void TstRedisFormats::redissonLock()
{
    m_server->run({"HSET", "r", kThread, "1"});
    m_server->run({"PEXPIRE", "r", "30000"});
    m_server->run({"RPUSH", "redisson_lock_queue:{r}", "next:1"});
    const auto all = listAll();
    QCOMPARE(all.size(), std::size_t(1));
    const LeaseRecord seen = all.at("r");
    QCOMPARE(seen.kind, std::string("redisson-fair"));
    QCOMPARE(seen.holder.value_or(""), std::string(kThread));
    QCOMPARE(seen.candidates, std::vector<std::string>{"next:1"});

    Operate operate{OperatorVerb::Hold, id("r"), seen.kind, seen.seen(), "anna", 60s};
    operate.expected.version = "somebody:else";
    QCOMPARE(once(*m_store, operate)->outcome, Outcome::Conflict);
    operate.expected = seen.seen();
    const auto held = once(*m_store, operate);
    QVERIFY2(held, held ? "" : held.error().text().c_str());
    QCOMPARE(held->outcome, Outcome::Done);
    QVERIFY(held->record.hold);
    QCOMPARE(held->record.hold->by, std::string("anna"));
    QVERIFY(held->record.hold->remaining > 50s);
    operate = {OperatorVerb::Clear, id("r"), seen.kind, held->record.seen(), "anna", 1s};
    QCOMPARE(once(*m_store, operate)->outcome, Outcome::Done);
    QCOMPARE(m_server->run({"EXISTS", "r"}).number, 0);
}

void TstRedisFormats::otherTypesAreNamedAndKept()
{
    m_server->run({"RPUSH", "job", "a", "b"});
    const Acquire acquire{id("job"), HolderId::parse("a").value(), Nonce::random(), 1s};
    for (const Command &command : {Command(acquire), Command(Read{id("job")})}) {
        const auto reply = once(*m_store, command);
        QVERIFY(!reply);
        QCOMPARE(reply.error().kind, ErrorKind::BadConfig);
        QVERIFY2(
            reply.error().what.find("list") != std::string::npos, reply.error().text().c_str());
    }
    QCOMPARE(m_server->run({"LLEN", "job"}).number, 2);
}

void TstRedisFormats::hugeAndBinaryValues()
{
    const std::string huge(1 << 20, 'x');
    m_server->run({"SET", "huge", huge, "PX", "50000"});
    const auto reply = once(*m_store, Read{id("huge")});
    QVERIFY(reply);
    QVERIFY(
        reply->record.holder && reply->record.raw.size() <= 4096 && !reply->record.note.empty());
    const Acquire acquire{id("huge"), HolderId::parse("a").value(), Nonce::random(), 1s};
    QCOMPARE(once(*m_store, acquire)->outcome, Outcome::Refused);
    const std::string binary("\0\xff\x80#\r\n", 6);
    m_server->run({"SET", "binary", binary, "PX", "50000"});
    QCOMPARE(once(*m_store, Read{id("binary")})->record.holder.value_or(""), binary);
}

void TstRedisFormats::aPlainContenderIsHonoured()
{
    m_server->run({"SET", "job", "plain-client", "NX", "PX", "150"});
    const Acquire acquire{id("job"), HolderId::parse("a").value(), Nonce::random(), 1s};
    const auto refused = once(*m_store, acquire);
    QCOMPARE(refused->outcome, Outcome::Refused);
    QCOMPARE(refused->record.holder.value_or(""), std::string("plain-client"));
    QVERIFY(refused->retryIn && *refused->retryIn <= 150ms);
    QTRY_COMPARE_WITH_TIMEOUT(once(*m_store, acquire)->outcome, Outcome::Done, 30'000);
    QCOMPARE(m_server->run({"SET", "job", "plain-client", "NX", "PX", "150"}).type,
        redis::RespValue::Type::Nil);
}

void TstRedisFormats::aDeletedKeyKeepsOthersOut()
{
    const Acquire first{id("job"), HolderId::parse("a").value(), Nonce::random(), 300ms};
    const auto granted = once(*m_store, first);
    QCOMPARE(granted->outcome, Outcome::Done);
    m_server->run({"DEL", "job"});
    const Acquire rival{id("job"), HolderId::parse("b").value(), Nonce::random(), 300ms};
    const auto refused = once(*m_store, rival);
    QCOMPARE(refused->outcome, Outcome::Refused);
    QVERIFY(refused->retryIn && *refused->retryIn > 0ms && *refused->retryIn <= 300ms);
    const Term term{first.holder, first.nonce, granted->record.token};
    QCOMPARE(once(*m_store, Renew{first.lease, term, 300ms})->outcome, Outcome::Lost);
    Result<Reply> later;
    QTRY_VERIFY_WITH_TIMEOUT((later = once(*m_store, rival))->outcome == Outcome::Done, 30'000);
    QVERIFY(later->record.token > granted->record.token);
}

void TstRedisFormats::foreignLocksAreHeldAndClearedByComparison()
{
    const std::string value = "0123456789abcdef0123456789abcdef";
    m_server->run({"SET", "lock", value, "PX", "30000"});
    const LeaseRecord seen = once(*m_store, Read{id("lock")})->record;
    QCOMPARE(seen.kind, std::string("token"));
    Operate operate{OperatorVerb::Clear, id("lock"), seen.kind, seen.seen(), "anna", 1s};
    m_server->run({"SET", "lock", "fedcba9876543210fedcba9876543210", "PX", "30000"});
    const auto changed = once(*m_store, operate);
    QCOMPARE(changed->outcome, Outcome::Conflict);
    QCOMPARE(changed->record.holder.value_or(""), std::string("fedcba9876543210fedcba9876543210"));
    operate.verb = OperatorVerb::Hold;
    operate.expected = changed->record.seen();
    const auto held = once(*m_store, operate);
    QCOMPARE(held->outcome, Outcome::Done);
    QVERIFY(held->record.hold && held->record.hold->remaining > 29s); // the victim's own time
    QCOMPARE(m_server->run({"SET", "lock", value, "NX"}).type, redis::RespValue::Type::Nil);
}

void TstRedisFormats::waitingIsOneCommand()
{
    m_server->run({"SET", "job", "plain-client", "PX", "30000"});
    const auto reply = once(*m_store, Read{id("job"), ReadDepth::Remaining});
    QVERIFY(reply && reply->record.holder && reply->retryIn);
    QVERIFY(*reply->retryIn > 29s && *reply->retryIn <= 30s);
    const auto vacant = once(*m_store, Read{id("none"), ReadDepth::Remaining});
    QVERIFY(vacant && !vacant->record.holder && !vacant->retryIn);
}

void TstRedisFormats::tenThousandAreListed()
{
    constexpr int kLeases = 10'000;
    std::vector<Command> batch;
    for (int i = 0; i < kLeases; ++i) {
        batch.emplace_back(Acquire{LeaseId::observed("lease-" + std::to_string(i)),
            HolderId::parse("h").value(), Nonce::random(), 60s});
    }
    const Instant before = BootClock::now();
    for (const auto &result : m_store->execute(batch, before + 20s))
        QVERIFY(result && result->outcome == Outcome::Done);
    const Instant began = BootClock::now();
    std::size_t rows = 0;
    std::map<std::string, int> seen;
    List list;
    do {
        const auto page = once(*m_store, list);
        QVERIFY(page);
        for (const LeaseRecord &record : page->records)
            ++seen[record.lease.name()];
        rows += page->records.size();
        list.cursor = page->cursor;
    } while (!list.cursor.empty());
    const auto ms = [](Duration d) { return std::chrono::duration_cast<Milliseconds>(d).count(); };
    qInfo("10000 leases: acquired in %lld ms, listed in %lld ms",
        static_cast<long long>(ms(began - before)),
        static_cast<long long>(ms(BootClock::now() - began)));
    QCOMPARE(seen.size(), std::size_t(kLeases));
    QCOMPARE(rows, std::size_t(kLeases)); // each only once
}

void TstRedisFormats::companionsRoundTrip_data()
{
    QTest::addColumn<QByteArray>("key");
    for (const char *key : {"a", "a b", "a\nb", "a:b", "{a}", "x{a}y", "{}", "a}b", "a{b", "*?[\\",
             "\xF0\x9F\x94\x92", "a:tenure", "{a}:tenure"})
        QTest::newRow(key) << QByteArray(key);
}

void TstRedisFormats::companionsRoundTrip()
{
    QFETCH(QByteArray, key);
    const std::string companion = redis::Keys::companion(key.toStdString());
    QCOMPARE(redis::Keys::keyOfCompanion(companion).value_or("?"), key.toStdString());
}

QTEST_GUILESS_MAIN(TstRedisFormats)
#include "tst_redis_formats.moc"
