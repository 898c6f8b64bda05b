// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/operator_gate.h"
#include "core/runtime/release_watch.h"
#include "tests/support/looks.h"

#include <QTest>

#include <algorithm>

using namespace tenure;
using namespace tenure::test;

namespace
{

LeaseStatus held(const std::string &kind)
{
    Fleet fleet;
    Observation first = look({0ms, "a", 118, -60s, 0s});
    Observation second = look({5s, "a", 118, -60s, 5s});
    first.record.kind = second.record.kind = kind;
    first.record.version = second.record.version = "seen";
    second.record.candidates = {"b", "c"};
    fleet.apply(first, {});
    fleet.apply(second, {});
    return *fleet.find(LeaseId::observed("jobs/leader"));
}

LeaseStatus vacant()
{
    Fleet fleet;
    fleet.apply(look({0s, "", 118}), {});
    return *fleet.find(LeaseId::observed("jobs/leader"));
}

std::string joined(const ReleaseForecast &forecast)
{
    std::string out;
    for (const std::string &sentence : forecast.sentences)
        out += sentence + "\n";
    return out;
}

const Instant kNow = kStart + 6s;

LeaseRecord record(const std::string &holder, std::uint64_t token)
{
    LeaseRecord out = look({0s, holder, token}).record;
    out.version = "v" + std::to_string(token);
    return out;
}

ReleasePlan planned(OperatorVerb verb)
{
    ReleasePlan plan;
    plan.verb = verb;
    plan.lease = LeaseId::observed("jobs/leader");
    plan.expected = record("a", 7).seen();
    plan.by = "op";
    return plan;
}

} // namespace

Q_DECLARE_METATYPE(tenure::OperatorVerb)
Q_DECLARE_METATYPE(tenure::LeaseRecord)

class TestForecast : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void kinds_data();
    void kinds();
    void askAndHoldHaveNoOverlap();
    void whatEndsWithASessionIsTold();
    void holdsAreTruthfulAboutOthers();
    void riverIsAskedOnItsOwnChannel();
    void overlapEndsWithTheLease();
    void whatIsNotPossibleSaysWhy();
    void watchTellsWhatHappened_data();
    void watchTellsWhatHappened();
    void lostAnswers_data();
    void lostAnswers();
    void everyOutcomeHasAWord();
};

void TestForecast::kinds_data()
{
    QTest::addColumn<QByteArray>("kind");
    QTest::addColumn<QByteArray>("says");
    QTest::addColumn<qint64>("overlapMs"); // -1: not bounded
    QTest::newRow("tenure") << QByteArray("tenure")
                            << QByteArray("is told at its next renewal, within 5.0 s")
                            << qint64(5000);
    QTest::newRow("redisson") << QByteArray("redisson")
                              << QByteArray("watchdog stops silently within 10 s") << qint64(10000);
    QTest::newRow("redis-py") << QByteArray("redis-py") << QByteArray("LockNotOwnedError")
                              << qint64(5000);
    QTest::newRow("shedlock") << QByteArray("shedlock") << QByteArray("is not told") << qint64(-1);
    QTest::newRow("river") << QByteArray("river") << QByteArray("next re-election") << qint64(5000);
    QTest::newRow("oban") << QByteArray("oban") << QByteArray("next election") << qint64(14001);
    QTest::newRow("pglock") << QByteArray("pglock") << QByteArray("context is cancelled")
                            << qint64(5000);
    QTest::newRow("advisory") << QByteArray("advisory") << QByteArray("loses its session at once")
                              << qint64(-1);
    QTest::newRow("token") << QByteArray("token") << QByteArray("extension is refused")
                           << qint64(5000);
}

