// SPDX-License-Identifier: GPL-3.0-or-later
// Electors in real time on the memory backend; numbers are rows of real faults of other libraries.
#include "tests/support/election_kit.h"

#include <QScopeGuard>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

class ElectorTest final : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void neverTwoBelievers_data();
    void neverTwoBelievers();
    void lossIsToldBeforeValidityEnds();
    void onlyWritesExtendValidity();
    void validityCountsFromTheSending();
    void blockedHandlerProlongsNothing();
    void missedRenewalsCostNothing();
    void thrownHandlersAreContained();
    void releaseHandsOver();
    void drainKeepsTheLease();
    void drainIsBounded();
    void emptiedServerElectsAgain();
    void operatorMayAskToStepDown();
    void thousandsShareOneHost();

private:
    std::shared_ptr<MemoryServer> m_server;
    std::shared_ptr<const Backend> m_backend;
};

namespace
{

Candidate *leaderOf(std::vector<std::unique_ptr<Candidate>> &all)
{
    const auto found = std::ranges::find_if(all, [](const auto &one) { return one->elector.isLeader(); });
    return found == all.end() ? nullptr : found->get();
}

} // namespace

void ElectorTest::init()
{
    m_server = std::make_shared<MemoryServer>(SystemClock::instance());
    m_backend = makeMemoryBackend(m_server, "memory:test");
}

void ElectorTest::neverTwoBelievers_data()
{
    QTest::addColumn<int>("electors");
    QTest::addColumn<QString>("fault");
    for (const int electors : {2, 5}) {
        for (const char *fault : {"freeze", "cut", "lose replies"})
            QTest::addRow("%d, %s", electors, fault) << electors << QString::fromLatin1(fault);
    }
}

