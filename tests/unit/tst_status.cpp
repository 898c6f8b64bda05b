// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random.h"
#include "tests/support/looks.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace tenure;
using namespace tenure::test;

namespace
{

/// A lease of ours, renewed at kStart, seen then; 15 s, so it is late after 7.5 s and overdue
/// after 12.
LeaseStatus held()
{
    Fleet fleet;
    fleet.apply(look({0ms, "a", 7, -60s, 0s, 15000ms, false, {}, 0ms}), {});
    return *fleet.find(LeaseId::observed("jobs/leader"));
}

LeaseStatus foreign(int renewals)
{
    Fleet fleet;
    for (int i = -renewals; i <= 0; ++i)
        fleet.apply(foreignLook(i * 5s, "x", 15s, 0ms), {});
    return *fleet.find(LeaseId::observed("lock"));
}

LeaseStatus vacant()
{
    Fleet fleet;
    fleet.apply(look({-10s, "a", 7, -60s, -10s}), {});
    fleet.apply(look({0ms, "", 7, {}, {}, 15000ms, true}), {});
    return *fleet.find(LeaseId::observed("jobs/leader"));
}

LeaseStatus onHold()
{
    Observation seen = look({0ms, "", 8, {}, {}, 15000ms, false, {}, 0ms});
    seen.record.hold = OperatorHold{"op", 20s};
    Fleet fleet;
    fleet.apply(seen, {});
    return *fleet.find(LeaseId::observed("jobs/leader"));
}

LeaseStatus leaked()
{
    LeaseStatus status = held();
    status.record.remaining.reset();
    status.expiresAt.reset();
    return status;
}

/// The fleet declared it expired, for no renewal came while the link was fresh.
LeaseStatus ranOut()
{
    Fleet fleet;
    fleet.apply(look({0ms, "a", 7, -60s, 0s, 15000ms, false, {}, 0ms}), {});
    fleet.tick(kStart + 16s, {}, true);
    return *fleet.find(LeaseId::observed("jobs/leader"));
}

LeaseStatus unsure()
{
    LeaseStatus status = held();
    status.uncertainty = 500ms;
    return status;
}

} // namespace

Q_DECLARE_METATYPE(tenure::LeaseStatus)

class TestStatus : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void words_data();
    void words();
    void nothingIsKnownWithoutAFreshLink_data();
    void nothingIsKnownWithoutAFreshLink();
    void everyStateHasItsOwnSigns();
    void countdownIsRightToHalfARoundTrip();
    void explains();
};

void TestStatus::words_data()
{
    QTest::addColumn<LeaseStatus>("status");
    QTest::addColumn<qint64>("afterMs");
    QTest::addColumn<QString>("word");
    QTest::addColumn<qint64>("remainingMs"); // -1: none
    const auto row = [](const char* name, const LeaseStatus& status, qint64 after, const char* word,
                         qint64 remaining) {
        QTest::newRow(name) << status << after << QString::fromLatin1(word) << remaining;
    };
    row("fresh renewal", held(), 0, "HELD", 15000);
    row("half the ttl", held(), 7500, "HELD", 7500);
    row("more than half", held(), 7501, "LATE", 7499);
    row("deadline", held(), 12000, "LATE", 3000);
    row("past the deadline", held(), 12001, "OVERDUE", 2999);
    row("out, but nobody looked", held(), 15100, "OVERDUE", 0);
    row("out and seen", ranOut(), 16000, "EXPIRED", 0);
    row("the safe edge drives late", unsure(), 7001, "LATE", 7999);
    row("the safe edge drives overdue", unsure(), 11501, "OVERDUE", 3499);
    row("a one-shot lock is not late", foreign(0), 14000, "HELD", 1000);
    row("but overdue past its end", foreign(0), 15001, "OVERDUE", 0);
    row("a foreign renewer is late", foreign(2), 7501, "LATE", 7499);
    row("a leaked lock", leaked(), 999999, "HELD", -1);
    row("nobody", vacant(), 100, "VACANT", -1);
    row("hold", onHold(), 5000, "HOLD", 15000);
}

