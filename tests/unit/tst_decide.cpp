// SPDX-License-Identifier: GPL-3.0-or-later
// decide() as tables: every row of the fault table of DESIGN.md section 3, and the rules around it.
#include "core/election/election.h"

#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

constexpr Instant kStart{1000s};

/// One elector driven by hand: keeps the clock, remembers what was sent and told.
struct Driver {
    ElectionRules rules{Timing::make({.ttl = 15s}).value(), 30s};
    ElectionState state;
    Instant now = kStart;
    Actions last;
    double draw = 0.5;
    std::uint64_t nonces = 0;

    Actions &feed(Event event)
    {
        event.now = now;
        event.draw = draw;
        event.fresh = Nonce(7, ++nonces);
        last = decide(rules, state, event);
        return last;
    }
    Actions &tick(Duration by)
    {
        now += by;
        return feed({.kind = Event::Kind::Timer});
    }
    /// Lets time pass to the next wake-up.
    Actions &wake()
    {
        now = std::max(now, state.wakeAt);
        return feed({.kind = Event::Kind::Timer});
    }
    Actions &fault(FaultClass fault)
    {
        return feed({.kind = Event::Kind::Fault, .request = state.request, .fault = fault});
    }
    void lead()
    {
        feed({.kind = Event::Kind::Start});
        const Instant sent = now;
        now += 10ms;
        feed({.kind = Event::Kind::Granted, .request = state.request, .sentAt = sent, .token = {41}});
    }
    Actions &renewed(Duration roundTrip = 10ms)
    {
        const Instant sent = now;
        now += roundTrip;
        return feed({.kind = Event::Kind::Renewed, .request = state.request, .sentAt = sent});
    }
    Actions &refused(std::optional<Duration> retryIn, bool epoch = false)
    {
        const Instant sent = now;
        now += 1ms;
        return feed({.kind = Event::Kind::Refused,
            .request = state.request,
            .sentAt = sent,
            .epochBarrier = epoch,
            .retryIn = retryIn});
    }
    [[nodiscard]] Verb sent() const
    {
        for (const Action &action : last) {
            if (action.kind == Action::Kind::Send)
                return action.verb;
        }
        return Verb::None;
    }
    [[nodiscard]] bool told(Action::Kind kind) const
    {
        return std::any_of(last.begin(), last.end(), [kind](const Action &a) { return a.kind == kind; });
    }
    [[nodiscard]] std::optional<LossReason> loss() const
    {
        for (const Action &action : last) {
            if (action.kind == Action::Kind::AnnounceLost)
                return action.reason;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool isLeader() const { return now < state.validUntil; }
};

} // namespace

Q_DECLARE_METATYPE(FaultClass)

class TestDecide : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void validityCountsFromBeforeTheRequest();
    void lateGrantIsNotWorthStarting();
    void renewFault_data();
    void renewFault();
    void acquireFault_data();
    void acquireFault();
    void definiteDenialEndsAtOnce_data();
    void definiteDenialEndsAtOnce();
    void deadlineTellsBeforeValidityEnds();
    void noRenewAfterLoss();
    void lateAndForeignAnswersAreDropped();
    void sleptPastValidity();
    void resumedRenewsAtOnce();
    void followerTriesWhenTheLeaseRunsOut();
    void healthyLeaderCostsOnePeekATerm();
    void pushTriesAtOnce();
    void pushDuringAnAttemptIsNotForgotten();
    void lostRacesWidenTheSpread();
    void epochBarrierWaits();
    void retryAfterNeverProlongsLeadership();
    void stopDrainsThenReleases();
    void stopDuringAcquireMakesSure();
    void releaseIsRetriedBriefly();
    void drainIsBounded();
    void stepDownStaysOut();
    void sameNonceUntilTheTermIsOver();
    void attemptTimeoutsLeaveRoom();
};

