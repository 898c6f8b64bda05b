// SPDX-License-Identifier: GPL-3.0-or-later
// Statements for the usual case of one lease on a real server: they judge as the general ones do, or leave
// it to them.
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"
#include "tests/support/faked_clock.h"

#include <QTest>

#include <future>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Instant in(Duration time)
{
    return BootClock::now() + time;
}

LeaseId lease(std::string_view name)
{
    return LeaseId::parse(name).value();
}

const Nonce kNonce(1, 2);
const Nonce kOther(3, 4);

Acquire acquire(std::string_view name, bool thoughtFree)
{
    return {lease(name), *HolderId::parse("me"), kNonce, 5s, {}, thoughtFree};
}

Release release(std::string_view name)
{
    return {lease(name), Term{*HolderId::parse("me"), kNonce, {7}}};
}

} // namespace

class PgQuickTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void acquiresJudgeAlike_data();
    void acquiresJudgeAlike();
    void releasesJudgeAlike_data();
    void releasesJudgeAlike();
    void aClockThatStepsAheadGrantsNothing();
    void whatIsLockedIsWaitedFor();
    void aLockedTermThatRunsOutIsNotReleased();
    void aReleaseWaitsForNoReplica();

private:
    Result<Reply> run(const Command &command)
    {
        return std::move(m_store->execute({&command, 1}, in(20s)).front());
    }
    /// Two rows that differ in their names alone.
    void makeRows(const QByteArray &values) const
    {
        m_server->run("INSERT INTO tenure.tenure_lease (name, holder, nonce, token, ttl_ms, acquired_at, renewed_at, "
                      "expires_at, released) SELECT name, 'me', $1, 7, 120000, now() - interval '9 s', now() - "
                      "interval '4 s', now() + interval '1 min', false FROM unnest('{quick,general}'::text[]) name",
            {kNonce.hex()});
        m_server->run("UPDATE tenure.tenure_lease SET " + values.toStdString());
    }
    /// What became of a row, and what was noted of it, without what differs from moment to moment.
    [[nodiscard]] std::string rowOf(const char *name) const
    {
        const auto rows = m_server->run(
            "SELECT concat_ws('/', holder, nonce, token > 7, token > 1e15, ttl_ms, CASE WHEN expires_at > now() "
            "THEN round(extract(epoch FROM expires_at - renewed_at)) END, acquired_at = renewed_at, "
            "acquired_at < now() - interval '1 s', transitions, released, ask_ms, out_holder, out_until > now(), "
            "hold_by, hold_until > now(), (SELECT concat_ws('/', event, h.holder, h.token = l.token, by, "
            "at IN (expires_at, acquired_at)) FROM tenure.tenure_history h WHERE lease = name)) "
            "FROM tenure.tenure_lease l WHERE name = $1",
            {std::string(name)});
        return std::string(rows.text(0, 0));
    }
    /// Whether the last command was carried out by the quick statement, and nothing else was asked.
    [[nodiscard]] bool wentQuickly() const
    {
        return m_server
            ->run("SELECT query LIKE '%SKIP LOCKED%' FROM pg_stat_activity WHERE application_name = 'tenure/store'")
            .truth(0, 0);
    }
    [[nodiscard]] std::int64_t waiting() const
    {
        return m_server->run("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").number(0, 0);
    }

    std::unique_ptr<PostgresServer> m_server;
    std::unique_ptr<LeaseStore> m_store;
};

void PgQuickTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = std::make_unique<PostgresServer>();
    m_store = makePostgresBackend(m_server->socketUri()).value()->makeStore();
    QVERIFY(m_store->init(false, in(10s)));
}

void PgQuickTest::init()
{
    m_server->run("TRUNCATE tenure.tenure_lease, tenure.tenure_history");
}

void PgQuickTest::acquiresJudgeAlike_data()
{
    QTest::addColumn<QByteArray>("values");
    QTest::addColumn<bool>("granted");
    QTest::addColumn<bool>("quickly");
    const auto row = [](const char *name, const QByteArray &values, bool granted, bool quickly) {
        QTest::newRow(name) << values << granted << quickly;
    };
    const QByteArray ended = "holder = 'her', expires_at = now() - interval '1 s'";
    const QByteArray given = ended + ", released = true";
    const QByteArray anothers = QByteArray("nonce = '") + kOther.hex().c_str() + "'";
    row("given back", given, true, true);
    row("run out", ended, true, true);
    row("its own, run out", "expires_at = now() - interval '1 s'", true, true);
    row("never held", "holder = '', nonce = '', token = 0, expires_at = 'epoch'", true, true);
    row("a token from a clock ahead", given + ", token = 4e15", true, true);
    row("held", "holder = 'her'", false, false);
    row("held, but the clock went back", "holder = 'her', ttl_ms = 5000", false, false);
    row("the same acquire again", "transitions = 3", true, false);
    row("the same holder, another term", anothers, false, false);
    row("on hold", given + ", hold_by = 'op', hold_until = now() + interval '1 min'", false, false);
    row("the hold is over", given + ", hold_by = 'op', hold_until = now()", true, true);
    row("asked to stay out", given + ", out_holder = 'me', out_until = now() + interval '1 min'", false, false);
    row("stayed out long enough", given + ", out_holder = 'me', out_until = now()", true, true);
    row("another stays out", given + ", out_holder = 'her', out_until = now() + interval '1 min'", true, true);
    row("ran out when asked to leave", "expires_at = now() - interval '1 s', ask_ms = 60000", false, false);
    row("another ran out when asked", ended + ", ask_ms = 60000", true, false);
    row("given back, but the clock went back", "holder = 'her', released = true", false, false);
}

