// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random.h"
#include "core/churn/digest.h"
#include "core/churn/health.h"
#include "core/journal/journal.h"
#include "core/journal/journal_query.h"
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

LinkStatus link(Duration proof, bool connected = true)
{
    LinkStatus out;
    out.connected = connected;
    out.everConnected = out.pushOpen = true;
    out.lastProof = kStart + proof;
    return out;
}

/// A fleet and the rules over it, as the monitor joins them.
struct World {
    explicit World(RuleBook book = {}) : rules(std::move(book)) { }
    void see(const Observation& seen)
    {
        for (Transition& t : fleet.apply(seen, {})) {
            note(rules.onTransition(t, *fleet.find(t.lease)));
            transitions.push_back(std::move(t));
        }
    }
    std::vector<Alert> tick(const LinkStatus& at, Duration now)
    {
        for (Transition& t : fleet.tick(kStart + now, {}, isFresh(linkStateAt(at, kStart + now)))) {
            note(rules.onTransition(t, *fleet.find(t.lease)));
            transitions.push_back(std::move(t));
        }
        auto out = rules.tick(fleet.all(), at, kStart + now);
        note(out);
        return out;
    }
    void note(const std::vector<Alert>& alerts) { all.insert(all.end(), alerts.begin(), alerts.end()); }
    [[nodiscard]] std::size_t raised(const std::string& rule) const
    {
        std::set<std::uint64_t> ids;
        for (const Alert& alert : all) {
            if (alert.rule == rule)
                ids.insert(alert.id);
        }
        return ids.size();
    }
    Fleet fleet;
    AlertRules rules;
    std::vector<Alert> all;
    std::vector<Transition> transitions;
};

RuleBook book(const char* json)
{
    const auto parsed = RuleBook::parse(json);
    if (!parsed)
        qFatal("%s", parsed.error().text().c_str());
    return *parsed;
}

/// Renewals every `every` from `from` to `to` by one holder since 0 s, ttl 15 s; a look each second.
void renew(World& world, Duration from, Duration to, Duration every)
{
    for (Duration at = from; at <= to; at += 1s) {
        world.see(look({at, "a", 7, 0s, from + (at - from) / every * every}));
        world.tick(link(at), at);
    }
}

} // namespace

class TestChurn : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nothingButStaleComesFromDataThatIsNotLive_data();
    void nothingButStaleComesFromDataThatIsNotLive();
    void sixFlapsAreOneAlertAndTwelveRows();
    void twoHoldersThatAlternateAreOneAlert();
    void lateRenewals();
    void littleHeadroom();
    void renewedTooSeldom();
    void aTtlOfTwoRoundTrips();
    void aStrangerLeads();
    void theServersClockJumps();
    void takenWhileTheOldGrantStood();
    void rulesForSomeLeasesOnly();
    void aRuleThatIsTurnedOffIsOver();
    void shelvesMatchWhatIsToCome();
    void badRulesNameEveryProblem();
    void rulesSurviveTheirFile();
    void everyRuleHasOneAction();
    void manyAlertsAreOneNotice();
    void aNoticeIsTakenBack();
    void healthJudgesTiming_data();
    void healthJudgesTiming();
    void previewAgreesWithWhatWasRaised();
};

void TestChurn::nothingButStaleComesFromDataThatIsNotLive_data()
{
    QTest::addColumn<quint64>("seed");
    for (quint64 seed = 1; seed <= 40; ++seed)
        QTest::addRow("seed %llu", static_cast<unsigned long long>(seed)) << seed;
}

