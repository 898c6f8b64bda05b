// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/journal_kit.h"

#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace tenure::test;

namespace
{

const LeaseKey kKey{"c1", LeaseId::observed("jobs/leader")};

std::string laneText(const TermLane& lane, WallTime from)
{
    std::string out;
    for (const TermSegment& segment : lane.segments) {
        const auto seconds = [&](WallTime at) {
            return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(at - from).count());
        };
        switch (segment.kind) {
        case TermKind::Led:
            out += segment.holder + "/" + std::to_string(segment.token.value);
            break;
        case TermKind::Leaderless:
            out += "-";
            break;
        case TermKind::OperatorHold:
            out += "hold";
            break;
        case TermKind::NotObserved:
            out += "?";
            break;
        case TermKind::Dense:
            out += "#" + std::to_string(segment.transitions);
            break;
        }
        out += " " + seconds(segment.from) + ".." + seconds(segment.to) + "; ";
    }
    return out;
}

} // namespace

class TestJournal : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void termsAreToldAsTheyWere();
    void aWindowIsCutOutOfTerms();
    void nobodyLookedIsNotClaimed();
    void takenOverAfterItRanOutHasAGap();
    void manyChangesBecomeDense();
    void summaryCountsChangesAndSilence();
    void summaryWithinASilence();
    void longestGapOverManyHours();
    void densityCountsAndCarriesSilence();
    void renewalsAreSummedUp();
    void eventsComeInPages();
    void aClockThatWasSetBackKeepsTheOrder();
    void alertsKeepTheirLife();
    void alertsOfAnObserverThatDiedEnd();
    void actionsAreChained();

private:
    [[nodiscard]] JournalQuery query()
    {
        const bool written = m_kit->journal->flush(10s);
        if (!written)
            qFatal("not written: %s", m_kit->journal->status().sentence.c_str());
        auto opened = JournalQuery::open(m_path);
        if (!opened)
            qFatal("not opened: %s", opened.error().text().c_str());
        return std::move(*opened);
    }
    std::string lane(Duration from, Duration to, int pixels = 1000)
    {
        const auto told = query().terms(kKey, m_kit->window(from, to), pixels);
        return told ? laneText(*told, m_kit->wallStart) : told.error().text();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_path;
    std::unique_ptr<JournalKit> m_kit;
};

void TestJournal::init()
{
    m_kit.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    m_path = m_folder->filePath(QStringLiteral("deep/er/journal.db")).toStdString();
    m_kit = std::make_unique<JournalKit>(m_path);
}

void TestJournal::termsAreToldAsTheyWere()
{
    m_kit->watched(0s, 100s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 7});
    m_kit->tell({20s, TransitionKind::Expired, "a", "", 7});
    m_kit->tell({25s, TransitionKind::Acquired, "", "b", 8, 5s});
    m_kit->tell({40s, TransitionKind::TakenOver, "b", "c", 9});
    m_kit->tell({60s, TransitionKind::Held, "c", "", 10});
    m_kit->tell({70s, TransitionKind::Acquired, "", "a", 11, 10s});
    QCOMPARE(lane(0s, 100s),
        std::string("a/7 0..20; - 20..25; b/8 25..40; c/9 40..60; hold 60..70; a/11 70..100; "));
    auto told = query().terms(kKey, m_kit->window(0s, 100s), 1000);
    QCOMPARE(told->holders, (std::vector<std::string>{"a", "b", "c"}));
    QVERIFY(!told->decimated);
    QVERIFY2(!told->segments.front().begins, "it led before we looked");
    QVERIFY(told->segments[2].begins && told->segments[2].ends);
    QVERIFY2(!told->segments.back().ends, "it still leads");
    QCOMPARE(told->segments[1].leaderless, Duration(5s));
}

void TestJournal::aWindowIsCutOutOfTerms()
{
    m_kit->watched(0s, 100s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 7});
    m_kit->tell({50s, TransitionKind::TakenOver, "a", "b", 8});
    QCOMPARE(lane(10s, 20s), std::string("a/7 10..20; "));
    QCOMPARE(lane(60s, 70s), std::string("b/8 60..70; "));
    QCOMPARE(lane(45s, 55s), std::string("a/7 45..50; b/8 50..55; "));
    QCOMPARE(lane(-20s, 5s), std::string("? -20..0; a/7 0..5; "));
    QCOMPARE(lane(200s, 300s), std::string("? 200..300; "));
    const auto other = query().terms({"c1", LeaseId::observed("x")}, m_kit->window(0s, 9s), 9);
    QCOMPARE(laneText(*other, m_kit->wallStart), std::string("? 0..9; "));
}

