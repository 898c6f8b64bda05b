// SPDX-License-Identifier: GPL-3.0-or-later
// Electors on real PostgreSQL servers that die, stop, fail over, and whose clocks are set.
#include "pg_kit.h"
#include "tests/support/faked_clock.h"

#include <QTest>


using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

class PgElectionTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void handsOverAtOnceWhenReleased();
    void takesOverAfterAnExpiry();
    void keepsLeadingWhenItsSessionsAreKilled();
    void aStoppedServerEndsBeliefInTime();
    void aRowLockedOverTheExpiryMakesNoSecondBeliever();
    void aFailoverMakesNoSecondBeliever();
    void aClockThatStepsAheadMakesNoSecondBeliever();
    void withoutATableItSaysWhatToDo();

private:
    std::unique_ptr<PostgresServer> m_server;
};

void PgElectionTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = std::make_unique<PostgresServer>();
}

void PgElectionTest::handsOverAtOnceWhenReleased()
{
    const StoreUri uri = m_server->socketUri("handover");
    makeTable(uri);
    Candidate a(backendOf(uri), "a", 60s);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    Candidate b(backendOf(uri), "b", 60s);
    b.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.report().seen.has_value(), 30'000);
    const FencingToken before = a.elector.token();
    a.elector.release();
    // Told by LISTEN: nobody waits for 60 s, nor for a poll of 20 s.
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader(), 15'000);
    QVERIFY(b.elector.token() > before);
    const auto events
        = m_server->run("SELECT string_agg(event, ' ' ORDER BY id), count(DISTINCT token) "
                        "FROM handover.tenure_history");
    QCOMPARE(events.text(0, 0), std::string_view("gained released gained"));
}

void PgElectionTest::takesOverAfterAnExpiry()
{
    const StoreUri uri = m_server->socketUri("expiry");
    makeTable(uri);
    Candidate standby(backendOf(uri), "standby", 2s);
    const auto store = backendOf(uri)->makeStore();
    const Command dies = Acquire{
        LeaseId::observed("billing/scheduler"), *HolderId::parse("dead"), Nonce::random(), 2s};
    QVERIFY(store->execute({&dies, 1}, BootClock::now() + 5s).front());
    standby.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(standby.elector.isLeader(), 30'000);
    const auto early = m_server->run(
        "SELECT g.at - d.at < interval '2 s' FROM expiry.tenure_history d, expiry.tenure_history g "
        "WHERE d.holder = 'dead' AND g.holder <> 'dead'");
    QVERIFY(!early.truth(0, 0));
}

void PgElectionTest::keepsLeadingWhenItsSessionsAreKilled()
{
    const StoreUri uri = m_server->socketUri("killed");
    makeTable(uri);
    Candidate a(backendOf(uri), "a", 3s);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    const FencingToken term = a.elector.token();
    for (int i = 0; i < 4; ++i) {
        m_server->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                      "application_name LIKE 'tenure/%' AND pid <> pg_backend_pid() "
                      "AND application_name <> 'tenure/test'");
        QTest::qWait(500);
    }
    QVERIFY(a.elector.isLeader());
    QCOMPARE(a.elector.token(), term);
    QCOMPARE(a.diary.count(false), 0U);
}

void PgElectionTest::aStoppedServerEndsBeliefInTime()
{
    PostgresServer server;
    makeTable(server.socketUri());
    Pair pair(server.socketUri(), 1s);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    const FencingToken before = pair.token();
    server.pause();
    QTRY_VERIFY_WITH_TIMEOUT(!pair.a.elector.isLeader() && !pair.b.elector.isLeader(), 30'000);
    server.resume();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads() && pair.token() > before, 20'000);
    server.kill();
    QTRY_VERIFY_WITH_TIMEOUT(!pair.a.elector.isLeader() && !pair.b.elector.isLeader(), 30'000);
    server.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

void PgElectionTest::aRowLockedOverTheExpiryMakesNoSecondBeliever()
{
    const StoreUri uri = m_server->socketUri("locked");
    makeTable(uri);
    Pair pair(uri, 1s);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    const FencingToken before = pair.token();
    const auto keeper = m_server->session("keeper");
    for (int i = 0; i < 3; ++i) {
        QVERIFY(keeper->script(
            "BEGIN; SELECT FROM locked.tenure_lease FOR UPDATE", BootClock::now() + 5s));
        QTRY_VERIFY_WITH_TIMEOUT(!pair.a.elector.isLeader() && !pair.b.elector.isLeader(), 30'000);
        QVERIFY(keeper->script("COMMIT", BootClock::now() + 5s));
        QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    }
    QVERIFY(pair.token() > before);
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

void PgElectionTest::aFailoverMakesNoSecondBeliever()
{
    auto primary = std::make_unique<PostgresServer>();
    makeTable(primary->tcpUri());
    PostgresServer standby(*primary, {});
    StoreUri both = primary->tcpUri();
    both.hosts.emplace_back("127.0.0.1", standby.port());
    Pair pair(both, 2s);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    const FencingToken before = pair.token();
    primary->kill();
    standby.promote();
    // Either the old term goes on (it was replicated in time), or a new one with a larger token
    // begins.
    QTest::qWait(4000); // whoever believed in the old primary's words has stopped
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 40'000);
    QVERIFY(pair.token() >= before);
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

void PgElectionTest::aClockThatStepsAheadMakesNoSecondBeliever()
{
    if (!FakedClock::installed())
        QSKIP("libfaketime is not installed");
    const FakedClock clock;
    PostgresServer server({}, clock.environment());
    makeTable(server.socketUri());
    const Screen screen(server.socketUri());
    Pair pair(server.socketUri(), 3s);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    // The screen counts down on its own clock: whatever the server's says, no more is left than was granted.
    const auto shown = [&] {
        const auto lease = screen.lease();
        return screen.leaseState() == LeaseState::Held && lease->record.token == pair.token() && lease->expiresAt
            && *lease->expiresAt <= BootClock::now() + 3s + 500ms;
    };
    QTRY_VERIFY_WITH_TIMEOUT(shown(), 30'000);
    QTRY_VERIFY_WITH_TIMEOUT(pair.a.elector.report().seen || pair.b.elector.report().seen, 30'000);
    for (const char *step :
        {"+3600", "+0", "+90"}) { // an hour ahead, back again, a minute and a half
        const FencingToken before = pair.token();
        clock.set(step);
        QTest::qWait(4000); // the moments at which a careless standby would believe too
        QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
        QVERIFY(pair.token() >= before);
        QTRY_VERIFY2_WITH_TIMEOUT(shown(), explainState(*screen.lease(), screen.state(), BootClock::now()).c_str(), 30'000);
    }
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

void PgElectionTest::withoutATableItSaysWhatToDo()
{
    Candidate a(backendOf(m_server->socketUri("nothing here")), "a", 2s);
    a.elector.start();
    const auto said = [&a] { return a.elector.report().error.value_or(Error()); };
    QTRY_COMPARE_WITH_TIMEOUT(said().kind, ErrorKind::BadConfig, 30'000); // a busy machine is told of first
    QTRY_VERIFY_WITH_TIMEOUT(said().remedy.find("tenurectl init") != std::string::npos, 30'000);
    const auto made
        = m_server->run("SELECT count(*) FROM pg_namespace WHERE nspname = 'nothing here'");
    QCOMPARE(made.number(0, 0), 0); // a candidate that was not told to makes nothing
    makeTable(m_server->socketUri("nothing here"));
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 60'000); // and it finds out by itself
}

QTEST_GUILESS_MAIN(PgElectionTest)
#include "tst_pg_election.moc"