/// Holders come and go, renewals are late, the link breaks: whatever is raised about a lease is
/// raised while the link is fresh and has been for some seconds after it was stale.
void TestChurn::nothingButStaleComesFromDataThatIsNotLive()
{
    QFETCH(quint64, seed);
    Random random(seed);
    World world(book(R"({"rules": [{"rule": "split-brain", "on": true},
        {"rule": "unknown-holder", "on": true, "known-holders": ["a"]}]})"));
    bool connected = true;
    Duration proof{};
    std::uint64_t token = 1;
    std::string holder;
    Duration acquired{};
    Duration renewed{};
    std::size_t aboutLeases = 0;
    for (Duration at = 0s; at < 40min; at += 1s) {
        if (random.chance(0.01))
            connected = !connected;
        if (connected) {
            proof = at;
            if (random.chance(0.08)) {
                holder = random.chance(0.3) ? "" : random.chance(0.5) ? "a" : "b";
                token += random.chance(0.02) ? std::uint64_t(-1) : 1;
                acquired = renewed = at;
            } else if (random.chance(0.3)) {
                renewed = at;
            }
            world.see(look({at, at - renewed > 15s ? "" : holder, token, acquired, renewed}));
        }
        const std::size_t before = world.all.size();
        const LinkStatus now = link(proof, connected);
        const bool fresh = isFresh(linkStateAt(now, kStart + at));
        world.tick(now, at);
        for (std::size_t i = before; i < world.all.size(); ++i) {
            const Alert& alert = world.all[i];
            if (alert.rule == "stale" || alert.state != AlertState::Firing)
                continue;
            ++aboutLeases;
            QVERIFY2(fresh, alert.rule.c_str());
        }
        const bool stale = std::any_of(world.rules.all().begin(), world.rules.all().end(),
            [](const auto& entry) { return entry.second.rule == "stale" && entry.second.state == AlertState::Firing; });
        QVERIFY2(!stale || before == world.all.size() || world.all.back().rule == "stale",
            "inhibited behind stale data");
    }
    QVERIFY2(aboutLeases > 0, "the seed made no lease alert at all");
}

void TestChurn::sixFlapsAreOneAlertAndTwelveRows()
{
    const QTemporaryDir folder;
    Journal::Options options;
    options.path = folder.filePath(QStringLiteral("j.db")).toStdString();
    ManualClock clock;
    Journal journal(options, clock);
    const Instant start = clock.now();
    World world;
    world.see(look({-1s, "", 1, {}, {}, 15000ms, true}));
    for (int i = 0; i < 6; ++i) {
        const Duration at = i * 10s;
        const auto token = static_cast<std::uint64_t>(100 + i);
        world.see(look({at, "a", token, at, at}));
        world.see(look({at + 4s, "", token, {}, {}, 15000ms, true}));
        world.tick(link(at + 5s), at + 5s);
    }
    clock.advance(60s);
    journal.observed("c", start, 5s);
    journal.observed("c", start + 60s, 61s);
    for (Transition t : world.transitions) {
        t.at = start + (t.at - kStart); // the looks' start, on the journal's clock
        journal.append("c", t);
    }
    for (const Alert& alert : world.all)
        journal.append("c", 1, alert);
    QVERIFY(journal.flush(10s));
    auto query = JournalQuery::open(options.path);
    QCOMPARE(world.rules.all().size(), 1U);
    QCOMPARE(query->alerts({}, 0, 10)->size(), 1U);
    const auto rows = query->events({}, 0, 100);
    QCOMPARE(rows->size(), 13U); // twelve, and the first sight
    const TimeWindow minute{clock.wall() - 60s, clock.wall()};
    const auto sum = query->summary({"c", kLease}, minute);
    QCOMPARE(sum->transitions, 12U);
    QVERIFY2(std::chrono::abs(sum->longestGap - 6s) < 10ms, "six seconds without a leader each time");
    QCOMPARE(sum->alerts, 0U); // its time is that of the looks, not of this window
}

void TestChurn::twoHoldersThatAlternateAreOneAlert()
{
    World world;
    for (int i = 0; i < 12; ++i) {
        const Duration at = i * 20s;
        world.see(look({at, i % 2 == 0 ? "a" : "b", static_cast<std::uint64_t>(10 + i), at, at, 60000ms}));
        world.tick(link(at), at);
    }
    QCOMPARE(world.raised("flapping"), 1U);
    QCOMPARE(world.raised("churn"), 0U); // one cause
    QVERIFY2(world.all.back().text.find("take turns") != std::string::npos, world.all.back().text.c_str());
    QVERIFY(world.rules.isChurning(kLease));
    for (Duration at = 250s; at < 20min; at += 10s) {
        world.see(look({at, "a", 40, 250s, at, 60000ms}));
        world.tick(link(at), at);
    }
    QVERIFY(!world.rules.isChurning(kLease));
}