void TestJournal::nobodyLookedIsNotClaimed()
{
    m_kit->watched(0s, 30s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 7});
    m_kit->watched(60s, 100s);
    m_kit->tell({60s, TransitionKind::Appeared, "", "a", 7});
    m_kit->watched(200s, 220s);
    m_kit->tell({200s, TransitionKind::Appeared, "", "b", 9});
    QCOMPARE(lane(0s, 220s), std::string("a/7 0..30; ? 30..60; a/7 60..100; ? 100..200; b/9 200..220; "));
    const auto blind = query().notObserved("c1", m_kit->window(0s, 300s));
    QCOMPARE(blind->size(), 3U);
    QCOMPARE(blind->at(1).from, m_kit->wall(100s));
    QCOMPARE(blind->at(2).to, m_kit->wall(300s));
}

void TestJournal::takenOverAfterItRanOutHasAGap()
{
    m_kit->watched(0s, 100s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 7});
    m_kit->tell({50s, TransitionKind::TakenOver, "a", "b", 8, 4s});
    QCOMPARE(lane(0s, 100s), std::string("a/7 0..46; - 46..50; b/8 50..100; "));
    const auto sum = query().summary(kKey, m_kit->window(0s, 100s));
    QCOMPARE(sum->leaderless, Duration(4s));
    QCOMPARE(sum->longestGap, Duration(4s));
}

void TestJournal::manyChangesBecomeDense()
{
    m_kit->watched(0s, 10'000s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 1});
    for (int i = 0; i < 500; ++i) {
        const Duration at = 4000s + i * 2s;
        m_kit->tell({at, TransitionKind::Released, "a", "", static_cast<std::uint64_t>(i + 1)});
        m_kit->tell({at + 1s, TransitionKind::Acquired, "", "a", static_cast<std::uint64_t>(i + 2), 1s});
    }
    const auto told = query().terms(kKey, m_kit->window(0s, 10'000s), 10);
    QVERIFY(told->decimated);
    QCOMPARE(laneText(*told, m_kit->wallStart), std::string("a/1 0..4000; #1000 4000..5000; a/501 5000..10000; "));
    QCOMPARE(told->segments[1].leaderless, Duration(500s));
    const auto near = query().terms(kKey, m_kit->window(4000s, 4010s), 1000);
    QCOMPARE(near->segments.size(), 10U);
}

void TestJournal::summaryCountsChangesAndSilence()
{
    m_kit->watched(0s, 200s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 7});
    m_kit->tell({20s, TransitionKind::Expired, "a", "", 7});
    m_kit->tell({25s, TransitionKind::Acquired, "", "b", 8, 5s});
    m_kit->tell({60s, TransitionKind::Released, "b", "", 8});
    m_kit->tell({72s, TransitionKind::Acquired, "", "a", 9, 12s});
    const auto all = query().summary(kKey, m_kit->window(0s, 200s));
    QCOMPARE(all->transitions, 4U);
    QCOMPARE(all->leaderless, Duration(17s));
    QCOMPARE(all->longestGap, Duration(12s));
    QCOMPARE(all->observed, Duration(200s));
    const auto part = query().summary(kKey, m_kit->window(22s, 65s));
    QCOMPARE(part->transitions, 2U);
    QCOMPARE(part->leaderless, Duration(8s));
    QCOMPARE(part->longestGap, Duration(5s));
    m_kit->tell({100s, TransitionKind::Appeared, "", "x", 1, {}, "other"});
    m_kit->tell({150s, TransitionKind::TakenOver, "x", "y", 2, {}, "other"});
    JournalFilter every;
    QCOMPARE(query().summary(every, m_kit->window(0s, 200s))->transitions, 5U);
    every.glob = "o*";
    QCOMPARE(query().summary(every, m_kit->window(0s, 200s))->transitions, 1U);
}

void TestJournal::summaryWithinASilence()
{
    m_kit->watched(0s, 50s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 7});
    m_kit->tell({10s, TransitionKind::Expired, "a", "", 7});
    m_kit->watched(100s, 150s); // nobody looked for 50 s: that is not time without a leader
    m_kit->tell({100s, TransitionKind::Appeared, "", "", 7});
    m_kit->tell({120s, TransitionKind::Acquired, "", "b", 8});
    const auto within = query().summary(kKey, m_kit->window(20s, 30s));
    QCOMPARE(within->leaderless, Duration(10s));
    QCOMPARE(within->longestGap, Duration(10s));
    const auto all = query().summary(kKey, m_kit->window(0s, 150s));
    QCOMPARE(all->leaderless, Duration(60s));
    QCOMPARE(all->observed, Duration(100s));
    const auto late = query().summary(kKey, m_kit->window(110s, 150s));
    QCOMPARE(late->leaderless, Duration(10s));
}

void TestJournal::longestGapOverManyHours()
{
    m_kit->watched(0s, 400h);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 1});
    for (int i = 1; i < 40; ++i) {
        const Duration gap = i == 17 ? 55s : 10s;
        m_kit->tell({i * 10h, TransitionKind::Expired, "a", "", static_cast<std::uint64_t>(i)});
        m_kit->tell({i * 10h + gap, TransitionKind::Acquired, "", "a", static_cast<std::uint64_t>(i + 1), gap});
    }
    QCOMPARE(query().summary(kKey, m_kit->window(0s, 400h))->longestGap, Duration(55s));
    QCOMPARE(query().summary(kKey, m_kit->window(171h, 400h))->longestGap, Duration(10s));
    QCOMPARE(query().summary(kKey, m_kit->window(170h + 30s, 171h))->longestGap, Duration(25s));
}