void TestDecide::validityCountsFromBeforeTheRequest()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    QCOMPARE(d.sent(), Verb::Acquire);
    const Instant sent = d.now;
    d.now += 2900ms; // a slow answer (FAILURES 18)
    d.feed({.kind = Event::Kind::Granted, .request = d.state.request, .sentAt = sent, .token = {9}});
    QVERIFY(d.told(Action::Kind::AnnounceGained));
    QCOMPARE(d.state.validUntil, sent + 15s - d.rules.timing.margin());
}

void TestDecide::lateGrantIsNotWorthStarting()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    const Nonce nonce = d.state.nonce;
    const Instant sent = d.now - 14s;
    d.feed({.kind = Event::Kind::Granted, .request = d.state.request, .sentAt = sent, .token = {9}});
    QVERIFY(!d.told(Action::Kind::AnnounceGained));
    QVERIFY(!d.isLeader());
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
    QCOMPARE(d.state.nonce, nonce);
}

void TestDecide::renewFault_data()
{
    QTest::addColumn<FaultClass>("fault");
    QTest::addColumn<qint64>("retryWithinMs");
    QTest::newRow("no answer: the same term again") << FaultClass::Unknown << qint64(100);
    QTest::newRow("conflict with our own write: once, at once") << FaultClass::Benign << qint64(0);
    QTest::newRow("busy: jittered, at once") << FaultClass::Busy << qint64(20);
    QTest::newRow("transient: backoff") << FaultClass::Transient << qint64(100);
    QTest::newRow("connection gone: at once") << FaultClass::Connection << qint64(2);
    QTest::newRow("auth: backoff") << FaultClass::Auth << qint64(100);
    QTest::newRow("permanent: leads on until the deadline") << FaultClass::Permanent << qint64(100);
}

void TestDecide::renewFault()
{
    QFETCH(FaultClass, fault);
    QFETCH(qint64, retryWithinMs);
    Driver d;
    d.lead();
    d.wake();
    QCOMPARE(d.sent(), Verb::Renew);
    const Instant validUntil = d.state.validUntil;
    d.fault(fault);
    QVERIFY(d.isLeader());
    QVERIFY(!d.loss());
    QCOMPARE(d.state.phase, Phase::Leading);
    QVERIFY(d.state.degraded);
    QCOMPARE(d.state.validUntil, validUntil); // a failure proves nothing
    if (d.sent() == Verb::None) {
        QVERIFY(d.state.wakeAt - d.now <= Milliseconds(retryWithinMs));
        d.wake();
    }
    QCOMPARE(d.sent(), Verb::Renew);
    QCOMPARE(d.state.token, FencingToken{41});
    // However the class: unanswered to the end, the loss is told at the deadline and not before.
    const Instant deadline = validUntil - d.rules.timing.stopWindow();
    while (!d.loss()) {
        QVERIFY(d.now <= deadline);
        d.wake();
        if (!d.loss())
            d.fault(fault);
    }
    QCOMPARE(d.now, deadline);
    QCOMPARE(*d.loss(), LossReason::DeadlinePassed);
}

void TestDecide::acquireFault_data()
{
    QTest::addColumn<FaultClass>("fault");
    QTest::addColumn<qint64>("retryWithinMs");
    QTest::addColumn<int>("phase");
    QTest::newRow("no answer") << FaultClass::Unknown << qint64(100) << int(Phase::Waiting);
    QTest::newRow("busy") << FaultClass::Busy << qint64(20) << int(Phase::Waiting);
    QTest::newRow("transient") << FaultClass::Transient << qint64(100) << int(Phase::Waiting);
    QTest::newRow("connection") << FaultClass::Connection << qint64(2) << int(Phase::Waiting);
    QTest::newRow("auth") << FaultClass::Auth << qint64(100) << int(Phase::Waiting);
    QTest::newRow("permanent") << FaultClass::Permanent << qint64(15000) << int(Phase::Failed);
}