void TestChurn::lateRenewals()
{
    World world;
    renew(world, 0s, 60s, 5s);
    for (Duration at = 61s; at <= 74s; at += 1s) {
        world.see(look({at, "a", 7, 0s, 60s}));
        world.tick(link(at), at);
    }
    QCOMPARE(world.raised("late"), 1U);
    QCOMPARE(world.all.back().priority, 3);
    renew(world, 74s, 84s, 5s); // the first of them is the late one itself
    QVERIFY2(world.all.back().state == AlertState::Firing, "two good ones are not enough");
    renew(world, 85s, 99s, 5s);
    QCOMPARE(world.all.back().rule, std::string("late"));
    QCOMPARE(world.all.back().state, AlertState::Returned);
}

void TestChurn::littleHeadroom()
{
    World world;
    renew(world, 0s, 130s, 13s);
    QCOMPARE(world.raised("headroom"), 1U);
    const auto told = std::find_if(world.all.begin(), world.all.end(),
        [](const Alert& alert) { return alert.rule == "headroom"; });
    QVERIFY2(told->text.find("less than 20 % of the ttl left") != std::string::npos, told->text.c_str());
}

void TestChurn::renewedTooSeldom()
{
    World world;
    renew(world, 0s, 100s, 9s);
    QCOMPARE(world.raised("unsafe-timing"), 1U);
    QCOMPARE(world.raised("headroom"), 0U);
    World healthy;
    renew(healthy, 0s, 100s, 5s);
    QVERIFY(healthy.all.empty());
}

void TestChurn::aTtlOfTwoRoundTrips()
{
    World world;
    for (Duration at = 0s; at <= 60s; at += 5s) {
        Glance glance{at, "a", 7, 0s, at - 3s};
        glance.roundTrip = 6s;
        world.see(look(glance));
        world.tick(link(at), at);
    }
    QCOMPARE(world.raised("short-ttl"), 1U);
}

void TestChurn::aStrangerLeads()
{
    World world(book(R"({"rules": [{"rule": "unknown-holder", "on": true, "known-holders": ["sched-*"]}]})"));
    world.see(look({0s, "sched-1", 7, 0s, 0s}));
    world.tick(link(1s), 1s);
    QVERIFY(world.all.empty());
    world.see(look({2s, "intruder", 8, 2s, 2s}));
    world.tick(link(3s), 3s);
    QCOMPARE(world.raised("unknown-holder"), 1U);
}

void TestChurn::theServersClockJumps()
{
    World world;
    world.see(look({0s, "a", 7, 0s, 0s}));
    LinkStatus before = link(1s);
    before.skew = 61min;
    world.tick(before, 1s);
    LinkStatus drift = link(2s);
    drift.skew = 61min + 200ms;
    world.tick(drift, 2s);
    QCOMPARE(world.raised("clock-jump"), 0U);
    LinkStatus after = link(3s);
    after.skew = 62min;
    world.tick(after, 3s);
    QCOMPARE(world.raised("clock-jump"), 1U);
    QVERIFY(world.all.back().lease == LeaseId());
}

void TestChurn::takenWhileTheOldGrantStood()
{
    World world(book(R"({"rules": [{"rule": "split-brain", "on": true}]})"));
    renew(world, 0s, 20s, 5s);
    world.see(look({22s, "b", 8, 22s, 22s}));
    QCOMPARE(world.raised("split-brain"), 1U);
    QCOMPARE(world.all.back().priority, 1);
    World usual;
    renew(usual, 0s, 20s, 5s);
    usual.see(look({22s, "b", 8, 22s, 22s}));
    QCOMPARE(usual.raised("split-brain"), 0U); // off unless asked for
}

void TestChurn::rulesForSomeLeasesOnly()
{
    World world(book(R"({"rules": [{"rule": "leaderless", "on": false},
        {"rule": "leaderless", "lease": "jobs/*", "on": true, "at-least": "40s", "priority": 2}]})"));
    world.see(look({0s, "a", 7, -60s, 0s}));
    Observation other = look({0s, "x", 7, -60s, 0s});
    other.record.lease = LeaseId::observed("mail/outbox");
    world.see(other);
    world.see(look({16s, "", 7}));
    other = look({16s, "", 7});
    other.record.lease = LeaseId::observed("mail/outbox");
    world.see(other);
    for (Duration at = 17s; at < 54s; at += 1s)
        world.tick(link(at), at);
    QVERIFY(world.all.empty());
    world.tick(link(56s), 56s);
    QCOMPARE(world.all.size(), 1U);
    QCOMPARE(world.all.front().lease, kLease);
    QCOMPARE(world.all.front().priority, 2);
}

