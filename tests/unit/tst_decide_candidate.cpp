// SPDX-License-Identifier: GPL-3.0-or-later
// decide() while waiting, racing and leaving.
#include "tests/support/election_driver.h"

#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

Q_DECLARE_METATYPE(FaultClass)

class TestDecideCandidate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void acquireFault_data();
    void acquireFault();
    void followerTriesWhenTheLeaseRunsOut();
    void connectingIsNoRoundTrip();
    void healthyLeaderCostsOnePeekATerm();
    void pushTriesAtOnce();
    void pushDuringAnAttemptIsNotForgotten();
    void aLeaderWhoseLeaseIsToldFreeAsksAtOnce();
    void nobodyWaitsForRivalsThatNeverShowed();
    void lostRacesWidenTheSpread();
    void comesEarlyWhereTheBackendAwaitsTheEnd_data();
    void comesEarlyWhereTheBackendAwaitsTheEnd();
    void comesLaterWhenSomethingElseRefusedIt();
    void waitingThereIsNoRoundTrip();
    void manyRivalsDoNotWaitThereTogether();
    void epochBarrierWaits();
    void stopDrainsThenReleases();
    void stopDuringAcquireMakesSure();
    void releaseIsRetriedBriefly();
    void drainIsBounded();
    void stepDownStaysOut();
    void sameNonceUntilTheTermIsOver();
};

void TestDecideCandidate::acquireFault_data()
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

void TestDecideCandidate::acquireFault()
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

void TestDecideCandidate::followerTriesWhenTheLeaseRunsOut()
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

void TestDecideCandidate::connectingIsNoRoundTrip()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    const Instant sent = d.now;
    d.now += 201ms; // of which connecting took 200
    d.feed({.kind = Event::Kind::Refused, .request = d.state.request, .sentAt = sent, .settingUp = 200ms, .retryIn = 12s});
    QCOMPARE(d.state.roundTrip, Duration(1ms));
    QVERIFY(d.state.wakeAt <= d.now + 50ms); // one look on the connection that stands now ...
    d.wake();
    QCOMPARE(d.sent(), Verb::Peek);
    d.refused(12s);
    QVERIFY(d.state.wakeAt >= d.now + 1s); // ... and then as seldom as ever
}

void TestDecideCandidate::healthyLeaderCostsOnePeekATerm()
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

void TestDecideCandidate::pushTriesAtOnce()
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

void TestDecideCandidate::pushDuringAnAttemptIsNotForgotten()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    d.feed({.kind = Event::Kind::PushFree}); // released after our acquire was refused by the server
    d.refused(14s);
    if (d.sent() == Verb::None) {
        QVERIFY(d.state.wakeAt - d.now <= 5ms);
        d.wake();
    }
    QCOMPARE(d.sent(), Verb::Acquire);
}

/// Cleared by hand, or the session that kept it ended: not first with the next renewal.
void TestDecideCandidate::aLeaderWhoseLeaseIsToldFreeAsksAtOnce()
{
    Driver d;
    d.lead();
    d.tick(1s);
    QCOMPARE(d.sent(), Verb::None);
    const Instant told = d.now;
    d.feed({.kind = Event::Kind::PushFree});
    if (d.sent() == Verb::None)
        d.wake();
    QCOMPARE(d.now, told);
    QCOMPARE(d.sent(), Verb::Renew);
    QCOMPARE(d.state.phase, Phase::Leading);
}

void TestDecideCandidate::nobodyWaitsForRivalsThatNeverShowed()
{
    Driver d;
    d.draw = 0.999;
    d.feed({.kind = Event::Kind::Start});
    d.refused(15s); // by one who renewed just now, as a newcomer often meets it
    const Instant end = d.now + 15s;
    while (d.state.nextIsPeek) {
        d.wake();
        d.refused(end - d.now - 1ms);
    }
    QCOMPARE(d.state.wakeAt, end);
    d.feed({.kind = Event::Kind::PushFree});
    if (d.sent() == Verb::None)
        d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
    QVERIFY(d.now < end);
}

void TestDecideCandidate::lostRacesWidenTheSpread()
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

namespace
{

/// Waits for a holder that renews no more until the acquire is due; returns the holder's end.
Instant followToTheEnd(Driver &d)
{
    d.feed({.kind = Event::Kind::Start});
    const Duration ttl = d.rules.timing.ttl();
    d.refused(ttl - 1ms);
    const Instant end = d.now + ttl - 1ms;
    while (d.state.nextIsPeek) {
        d.wake();
        d.refused(end - d.now - 1ms); // its answer takes a millisecond
    }
    return end;
}

Duration awaitEnd(const Driver &d)
{
    for (const Action &action : d.last) {
        if (action.kind == Action::Kind::Send)
            return action.awaitEnd;
    }
    return -1ms;
}

} // namespace

