// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random.h"
#include "core/churn/alerts.h"
#include "core/journal/journal.h"
#include "core/journal/journal_query.h"
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

QTEST_GUILESS_MAIN(TestChurn)
#include "tst_churn.moc"