void PgQuickTest::acquiresJudgeAlike()
{
    QFETCH(QByteArray, values);
    QFETCH(bool, granted);
    QFETCH(bool, quickly);
    makeRows(values);
    const auto quick = run(acquire("quick", true));
    QCOMPARE(wentQuickly(), quickly);
    const auto general = run(acquire("general", false));
    QVERIFY(quick && general);
    QCOMPARE(quick->outcome == Outcome::Done, granted);
    QCOMPARE(quick->outcome, general->outcome);
    QCOMPARE(rowOf("quick"), rowOf("general"));
    // And what is told is what stands there.
    const auto read = run(Read{lease("quick"), ReadDepth::Full});
    QVERIFY(read);
    QCOMPARE(quick->record.holder, read->record.holder);
    QCOMPARE(quick->record.nonce, read->record.nonce);
    QCOMPARE(quick->record.token, read->record.token);
    QCOMPARE(quick->record.ttl, read->record.ttl);
    QCOMPARE(quick->record.acquiredAt, read->record.acquiredAt);
    QCOMPARE(quick->record.renewedAt, read->record.renewedAt);
    QCOMPARE(quick->record.transitions, read->record.transitions);
    QCOMPARE(quick->record.remaining.has_value(), general->record.remaining.has_value());
}

void PgQuickTest::releasesJudgeAlike_data()
{
    QTest::addColumn<QByteArray>("values");
    QTest::addColumn<bool>("released");
    QTest::addColumn<bool>("quickly");
    const auto row = [](const char *name, const QByteArray &values, bool released, bool quickly) {
        QTest::newRow(name) << values << released << quickly;
    };
    row("its own", "transitions = 3", true, true);
    row("asked to step down", "ask_ms = 60000", true, false);
    row("run out", "expires_at = now() - interval '1 s'", false, false);
    row("given back before", "expires_at = now() - interval '1 s', released = true", false, false);
    row("another holder's", "holder = 'her'", false, false);
    row("another attempt's", QByteArray("nonce = '") + kOther.hex().c_str() + "'", false, false);
    row("another term's", "token = 8", false, false);
}

void PgQuickTest::releasesJudgeAlike()
{
    QFETCH(QByteArray, values);
    QFETCH(bool, released);
    QFETCH(bool, quickly);
    makeRows(values);
    const auto quick = run(release("quick"));
    QCOMPARE(wentQuickly(), quickly);
    const std::vector<Command> several{release("general"), release("no such lease")};
    const auto general = std::move(m_store->execute(several, in(20s)).front());
    QVERIFY(quick && general);
    QCOMPARE(quick->outcome, released ? Outcome::Done : Outcome::Lost);
    QCOMPARE(quick->outcome, general->outcome);
    QCOMPARE(rowOf("quick"), rowOf("general"));
    QCOMPARE(quick->record.holder, general->record.holder);
    QCOMPARE(quick->record.released, general->record.released);
    QCOMPARE(quick->record.token, general->record.token);
}

/// It may have stepped, or forgotten who holds what: nobody is granted a term until one ttl went by.
void PgQuickTest::aClockThatStepsAheadGrantsNothing()
{
    if (!test::FakedClock::installed())
        QSKIP("libfaketime is not installed");
    const test::FakedClock clock;
    PostgresServer server({}, clock.environment());
    const auto backend = makePostgresBackend(server.socketUri()).value();
    const auto hers = backend->makeStore();
    const auto mine = backend->makeStore();
    QVERIFY(hers->init(false, in(10s)));
    const auto ask = [](LeaseStore &store, const Command &command) {
        return std::move(store.execute({&command, 1}, in(20s)).front());
    };
    Acquire her = acquire("l", false);
    her.holder = *HolderId::parse("her");
    her.ttl = 30s;
    const auto granted = ask(*hers, her);
    QVERIFY(granted);
    QCOMPARE(granted->outcome, Outcome::Done);
    Acquire me = acquire("l", true);
    me.nonce = kOther;
    me.ttl = 30s;
    QCOMPARE(ask(*mine, me)->outcome, Outcome::Refused);
    clock.set("+90"); // between two statements of a session: nobody was told by then
    const auto run = ask(*mine, me);
    QVERIFY(run);
    QCOMPARE(run->outcome, Outcome::Refused); // by its clock her term is over
    QVERIFY(run->epochBarrier);
    server.run("UPDATE tenure.tenure_lease SET released = true, expires_at = clock_timestamp()");
    const auto given = ask(*mine, me);
    QVERIFY(given);
    QCOMPARE(given->outcome, Outcome::Refused); // even what is given back by then
    QVERIFY(given->epochBarrier);
}

