// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/digest.h"
#include "core/churn/health.h"
#include "core/journal/journal.h"
#include "core/journal/rule_preview.h"
#include "tests/support/looks.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace tenure;
using namespace tenure::test;

namespace
{

const LeaseId kLease = LeaseId::observed("jobs/leader");

RuleBook book(const char* json)
{
    const auto parsed = RuleBook::parse(json);
    if (!parsed)
        qFatal("%s", parsed.error().text().c_str());
    return *parsed;
}

} // namespace

/// What stands around the rules: their file, their catalogue, notices, health, the preview.
class TestRuleBook : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void badRulesNameEveryProblem();
    void rulesSurviveTheirFile();
    void everyRuleHasOneAction();
    void manyAlertsAreOneNotice();
    void aNoticeIsTakenBack();
    void healthJudgesTiming_data();
    void healthJudgesTiming();
    void previewAgreesWithWhatWasRaised();
    void renewalsArePreviewedByTheMinute();
    void everyRuleIsPreviewedOrSaysWhyNot();
};

void TestRuleBook::badRulesNameEveryProblem()
{
    const auto bad = RuleBook::parse(R"({"rules": [{"rule": "nope"}, {"rule": "churn", "window": "10"},
        {"rule": "headroom", "share": 7}, {"rule": "late", "colour": 1}]})");
    QVERIFY(!bad.has_value());
    for (const char* part : {"rule 1", "rule 2", "\"window\"", "rule 3", "rule 4", "colour"})
        QVERIFY2(bad.error().what.find(part) != std::string::npos, part);
    QVERIFY(!RuleBook::parse("[").has_value());
    QCOMPARE(RuleBook::parse(R"({"version": 9})").error().kind, ErrorKind::Unsupported);
}