/// 1, 2, 24, 26, 51, 52.
void ElectorTest::neverTwoBelievers()
{
    QFETCH(int, electors);
    QFETCH(QString, fault);
    std::vector<std::unique_ptr<Candidate>> all;
    std::vector<const Elector *> watched;
    for (int i = 0; i < electors; ++i) {
        all.push_back(std::make_unique<Candidate>(m_backend, std::to_string(i).c_str(), 400ms));
        watched.push_back(&all.back()->elector);
    }
    const BelieverWatch watch(watched);
    for (const auto &one : all)
        one->elector.start();
    for (int round = 0; round < 3; ++round) {
        Candidate *victim = nullptr;
        QTRY_VERIFY_WITH_TIMEOUT((victim = leaderOf(all)), 30'000);
        const FencingToken before = victim->elector.token();
        if (fault == "freeze")
            victim->host.freeze();
        else if (fault == "cut")
            victim->faults->cutOff = true;
        else
            victim->faults->loseReplies = true;
        // Somebody else takes over, with a larger token, while the victim cannot know.
        Candidate *next = nullptr;
        QTRY_VERIFY_WITH_TIMEOUT((next = leaderOf(all)) && next != victim, 30'000);
        QVERIFY(next->elector.token() > before);
        QVERIFY(!victim->elector.isLeader());
        victim->host.thaw();
        victim->faults->cutOff = false;
        victim->faults->loseReplies = false;
        QTRY_COMPARE_WITH_TIMEOUT(victim->diary.count(true), victim->diary.count(false), 30'000);
        QTRY_COMPARE_WITH_TIMEOUT(victim->elector.report().phase, Phase::Waiting, 30'000); // a candidate again
    }
    for (const auto &one : all) {
        QVERIFY(one->elector.stop());
        QVERIFY(one->diary.followsGrammar());
        QCOMPARE(one->diary.count(true), one->diary.count(false));
    }
    QVERIFY(watch.looks() > 100);
    QCOMPARE(watch.overlaps(), 0);
}

/// 5, P5.
void ElectorTest::lossIsToldBeforeValidityEnds()
{
    Candidate a(m_backend, "a", 4s); // the time to stop grows with it: a busy machine needs some
    a.elector.start();
    QTRY_COMPARE_WITH_TIMEOUT(a.diary.count(true), std::size_t(1), 30'000);
    a.faults->cutOff = true;
    QTRY_COMPARE_WITH_TIMEOUT(a.diary.count(false), std::size_t(1), 30'000);
    const auto lost = a.diary.entries().back();
    QCOMPARE(lost.reason, LossReason::DeadlinePassed);
    QVERIFY2(lost.at < lost.validUntil, "the work was told too late to stop");
    QTRY_VERIFY_WITH_TIMEOUT(!a.elector.isLeader(), 30'000);
}

/// 14: reading works, renewing fails.
void ElectorTest::onlyWritesExtendValidity()
{
    std::atomic<bool> failing = false;
    const auto backend = std::make_shared<HookedBackend>(m_backend,
        [&](LeaseStore &real, std::span<const Command> commands, Instant deadline) {
            auto results = real.execute(commands.first(failing ? 0 : commands.size()), deadline);
            if (failing) {
                for (const Command &command : commands) {
                    results.push_back(std::holds_alternative<Read>(command)
                            ? real.execute(std::span(&command, 1), deadline).front()
                            : Result<Reply>(fail(ErrorKind::Unavailable, "read-only replica")));
                }
            }
            return results;
        });
    Candidate a(backend, "a", 500ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    failing = true;
    QTRY_VERIFY_WITH_TIMEOUT(!a.elector.isLeader(), 1000);
    QTRY_COMPARE_WITH_TIMEOUT(a.diary.count(false), std::size_t(1), 30'000);
    QVERIFY(a.elector.report().error.has_value());
    failing = false;
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
}

/// 18.
void ElectorTest::validityCountsFromTheSending()
{
    Candidate a(m_backend, "a", 1000ms);
    a.faults->latencyMs = 100;
    a.elector.start();
    QTRY_COMPARE_WITH_TIMEOUT(a.diary.count(true), std::size_t(1), 30'000);
    const auto gained = a.diary.entries().front();
    QVERIFY(gained.validUntil <= gained.at - 100ms + 1000ms - timingOf(1000ms).margin());
}

/// 4, 49: isLeader() goes by the clock, others take over, and another elector of the same host is
/// told of its own loss in time.
void ElectorTest::blockedHandlerProlongsNothing()
{
    Gate gate;
    Candidate a(m_backend, "a", 1500ms, {.inGained = {}, .inLost = [&](Elector &) { gate.pass(); }, .inChange = {}});
    Diary neighbourDiary;
    ElectorCallbacks callbacks;
    std::atomic<Elector *> self = nullptr;
    callbacks.onLost = [&](const Term &term, LossReason reason) {
        neighbourDiary.add({false, term, reason, BootClock::now(), self.load()->report().validUntil});
    };
    Elector neighbour(a.host, LeaseId::observed("other"), *HolderId::parse("n"), timingOf(2500ms), callbacks);
    const auto opened = qScopeGuard([&] { gate.open(); });
    self = &neighbour;
    a.elector.start();
    neighbour.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader() && neighbour.isLeader(), 30'000);
    Candidate b(m_backend, "b", 1500ms);
    b.elector.start();
    a.faults->cutOff = true;
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader(), 30'000);
    QVERIFY(!a.elector.isLeader());
    QTRY_COMPARE_WITH_TIMEOUT(gate.arrived(), 1, 30'000);
    QTRY_COMPARE_WITH_TIMEOUT(neighbourDiary.count(false), std::size_t(1), 30'000);
    const auto told = neighbourDiary.entries().front();
    QVERIFY2(told.at < told.validUntil, "a blocked handler delayed its neighbour's");
}

/// 6, 27, 40, 62.
void ElectorTest::missedRenewalsCostNothing()
{
    Candidate a(m_backend, "a", 900ms);
    Candidate b(m_backend, "b", 900ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    b.elector.start();
    const FencingToken token = a.elector.token();
    const Instant end = BootClock::now() + 4s;
    for (int i = 0; BootClock::now() < end; ++i) {
        a.faults->failNext = 1;
        a.faults->loseReplies = i % 2 == 0;
        QTest::qWait(120); // shorter than an attempt: the answer is lost, not the whole line
        a.faults->loseReplies = false;
        QTest::qWait(250);
    }
    QVERIFY(a.elector.isLeader());
    QCOMPARE(a.elector.token(), token);
    QCOMPARE(a.diary.entries().size(), std::size_t(1));
    QCOMPARE(b.diary.entries().size(), std::size_t(0));
}

void ElectorTest::thrownHandlersAreContained()
{
    const auto thrower = [](Elector &) { throw std::runtime_error("boom"); };
    Candidate a(m_backend, "a", 500ms, {.inGained = thrower, .inLost = thrower, .inChange = {}});
    Candidate b(m_backend, "b", 500ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.report().error.has_value(), 30'000);
    QVERIFY(a.elector.report().error->what.find("boom") != std::string::npos);
    QVERIFY(a.elector.isLeader());
    b.elector.start();
    a.elector.release();
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader(), 30'000);
}

/// 28: and the one who gave back competes again.
void ElectorTest::releaseHandsOver()
{
    Candidate a(m_backend, "a", 3000ms);
    Candidate b(m_backend, "b", 3000ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    b.elector.start();
    QTRY_COMPARE_WITH_TIMEOUT(b.elector.report().phase, Phase::Waiting, 30'000);
    const BelieverWatch watch({&a.elector, &b.elector});
    std::vector<double> lags;
    Candidate *from = &a;
    Candidate *to = &b;
    for (int i = 0; i < 6; ++i) {
        const std::size_t before = to->diary.count(true);
        from->elector.release();
        QTRY_COMPARE_WITH_TIMEOUT(to->diary.count(true), before + 1, 30'000);
        const auto lost = from->diary.entries().back();
        QCOMPARE(lost.reason, LossReason::GivenBack);
        lags.push_back(double((to->diary.entries().back().at - lost.at).count()) / 1e6);
        std::swap(from, to);
        QTRY_COMPARE_WITH_TIMEOUT(to->elector.report().phase, Phase::Waiting, 3000);
        QTest::qWait(int(timingOf(3000ms).renewEvery() / 1ms)); // it holds back for so long
    }
    std::ranges::sort(lags);
    qInfo("{\"handover_ms\":{\"p50\":%.2f,\"max\":%.2f}}", lags[lags.size() / 2], lags.back());
    QVERIFY2(lags[lags.size() / 2] < 300, "the successor waited for a poll, not for the push");
    QCOMPARE(watch.overlaps(), 0);
}

/// 45, 46.
void ElectorTest::drainKeepsTheLease()
{
    Gate gate;
    Candidate a(m_backend, "a", 400ms, {.inGained = {}, .inLost = [&](Elector &) { gate.pass(); }, .inChange = {}});
    Candidate b(m_backend, "b", 400ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    const FencingToken drained = a.elector.token();
    b.elector.start();
    a.elector.release();
    QTRY_COMPARE_WITH_TIMEOUT(gate.arrived(), 1, 30'000);
    QTest::qWait(1000); // more than two ttl: without renewals the lease would be gone
    QCOMPARE(b.diary.entries().size(), std::size_t(0));
    gate.open();
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader() && b.elector.token() > drained, 30'000); // given back, and to the other
}

/// 45: but not for ever.
void ElectorTest::drainIsBounded()
{
    Gate gate;
    Candidate a(m_backend, "a", 400ms,
        {.inGained = {}, .inLost = [&](Elector &) { gate.pass(); }, .inChange = {}, .drainLimit = 500ms});
    Candidate b(m_backend, "b", 400ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    b.elector.start();
    a.elector.release();
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader(), 30'000);
    QCOMPARE(gate.arrived(), 1);
    QVERIFY(!a.elector.isLeader());
    gate.open();
}

/// 24.
void ElectorTest::emptiedServerElectsAgain()
{
    Candidate a(m_backend, "a", 500ms);
    Candidate b(m_backend, "b", 500ms);
    const BelieverWatch watch({&a.elector, &b.elector});
    a.elector.start();
    b.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader() || b.elector.isLeader(), 30'000);
    const std::uint64_t token = std::max(a.elector.token(), b.elector.token()).value;
    m_server->restartEmpty();
    QTRY_VERIFY_WITH_TIMEOUT(std::max(a.elector.token(), b.elector.token()).value > token, 30'000);
    QCOMPARE(watch.overlaps(), 0);
}

void ElectorTest::operatorMayAskToStepDown()
{
    Candidate a(m_backend, "a", 600ms);
    Candidate b(m_backend, "b", 600ms);
    a.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(a.elector.isLeader(), 30'000);
    b.elector.start();
    const auto read = m_server->apply(Read{LeaseId::observed("billing/scheduler"), ReadDepth::Full});
    QVERIFY(read);
    Operate operate;
    operate.verb = OperatorVerb::Ask;
    operate.lease = LeaseId::observed("billing/scheduler");
    operate.expected = read->record.seen();
    operate.by = "op1";
    operate.duration = 2000ms;
    const auto asked = m_server->apply(operate);
    QVERIFY(asked && asked->outcome == Outcome::Done);
    QTRY_VERIFY_WITH_TIMEOUT(b.elector.isLeader(), 30'000);
    QCOMPARE(a.diary.entries().back().reason, LossReason::SteppedDown);
}

void ElectorTest::thousandsShareOneHost()
{
    constexpr std::size_t kElectors = 2000;
    std::atomic<std::uint64_t> batches = 0;
    std::atomic<std::uint64_t> renewals = 0;
    const auto backend = std::make_shared<HookedBackend>(m_backend,
        [&](LeaseStore &real, std::span<const Command> commands, Instant deadline) {
            ++batches;
            renewals += std::uint64_t(std::ranges::count_if(
                commands, [](const Command &command) { return std::holds_alternative<Renew>(command); }));
            return real.execute(commands, deadline);
        });
    ElectorHost host(backend);
    std::vector<std::unique_ptr<Elector>> electors;
    for (std::size_t i = 0; i < kElectors; ++i) {
        electors.push_back(std::make_unique<Elector>(host, LeaseId::observed("shard/" + std::to_string(i)),
            *HolderId::parse("a"), timingOf(6000ms)));
    }
    for (const auto &elector : electors)
        elector->start();
    const auto leading = [&] {
        return std::size_t(std::ranges::count_if(electors, [](const auto &one) { return one->isLeader(); }));
    };
    QTRY_COMPARE_WITH_TIMEOUT(leading(), kElectors, 20000);
    const std::uint64_t batchesBefore = batches;
    QTRY_VERIFY_WITH_TIMEOUT(renewals >= 3 * kElectors, 30000);
    QCOMPARE(leading(), kElectors);
    for (const auto &elector : electors)
        QCOMPARE(elector->report().lost, std::uint64_t(0));
    qInfo("{\"renewals\":%llu,\"batches\":%llu}", static_cast<unsigned long long>(renewals),
        static_cast<unsigned long long>(batches - batchesBefore));
    QVERIFY(batches - batchesBefore < renewals);
}

QTEST_GUILESS_MAIN(ElectorTest)
#include "tst_elector.moc"
