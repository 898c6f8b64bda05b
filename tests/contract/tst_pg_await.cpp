// SPDX-License-Identifier: GPL-3.0-or-later
// An acquire that comes a little before the holder's end and waits for it on a real server.
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"

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

Result<Reply> run(LeaseStore &store, const Command &command, Duration within = 20s)
{
    return std::move(store.execute({&command, 1}, in(within)).front());
}

LeaseId lease(std::string_view name = "billing/scheduler")
{
    return LeaseId::parse(name).value();
}

/// A term of `leader` that was granted just now.
Term gain(LeaseStore &store, Milliseconds ttl, const LeaseId &of = lease())
{
    Term term{*HolderId::parse("leader"), Nonce::random(), {}};
    const auto reply = run(store, Acquire{of, term.holder, term.nonce, ttl});
    if (!reply || reply->outcome != Outcome::Done)
        qFatal("not granted: %s", reply ? "held" : reply.error().text().c_str());
    term.token = reply->record.token;
    return term;
}

Acquire awaiting(Milliseconds wait, const LeaseId &of = lease(), bool thoughtFree = false)
{
    return {of, *HolderId::parse("standby"), Nonce::random(), 5s, wait, thoughtFree};
}

void eachStatement()
{
    QTest::addColumn<bool>("thoughtFree");
    QTest::newRow("the general statement") << false;
    QTest::newRow("the quick one first") << true;
}

} // namespace

class PgAwaitTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void theHoldersEndIsAwaited_data() { eachStatement(); }
    void theHoldersEndIsAwaited();
    void whoRenewsMeanwhileKeepsIt_data() { eachStatement(); }
    void whoRenewsMeanwhileKeepsIt();
    void whatIsReleasedMeanwhileIsGranted_data() { eachStatement(); }
    void whatIsReleasedMeanwhileIsGranted();
    void theEndOfAHoldIsAwaited_data() { eachStatement(); }
    void theEndOfAHoldIsAwaited();
    void whoseSessionIsKilledThereIsUnknown_data() { eachStatement(); }
    void whoseSessionIsKilledThereIsUnknown();
    void whatIsFarOffIsRefusedAtOnce_data();
    void whatIsFarOffIsRefusedAtOnce();
    void theRestOfABatchIsDoneFirst();

private:
    [[nodiscard]] bool somebodySleeps() const
    {
        return m_server->run("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'").truth(0, 0);
    }

    std::unique_ptr<PostgresServer> m_server;
    std::shared_ptr<const Backend> m_backend;
    std::unique_ptr<LeaseStore> m_leader, m_standby;
};

void PgAwaitTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = std::make_unique<PostgresServer>();
    m_backend = makePostgresBackend(m_server->socketUri()).value();
    QVERIFY(m_backend->traits().awaitsEnd > 0ms);
    QVERIFY(m_backend->makeStore()->init(false, in(10s)));
}

void PgAwaitTest::init()
{
    m_server->run("TRUNCATE tenure.tenure_lease, tenure.tenure_history");
    m_leader = m_backend->makeStore();
    m_standby = m_backend->makeStore();
}

void PgAwaitTest::theHoldersEndIsAwaited()
{
    QFETCH(bool, thoughtFree);
    const Term term = gain(*m_leader, 700ms);
    const auto reply = run(*m_standby, awaiting(5s, lease(), thoughtFree));
    QVERIFY(reply);
    QCOMPARE(reply->outcome, Outcome::Done);
    QVERIFY(reply->record.token > term.token);
    const auto gap = m_server->run("SELECT b.at - a.at >= interval '700 ms' FROM tenure.tenure_history a, "
                                   "tenure.tenure_history b WHERE a.holder = 'leader' AND b.holder = 'standby'");
    QVERIFY(gap.truth(0, 0)); // by the server's clock, not a moment before
}