void TestJournal::densityCountsAndCarriesSilence()
{
    m_kit->watched(0s, 600s);
    m_kit->tell({0s, TransitionKind::Appeared, "", "a", 7});
    m_kit->tell({0s, TransitionKind::Appeared, "", "x", 1, {}, "other"});
    m_kit->tell({100s, TransitionKind::Expired, "a", "", 7});
    m_kit->tell({150s, TransitionKind::Expired, "x", "", 1, {}, "other"});
    m_kit->tell({290s, TransitionKind::Acquired, "", "b", 8, 190s});
    m_kit->tell({295s, TransitionKind::Acquired, "", "y", 2, 145s, "other"});
    const auto cells = query().density("c1", m_kit->window(0s, 1000s), 10);
    QVERIFY(cells->size() >= 8 && cells->size() <= 11);
    std::uint64_t sum = 0;
    for (const DensityCell& cell : *cells)
        sum += cell.transitions;
    QCOMPARE(sum, 4U);
    const auto at = [&](Duration when) {
        for (const DensityCell& cell : *cells) {
            if (m_kit->wall(when) >= cell.from && m_kit->wall(when) < cell.to)
                return cell;
        }
        return DensityCell();
    };
    QCOMPARE(at(50s).leaderless, 0U);
    QCOMPARE(at(220s).leaderless, 2U);
    QCOMPARE(at(450s).leaderless, 0U);
    QCOMPARE(at(450s).observed, 1.0);
    QCOMPARE(at(850s).observed, 0.0);
}

void TestJournal::renewalsAreSummedUp()
{
    m_kit->watched(0s, 600s);
    for (int i = 1; i <= 60; ++i) {
        RenewalSeen seen;
        seen.at = m_kit->start + i * 5s;
        seen.interval = i == 30 ? 9s : 5s;
        seen.headroom = i == 30 ? 0.4 : 0.66;
        seen.late = i == 30;
        m_kit->journal->append(kKey, seen, i == 10 ? 40ms : 2ms);
    }
    const auto minutes = query().renewals(kKey, m_kit->window(0s, 600s), 100);
    QVERIFY(minutes->size() >= 5 && minutes->size() <= 7);
    std::uint64_t count = 0;
    std::uint64_t late = 0;
    double headroom = 1;
    Duration most{};
    Duration trip{};
    for (const RenewalBucket& bucket : *minutes) {
        count += bucket.count;
        late += bucket.late;
        headroom = std::min(headroom, bucket.headroomLeast);
        most = std::max(most, bucket.intervalMost);
        trip = std::max(trip, bucket.roundTripMost);
        QCOMPARE(bucket.intervalLeast, Duration(5s));
        QVERIFY(bucket.intervalMean >= 5s && bucket.intervalMean < 6s);
    }
    QCOMPARE(count, 60U);
    QCOMPARE(late, 1U);
    QCOMPARE(headroom, 0.4);
    QCOMPARE(most, Duration(9s));
    QCOMPARE(trip, Duration(40ms));
    const auto coarse = query().renewals(kKey, m_kit->window(-50h, 50h), 10);
    QCOMPARE(coarse->size(), 1U);
    QCOMPARE(coarse->front().count, 60U);
}

