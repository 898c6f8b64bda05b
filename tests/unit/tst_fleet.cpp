// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random.h"
#include "tests/support/looks.h"

#include <QTest>

#include <algorithm>

using namespace tenure;
using namespace tenure::test;

namespace
{

const LeaseId kLease = LeaseId::observed("jobs/leader");
const LeaseId kLock = LeaseId::observed("lock");

/// "taken-over a>b" for each transition of a trace of looks.
QStringList told(Fleet& fleet, const std::vector<Observation>& looks)
{
    QStringList out;
    for (const Observation& seen : looks) {
        for (const Transition& t : fleet.apply(seen, {}))
            out << QString::fromStdString(
                std::string(transitionWord(t.kind)) + " " + t.oldHolder + ">" + t.newHolder);
    }
    return out;
}

Observation holdLook(Duration at, std::uint64_t token, Milliseconds remaining)
{
    Observation seen = look({at, "", token});
    seen.record.hold = OperatorHold{"op", remaining};
    return seen;
}

Observation absentLook(Duration at)
{
    Observation seen = look({at, ""});
    seen.absent = true;
    return seen;
}

} // namespace

class TestFleet : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void traces_data();
    void traces();
    void takeoverIsExplained();
    void earlyTakeoverIsNotCalledExpiry();
    void unseenChangesAreCounted();
    void renewalsAreSeenOnce();
    void lateRenewalLeavesLittleHeadroom();
    void jitterIsNeverARenewal();
    void foreignRenewalsAreSeen();
    void serverTimesTellSinceWhen();
    void tickTellsExpiryOnlyWhenFresh();
    void renewalMovesTheExpiryAway();
    void blindSpotsAreMarked();
    void gapIsTimeWithoutALeader();
    void olderAnswersAreDropped();
    void hostileNamesAreEscaped();
    void historyIsBounded();
    void touchedOnce();
};

void TestFleet::traces_data()
{
    QTest::addColumn<std::vector<Observation>>("looks");
    QTest::addColumn<QStringList>("expected");
    const auto row = [](const char* name, std::vector<Observation> looks,
                         const QStringList& expected) { QTest::newRow(name) << looks << expected; };
    const Observation a = look({0s, "a", 7, -60s, 0s});
    row("first look", {a}, {"appeared >a"});
    row("first look, vacant", {look({0s, "", 7})}, {"appeared >"});
    row("unknown and absent", {absentLook(0s)}, {});
    row("renewals", {a, look({5s, "a", 7, -60s, 5s}), look({10s, "a", 7, -60s, 10s})},
        {"appeared >a"});
    row("given back", {a, look({2s, "", 7, {}, {}, 15000ms, true})},
        {"appeared >a", "released a>"});
    row("cleared by hand", {a, look({2s, "", 7})}, {"appeared >a", "forced-release a>"});
    row("ran out", {a, look({15100ms, "", 7})}, {"appeared >a", "expired a>"});
    row("given back and taken",
        {a, look({2s, "", 7, {}, {}, 15000ms, true}), look({3s, "b", 8, 3s, 3s})},
        {"appeared >a", "released a>", "acquired >b"});
    row("taken over", {a, look({16s, "b", 8, 15200ms, 15200ms})},
        {"appeared >a", "taken-over a>b"});
    row("same holder, new term", {a, look({16s, "a", 8, 15200ms, 15200ms})},
        {"appeared >a", "acquired a>a"});
    row("hold",
        {a, holdLook(2s, 8, 15000ms), holdLook(4s, 8, 13000ms), look({18s, "", 8}),
            look({19s, "b", 9, 19s, 19s})},
        {"appeared >a", "held a>", "acquired >b"});
    row("second hold", {holdLook(0s, 8, 15000ms), holdLook(4s, 9, 15000ms)},
        {"appeared >", "held >"});
    row("deleted", {a, absentLook(2s), absentLook(3s)}, {"appeared >a", "deleted a>"});
    row("vacant and deleted", {look({0s, "", 7}), absentLook(2s), absentLook(3s)},
        {"appeared >", "deleted >"});
    row("lock taken and gone",
        {foreignLook(0s, "x", 15s), foreignLook(3s, "", {}), foreignLook(4s, "y", 15s)},
        {"appeared >x", "released x>", "acquired >y"});
    row("lock ran out", {foreignLook(0s, "x", 15s), foreignLook(15050ms, "", {})},
        {"appeared >x", "expired x>"});
    row("lock stays gone",
        {foreignLook(0s, "x", 1s), foreignLook(2s, "", {}), foreignLook(3s, "", {})},
        {"appeared >x", "expired x>"});
    std::vector<Observation> flaps{look({0s, "", 1})};
    QStringList rows{"appeared >"};
    for (int i = 0; i < 6; ++i) {
        flaps.push_back(look(
            {i * 10s + 1s, "a", static_cast<std::uint64_t>(2 + i), i * 10s + 1s, i * 10s + 1s}));
        flaps.push_back(
            look({i * 10s + 5s, "", static_cast<std::uint64_t>(2 + i), {}, {}, 15000ms, true}));
        rows << "acquired >a"
             << "released a>";
    }
    row("six flaps are twelve rows", flaps, rows);
}