void PgAwaitTest::whoRenewsMeanwhileKeepsIt()
{
    QFETCH(bool, thoughtFree);
    const Term term = gain(*m_leader, 3s);
    auto asked = std::async(std::launch::async, [&] { return run(*m_standby, awaiting(8s, lease(), thoughtFree)); });
    QTRY_VERIFY_WITH_TIMEOUT(somebodySleeps(), 10'000);
    const auto renewed = run(*m_leader, Renew{lease(), term, 30s}, 1s); // no row is locked meanwhile
    QVERIFY(renewed);
    QCOMPARE(renewed->outcome, Outcome::Done);
    const auto reply = asked.get();
    QVERIFY(reply);
    QCOMPARE(reply->outcome, Outcome::Refused);
    QCOMPARE(reply->record.token, term.token);
    QVERIFY(reply->retryIn && *reply->retryIn > 15s); // as it stands after the wait
}

void PgAwaitTest::whatIsReleasedMeanwhileIsGranted()
{
    QFETCH(bool, thoughtFree);
    const Term term = gain(*m_leader, 3s);
    auto asked = std::async(std::launch::async, [&] { return run(*m_standby, awaiting(8s, lease(), thoughtFree)); });
    QTRY_VERIFY_WITH_TIMEOUT(somebodySleeps(), 10'000);
    QCOMPARE(run(*m_leader, Release{lease(), term})->outcome, Outcome::Done);
    const auto reply = asked.get();
    QVERIFY(reply);
    QCOMPARE(reply->outcome, Outcome::Done);
    QVERIFY(reply->record.token > term.token);
    // And it stands there, though the row is another version than the one the statement began with.
    const auto again = run(*m_leader, Acquire{lease(), term.holder, Nonce::random(), 5s});
    QVERIFY(again);
    QCOMPARE(again->outcome, Outcome::Refused);
    QCOMPARE(again->record.holder, std::optional<std::string>("standby"));
    QCOMPARE(again->record.token, reply->record.token);
}

void PgAwaitTest::theEndOfAHoldIsAwaited()
{
    QFETCH(bool, thoughtFree);
    gain(*m_leader, 3s);
    const auto seen = run(*m_leader, Read{lease(), ReadDepth::Full});
    QVERIFY(seen);
    const Operate hold{OperatorVerb::Hold, lease(), "tenure", seen->record.seen(), "operator", 3s};
    QCOMPARE(run(*m_leader, hold)->outcome, Outcome::Done);
    const auto reply = run(*m_standby, awaiting(8s, lease(), thoughtFree));
    QVERIFY(reply);
    QCOMPARE(reply->outcome, Outcome::Done);
}

void PgAwaitTest::whoseSessionIsKilledThereIsUnknown()
{
    QFETCH(bool, thoughtFree);
    gain(*m_leader, 8s);
    auto asked = std::async(std::launch::async, [&] { return run(*m_standby, awaiting(9s, lease(), thoughtFree)); });
    QTRY_VERIFY_WITH_TIMEOUT(somebodySleeps(), 7'000);
    m_server->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    const auto reply = asked.get();
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::OutcomeUnknown);
}

void PgAwaitTest::whatIsFarOffIsRefusedAtOnce_data()
{
    QTest::addColumn<int>("waitMs");
    QTest::addColumn<int>("withinMs");
    QTest::newRow("not soon") << 10 << 20'000;
    QTest::newRow("soon, but half of the attempt's time is for its answer") << 3'600'000 << 4'000;
}

void PgAwaitTest::whatIsFarOffIsRefusedAtOnce()
{
    QFETCH(int, waitMs);
    QFETCH(int, withinMs);
    gain(*m_leader, 60s);
    const auto reply = run(*m_standby, awaiting(Milliseconds(waitMs)), Milliseconds(withinMs));
    QVERIFY(reply);
    QCOMPARE(reply->outcome, Outcome::Refused);
    QVERIFY(reply->retryIn && *reply->retryIn > 40s);
}

void PgAwaitTest::theRestOfABatchIsDoneFirst()
{
    const LeaseId mine = lease("mine");
    const LeaseId other = lease("other");
    gain(*m_leader, 60s);
    gain(*m_leader, 4s, other);
    const Term led = gain(*m_standby, 3s, mine);
    const std::vector<Command> batch{awaiting(8s), awaiting(8s, other), Renew{mine, led, 30s}};
    const auto replies = m_standby->execute(batch, in(20s));
    QVERIFY(replies[0] && replies[1] && replies[2]);
    QCOMPARE(replies[0]->outcome, Outcome::Refused); // nobody waits for what is far off
    QCOMPARE(replies[1]->outcome, Outcome::Done);
    QCOMPARE(replies[2]->outcome, Outcome::Done); // it did not wait until its term was over
    const auto renewed = m_server->run(
        "SELECT m.renewed_at < o.acquired_at FROM tenure.tenure_lease m, tenure.tenure_lease o "
        "WHERE m.name = 'mine' AND o.name = 'other'");
    QVERIFY(renewed.truth(0, 0));
}

QTEST_GUILESS_MAIN(PgAwaitTest)
#include "tst_pg_await.moc"