void TestDecide::acquireFault()
{
    QFETCH(FaultClass, fault);
    QFETCH(qint64, retryWithinMs);
    QFETCH(int, phase);
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    const Nonce nonce = d.state.nonce;
    d.fault(fault);
    QCOMPARE(d.state.phase, Phase(phase));
    QVERIFY(!d.isLeader());
    QVERIFY(d.state.wakeAt - d.now <= Milliseconds(retryWithinMs));
    if (Phase(phase) == Phase::Failed)
        QVERIFY(d.state.wakeAt - d.now >= 2s); // slow: a person must act (FAILURES 67)
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
    QCOMPARE(d.state.nonce, nonce); // the grant is idempotent per nonce
    d.feed({.kind = Event::Kind::StopAsked});
    if (fault == FaultClass::Unknown)
        QCOMPARE(d.sent(), Verb::Release);
}

void TestDecide::definiteDenialEndsAtOnce_data()
{
    QTest::addColumn<bool>("other");
    QTest::addColumn<int>("reason");
    QTest::newRow("another term") << true << int(LossReason::TakenOver);
    QTest::newRow("no such lease") << false << int(LossReason::Vanished);
}

void TestDecide::definiteDenialEndsAtOnce()
{
    QFETCH(bool, other);
    QFETCH(int, reason);
    Driver d;
    d.lead();
    d.wake();
    QVERIFY(d.isLeader());
    d.feed({.kind = Event::Kind::Denied, .request = d.state.request, .otherTerm = other});
    QVERIFY(!d.isLeader());
    QVERIFY(d.loss().has_value());
    QCOMPARE(*d.loss(), LossReason(reason));
    d.feed({.kind = Event::Kind::HandlersDone});
    QCOMPARE(d.sent(), Verb::Acquire); // and takes part again (FAILURES 24)
}

void TestDecide::deadlineTellsBeforeValidityEnds()
{
    Driver d;
    d.lead();
    d.wake();
    while (!d.loss())
        d.wake(); // nothing is ever answered
    QVERIFY(d.isLeader()); // P5: there is time to stop the work
    QCOMPARE(d.state.validUntil - d.now, d.rules.timing.stopWindow());
    d.now = d.state.validUntil;
    QVERIFY(!d.isLeader());
}

void TestDecide::noRenewAfterLoss()
{
    Driver d;
    d.lead();
    d.wake();
    const RequestId renew = d.state.request;
    const Instant sent = d.now;
    d.now = d.state.validUntil - d.rules.timing.stopWindow();
    d.feed({.kind = Event::Kind::Renewed, .request = renew, .sentAt = sent}); // too late (FAILURES 2)
    QVERIFY(d.loss().has_value());
    QCOMPARE(d.sent(), Verb::None);
    const Instant validUntil = d.state.validUntil;
    d.tick(1s);
    QCOMPARE(d.sent(), Verb::None);
    QCOMPARE(d.state.validUntil, validUntil);
    d.feed({.kind = Event::Kind::HandlersDone});
    QCOMPARE(d.sent(), Verb::Release); // only now: no guarded work runs any more
}

void TestDecide::lateAndForeignAnswersAreDropped()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    const RequestId first = d.state.request;
    d.fault(FaultClass::Unknown);
    d.wake();
    QVERIFY(d.state.request != first);
    d.feed({.kind = Event::Kind::Granted, .request = first, .sentAt = d.now, .token = {5}});
    QVERIFY(!d.isLeader());
    d.feed({.kind = Event::Kind::Granted, .request = 0, .sentAt = d.now, .token = {5}});
    QVERIFY(!d.isLeader());
}

void TestDecide::sleptPastValidity()
{
    Driver d;
    d.lead();
    d.wake();
    const Instant sent = d.now;
    d.now += 60s; // SIGSTOP, laptop lid; the answer that waited is looked at first
    d.feed({.kind = Event::Kind::Renewed, .request = d.state.request, .sentAt = sent});
    QVERIFY(!d.isLeader());
    QCOMPARE(*d.loss(), LossReason::DeadlinePassed);
}