void TestFleet::traces()
{
    QFETCH(std::vector<Observation>, looks);
    QFETCH(QStringList, expected);
    Fleet fleet;
    QCOMPARE(told(fleet, looks), expected);
}

void TestFleet::takeoverIsExplained()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, 0s}), {});
    fleet.apply(look({14s, "a", 7, -60s, 0s}), {});
    const auto all = fleet.apply(look({16s, "b", 8, 15212ms, 15212ms}), {});
    QCOMPARE(all.size(), 1U);
    const std::string& text = all.front().explanation;
    QVERIFY2(text.find("a stopped renewing at ") == 0, text.c_str());
    QVERIFY2(text.find(", expired 15 s later, taken over by b (token 8) after 212 ms")
            != std::string::npos,
        text.c_str());
    QCOMPARE(*all.front().gap, Duration(212ms));
    QCOMPARE(all.front().at, kStart + 15212ms);
    QCOMPARE(*all.front().serverTime, serverAt(15212ms));
    const LeaseStatus& status = *fleet.find(kLease);
    QCOMPARE(*status.lastGap, Duration(212ms));
    QCOMPARE(status.terms.size(), 3U); // a, nobody, b
    QCOMPARE(status.terms[0].until, std::optional(kStart + 15s));
    QVERIFY(status.terms[1].holder.empty());
    QCOMPARE(status.holderSince, kStart + 15212ms);
    QVERIFY(status.holderSinceExact);
    QCOMPARE(status.transitionsSeen, 1U);
}

void TestFleet::earlyTakeoverIsNotCalledExpiry()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, 0s}), {});
    const auto all = fleet.apply(look({6s, "b", 8, 5500ms, 5500ms}), {});
    QCOMPARE(all.front().kind, TransitionKind::TakenOver);
    QVERIFY(!all.front().gap);
    QVERIFY2(
        all.front().explanation.find("gave it back or was cleared with 9.5 s left, taken over by b")
            != std::string::npos,
        all.front().explanation.c_str());
}

void TestFleet::unseenChangesAreCounted()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, 0s, 15000ms, false, 10}), {});
    const auto all = fleet.apply(look({60s, "b", 20, 55s, 60s, 15000ms, false, 14}), {});
    QVERIFY2(all.front().explanation.find("at least 3 changes more happened") != std::string::npos,
        all.front().explanation.c_str());
}

void TestFleet::renewalsAreSeenOnce()
{
    Fleet fleet;
    for (int second = 0; second <= 60; ++second) {
        const Duration renewed = second / 5 * 5s;
        fleet.apply(look({second * 1s + 1ms, "a", 7, -60s, renewed}), {});
    }
    const LeaseStatus& status = *fleet.find(kLease);
    QCOMPARE(status.renewalsSeen, 12U);
    QCOMPARE(status.missedRenewals, 0U);
    QCOMPARE(*status.renewInterval, Duration(5s));
    QVERIFY(std::abs(status.leastHeadroom() - 10.0 / 15) < 0.01);
    QVERIFY(std::none_of(
        status.renewals.begin(), status.renewals.end(), [](const auto& r) { return r.late; }));
    QCOMPARE(status.lastRenewalAt, kStart + 60s);
}

