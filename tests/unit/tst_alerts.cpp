// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/alerts.h"
#include "tests/support/looks.h"

#include <QTest>

using namespace tenure;
using namespace tenure::test;

namespace
{

const LeaseId kLease = LeaseId::observed("jobs/leader");

LinkStatus fresh(Duration at)
{
    LinkStatus link;
    link.connected = link.everConnected = link.pushOpen = true;
    link.lastProof = kStart + at;
    return link;
}

LinkStatus cut(Duration lastProof)
{
    LinkStatus link = fresh(lastProof);
    link.connected = false;
    return link;
}

/// A fleet and the rules over it, as the monitor joins them.
struct World {
    Fleet fleet;
    AlertRules rules;
    std::vector<Alert> all; ///< everything that was told

    void see(const Observation& seen)
    {
        for (const Transition& t : fleet.apply(seen, {})) {
            for (Alert& alert : rules.onTransition(t, *fleet.find(t.lease)))
                all.push_back(std::move(alert));
        }
    }
    std::vector<Alert> tick(const LinkStatus& link, Duration at)
    {
        auto out = rules.tick(fleet.all(), link, kStart + at);
        all.insert(all.end(), out.begin(), out.end());
        return out;
    }
    void flap(int i)
    {
        const Duration at = i * 10s;
        const auto token = static_cast<std::uint64_t>(100 + i);
        see(look({at, "a", token, at, at}));
        see(look({at + 4s, "", token, {}, {}, 15000ms, true}));
    }
    std::size_t raised(const std::string& rule) const
    {
        std::set<std::uint64_t> ids;
        for (const Alert& alert : all) {
            if (alert.rule == rule)
                ids.insert(alert.id);
        }
        return ids.size();
    }
};

} // namespace

class TestAlerts : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void sixFlapsAreOneAlert();
    void churnClearsWithHysteresisAndFiresAnew();
    void fourChangesAreNoChurn();
    void leaderlessAfterItsLimit();
    void retiredAndOneShotLeasesAreNotLeaderless();
    void aHoldIsNotLeaderless();
    void tokenThatWentBack();
    void staleLinkInhibitsTheRest();
    void acknowledgeAndSnooze();
    void everyAlertSaysWhatToDo();
};

void TestAlerts::sixFlapsAreOneAlert()
{
    World world;
    world.see(look({-1s, "", 1, {}, {}, 15000ms, true}));
    for (int i = 0; i < 6; ++i) {
        world.flap(i);
        world.tick(fresh(i * 10s + 5s), i * 10s + 5s);
    }
    QCOMPARE(world.raised("churn"), 1U);
    QVERIFY2(world.all.back().text.starts_with("6 changes of leader in 10 m 00 s, terms last"),
        world.all.back().text.c_str());
    QCOMPARE(world.all.back().count, 2U);
    QVERIFY(world.rules.isChurning(kLease));
    QCOMPARE(world.rules.all().size(), 1U);
}

void TestAlerts::churnClearsWithHysteresisAndFiresAnew()
{
    World world;
    world.see(look({-1s, "", 1, {}, {}, 15000ms, true}));
    for (int i = 0; i < 5; ++i)
        world.flap(i);
    world.see(look({50s, "a", 200, 50s, 50s}));
    world.see(look({80s, "a", 200, 50s, 80s}));
    world.tick(fresh(11min), 11min); // below the threshold in its window, but not yet quiet
    QVERIFY(world.rules.isChurning(kLease));
    const auto cleared = world.tick(fresh(16min), 16min);
    QCOMPARE(cleared.size(), 1U);
    QCOMPARE(cleared.front().state, AlertState::Returned);
    QVERIFY(!world.rules.isChurning(kLease));
    for (int i = 100; i < 105; ++i)
        world.flap(i);
    QCOMPARE(world.raised("churn"), 1U); // still the one that nobody has seen
    QCOMPARE(world.all.back().count, 3U);
    QCOMPARE(world.all.back().state, AlertState::Firing);
    world.rules.acknowledge(world.all.back().id, kStart + 1100s, "op1");
    const std::uint64_t seen = world.all.back().id;
    world.tick(fresh(40min), 40min);
    QCOMPARE(world.rules.all().at(seen).state, AlertState::Resolved);
    for (int i = 300; i < 305; ++i)
        world.flap(i);
    QCOMPARE(world.raised("churn"), 2U);
    QCOMPARE(world.all.back().count, 1U);
}

void TestAlerts::fourChangesAreNoChurn()
{
    World world;
    world.see(look({-1s, "", 1, {}, {}, 15000ms, true}));
    for (int i = 0; i < 4; ++i)
        world.flap(i);
    QCOMPARE(world.raised("churn"), 0U);
    world.flap(100); // a long time after
    QCOMPARE(world.raised("churn"), 0U);
}

