// SPDX-License-Identifier: GPL-3.0-or-later
// decide() while leading: validity, the deadline, and the fault table of DESIGN.md section 3.
#include "tests/support/election_driver.h"

#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

Q_DECLARE_METATYPE(FaultClass)

class TestDecide : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void validityCountsFromBeforeTheRequest();
    void lateGrantIsNotWorthStarting();
    void renewFault_data();
    void renewFault();
    void definiteDenialEndsAtOnce_data();
    void definiteDenialEndsAtOnce();
    void deadlineTellsBeforeValidityEnds();
    void noRenewAfterLoss();
    void lateAndForeignAnswersAreDropped();
    void sleptPastValidity();
    void resumedRenewsAtOnce();
    void retryAfterNeverProlongsLeadership();
    void attemptTimeoutsLeaveRoom();
    void aSlowLineGetsTimeToConnect();
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
    const Instant lostAt = d.now;
    d.feed({.kind = Event::Kind::HandlersDone});
    if (!other) { // cleared by hand: the others go first, whatever a push says
        QCOMPARE(d.sent(), Verb::None);
        d.feed({.kind = Event::Kind::PushFree});
        d.wake();
        QCOMPARE(d.now, lostAt + d.rules.timing.renewEvery());
    }
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

/// A connection over TLS and an acquire are five round trips: given up earlier they would never come about.
void TestDecide::aSlowLineGetsTimeToConnect()
{
    Driver d;
    d.rules.timing = Timing::make({.ttl = 5s}).value();
    d.lead();
    for (int i = 0; i < 40; ++i) { // a slow line is believed slowly
        d.wake();
        QCOMPARE(d.sent(), Verb::Renew);
        d.renewed(400ms);
    }
    d.wake();
    QCOMPARE(d.sent(), Verb::Renew);
    QVERIFY2(d.state.attemptUntil - d.now > 1200ms, "three round trips of 400 ms do not fit");
    d.wake();
    QVERIFY(!d.loss());
    QVERIFY2(d.state.validUntil - d.rules.timing.stopWindow() - d.now > 0ms, "nothing is left for another try");

    Driver near;
    near.rules.timing = d.rules.timing;
    near.lead();
    near.wake();
    QCOMPARE(near.state.attemptUntil - near.now, Duration(1s));
}

QTEST_GUILESS_MAIN(TestDecide)
#include "tst_decide.moc"