void TestFleet::lateRenewalLeavesLittleHeadroom()
{
    Fleet fleet;
    for (int second = 0; second <= 15; ++second)
        fleet.apply(look({second * 1s + 1ms, "a", 7, -60s, second / 5 * 5s}), {});
    for (int second = 16; second <= 27; ++second)
        fleet.apply(look({second * 1s + 1ms, "a", 7, -60s, 15s}), {});
    fleet.apply(look({27500ms, "a", 7, -60s, 27400ms}), {});
    const LeaseStatus& status = *fleet.find(kLease);
    QVERIFY(status.renewals.back().late);
    QVERIFY(status.leastHeadroom() < 0.2);
    QCOMPARE(status.missedRenewals, 1U);
}

/// However much round trips vary, an unrenewed lock is never taken for renewed.
void TestFleet::jitterIsNeverARenewal()
{
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        Fleet fleet;
        Duration at = 0s;
        for (int i = 0; i < 40; ++i) {
            at += std::chrono::milliseconds(50 + random.below(400));
            const Duration there
                = std::chrono::microseconds(random.below(random.chance(0.1) ? 400'000 : 3'000));
            const Duration back
                = std::chrono::microseconds(random.below(random.chance(0.1) ? 400'000 : 3'000));
            at += there + back;
            const auto left = std::chrono::floor<Milliseconds>(60s - (at - back));
            fleet.apply(foreignLook(at, "x", left, there + back), {});
        }
        QCOMPARE(fleet.find(kLock)->renewalsSeen, 0U);
    }
}

void TestFleet::foreignRenewalsAreSeen()
{
    Random random(5);
    Fleet fleet;
    int renewed = 0;
    for (int tick = 0; tick < 300; ++tick) {
        const Duration at = tick * 100ms;
        const Duration since = (tick % 33) * 100ms;
        renewed += tick > 0 && tick % 33 == 0 ? 1 : 0;
        fleet.apply(
            foreignLook(at, "x", 10s - since, std::chrono::microseconds(random.below(5000))), {});
    }
    const LeaseStatus& status = *fleet.find(kLock);
    QCOMPARE(status.renewalsSeen, static_cast<std::uint64_t>(renewed));
    QVERIFY(status.renews());
    const Duration usual = *status.renewInterval;
    QVERIFY(usual > 3200ms && usual < 3400ms);
}

void TestFleet::serverTimesTellSinceWhen()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, -2s}), {});
    const LeaseStatus& status = *fleet.find(kLease);
    QCOMPARE(status.holderSince, kStart - 60s);
    QVERIFY(status.holderSinceExact);
    QCOMPARE(status.lastRenewalAt, kStart - 2s);
    QCOMPARE(*status.expiresAt, kStart + 13s);
    Fleet plain;
    plain.apply(foreignLook(0s, "x", 10s), {});
    QVERIFY(!plain.find(kLock)->holderSinceExact);
}

void TestFleet::tickTellsExpiryOnlyWhenFresh()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, 0s, 15000ms, false, {}, 20ms}), {});
    QVERIFY(fleet.nextExpiry() && *fleet.nextExpiry() == kStart + 15s + 10ms);
    QVERIFY(fleet.tick(kStart + 14s, {}, true).empty());
    QVERIFY(fleet.tick(kStart + 20s, {}, false).empty());
    QVERIFY(fleet.tick(kStart + 15s + 9ms, {}, true).empty());
    const auto all = fleet.tick(kStart + 15s + 10ms, {}, true);
    QCOMPARE(all.size(), 1U);
    QCOMPARE(all.front().kind, TransitionKind::Expired);
    QCOMPARE(all.front().oldHolder, std::string("a"));
    QVERIFY(fleet.tick(kStart + 30s, {}, true).empty());
    QVERIFY2(
        fleet.apply(look({16s, "", 7}), {}).empty(), "the look that confirms it says nothing new");
    const auto next = fleet.apply(look({17s, "b", 8, 17s, 17s}), {});
    QCOMPARE(next.front().kind, TransitionKind::Acquired);
    QCOMPARE(*next.front().gap, Duration(2s));
}