void TestDecide::resumedRenewsAtOnce()
{
    Driver d;
    d.lead();
    d.now += 1s;
    d.feed({.kind = Event::Kind::Resumed});
    QCOMPARE(d.sent(), Verb::Renew);
    Driver gone;
    gone.lead();
    gone.now += 20s;
    gone.feed({.kind = Event::Kind::Resumed});
    QVERIFY(gone.loss().has_value()); // first validity, then renewal
    QCOMPARE(gone.sent(), Verb::None);
}

void TestDecide::followerTriesWhenTheLeaseRunsOut()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    d.refused(1s);
    const Instant end = d.now + 1s;
    QCOMPARE(d.state.phase, Phase::Waiting);
    QVERIFY(d.state.wakeAt >= end);
    QVERIFY(d.state.wakeAt <= end + d.state.roundTrip); // about a round trip, not a poll period
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
}

void TestDecide::healthyLeaderCostsOnePeekATerm()
{
    Driver d;
    d.feed({.kind = Event::Kind::PushState, .flag = true});
    d.feed({.kind = Event::Kind::Start});
    d.refused(12s);
    int calls = 0;
    const Instant from = d.now;
    while (d.now < from + 600s) {
        d.wake();
        QCOMPARE(d.sent(), Verb::Peek); // the cheapest call; never an acquire on a held lease
        ++calls;
        d.refused(11s); // renewed meanwhile
    }
    QVERIFY2(calls < 80, qPrintable(QString::number(calls)));
}

void TestDecide::pushTriesAtOnce()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    d.refused(12s);
    d.feed({.kind = Event::Kind::PushFree});
    if (d.sent() == Verb::None) {
        QVERIFY(d.state.wakeAt - d.now <= 5ms);
        d.wake();
    }
    QCOMPARE(d.sent(), Verb::Acquire);
}

void TestDecide::pushDuringAnAttemptIsNotForgotten()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    d.feed({.kind = Event::Kind::PushFree}); // released after our acquire was refused by the server
    d.refused(14s);
    QVERIFY(d.state.wakeAt - d.now <= 5ms);
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
}

void TestDecide::lostRacesWidenTheSpread()
{
    Driver d;
    d.draw = 0.999;
    d.feed({.kind = Event::Kind::Start});
    Duration spread{};
    for (int i = 0; i < 8; ++i) {
        d.refused(15s);
        const Instant end = d.now + 15s;
        while (d.state.nextIsPeek) {
            d.wake();
            d.refused(end - d.now - 1ms);
        }
        const Duration now = d.state.wakeAt - end;
        spread = std::max(spread, now);
        d.wake();
        QCOMPARE(d.sent(), Verb::Acquire);
    }
    QVERIFY(spread > 2 * d.state.roundTrip);
    QVERIFY(spread <= 1s);
}

void TestDecide::epochBarrierWaits()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    d.refused(13s, true);
    const Instant end = d.now + 13s;
    QVERIFY(d.state.wakeAt >= end);
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
}

void TestDecide::retryAfterNeverProlongsLeadership()
{
    Driver d;
    d.lead();
    d.wake();
    d.feed({.kind = Event::Kind::Fault,
        .request = d.state.request,
        .fault = FaultClass::Transient,
        .retryAfter = 30s}); // FAILURES 78
    const Instant deadline = d.state.validUntil - d.rules.timing.stopWindow();
    QCOMPARE(d.state.wakeAt, deadline);
    d.wake();
    QVERIFY(d.loss().has_value());
}

void TestDecide::stopDrainsThenReleases()
{
    Driver d;
    d.lead();
    d.feed({.kind = Event::Kind::StopAsked});
    QCOMPARE(*d.loss(), LossReason::GivenBack);
    QCOMPARE(d.state.phase, Phase::Draining);
    for (int i = 0; i < 5; ++i) { // FAILURES 45: the handlers need two terms
        d.wake();
        QCOMPARE(d.sent(), Verb::Renew);
        d.renewed();
        QVERIFY(d.isLeader());
    }
    d.feed({.kind = Event::Kind::HandlersDone});
    QCOMPARE(d.sent(), Verb::Release);
    QVERIFY(!d.isLeader()); // from before the release goes out
    d.feed({.kind = Event::Kind::Released, .request = d.state.request});
    QVERIFY(d.told(Action::Kind::AnnounceStopped));
    QCOMPARE(d.state.phase, Phase::Stopped);
    QCOMPARE(d.state.wakeAt, Instant::max());
}