void TestForecast::kinds()
{
    QFETCH(QByteArray, kind);
    QFETCH(QByteArray, says);
    QFETCH(qint64, overlapMs);
    const auto forecast
        = forecastRelease({}, held(kind.toStdString()), OperatorVerb::Clear, 15000ms, kNow);
    QVERIFY(forecast.possible);
    const std::string text = joined(forecast);
    QVERIFY2(text.find(says.toStdString()) != std::string::npos, text.c_str());
    QCOMPARE(
        forecast.overlap ? std::chrono::duration_cast<Milliseconds>(*forecast.overlap).count() : -1,
        overlapMs);
    QVERIFY(text.find("Two may lead at once") != std::string::npos);
    QVERIFY(text.find("2 candidates wait") != std::string::npos);
    QVERIFY(text.find("reject tokens up to 118") != std::string::npos);
}

void TestForecast::askAndHoldHaveNoOverlap()
{
    for (const OperatorVerb verb : {OperatorVerb::Ask, OperatorVerb::Hold}) {
        const auto forecast = forecastRelease({}, held("tenure"), verb, 20000ms, kNow);
        QVERIFY(forecast.possible);
        QCOMPARE(*forecast.overlap, Duration::zero());
        QVERIFY(joined(forecast).find("Two never lead at once") != std::string::npos);
        QVERIFY(joined(forecast).find("20 s") != std::string::npos);
    }
}

void TestForecast::whatEndsWithASessionIsTold()
{
    LeaseStatus status = held("advisory");
    status.record.facts = {
        {"session", "pid 7"}, {"transaction", "open for 3 m 00 s"}, {"also holds", "advisory:8"}};
    const std::string text
        = joined(forecastRelease({}, status, OperatorVerb::Clear, 15000ms, kNow));
    QVERIFY2(text.find("also holds advisory:8") != std::string::npos, text.c_str());
    QVERIFY2(text.find("open for 3 m 00 s, is rolled back") != std::string::npos, text.c_str());
    status.record.version.clear(); // shared, a server process, or nobody knows whose
    QVERIFY(!forecastRelease({}, status, OperatorVerb::Clear, 15000ms, kNow).possible);
    QVERIFY(!forecastRelease({}, held("advisory"), OperatorVerb::Hold, 15000ms, kNow).possible);
}

void TestForecast::holdsAreTruthfulAboutOthers()
{
    const auto spring = forecastRelease({}, held("spring"), OperatorVerb::Hold, 15000ms, kNow);
    QVERIFY(joined(spring).find("finds out at its next heartbeat") != std::string::npos);
    QVERIFY(joined(spring).find("takes it again") == std::string::npos); // not from an operator
    QCOMPARE(*spring.overlap, Duration::zero());
    // Its job goes on, however long the hold.
    QVERIFY(!forecastRelease({}, held("shedlock"), OperatorVerb::Hold, 15000ms, kNow).overlap);
}

void TestForecast::riverIsAskedOnItsOwnChannel()
{
    const auto forecast = forecastRelease({}, held("river"), OperatorVerb::Ask, 15000ms, kNow);
    QVERIFY(forecast.possible);
    QVERIFY(joined(forecast).find("River's own channel") != std::string::npos);
    QVERIFY(joined(forecast).find("stays out") == std::string::npos); // it promises no such thing
}

void TestForecast::overlapEndsWithTheLease()
{
    const auto forecast
        = forecastRelease({}, held("tenure"), OperatorVerb::Clear, 15000ms, kStart + 18s);
    QVERIFY(*forecast.overlap <= 2s + 1ms); // the lease itself ends at 20 s
}

void TestForecast::whatIsNotPossibleSaysWhy()
{
    StoreTraits noHold;
    noHold.canHold = false;
    for (const auto &forecast :
        {forecastRelease(noHold, held("tenure"), OperatorVerb::Hold, 15000ms, kNow),
            forecastRelease({}, held("redisson"), OperatorVerb::Ask, 15000ms, kNow),
            forecastRelease({}, vacant(), OperatorVerb::Ask, 15000ms, kNow),
            forecastRelease({}, vacant(), OperatorVerb::Clear, 15000ms, kNow)}) {
        QVERIFY(!forecast.possible);
        QVERIFY(!forecast.why.empty());
        QVERIFY(forecast.sentences.empty());
    }
    QVERIFY(forecastRelease({}, vacant(), OperatorVerb::Hold, 15000ms, kNow).possible);
}