void TestAlerts::leaderlessAfterItsLimit()
{
    World world;
    world.see(look({0s, "a", 7, -60s, 0s}));
    world.see(look({15100ms, "", 7}));
    QVERIFY(world.tick(fresh(45s), 45s).empty());
    const auto fired = world.tick(fresh(46s), 46s); // ran out at 15 s, limit 2 x 15 s
    QCOMPARE(fired.size(), 1U);
    QCOMPARE(fired.front().rule, std::string("leaderless"));
    QCOMPARE(fired.front().priority, 1);
    QVERIFY(world.tick(fresh(47s), 47s).empty());
    world.see(look({50s, "b", 8, 50s, 50s}));
    QVERIFY2(world.tick(fresh(51s), 51s).empty(), "not yet proven to stay");
    world.see(look({55s, "b", 8, 50s, 55s}));
    const auto cleared = world.tick(fresh(56s), 56s);
    QCOMPARE(cleared.size(), 1U);
    QCOMPARE(cleared.front().state, AlertState::Returned);
    QCOMPARE(world.rules.acknowledge(cleared.front().id, kStart + 60s, "op1").front().state,
        AlertState::Resolved);
}

void TestAlerts::retiredAndOneShotLeasesAreNotLeaderless()
{
    World retired;
    retired.see(look({0s, "", 7, {}, {}, 15000ms, true}));
    QVERIFY(retired.tick(fresh(10min), 10min).empty());
    World abandoned;
    abandoned.see(look({0s, "", 7})); // ran out before we looked
    QCOMPARE(abandoned.tick(fresh(10min), 10min).size(), 1U);
    World oneShot;
    oneShot.see(foreignLook(0s, "x", 5s));
    oneShot.see(foreignLook(6s, "", {}));
    QVERIFY(oneShot.tick(fresh(10min), 10min).empty());
}

void TestAlerts::aHoldIsNotLeaderless()
{
    World world;
    Observation hold = look({0s, "", 7});
    hold.record.hold = OperatorHold{"op", 60min};
    world.see(hold);
    QVERIFY(world.tick(fresh(10min), 10min).empty());
}

void TestAlerts::tokenThatWentBack()
{
    World world;
    world.see(look({0s, "a", 700, -60s, 0s}));
    world.see(look({16s, "b", 5, 15100ms, 15100ms}));
    QCOMPARE(world.raised("token-regressed"), 1U);
    QCOMPARE(world.all.back().priority, 1);
    QVERIFY(world.all.back().text.find("from 700 to 5") != std::string::npos);
    world.rules.acknowledge(world.all.back().id, kStart + 20s);
    world.see(look({40s, "a", 701, 40s, 40s}));
    QCOMPARE(world.all.back().state, AlertState::Resolved);
}

void TestAlerts::staleLinkInhibitsTheRest()
{
    World world;
    world.see(look({0s, "a", 7, -60s, 0s}));
    world.see(look({15100ms, "", 7}));
    QVERIFY(world.tick(cut(16s), 31s).empty());
    const auto fired = world.tick(cut(16s), 32s);
    QCOMPARE(fired.size(), 1U);
    QCOMPARE(fired.front().rule, std::string("stale"));
    QVERIFY2(world.tick(cut(16s), 10min).empty(), "one alert, and none about a lease");
    QVERIFY2(world.tick(fresh(10min), 10min).empty(), "live again, but not yet for long");
    QVERIFY(world.tick(fresh(10min + 9s), 10min + 9s).empty());
    const auto after = world.tick(fresh(10min + 10s), 10min + 10s);
    QCOMPARE(after.size(), 2U);
    QCOMPARE(after.front().state, AlertState::Returned);
    QCOMPARE(after.back().rule, std::string("leaderless"));
}

void TestAlerts::acknowledgeAndSnooze()
{
    World world;
    world.see(look({-1s, "", 1, {}, {}, 15000ms, true}));
    for (int i = 0; i < 5; ++i)
        world.flap(i);
    const std::uint64_t id = world.all.back().id;
    QVERIFY(world.rules.acknowledge(id + 1, kStart).empty());
    QCOMPARE(world.rules.acknowledge(id, kStart + 60s).front().state, AlertState::Acknowledged);
    world.flap(6);
    QCOMPARE(world.all.back().state, AlertState::Acknowledged);
    QCOMPARE(world.all.back().count, 2U);
    QVERIFY2(world.rules.shelve(id, kStart + 300s, kStart + 100s, "op2", " ").empty(), "needs a reason");
    const auto shelved = world.rules.shelve(id, kStart + 300s, kStart + 100s, "op2", "load test");
    QCOMPARE(shelved.front().by, std::string("op2"));
    QCOMPARE(shelved.front().snoozedUntil, std::optional(kStart + 300s));
    world.see(look({110s, "a", 200, 110s, 110s}));
    QCOMPARE(world.rules.all().at(id).state, AlertState::Snoozed);
    QVERIFY(world.tick(fresh(299s), 299s).empty());
    QCOMPARE(world.tick(fresh(300s), 300s).front().state, AlertState::Firing);
}

void TestAlerts::everyAlertSaysWhatToDo()
{
    World world;
    world.see(look({-1s, "", 1, {}, {}, 15000ms, true}));
    for (int i = 0; i < 5; ++i)
        world.flap(i);
    world.see(look({60s, "a", 3, 60s, 60s}));
    world.see(look({61s, "", 3}));
    world.tick(fresh(10min), 10min);
    world.tick(cut(10min), 20min);
    QCOMPARE(world.rules.all().size(), 4U);
    for (const auto& [id, alert] : world.rules.all())
        QVERIFY2(!alert.action.empty() && !alert.text.empty(), alert.rule.c_str());
}

QTEST_GUILESS_MAIN(TestAlerts)
#include "tst_alerts.moc"
