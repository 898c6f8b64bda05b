// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of Leases, and by whose clock: no server, made-up moments.
#include "core/backend/kubernetes/kube_time.h"
#include "core/backend/kubernetes/kube_view.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace tenure;
using namespace tenure::kube;
using namespace std::chrono_literals;

namespace
{

const Instant kStart{1000s};
const WallTime kServer = *parseTime("2026-11-29T12:00:00Z");

/// An answer `after` the start, one millisecond after it was asked for; the server's clock is exact.
Heard asked(Duration after)
{
    const WallTime date = kServer + std::chrono::floor<std::chrono::seconds>(after);
    return {kStart + after - 1ms, kStart + after, date};
}

Heard pushed(Duration after)
{
    return {Instant(), kStart + after, std::nullopt};
}

LeaseObject lease(int version, const std::string &holder, WallTime renewed, const std::string &stamp = {},
    const std::string &uid = "u")
{
    nlohmann::json json{{"metadata", {{"name", "l"}, {"namespace", "ns"}, {"uid", uid}, {"resourceVersion", std::to_string(version)}}},
        {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", 15}, {"renewTime", microTime(renewed)}, {"acquireTime", microTime(renewed - 60s)}}}};
    if (!stamp.empty()) {
        json["metadata"]["managedFields"] = nlohmann::json::array({{{"manager", "ctrl"}, {"time", stamp},
            {"fieldsV1", {{"f:spec", {{"f:renewTime", nlohmann::json::object()}}}}}}});
    }
    return leaseOf(json, "here").value();
}

/// A clock that many answers have told to a few milliseconds.
void teachClock(View &view)
{
    for (int i = -50; i < 0; ++i)
        view.noteClock(asked(i * 1s + i * 21ms));
}

} // namespace

class TstKubeView : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void closesInOnTheServersClock();
    void expiryCountsFromTheChangeSeen();
    void agesAreEstimatedAtFirstSightOnly_data();
    void agesAreEstimatedAtFirstSightOnly();
    void aSkewedHolderIsTold();
    void overtakenNewsChangesNothing();
    void whatVanishedIsNotFreeBeforeItsTime_data();
    void whatVanishedIsNotFreeBeforeItsTime();
    void liveMeansProvenLately();
};

void TstKubeView::closesInOnTheServersClock()
{
    View view;
    QVERIFY(!view.serverTime(kStart));
    view.noteClock(asked(400ms));
    QVERIFY(view.clockUncertainty() > 400ms); // one Date header knows seconds only
    teachClock(view);
    QVERIFY2(view.clockUncertainty() < 30ms, std::to_string(view.clockUncertainty().count()).c_str());
    const Duration wrong = *view.serverTime(kStart + 10s) - (kServer + 10s);
    QVERIFY(wrong < 30ms && wrong > -30ms);
    // A step of the server's clock contradicts all that: it starts anew.
    Heard stepped = asked(1s);
    *stepped.date += 3600s;
    view.noteClock(stepped);
    QVERIFY(*view.serverTime(kStart + 1s) > kServer + 3599s);
}

void TstKubeView::expiryCountsFromTheChangeSeen()
{
    View view;
    QCOMPARE(view.note(lease(5, "a", kServer - 3600s), asked(0s)), View::Change::First);
    QCOMPARE(view.find("ns/l")->expiry(0s), std::optional(kStart + 15s)); // whatever its renewTime says
    QCOMPARE(view.note(lease(5, "a", kServer - 3600s), asked(5s)), View::Change::None);
    QCOMPARE(view.find("ns/l")->expiry(0s), std::optional(kStart + 15s));
    QCOMPARE(view.note(lease(6, "a", kServer + 3600s), pushed(9s)), View::Change::Changed);
    QCOMPARE(view.find("ns/l")->expiry(0s), std::optional(kStart + 24s));
}

void TstKubeView::agesAreEstimatedAtFirstSightOnly_data()
{
    QTest::addColumn<qlonglong>("renewedAgo"); // s, by the holder's clock
    QTest::addColumn<qlonglong>("stampAgo"); // s, by the server's
    QTest::addColumn<bool>("held");
    QTest::addColumn<qlonglong>("left"); // s, about
    QTest::newRow("fresh") << 3LL << 3LL << true << 13LL;
    QTest::newRow("long dead") << 3600LL << 3600LL << false << 0LL;
    QTest::newRow("dead, its clock was ahead") << 3590LL << 3600LL << false << 0LL;
    QTest::newRow("alive, its clock is behind") << 3600LL << 3LL << true << 13LL;
    QTest::newRow("alive, the stamp is of its first write") << 3LL << 7200LL << true << 13LL;
    QTest::newRow("ahead, the stamp is old: not to be told") << -60LL << 7200LL << true << 15LL;
}

void TstKubeView::agesAreEstimatedAtFirstSightOnly()
{
    QFETCH(qlonglong, renewedAgo);
    QFETCH(qlonglong, stampAgo);
    QFETCH(bool, held);
    QFETCH(qlonglong, left);
    View view;
    teachClock(view);
    const std::string stamp = microTime(kServer - std::chrono::seconds(stampAgo)).substr(0, 19) + "Z";
    view.note(lease(5, "a", kServer - std::chrono::seconds(renewedAgo), stamp), asked(0s));
    const kube::Seen seen = *view.find("ns/l");
    const LeaseId id = LeaseId::observed("ns/l");
    const LeaseRecord shown = recordOf(id, seen, kStart, Judge::ByAnyClue, ReadDepth::Full);
    QCOMPARE(shown.holder.has_value(), held);
    if (held) {
        const Duration wrong = *shown.remaining - std::chrono::seconds(left);
        QVERIFY2(wrong < 1600ms && wrong > -1600ms, std::to_string(shown.remaining->count()).c_str());
    }
    // Deciding never rests on an estimate.
    const LeaseRecord strict = recordOf(id, seen, kStart, Judge::ByOurClock, ReadDepth::Full);
    QCOMPARE(strict.remaining, std::optional<Duration>(15s));
}

void TstKubeView::aSkewedHolderIsTold()
{
    View view;
    teachClock(view);
    view.note(lease(5, "a", kServer + 90s), asked(0s));
    view.note(lease(6, "a", kServer + 92s), pushed(2s));
    const LeaseRecord record = recordOf(LeaseId::observed("ns/l"), *view.find("ns/l"), kStart + 2s, Judge::ByAnyClue, ReadDepth::Full);
    QVERIFY2(record.note.find("ahead of the API server") != std::string::npos, record.note.c_str());
    QCOMPARE(*record.remaining, Duration(15s)); // its countdown is right all the same
    view.note(lease(7, "a", kServer + 4s), pushed(4s));
    QVERIFY(recordOf(LeaseId::observed("ns/l"), *view.find("ns/l"), kStart + 4s, Judge::ByAnyClue, ReadDepth::Full).note.empty());
}

void TstKubeView::overtakenNewsChangesNothing()
{
    View view;
    view.note(lease(5, "a", kServer), asked(0s));
    view.note(lease(9, "c", kServer), asked(3s)); // our own write's answer
    QCOMPARE(view.note(lease(7, "b", kServer), pushed(3100ms)), View::Change::Older); // the watch is behind
    Heard slow = asked(4s);
    slow.sentAt = kStart + 2s; // asked before the write
    QCOMPARE(view.note(lease(7, "b", kServer), slow), View::Change::Older);
    QCOMPARE(*view.find("ns/l")->object->holder, "c");
    QCOMPARE(view.noteAbsent("ns/l", pushed(5s), 6), View::Change::Older);
    QCOMPARE(view.noteAbsent("ns/l", pushed(5s), 11), View::Change::Changed);
    QCOMPARE(view.note(lease(10, "b", kServer), pushed(6s)), View::Change::Older); // before the deletion
    QCOMPARE(view.note(lease(12, "d", kServer, {}, "other"), pushed(7s)), View::Change::Changed);
}

void TstKubeView::whatVanishedIsNotFreeBeforeItsTime_data()
{
    QTest::addColumn<bool>("restored");
    QTest::newRow("deleted") << false;
    QTest::newRow("an older store") << true;
}

void TstKubeView::whatVanishedIsNotFreeBeforeItsTime()
{
    QFETCH(bool, restored);
    View view;
    view.note(lease(50, "a", kServer), asked(0s));
    if (restored)
        QCOMPARE(view.note(lease(7, "", kServer), asked(5s)), View::Change::Changed); // asked afterwards: believed
    else
        QCOMPARE(view.noteAbsent("ns/l", asked(5s)), View::Change::Changed);
    QCOMPARE(view.find("ns/l")->notBefore, kStart + 15s); // a may believe until then
}

void TstKubeView::liveMeansProvenLately()
{
    View view;
    QVERIFY(!view.live(kStart));
    view.streamProven(kStart);
    QVERIFY(view.live(kStart + 3s));
    QVERIFY(!view.live(kStart + 5s));
    view.streamProven(kStart + 5s);
    QVERIFY(view.live(kStart + 5s));
    view.streamEnded();
    QVERIFY(!view.live(kStart + 5s));
}

QTEST_GUILESS_MAIN(TstKubeView)
#include "tst_kube_view.moc"