void TestDecide::stopDuringAcquireMakesSure()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    QCOMPARE(d.sent(), Verb::Acquire);
    const Nonce nonce = d.state.nonce;
    d.feed({.kind = Event::Kind::StopAsked});
    QCOMPARE(d.sent(), Verb::Release);
    QCOMPARE(d.state.nonce, nonce);
    QVERIFY(!d.state.token);
    d.feed({.kind = Event::Kind::Denied, .request = d.state.request});
    QVERIFY(d.told(Action::Kind::AnnounceStopped));
}

void TestDecide::releaseIsRetriedBriefly()
{
    Driver d;
    d.lead();
    d.feed({.kind = Event::Kind::StopAsked});
    d.feed({.kind = Event::Kind::HandlersDone});
    int tries = 0;
    while (d.state.phase == Phase::Releasing && tries < 20) { // FAILURES 41, 53
        if (d.sent() == Verb::Release)
            ++tries;
        d.wake();
        if (d.sent() == Verb::None && d.state.inFlight == Verb::Release)
            d.fault(FaultClass::Connection);
    }
    QCOMPARE(d.state.phase, Phase::Stopped);
    QVERIFY(tries >= 2 && tries <= 3);
}

void TestDecide::drainIsBounded()
{
    Driver d;
    d.lead();
    d.feed({.kind = Event::Kind::StopAsked});
    const Instant limit = d.now + d.rules.drainLimit;
    while (d.state.phase == Phase::Draining) {
        d.wake();
        if (d.sent() == Verb::Renew)
            d.renewed();
        QVERIFY(d.now <= limit + 1s);
    }
    QCOMPARE(d.state.phase, Phase::Releasing);
    QVERIFY(!d.isLeader());
}

void TestDecide::stepDownStaysOut()
{
    Driver d;
    d.lead();
    d.wake();
    const Instant asked = d.now;
    d.feed({.kind = Event::Kind::Renewed, .request = d.state.request, .sentAt = d.now, .duration = 40s});
    QCOMPARE(*d.loss(), LossReason::SteppedDown);
    d.feed({.kind = Event::Kind::HandlersDone});
    d.feed({.kind = Event::Kind::Released, .request = d.state.request});
    QCOMPARE(d.state.phase, Phase::Waiting);
    QVERIFY(d.state.wakeAt >= asked + 40s);
    d.feed({.kind = Event::Kind::PushFree}); // not even then
    QCOMPARE(d.sent(), Verb::None);
}

void TestDecide::sameNonceUntilTheTermIsOver()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    const Nonce first = d.state.nonce;
    d.refused(2s);
    d.wake();
    d.refused(1ms);
    d.wake();
    QCOMPARE(d.state.nonce, first);
    d.feed({.kind = Event::Kind::Granted, .request = d.state.request, .sentAt = d.now, .token = {3}});
    QCOMPARE(d.state.nonce, first);
    d.wake();
    d.feed({.kind = Event::Kind::Denied, .request = d.state.request, .otherTerm = true});
    QVERIFY(d.state.nonce != first);
}

void TestDecide::attemptTimeoutsLeaveRoom()
{
    // FAILURES 5, 6, 7: at least three attempts fit between the first failure and the deadline.
    for (const Duration ttl : {Duration(300ms), Duration(3s), Duration(15s), Duration(1h)}) {
        Driver d;
        d.rules.timing = Timing::make({.ttl = ttl}).value();
        d.lead();
        int attempts = 0;
        while (!d.loss()) {
            d.wake();
            if (d.sent() == Verb::Renew)
                ++attempts;
        }
        QVERIFY2(attempts >= 3, qPrintable(QString::number(attempts)));
    }
}

QTEST_GUILESS_MAIN(TestDecide)
#include "tst_decide.moc"