void TestRuleBook::rulesSurviveTheirFile()
{
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("deep/rules.json")).toStdString();
    QCOMPARE(*RuleBook::load(path), RuleBook());
    const RuleBook mine = book(R"({"rules": [{"rule": "churn", "lease": "mail/*", "on": true, "priority": 1,
        "transitions": 8, "window": "10m"}, {"rule": "unknown-holder", "known-holders": ["a*", "b"]}]})");
    QVERIFY(mine.save(path).has_value());
    QCOMPARE(*RuleBook::load(path), mine);
    QCOMPARE(mine.valuesFor("mail/x")[static_cast<std::size_t>(RuleId::Churn)].thresholds[1], 600.0);
    QCOMPARE(mine.valuesFor("other")[static_cast<std::size_t>(RuleId::Churn)].thresholds[0], 5.0);
}

void TestRuleBook::everyRuleHasOneAction()
{
    QCOMPARE(ruleCatalogue().size(), kRuleCount);
    std::set<std::string> names;
    for (std::size_t i = 0; i < kRuleCount; ++i) {
        const RuleDefinition& rule = ruleCatalogue()[i];
        QCOMPARE(static_cast<std::size_t>(rule.id), i);
        QVERIFY(rule.thresholds.size() <= kMostThresholds);
        QVERIFY(std::string(rule.action).size() > 20 && std::string(rule.fires).size() > 10);
        names.insert(rule.name);
        QCOMPARE(ruleNamed(rule.name), &rule);
    }
    QCOMPARE(names.size(), kRuleCount);
}

void TestRuleBook::manyAlertsAreOneNotice()
{
    AlertDigest digest;
    for (std::uint64_t i = 1; i <= 23; ++i) {
        Alert alert;
        alert.id = i;
        alert.rule = "leaderless";
        alert.priority = 1;
        alert.lease = LeaseId::observed("lease/" + std::to_string(i));
        alert.text = "Nobody leads";
        digest.take("prod-eu", alert, kStart + std::chrono::milliseconds(100 * i));
    }
    QVERIFY(digest.due(kStart + 3s).empty());
    const auto notices = digest.due(kStart + 6s);
    QCOMPARE(notices.size(), 1U);
    QCOMPARE(notices.front().alerts, 23U);
    QVERIFY2(notices.front().text.find("23 leases on prod-eu, first lease/1") == 0, notices.front().text.c_str());
    Alert late;
    late.id = 24;
    late.rule = "leaderless";
    late.priority = 1;
    digest.take("prod-eu", late, kStart + 10s);
    QVERIFY2(digest.due(kStart + 60s).empty(), "at most one a minute");
    QCOMPARE(digest.due(kStart + 66s).size(), 1U);
    const auto again = digest.due(kStart + 31min + 6s);
    QCOMPARE(again.size(), 1U);
    QVERIFY(again.front().repeated);
}

void TestRuleBook::aNoticeIsTakenBack()
{
    AlertDigest digest;
    Alert alert;
    alert.id = 1;
    alert.rule = "churn";
    digest.take("c", alert, kStart);
    alert.state = AlertState::Returned;
    digest.take("c", alert, kStart + 2s);
    QVERIFY2(digest.due(kStart + 10s).empty(), "came and went within the wait");
    alert.state = AlertState::Firing;
    alert.id = 2;
    digest.take("c", alert, kStart + 20s);
    QCOMPARE(digest.due(kStart + 26s).size(), 1U);
    alert.state = AlertState::Acknowledged;
    digest.take("c", alert, kStart + 30s);
    const auto back = digest.due(kStart + 30s);
    QCOMPARE(back.size(), 1U);
    QVERIFY(back.front().withdraw);
}

void TestRuleBook::healthJudgesTiming_data()
{
    QTest::addColumn<int>("ttlMs");
    QTest::addColumn<int>("renewMs");
    QTest::addColumn<int>("tripMs");
    QTest::addColumn<double>("headroom");
    QTest::addColumn<int>("ttl");
    QTest::addColumn<int>("renew");
    QTest::addColumn<int>("least");
    const auto grade = [](HealthGrade g) { return static_cast<int>(g); };
    const int good = grade(HealthGrade::Good);
    const int watch = grade(HealthGrade::Watch);
    const int bad = grade(HealthGrade::Bad);
    QTest::newRow("sound") << 15000 << 5000 << 2 << 0.66 << good << good << good;
    QTest::newRow("slow store") << 15000 << 5000 << 2000 << 0.66 << watch << good << good;
    QTest::newRow("ttl too short") << 1000 << 300 << 300 << 0.66 << bad << good << good;
    QTest::newRow("seldom") << 15000 << 7000 << 2 << 0.5 << good << watch << good;
    QTest::newRow("one miss loses it") << 15000 << 9000 << 2 << 0.3 << good << bad << watch;
    QTest::newRow("nearly lost") << 15000 << 5000 << 2 << 0.1 << good << good << bad;
}

void TestRuleBook::healthJudgesTiming()
{
    QFETCH(int, ttlMs);
    QFETCH(int, renewMs);
    QFETCH(int, tripMs);
    QFETCH(double, headroom);
    QFETCH(int, ttl);
    QFETCH(int, renew);
    QFETCH(int, least);
    const auto verdicts = judgeTiming({std::chrono::milliseconds(ttlMs), std::chrono::milliseconds(renewMs),
        std::chrono::milliseconds(tripMs), headroom});
    QCOMPARE(static_cast<int>(verdicts[0].grade), ttl);
    QCOMPARE(static_cast<int>(verdicts[1].grade), renew);
    QCOMPARE(static_cast<int>(verdicts[2].grade), least);
    for (const HealthVerdict& verdict : verdicts)
        QVERIFY(!verdict.sentence.empty());
    for (const HealthVerdict& verdict : judgeTiming({}))
        QCOMPARE(verdict.grade, HealthGrade::NotKnown);
    const Spread spread = spreadOf({5s, 1s, 2s, 3s, 4s});
    QCOMPARE(spread.p50, Duration(3s));
    QCOMPARE(spread.most, Duration(5s));
}

void TestRuleBook::previewAgreesWithWhatWasRaised()
{
    const QTemporaryDir folder;
    Journal::Options options;
    options.path = folder.filePath(QStringLiteral("j.db")).toStdString();
    ManualClock clock;
    Journal journal(options, clock);
    const Instant start = clock.now();
    const WallTime wall = clock.wall();
    clock.advance(1h);
    journal.observed("c", start, 5s);
    journal.observed("c", start + 1h, 2h);
    const auto tell = [&](Duration at, TransitionKind kind, const char* from, const char* to, std::uint64_t token) {
        Transition t;
        t.lease = kLease;
        t.kind = kind;
        t.oldHolder = from;
        t.newHolder = to;
        t.token = FencingToken{token};
        t.at = start + at;
        journal.append("c", t);
    };
    tell(1s, TransitionKind::Appeared, "", "a", 5);
    for (int i = 0; i < 6; ++i) {
        tell(60s + i * 10s, TransitionKind::Released, "a", "", static_cast<std::uint64_t>(5 + i));
        tell(61s + i * 10s, TransitionKind::Acquired, "", "a", static_cast<std::uint64_t>(6 + i));
    }
    tell(30min, TransitionKind::Expired, "a", "", 11);
    tell(40min, TransitionKind::Acquired, "", "b", 3);
    QVERIFY(journal.flush(10s));
    auto query = JournalQuery::open(options.path);
    const auto preview = whatWouldHaveFired(RuleBook(), *query, {}, {wall, wall + 1h});
    QVERIFY(preview.has_value());
    std::map<std::string, int> count;
    for (const auto& raised : preview->raised)
        ++count[definitionOf(raised.rule).name];
    QCOMPARE(count, (std::map<std::string, int>{{"churn", 1}, {"leaderless", 1}, {"token-regressed", 1}}));
    QVERIFY(preview->raised.front().clearedAt.has_value());
    QVERIFY(preview->complete);
    const auto lenient = whatWouldHaveFired(
        book(R"({"rules": [{"rule": "churn", "transitions": 50}, {"rule": "leaderless", "at-least": "20m"}]})"),
        *query, {}, {wall, wall + 1h});
    QCOMPARE(lenient->raised.size(), 2U); // short terms still churn; tokens still regress
}

/// Ten minutes of good renewals, ten of slow ones, ten of a slow store.
void TestRuleBook::renewalsArePreviewedByTheMinute()
{
    const QTemporaryDir folder;
    Journal::Options options;
    options.path = folder.filePath(QStringLiteral("j.db")).toStdString();
    ManualClock clock;
    Journal journal(options, clock);
    const Instant start = clock.now();
    const WallTime wall = clock.wall();
    journal.observed("c", start, 5s);
    Transition t;
    t.lease = kLease;
    t.kind = TransitionKind::Appeared;
    t.newHolder = "a";
    t.token = FencingToken{7};
    t.at = start + 1s;
    journal.append("c", t);
    const auto renew = [&](Duration every, Duration until, Duration roundTrip) {
        while (clock.now() < start + until) {
            clock.advance(every);
            RenewalSeen seen;
            seen.at = clock.now();
            seen.interval = every;
            seen.headroom = 1 - std::chrono::duration<double>(every) / std::chrono::duration<double>(15s);
            seen.late = every > 7500ms;
            journal.append({"c", kLease}, seen, roundTrip);
            journal.observed("c", clock.now(), 30s);
        }
    };
    renew(5s, 10min, 1ms);
    renew(13s, 20min, 1ms);
    renew(5s, 30min, 6s);
    QVERIFY(journal.flush(10s));
    auto query = JournalQuery::open(options.path);
    const auto quiet = whatWouldHaveFired(RuleBook(), *query, {}, {wall, wall + 10min});
    QVERIFY(quiet.has_value());
    QCOMPARE(quiet->raised.size(), 0U);
    QVERIFY(quiet->renewals >= 115 && quiet->renewals <= 120); // minutes begin where they begin
    const auto preview = whatWouldHaveFired(RuleBook(), *query, {}, {wall, wall + 30min});
    QVERIFY(preview.has_value());
    for (const RuleId rule : {RuleId::Late, RuleId::Headroom, RuleId::UnsafeTiming, RuleId::ShortTtl})
        QVERIFY2(preview->countOf(rule) == 1, definitionOf(rule).name);
    QCOMPARE(preview->countOf(RuleId::Leaderless), 0U);
    for (const RulePreview::Raised& raised : preview->raised) {
        const WallTime least = raised.rule == RuleId::ShortTtl ? wall + 20min : wall + 10min;
        QVERIFY2(raised.firstAt >= least && raised.firstAt < least + 3min, definitionOf(raised.rule).name);
        QVERIFY2(raised.clearedAt.has_value() == (raised.rule != RuleId::ShortTtl), definitionOf(raised.rule).name);
    }
}

void TestRuleBook::everyRuleIsPreviewedOrSaysWhyNot()
{
    int exactly = 0;
    int roughly = 0;
    for (const RuleDefinition& rule : ruleCatalogue()) {
        const Replayability how = replayability(rule.id);
        exactly += how.how == Replayable::Exactly ? 1 : 0;
        roughly += how.how == Replayable::ByTheMinute ? 1 : 0;
        QVERIFY2((how.how == Replayable::Exactly) == std::string_view(how.why).empty(), rule.name);
    }
    QCOMPARE(exactly, 5);
    QCOMPARE(roughly, 5);
}

QTEST_GUILESS_MAIN(TestRuleBook)
#include "tst_rule_book.moc"