void TestDecideCandidate::comesEarlyWhereTheBackendAwaitsTheEnd_data()
{
    QTest::addColumn<int>("ttlMs");
    QTest::addColumn<int>("awaitsMs");
    QTest::addColumn<int>("earlyUs");
    QTest::newRow("it awaits nothing") << 15'000 << 0 << 0;
    QTest::newRow("in the middle of what it awaits") << 15'000 << 10 << 5000;
    QTest::newRow("an attempt of 20 ms") << 100 << 10 << 5000;
    QTest::newRow("an attempt of 10 ms: a quarter of it") << 50 << 10 << 2500;
}

void TestDecideCandidate::comesEarlyWhereTheBackendAwaitsTheEnd()
{
    QFETCH(int, ttlMs);
    QFETCH(int, awaitsMs);
    QFETCH(int, earlyUs);
    Driver d;
    TimingLimits limits;
    limits.floor = 50ms;
    d.rules = {Timing::make({.ttl = Milliseconds(ttlMs)}, limits).value(), 30s, Milliseconds(awaitsMs)};
    const Instant end = followToTheEnd(d);
    QCOMPARE(end - d.state.wakeAt, Duration(std::chrono::microseconds(earlyUs)));
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
    QCOMPARE(awaitEnd(d), Duration(Milliseconds(awaitsMs)));
}

/// A hold, the rule for who was asked to leave, a server's clock that was set: it must not ask in a circle.
void TestDecideCandidate::comesLaterWhenSomethingElseRefusedIt()
{
    Driver d;
    d.rules.awaitsEnd = 10ms;
    followToTheEnd(d);
    d.wake();
    d.refused(8ms);
    const Instant free = d.now + 8ms;
    QCOMPARE(d.state.wakeAt, free);
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
    QCOMPARE(awaitEnd(d), Duration(0));
    d.refused(4ms, true);
    QVERIFY(d.state.wakeAt >= d.now + 4ms); // the epoch rule's end is not awaited there
}

void TestDecideCandidate::waitingThereIsNoRoundTrip()
{
    Driver d;
    d.rules.awaitsEnd = 10ms;
    followToTheEnd(d);
    const Duration before = d.state.roundTrip;
    d.wake();
    const Instant sent = d.now;
    d.now += 8ms;
    d.feed({.kind = Event::Kind::Granted, .request = d.state.request, .sentAt = sent, .token = {42}});
    QCOMPARE(d.state.phase, Phase::Leading);
    QCOMPARE(d.state.validUntil, sent + d.rules.timing.ttl() - d.rules.timing.margin()); // from before it waited
    QCOMPARE(d.state.roundTrip, before);
    d.wake();
    QCOMPARE(d.sent(), Verb::Renew);
    d.renewed(20ms);
    QVERIFY(d.state.roundTrip > before); // and renewals are measured as ever
}

void TestDecideCandidate::manyRivalsDoNotWaitThereTogether()
{
    Driver d;
    d.rules.awaitsEnd = 10ms;
    d.feed({.kind = Event::Kind::Start});
    for (int lost = 0; lost < 4; ++lost) {
        d.refused(15s); // a rival was faster
        const Instant end = d.now + 15s;
        while (d.state.nextIsPeek) {
            d.wake();
            d.refused(end - d.now - 1ms);
        }
        QCOMPARE(d.state.wakeAt < end, lost < 2); // one rival is met there, more are evaded
        d.wake();
        QCOMPARE(d.sent(), Verb::Acquire);
    }
}

void TestDecideCandidate::epochBarrierWaits()
{
    Driver d;
    d.feed({.kind = Event::Kind::Start});
    d.refused(13s, true);
    const Instant end = d.now + 13s;
    QVERIFY(d.state.wakeAt >= end);
    d.wake();
    QCOMPARE(d.sent(), Verb::Acquire);
}

void TestDecideCandidate::stopDrainsThenReleases()
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

void TestDecideCandidate::stopDuringAcquireMakesSure()
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

void TestDecideCandidate::releaseIsRetriedBriefly()
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

void TestDecideCandidate::drainIsBounded()
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

void TestDecideCandidate::stepDownStaysOut()
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

void TestDecideCandidate::sameNonceUntilTheTermIsOver()
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

QTEST_GUILESS_MAIN(TestDecideCandidate)
#include "tst_decide_candidate.moc"