void TestStatus::words()
{
    QFETCH(LeaseStatus, status);
    QFETCH(qint64, afterMs);
    QFETCH(QString, word);
    QFETCH(qint64, remainingMs);
    const Instant now = kStart + Milliseconds(afterMs);
    for (const LinkState link : {LinkState::Live, LinkState::Polling}) {
        QCOMPARE(QString::fromLatin1(stateWord(stateAt(status, link, now))), word);
        const auto left = remainingAt(status, link, now);
        QCOMPARE(left ? std::chrono::duration_cast<Milliseconds>(*left).count() : -1, remainingMs);
        QVERIFY(explainState(status, link, now).rfind(word.toStdString(), 0) == 0);
    }
}

void TestStatus::nothingIsKnownWithoutAFreshLink_data()
{
    QTest::addColumn<LeaseStatus>("status");
    QTest::newRow("held") << held();
    QTest::newRow("foreign") << foreign(3);
    QTest::newRow("vacant") << vacant();
    QTest::newRow("hold") << onHold();
    QTest::newRow("leaked") << leaked();
    QTest::newRow("ran out") << ranOut();
}

void TestStatus::nothingIsKnownWithoutAFreshLink()
{
    QFETCH(LeaseStatus, status);
    for (const LinkState link : {LinkState::Connecting, LinkState::Stale, LinkState::Disconnected,
             LinkState::Denied, LinkState::Paused}) {
        for (const Duration after : {Duration(0), Duration(8s), Duration(13s), Duration(100s)}) {
            QCOMPARE(stateAt(status, link, kStart + after), LeaseState::Unknown);
            QVERIFY(!remainingAt(status, link, kStart + after));
            QVERIFY(explainState(status, link, kStart + after).rfind("UNKNOWN", 0) == 0);
        }
    }
}

void TestStatus::everyStateHasItsOwnSigns()
{
    std::set<std::string> words, glyphs, json;
    std::set<int> severities;
    const std::vector<LeaseState> all{LeaseState::Held, LeaseState::Late, LeaseState::Overdue,
        LeaseState::Expired, LeaseState::Vacant, LeaseState::OperatorHold, LeaseState::Unknown};
    for (const LeaseState state : all) {
        words.insert(stateWord(state));
        glyphs.insert(stateGlyph(state));
        json.insert(stateJson(state));
        severities.insert(severity(state));
    }
    QCOMPARE(words.size(), all.size());
    QCOMPARE(glyphs.size(), all.size());
    QCOMPARE(json.size(), all.size());
    QCOMPARE(severities.size(), all.size());
    QCOMPARE(severity(LeaseState::Held), 0);
    QCOMPARE(*severities.begin(), 0);
}

/// Requests and answers travel for different times; the true expiry always lies within the band.
void TestStatus::countdownIsRightToHalfARoundTrip()
{
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        Random random(seed);
        const Duration there = std::chrono::microseconds(random.below(200'000));
        const Duration back = std::chrono::microseconds(random.below(200'000));
        const Duration sent = std::chrono::milliseconds(random.below(100'000));
        const Instant truth = kStart + sent + std::chrono::milliseconds(random.below(30'000));
        Observation seen = foreignLook(sent + there + back, "x",
            std::max(truth - (kStart + sent + there), Duration(0)), there + back);
        Fleet fleet;
        fleet.apply(seen, {});
        const LeaseStatus& status = *fleet.find(seen.record.lease);
        if (truth < kStart + sent + there)
            continue; // had run out before it was asked
        const Duration error = *status.expiresAt - truth;
        QVERIFY2(std::max(error, -error) <= status.uncertainty, std::to_string(seed).c_str());
        QVERIFY(status.uncertainty <= (there + back) / 2);
    }
}

void TestStatus::explains()
{
    LeaseStatus status = held();
    status.renewInterval = 5s;
    QCOMPARE(explainState(status, LinkState::Live, kStart + 10900ms),
        std::string("LATE: 10 s since the last renewal of a, usually 5.0 s; expires in 4.1 s"));
    QCOMPARE(explainState(held(), LinkState::Live, kStart + 1s),
        std::string("HELD by a for 1 m 01 s; renewed 1.0 s ago; expires in 14 s"));
    status.record.holder = "evil\nname\x1b[2J";
    const std::string text = explainState(status, LinkState::Live, kStart + 1s);
    QVERIFY(std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < 32; }));
}

QTEST_GUILESS_MAIN(TestStatus)
#include "tst_status.moc"