void TestChurn::aRuleThatIsTurnedOffIsOver()
{
    World world;
    world.see(look({0s, "a", 7, -60s, 0s}));
    world.see(look({15100ms, "", 7}));
    world.tick(link(50s), 50s);
    QCOMPARE(world.raised("leaderless"), 1U);
    world.rules.setRules(book(R"({"rules": [{"rule": "leaderless", "on": false}]})"));
    QVERIFY(!world.tick(link(51s), 51s).empty() || world.rules.all().begin()->second.state == AlertState::Firing);
}

void TestChurn::shelvesMatchWhatIsToCome()
{
    World world;
    Shelf shelf;
    shelf.rule = "leaderless";
    shelf.glob = "jobs/*";
    shelf.until = kStart + 24h;
    shelf.by = "op2";
    QVERIFY(world.rules.shelve(shelf, kStart).empty());
    QVERIFY2(world.rules.shelves().empty(), "no reason, no shelf");
    shelf.reason = "load test";
    world.rules.shelve(shelf, kStart);
    QCOMPARE(world.rules.shelves().front().until, kStart + 8h);
    world.see(look({0s, "a", 7, -60s, 0s}));
    world.see(look({15100ms, "", 7}));
    world.tick(link(50s), 50s);
    QCOMPARE(world.all.back().state, AlertState::Snoozed);
    QCOMPARE(world.all.back().reason, std::string("load test"));
    QCOMPARE(world.rules.shelves().front().matched, 1U);
    world.note(world.rules.unshelve(world.rules.shelves().front().id, kStart + 60s));
    QCOMPARE(world.all.back().state, AlertState::Firing);
    shelf.glob = "quiet/*";
    world.rules.shelve(shelf, kStart + 70s);
    world.tick(link(29min), 29min);
    QCOMPARE(world.rules.shelves().size(), 1U);
    world.tick(link(35min), 35min);
    QVERIFY2(world.rules.shelves().empty(), "nothing matched for half an hour");
}

void TestChurn::badRulesNameEveryProblem()
{
    const auto bad = RuleBook::parse(R"({"rules": [{"rule": "nope"}, {"rule": "churn", "window": "10"},
        {"rule": "headroom", "share": 7}, {"rule": "late", "colour": 1}]})");
    QVERIFY(!bad.has_value());
    for (const char* part : {"rule 1", "rule 2", "\"window\"", "rule 3", "rule 4", "colour"})
        QVERIFY2(bad.error().what.find(part) != std::string::npos, part);
    QVERIFY(!RuleBook::parse("[").has_value());
    QCOMPARE(RuleBook::parse(R"({"version": 9})").error().kind, ErrorKind::Unsupported);
}

void TestChurn::rulesSurviveTheirFile()
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

void TestChurn::everyRuleHasOneAction()
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

void TestChurn::manyAlertsAreOneNotice()
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

void TestChurn::aNoticeIsTakenBack()
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

void TestChurn::healthJudgesTiming_data()
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

void TestChurn::healthJudgesTiming()
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

void TestChurn::previewAgreesWithWhatWasRaised()
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
        ++count[raised.rule];
    QCOMPARE(count, (std::map<std::string, int>{{"churn", 1}, {"leaderless", 1}, {"token-regressed", 1}}));
    QVERIFY(preview->raised.front().clearedAt.has_value());
    QVERIFY(preview->complete);
    const auto lenient = whatWouldHaveFired(
        book(R"({"rules": [{"rule": "churn", "transitions": 50}, {"rule": "leaderless", "at-least": "20m"}]})"),
        *query, {}, {wall, wall + 1h});
    QCOMPARE(lenient->raised.size(), 2U); // short terms still churn; tokens still regress
}

QTEST_GUILESS_MAIN(TestChurn)
#include "tst_churn.moc"