void PgQuickTest::whatIsLockedIsWaitedFor()
{
    makeRows("holder = 'her', expires_at = now() - interval '1 s', released = true");
    const auto keeper = m_server->session("keeper");
    QVERIFY(keeper->script("BEGIN; SELECT FROM tenure.tenure_lease WHERE name = 'quick' FOR UPDATE", in(5s)));
    auto asked = std::async(std::launch::async, [&] { return run(acquire("quick", true)); });
    QTRY_COMPARE_WITH_TIMEOUT(waiting(), 1, 10'000);
    const std::string now(m_server->run("SELECT clock_timestamp()").text(0, 0));
    QVERIFY(keeper->script("COMMIT", in(5s)));
    const auto reply = asked.get();
    QVERIFY(reply);
    QCOMPARE(reply->outcome, Outcome::Done);
    const auto after = m_server->run(
        "SELECT acquired_at > $1::timestamptz FROM tenure.tenure_lease WHERE name = 'quick'", {now});
    QVERIFY(after.truth(0, 0));
}

void PgQuickTest::aLockedTermThatRunsOutIsNotReleased()
{
    makeRows("expires_at = now() + interval '3 s'");
    const auto keeper = m_server->session("keeper");
    QVERIFY(keeper->script("BEGIN; SELECT FROM tenure.tenure_lease WHERE name = 'quick' FOR UPDATE", in(5s)));
    auto asked = std::async(std::launch::async, [&] { return run(release("quick")); });
    QTRY_COMPARE_WITH_TIMEOUT(waiting(), 1, 10'000);
    QTRY_VERIFY_WITH_TIMEOUT(
        m_server->run("SELECT bool_and(expires_at < now()) FROM tenure.tenure_lease").truth(0, 0), 10'000);
    QVERIFY(keeper->script("COMMIT", in(5s)));
    const auto reply = asked.get();
    QVERIFY(reply);
    QCOMPARE(reply->outcome, Outcome::Lost);
}

/// Nor for the disk: the next grant's commit waits for both.
void PgQuickTest::aReleaseWaitsForNoReplica()
{
    PostgresServer server;
    const auto backend = makePostgresBackend(server.socketUri()).value();
    const auto store = backend->makeStore();
    const auto other = backend->makeStore();
    QVERIFY(store->init(false, in(10s)));
    Acquire mine = acquire("l", false);
    mine.ttl = 60s;
    const Command ask = mine;
    const auto granted = std::move(store->execute({&ask, 1}, in(10s)).front());
    QVERIFY(granted);
    server.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    server.run("SELECT pg_reload_conf()");
    const auto forReplicas = [&] {
        return server.run("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").number(0, 0);
    };
    const auto writer = server.session("writer");
    auto written = std::async(
        std::launch::async, [&] { return writer->script("CREATE TABLE public.t ()", in(60s)).has_value(); });
    QTRY_COMPARE_WITH_TIMEOUT(forReplicas(), 1, 20'000); // whoever commits now waits
    const Term term{mine.holder, mine.nonce, granted->record.token};
    const Command give = Release{mine.lease, term};
    const Instant began = BootClock::now();
    const auto released = std::move(store->execute({&give, 1}, in(30s)).front());
    QVERIFY(released);
    QCOMPARE(released->outcome, Outcome::Done);
    QVERIFY(BootClock::now() - began < 15s); // else: until the server gives up waiting
    mine.nonce = kOther;
    mine.thoughtFree = true;
    auto next = std::async(std::launch::async, [&, take = Command(mine)] {
        return std::move(other->execute({&take, 1}, in(30s)).front());
    });
    QTRY_COMPARE_WITH_TIMEOUT(forReplicas(), 2, 10'000);
    server.run("ALTER SYSTEM RESET synchronous_standby_names");
    server.run("SELECT pg_reload_conf()");
    const auto taken = next.get();
    QVERIFY(taken);
    QCOMPARE(taken->outcome, Outcome::Done);
    QVERIFY(written.get());
}

QTEST_GUILESS_MAIN(PgQuickTest)
#include "tst_pg_quick.moc"