void TestForecast::watchTellsWhatHappened_data()
{
    QTest::addColumn<OperatorVerb>("verb");
    QTest::addColumn<LeaseRecord>("seen");
    QTest::addColumn<QByteArray>("word");
    QTest::addColumn<bool>("decided");
    LeaseRecord hold = record("", 8);
    hold.hold = OperatorHold{"op", 15000ms};
    const auto row
        = [](const char *name, OperatorVerb verb, const LeaseRecord &seen, const char *word,
              bool decided) { QTest::newRow(name) << verb << seen << QByteArray(word) << decided; };
    row("clear, vacant", OperatorVerb::Clear, record("", 7), "vacant", false);
    row("clear, taken", OperatorVerb::Clear, record("b", 8), "taken", true);
    row("clear, re-acquired", OperatorVerb::Clear, record("a", 8), "re-acquired", true);
    row("clear, still there", OperatorVerb::Clear, record("a", 7), "unknown", false);
    row("hold stands", OperatorVerb::Hold, hold, "held", true);
    row("ask, waiting", OperatorVerb::Ask, record("a", 7), "asked", false);
    row("ask, given back", OperatorVerb::Ask, record("", 7), "vacant", false);
    row("ask, taken", OperatorVerb::Ask, record("b", 8), "taken", true);
}

void TestForecast::watchTellsWhatHappened()
{
    QFETCH(OperatorVerb, verb);
    QFETCH(LeaseRecord, seen);
    QFETCH(QByteArray, word);
    QFETCH(bool, decided);
    const ReleasePlan plan = planned(verb);
    ReleaseWatch watch(plan, kStart);
    watch.take(seen, kStart + 900ms);
    QCOMPARE(QByteArray(outcomeWord(watch.report().outcome)), word);
    QCOMPARE(watch.decided(), decided);
    QCOMPARE(watch.report().after, Duration(900ms));
    if (word == "taken")
        QVERIFY(
            watch.report().sentence.find("taken by b (token 8) after 900 ms") != std::string::npos);
}

void TestForecast::lostAnswers_data()
{
    QTest::addColumn<OperatorVerb>("verb");
    QTest::addColumn<LeaseRecord>("seen");
    QTest::addColumn<bool>("carriedOut");
    LeaseRecord hold = record("", 8);
    hold.hold = OperatorHold{"op", 15000ms};
    LeaseRecord otherHold = hold;
    otherHold.hold->by = "somebody";
    LeaseRecord asked = record("a", 7);
    asked.stepDownAsked = true;
    QTest::newRow("clear, as it was") << OperatorVerb::Clear << record("a", 7) << false;
    QTest::newRow("clear, gone") << OperatorVerb::Clear << record("", 7) << true;
    QTest::newRow("hold, as it was") << OperatorVerb::Hold << record("a", 7) << false;
    QTest::newRow("hold, stands") << OperatorVerb::Hold << hold << true;
    QTest::newRow("hold, another's") << OperatorVerb::Hold << otherHold << false;
    QTest::newRow("hold, ran out meanwhile") << OperatorVerb::Hold << record("", 7) << false;
    QTest::newRow("ask, as it was") << OperatorVerb::Ask << record("a", 7) << false;
    QTest::newRow("ask, noted") << OperatorVerb::Ask << asked << true;
}

void TestForecast::lostAnswers()
{
    QFETCH(OperatorVerb, verb);
    QFETCH(LeaseRecord, seen);
    QFETCH(bool, carriedOut);
    QCOMPARE(wasCarriedOut(planned(verb), seen), carriedOut);
}

void TestForecast::everyOutcomeHasAWord()
{
    std::set<std::string> words;
    for (int i = 0; i <= static_cast<int>(ReleaseOutcome::Failed); ++i)
        words.insert(outcomeWord(static_cast<ReleaseOutcome>(i)));
    QCOMPARE(words.size(), static_cast<std::size_t>(ReleaseOutcome::Failed) + 1);
}

QTEST_GUILESS_MAIN(TestForecast)
#include "tst_forecast.moc"