void TestFleet::renewalMovesTheExpiryAway()
{
    Fleet fleet;
    for (int second = 0; second <= 40; second += 5) {
        fleet.apply(look({second * 1s, "a", 7, -60s, second * 1s}), {});
        QVERIFY(fleet.tick(kStart + second * 1s, {}, true).empty());
    }
    QVERIFY(fleet.tick(kStart + 54s, {}, true).empty());
    QCOMPARE(fleet.tick(kStart + 56s, {}, true).size(), 1U);
}

void TestFleet::blindSpotsAreMarked()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, 0s}), {});
    fleet.noteBlindSpot(kStart + 1s, kStart + 30s);
    const auto all = fleet.apply(look({31s, "b", 8, 20s, 30s}), {});
    QVERIFY(all.front().inBlindSpot);
    const auto later = fleet.apply(look({32s, "", 8, {}, {}, 15000ms, true}), {});
    QVERIFY(!later.front().inBlindSpot);
    QCOMPARE(fleet.find(kLease)->blind.size(), 1U);
}

void TestFleet::gapIsTimeWithoutALeader()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, 0s}), {});
    fleet.apply(look({15100ms, "", 7}), {});
    const auto all = fleet.apply(look({18s, "b", 8, 17s, 17s}), {});
    QCOMPARE(*all.front().gap, Duration(2s)); // ran out at 15, taken at 17
    Fleet unknown;
    unknown.apply(look({0s, "", 7}), {});
    QVERIFY2(!unknown.apply(look({5s, "b", 8, 5s, 5s}), {}).front().gap,
        "since when it was vacant is not known");
}

void TestFleet::olderAnswersAreDropped()
{
    Fleet fleet;
    fleet.apply(look({10s, "b", 8, 9s, 9s}), {});
    QVERIFY(fleet.apply(look({9s, "a", 7, -60s, 5s}), {}).empty());
    QCOMPARE(*fleet.find(kLease)->record.holder, std::string("b"));
}

void TestFleet::hostileNamesAreEscaped()
{
    Fleet fleet;
    fleet.apply(look({0s, "a\x1b[31m\n", 7, -60s, 0s}), {});
    for (const auto& seen :
        {look({2s, "b\r\xff", 8, 2s, 2s}), look({3s, "", 8}), look({9s, "c\t", 9, 9s, 9s})}) {
        for (const Transition& t : fleet.apply(seen, {}))
            QVERIFY2(std::all_of(t.explanation.begin(), t.explanation.end(),
                         [](char c) { return c >= 32; }),
                t.explanation.c_str());
    }
}

void TestFleet::historyIsBounded()
{
    Fleet fleet;
    for (int i = 0; i < 1000; ++i) {
        const auto token = static_cast<std::uint64_t>(i + 1);
        fleet.apply(look({i * 2s, i % 2 == 0 ? "a" : "b", token, i * 2s, i * 2s}), {});
        fleet.noteBlindSpot(kStart + i * 2s, kStart + i * 2s + 1s);
    }
    const LeaseStatus& status = *fleet.find(kLease);
    QCOMPARE(status.terms.size(), 64U);
    QCOMPARE(status.blind.size(), 16U);
    QCOMPARE(status.transitionTimes.size(), 64U);
    QCOMPARE(status.transitionsSeen, 999U);
    QCOMPARE(status.transitionsSince(kStart + 1979s), 10U);
}

void TestFleet::touchedOnce()
{
    Fleet fleet;
    fleet.apply(look({0s, "a", 7, -60s, 0s}), {});
    fleet.apply(look({1s, "a", 7, -60s, 0s}), {});
    QCOMPARE(fleet.takeTouched().size(), 1U);
    QVERIFY(fleet.takeTouched().empty());
    fleet.setChurning(kLease, false);
    QVERIFY(fleet.takeTouched().empty());
    fleet.setChurning(kLease, true);
    QCOMPARE(fleet.takeTouched().size(), 1U);
    fleet.forget(kLease);
    QVERIFY(fleet.find(kLease) == nullptr && !fleet.nextExpiry());
}

QTEST_GUILESS_MAIN(TestFleet)
#include "tst_fleet.moc"
