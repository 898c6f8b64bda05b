// SPDX-License-Identifier: GPL-3.0-or-later
// How electors end and begin again; numbers are rows of real faults of other libraries.
#include "tests/support/election_kit.h"

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

class ElectorStopTest final : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void givesBack();
    void startsAgainAHundredTimes();
    void isBoundedWhenTheBackendHangs();
    void isBoundedWhenAHandlerBlocks();
    void maySpeakFromInsideHandlers();
    void mayStopDuringTheFirstAcquire();
    void releaseSurvivesABrokenLink();
    void destructionAbandons();

private:
    std::shared_ptr<MemoryServer> m_server;
    std::shared_ptr<const Backend> m_backend;
};

void ElectorStopTest::init()
{
    m_server = std::make_shared<MemoryServer>(SystemClock::instance());
    m_backend = makeMemoryBackend(m_server, "memory:test");
}

/// 51, 52.
void ElectorStopTest::givesBack()
{
    Candidate a(m_backend, "a", 5000ms);
    QVERIFY(a.elector.stop()); // never started: nothing to do
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    QVERIFY(a.elector.token());
    QVERIFY(a.elector.stop());
    QVERIFY(!a.elector.isLeader());
    QVERIFY(!runIfLeader(a.elector, [](const LeadershipGuard &) { QFAIL("not the leader"); }));
    QCOMPARE(a.elector.report().phase, Phase::Stopped);
    QVERIFY(a.diary.followsGrammar());
    QCOMPARE(a.diary.entries().size(), std::size_t(2));
    const auto read = m_server->apply(Read{LeaseId::observed("billing/scheduler"), ReadDepth::Full});
    QVERIFY(read && !read->record.holder);
}

/// 25, 28, 54.
void ElectorStopTest::startsAgainAHundredTimes()
{
    Candidate a(m_backend, "a", 2000ms);
    for (int i = 0; i < 100; ++i) {
        a.elector.start();
        QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
        QVERIFY(a.elector.stop());
        QVERIFY(!a.elector.isLeader());
    }
    QCOMPARE(a.diary.entries().size(), std::size_t(200));
    QVERIFY(a.diary.followsGrammar());
}

/// 53, 55: also a call that ignores its deadline.
void ElectorStopTest::isBoundedWhenTheBackendHangs()
{
    Gate gate;
    std::atomic<bool> hanging = false;
    const auto backend = std::make_shared<HookedBackend>(m_backend,
        [&](LeaseStore &real, std::span<const Command> commands, Instant deadline) {
            if (hanging)
                gate.pass();
            return real.execute(commands, deadline);
        });
    Candidate a(backend, "a", 600ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    hanging = true;
    const Instant before = BootClock::now();
    QVERIFY(!a.elector.stop(300ms));
    QVERIFY(BootClock::now() - before < 1s);
    const std::size_t told = a.diary.entries().size();
    QTRY_VERIFY_WITH_TIMEOUT(!a.elector.isLeader(), 30'000);
    hanging = false;
    gate.open();
    QTest::qWait(200);
    QCOMPARE(a.diary.entries().size(), told); // nothing after stop() returned
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    QVERIFY(a.elector.stop());
    QVERIFY(a.diary.followsGrammar());
}

/// 49.
void ElectorStopTest::isBoundedWhenAHandlerBlocks()
{
    Gate gate;
    Candidate a(m_backend, "a", 600ms, {.inGained = [&](Elector &) { gate.pass(); }, .inLost = {}, .inChange = {}});
    a.elector.start();
    QTRY_COMPARE_WITH_TIMEOUT(gate.arrived(), 1, 30'000);
    const Instant before = BootClock::now();
    QVERIFY(!a.elector.stop(200ms));
    QVERIFY(BootClock::now() - before < 1s);
    gate.open();
    QTest::qWait(200);
    QCOMPARE(a.diary.entries().size(), std::size_t(1)); // onLost was not told after stop() returned
}

/// 48.
void ElectorStopTest::maySpeakFromInsideHandlers()
{
    const auto stop = [](Elector &elector) { elector.stop(); };
    {
        Candidate a(m_backend, "a", 600ms, {.inGained = stop, .inLost = {}, .inChange = {}});
        a.elector.start();
        QTRY_COMPARE_WITH_TIMEOUT(a.elector.report().phase, Phase::Stopped, 30'000);
        QCOMPARE(a.diary.entries().size(), std::size_t(2));
        QVERIFY(a.elector.stop()); // and from outside afterwards
    }
    {
        Candidate b(m_backend, "b", 600ms, {.inGained = {}, .inLost = stop, .inChange = {}});
        b.elector.start();
        QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader(), 30'000);
        b.elector.release();
        QTRY_COMPARE_WITH_TIMEOUT(b.elector.report().phase, Phase::Stopped, 30'000);
        QVERIFY(b.diary.followsGrammar());
    }
    {
        std::atomic<int> changes = 0;
        Candidate c(m_backend, "c", 600ms, {.inGained = {}, .inLost = {}, .inChange = [&](Elector &elector) {
            if (++changes == 1)
                elector.stop();
            (void)elector.report();
        }});
        c.elector.start();
        QTRY_COMPARE_WITH_TIMEOUT(c.elector.report().phase, Phase::Stopped, 30'000);
        QVERIFY(changes > 0);
    }
}

/// 44: and the acquire that may have got through is not left behind.
void ElectorStopTest::mayStopDuringTheFirstAcquire()
{
    Candidate a(m_backend, "a", 3000ms);
    a.faults->loseReplies = true;
    a.elector.start();
    QTRY_COMPARE_WITH_TIMEOUT(a.elector.report().phase, Phase::Attempting, 30'000);
    QTRY_VERIFY_WITH_TIMEOUT(m_server->apply(Read{LeaseId::observed("billing/scheduler"), ReadDepth::Full})->record.holder, 30'000);
    a.faults->loseReplies = false;
    QVERIFY(a.elector.stop());
    QVERIFY(!m_server->apply(Read{LeaseId::observed("billing/scheduler"), ReadDepth::Full})->record.holder);
}

/// 41.
void ElectorStopTest::releaseSurvivesABrokenLink()
{
    Candidate a(m_backend, "a", 3000ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    a.faults->failNext = 1;
    QVERIFY(a.elector.stop());
    QVERIFY(!m_server->apply(Read{LeaseId::observed("billing/scheduler"), ReadDepth::Full})->record.holder);
}

void ElectorStopTest::destructionAbandons()
{
    {
        Candidate a(m_backend, "a", 3000ms);
        a.elector.start();
        QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    }
    const auto read = m_server->apply(Read{LeaseId::observed("billing/scheduler"), ReadDepth::Full});
    QCOMPARE(read->record.holder, std::optional<std::string>("a"));
}

QTEST_GUILESS_MAIN(ElectorStopTest)
#include "tst_elector_stop.moc"