void TestJournal::eventsComeInPages()
{
    m_kit->watched(0s, 100s);
    for (int i = 0; i < 10; ++i) {
        Scripted what{i * 5s, TransitionKind::TakenOver, "a", "b", static_cast<std::uint64_t>(i + 1)};
        what.lease = i % 2 == 0 ? "even" : "odd";
        m_kit->tell(what);
    }
    JournalQuery open = query();
    JournalFilter filter;
    const auto first = open.events(filter, 0, 4);
    QCOMPARE(first->size(), 4U);
    QCOMPARE(first->front().token.value, 10U);
    QCOMPARE(first->front().lease, (LeaseKey{"c1", LeaseId::observed("odd")}));
    QCOMPARE(first->front().at, m_kit->wall(45s));
    QCOMPARE(first->front().explanation, std::string("because"));
    const auto second = open.events(filter, first->back().id, 100);
    QCOMPARE(second->size(), 6U);
    QCOMPARE(second->front().token.value, 6U);
    filter.glob = "e*";
    QCOMPARE(open.events(filter, 0, 100)->size(), 5U);
    filter.connection = "c1";
    filter.glob = "odd";
    filter.from = m_kit->wall(5s);
    filter.to = m_kit->wall(25s);
    QCOMPARE(open.events(filter, 0, 100)->size(), 2U);
    filter.connection = "c2";
    QVERIFY(open.events(filter, 0, 100)->empty());
    QCOMPARE(open.connections()->front().name, std::string("prod-eu"));
    QCOMPARE(open.leases()->size(), 2U);
    QCOMPARE((*open.extent())->to, m_kit->wall(100s));
}

void TestJournal::aClockThatWasSetBackKeepsTheOrder()
{
    m_kit->watched(0s, 10s);
    m_kit->tell({1s, TransitionKind::Appeared, "", "a", 1});
    m_kit->tell({5s, TransitionKind::TakenOver, "a", "b", 2});
    m_kit->clock.stepWall(-1h);
    m_kit->clock.advance(5s);
    m_kit->journal->append("c1", transition({15s, TransitionKind::TakenOver, "b", "c", 3}, m_kit->start));
    const auto events = query().events({}, 0, 10);
    QCOMPARE(events->front().newHolder, std::string("c"));
    QCOMPARE(events->back().newHolder, std::string("a"));
}

void TestJournal::alertsKeepTheirLife()
{
    m_kit->watched(0s, 10s);
    Alert alert;
    alert.id = 1;
    alert.rule = "churn";
    alert.lease = kKey.lease;
    alert.text = "9 changes";
    alert.action = "look";
    alert.firstAt = alert.lastAt = m_kit->start + 1s;
    m_kit->journal->append("c1", 77, alert);
    alert.count = 2;
    alert.lastAt = m_kit->start + 2s;
    m_kit->journal->append("c1", 77, alert);
    alert.state = AlertState::Snoozed;
    alert.by = "op1";
    alert.reason = "load test";
    alert.snoozedUntil = m_kit->start + 100s;
    alert.lastAt = m_kit->start + 3s;
    m_kit->journal->append("c1", 77, alert);
    alert.state = AlertState::Resolved;
    alert.snoozedUntil.reset();
    alert.lastAt = m_kit->start + 4s;
    m_kit->journal->append("c1", 77, alert);
    const auto told = query().alerts({}, 0, 10);
    QCOMPARE(told->size(), 1U);
    const JournalAlert& one = told->front();
    QCOMPARE(one.state, AlertState::Resolved);
    QCOMPARE(one.count, 2U);
    QCOMPARE(one.steps.size(), 3U);
    QCOMPARE(one.steps[1].by, std::string("op1"));
    QCOMPARE(one.steps[1].reason, std::string("load test"));
    QCOMPARE(one.steps[1].until, std::optional(m_kit->wall(100s)));
}

void TestJournal::alertsOfAnObserverThatDiedEnd()
{
    m_kit->watched(0s, 10s);
    Alert alert;
    alert.id = 1;
    alert.rule = "churn";
    alert.firstAt = alert.lastAt = m_kit->start + 1s;
    m_kit->journal->append("c1", 77, alert);
    alert.rule = "stale";
    m_kit->journal->append("c1", 78, alert);
    const auto told = query().alerts({}, 0, 10);
    QCOMPARE(told->size(), 2U);
    QCOMPARE(told->front().state, AlertState::Firing);
    QCOMPARE(told->back().state, AlertState::Resolved);
    QCOMPARE(told->back().steps.back().reason, std::string("its observer ended"));
}

void TestJournal::actionsAreChained()
{
    JournalAction action;
    action.by = "op1";
    action.lease = kKey;
    action.verb = "clear";
    action.expected = "a/7";
    action.reason = "INC-4711";
    const auto intent = m_kit->journal->record(action, 10s);
    QVERIFY(intent.has_value());
    action.intent = *intent;
    action.outcome = "taken";
    action.sentence = "Released, taken by b";
    QVERIFY(m_kit->journal->record(action, 10s).has_value());
    auto open = query();
    const auto told = open.actions({}, 0, 10);
    QCOMPARE(told->size(), 2U);
    QCOMPARE(told->front().intent, *intent);
    const auto sound = open.verify();
    QVERIFY(sound->sound);
    QCOMPARE(sound->actions, 2U);
    QCOMPARE(sound->head, told->front().hash);
}

QTEST_GUILESS_MAIN(TestJournal)
#include "tst_journal.moc"
