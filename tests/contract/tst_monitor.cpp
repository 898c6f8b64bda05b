// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/faulty.h"
#include "core/backend/memory/memory_backend.h"
#include "core/runtime/monitor.h"

#include <QTest>

#include <condition_variable>
#include <map>
#include <mutex>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

const Clock& kClock = SystemClock::instance();
constexpr Duration kPatience = 10s;

/// What a console would know from the deltas.
class Console
{
public:
    void take(FleetDelta delta)
    {
        const std::lock_guard lock(m_mutex);
        if (delta.reset)
            m_leases.clear();
        for (LeaseStatus& status : delta.changed)
            m_leases[status.record.lease.name()] = std::move(status);
        for (const LeaseId& lease : delta.removed)
            m_leases.erase(lease.name());
        for (Transition& t : delta.transitions)
            m_transitions.push_back(std::move(t));
        for (Alert& alert : delta.alerts)
            m_alerts[alert.id] = std::move(alert);
        m_states.push_back(linkStateAt(delta.link, kClock.now()));
        m_link = delta.link;
        m_last = std::move(delta);
        m_published.push_back(kClock.now());
        m_changed.notify_all();
    }

    /// Waits until `done(*this)` holds, looking at each delta and, for what only time changes,
    /// often.
    template <typename Done>
    bool waitFor(Done done)
    {
        std::unique_lock lock(m_mutex);
        const Instant end = kClock.now() + kPatience;
        while (!done(*this)) {
            if (kClock.now() >= end)
                return false;
            m_changed.wait_for(lock, 10ms);
        }
        return true;
    }

    bool sawTransition(
        TransitionKind kind, const std::string& oldHolder, const std::string& newHolder) const
    {
        return std::any_of(m_transitions.begin(), m_transitions.end(), [&](const Transition& t) {
            return t.kind == kind && t.oldHolder == oldHolder && t.newHolder == newHolder;
        });
    }
    std::string holder(const std::string& lease) const
    {
        const auto found = m_leases.find(lease);
        return found == m_leases.end() ? "?" : found->second.record.holder.value_or("");
    }
    LinkState state() const { return linkStateAt(m_link, kClock.now()); }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::map<std::string, LeaseStatus> m_leases;
    std::vector<Transition> m_transitions;
    std::map<std::uint64_t, Alert> m_alerts;
    std::vector<LinkState> m_states;
    std::vector<Instant> m_published;
    LinkStatus m_link;
    FleetDelta m_last;
};

/// A hand-written candidate: does exactly what it is told.
struct Candidate {
    MemoryServer& server;
    std::string lease;
    Term term;
    Milliseconds ttl;

    Candidate(MemoryServer& s, std::string name, const std::string& holder, Milliseconds t)
        : server(s), lease(std::move(name)), term{*HolderId::parse(holder), Nonce::random(), {}},
          ttl(t)
    {
    }
    bool acquire()
    {
        const auto reply
            = server.apply(Acquire{LeaseId::observed(lease), term.holder, term.nonce, ttl});
        if (!reply || reply->outcome != Outcome::Done)
            return false;
        term.token = reply->record.token;
        return true;
    }
    bool renew()
    {
        const auto reply = server.apply(Renew{LeaseId::observed(lease), term, ttl});
        return reply && reply->outcome == Outcome::Done;
    }
    bool release()
    {
        const auto reply = server.apply(Release{LeaseId::observed(lease), term});
        return reply && reply->outcome == Outcome::Done;
    }
};

/// A backend without push.
class Silent final : public Backend
{
public:
    explicit Silent(std::shared_ptr<const Backend> real) : m_real(std::move(real)) { }
    const StoreTraits& traits() const override { return m_real->traits(); }
    std::unique_ptr<LeaseStore> makeStore() const override { return m_real->makeStore(); }
    std::unique_ptr<LeaseFeed> makeFeed() const override { return nullptr; }

private:
    std::shared_ptr<const Backend> m_real;
};

struct Rig {
    std::shared_ptr<MemoryServer> server = std::make_shared<MemoryServer>(kClock);
    std::shared_ptr<Faults> faults = std::make_shared<Faults>();
    Console console;
    std::unique_ptr<Monitor> monitor;

    enum class Push { Yes, No };
    void watch(Monitor::Options options = {}, Push push = Push::Yes)
    {
        std::shared_ptr<const Backend> backend
            = makeFaultyBackend(makeMemoryBackend(server, "memory:test"), faults, kClock);
        if (push == Push::No)
            backend = std::make_shared<Silent>(std::move(backend));
        monitor = std::make_unique<Monitor>(std::move(backend), std::move(options), kClock,
            [this](FleetDelta delta) { console.take(std::move(delta)); });
        monitor->start();
    }
    bool waitComplete()
    {
        return console.waitFor([](const Console& c) { return c.m_last.complete; });
    }
};

Monitor::Options quick()
{
    Monitor::Options options;
    options.probeEvery = 200ms;
    options.minimumPoll = 50ms;
    options.rediscoverEvery = 500ms;
    options.callTimeout = 500ms;
    return options;
}

} // namespace

class TestMonitor : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void seesTheLifeOfALease_data();
    void seesTheLifeOfALease();
    void takeoverIsSeenAtOnce();
    void renewalsAreCounted();
    void flappingRaisesOneAlert();
    void cutOffIsToldAndRecoveredFrom();
    void aHangIsAStateNotABlock();
    void sleepingServerRestartsEmpty();
    void onlyNamedLeases();
    void refreshIsAnswered();
    void limitIsTold();
    void publishesAtMostTwentyTimesASecond();
    void nothingIsToldAfterStop();
};

void TestMonitor::seesTheLifeOfALease_data()
{
    QTest::addColumn<bool>("push");
    QTest::newRow("pushed") << true;
    QTest::newRow("polled") << false;
}

void TestMonitor::seesTheLifeOfALease()
{
    QFETCH(bool, push);
    Rig rig;
    Candidate a(*rig.server, "jobs/leader", "a", 600ms);
    Candidate b(*rig.server, "jobs/leader", "b", 600ms);
    QVERIFY(a.acquire());
    rig.watch(quick(), push ? Rig::Push::Yes : Rig::Push::No);
    QVERIFY(rig.console.waitFor(
        [](const Console& c) { return c.sawTransition(TransitionKind::Appeared, "", "a"); }));
    QVERIFY(rig.waitComplete());
    QVERIFY(rig.console.waitFor([&](const Console& c) {
        return c.state() == (push ? LinkState::Live : LinkState::Polling)
            && !c.m_link.pushHow.empty();
    }));
    QVERIFY(a.renew());
    QVERIFY(a.release());
    QVERIFY(rig.console.waitFor(
        [](const Console& c) { return c.sawTransition(TransitionKind::Released, "a", ""); }));
    QVERIFY(b.acquire());
    QVERIFY(rig.console.waitFor(
        [](const Console& c) { return c.sawTransition(TransitionKind::Acquired, "", "b"); }));
    QVERIFY(rig.console.waitFor(
        [](const Console& c) { return c.sawTransition(TransitionKind::Expired, "b", ""); }));
    QVERIFY(rig.console.waitFor([](const Console& c) {
        return c.holder("jobs/leader").empty()
            && stateAt(c.m_leases.at("jobs/leader"), c.state(), kClock.now()) == LeaseState::Vacant;
    }));
    const std::lock_guard lock(rig.console.m_mutex);
    QCOMPARE(rig.console.m_transitions.size(), 4U);
    QVERIFY(!rig.console.m_transitions.back().inBlindSpot);
}

void TestMonitor::takeoverIsSeenAtOnce()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 500ms);
    Candidate b(*rig.server, "l", "b", 5000ms);
    QVERIFY(a.acquire());
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    QVERIFY(rig.console.waitFor([&](const Console&) { return b.acquire(); }));
    const Instant taken = kClock.now();
    QVERIFY(rig.console.waitFor([](const Console& c) { return c.holder("l") == "b"; }));
    QVERIFY2(kClock.now() - taken < 1s, "a change reaches the sink promptly");
    const std::lock_guard lock(rig.console.m_mutex);
    const Transition& last = rig.console.m_transitions.back();
    QVERIFY(last.gap && *last.gap < 1s);
    QVERIFY(!last.explanation.empty());
    QCOMPARE(last.token, b.term.token);
}

void TestMonitor::renewalsAreCounted()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 5000ms);
    QVERIFY(a.acquire());
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    for (std::uint64_t i = 1; i <= 5; ++i) {
        QVERIFY(a.renew());
        QVERIFY(rig.console.waitFor(
            [i](const Console& c) { return c.m_leases.at("l").renewalsSeen == i; }));
    }
    const std::lock_guard lock(rig.console.m_mutex);
    QVERIFY(rig.console.m_leases.at("l").renewInterval);
    QCOMPARE(rig.console.m_transitions.size(), 1U);
}

void TestMonitor::flappingRaisesOneAlert()
{
    Rig rig;
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    for (int i = 0; i < 6; ++i) {
        const std::string name = i % 2 == 0 ? "a" : "b";
        Candidate next(*rig.server, "l", name, 5000ms);
        QVERIFY(next.acquire());
        QVERIFY(rig.console.waitFor([&](const Console& c) { return c.holder("l") == name; }));
        QVERIFY(next.release());
        QVERIFY(rig.console.waitFor([&](const Console& c) { return c.holder("l").empty(); }));
    }
    QVERIFY(rig.console.waitFor([](const Console& c) { return c.m_leases.at("l").churning; }));
    std::uint64_t id = 0;
    {
        const std::lock_guard lock(rig.console.m_mutex);
        QCOMPARE(rig.console.m_transitions.size(), 12U);
        QCOMPARE(rig.console.m_alerts.size(), 1U);
        id = rig.console.m_alerts.begin()->first;
        QCOMPARE(rig.console.m_alerts[id].rule, std::string("flapping"));
    }
    rig.monitor->acknowledge(id);
    QVERIFY(rig.console.waitFor(
        [id](const Console& c) { return c.m_alerts.at(id).state == AlertState::Acknowledged; }));
    rig.monitor->snooze(id, 1h);
    QVERIFY(rig.console.waitFor(
        [id](const Console& c) { return c.m_alerts.at(id).state == AlertState::Snoozed; }));
}

void TestMonitor::cutOffIsToldAndRecoveredFrom()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 60000ms);
    QVERIFY(a.acquire());
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    rig.faults->cutOff = true;
    QVERIFY(
        rig.console.waitFor([](const Console& c) { return c.state() == LinkState::Disconnected; }));
    QVERIFY(rig.console.waitFor([](const Console& c) {
        return c.m_link.attempt >= 2 && c.m_link.nextTry && c.m_link.error
            && !c.m_link.error->what.empty();
    }));
    {
        const std::lock_guard lock(rig.console.m_mutex);
        QVERIFY(!rig.console.m_link.pushOpen);
        QCOMPARE(stateAt(rig.console.m_leases.at("l"), rig.console.state(), kClock.now()),
            LeaseState::Unknown);
    }
    QVERIFY(a.release()); // while nobody looks
    Candidate b(*rig.server, "l", "b", 60000ms);
    QVERIFY(b.acquire());
    rig.faults->cutOff = false;
    rig.monitor->refresh(); // tries at once
    QVERIFY(rig.console.waitFor(
        [](const Console& c) { return c.state() == LinkState::Live && c.holder("l") == "b"; }));
    const std::lock_guard lock(rig.console.m_mutex);
    QVERIFY(rig.console.m_transitions.back().inBlindSpot);
    QVERIFY(!rig.console.m_leases.at("l").blind.empty());
    QCOMPARE(rig.console.m_link.attempt, 0);
    QVERIFY(!rig.console.m_link.error);
}

/// A server that takes every call and answers none: the callers of the monitor never wait, the data
/// ages by the clock, and stop() is bounded.
void TestMonitor::aHangIsAStateNotABlock()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 60000ms);
    QVERIFY(a.acquire());
    Monitor::Options options = quick();
    options.callTimeout = 3s;
    rig.watch(options);
    QVERIFY(rig.waitComplete());
    rig.faults->latencyMs = 60'000;
    QVERIFY(rig.console.waitFor([](const Console& c) { return c.state() == LinkState::Stale; }));
    const Instant before = kClock.now();
    rig.monitor->refresh();
    rig.monitor->focus(LeaseId::observed("l"));
    rig.monitor->acknowledge(1);
    QVERIFY(kClock.now() - before < 100ms);
    QVERIFY(
        rig.console.waitFor([](const Console& c) { return c.state() == LinkState::Disconnected; }));
    const Instant stopping = kClock.now();
    rig.monitor->stop();
    QVERIFY(kClock.now() - stopping < options.callTimeout + 1s);
    const std::lock_guard lock(rig.console.m_mutex);
    for (const Transition& t : rig.console.m_transitions)
        QCOMPARE(t.kind, TransitionKind::Appeared);
}

void TestMonitor::sleepingServerRestartsEmpty()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 60000ms);
    QVERIFY(a.acquire());
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    rig.server->restartEmpty();
    QVERIFY(rig.console.waitFor(
        [](const Console& c) { return c.sawTransition(TransitionKind::Deleted, "a", ""); }));
}

void TestMonitor::onlyNamedLeases()
{
    Rig rig;
    Candidate wanted(*rig.server, "wanted", "a", 60000ms);
    Candidate other(*rig.server, "other", "b", 60000ms);
    Candidate later(*rig.server, "later", "c", 60000ms);
    QVERIFY(wanted.acquire() && other.acquire());
    Monitor::Options options = quick();
    options.only = {LeaseId::observed("wanted"), LeaseId::observed("later")};
    rig.watch(options);
    QVERIFY(rig.waitComplete());
    QVERIFY(later.acquire());
    QVERIFY(rig.console.waitFor([](const Console& c) { return c.holder("later") == "c"; }));
    const std::lock_guard lock(rig.console.m_mutex);
    QCOMPARE(rig.console.m_leases.size(), 2U);
    QCOMPARE(rig.console.holder("wanted"), std::string("a"));
}

void TestMonitor::refreshIsAnswered()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 60000ms);
    QVERIFY(a.acquire());
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    const Instant asked = kClock.now();
    rig.monitor->refresh();
    rig.monitor->refresh();
    QVERIFY(rig.console.waitFor([](const Console& c) { return c.m_last.refreshes == 2; }));
    const std::lock_guard lock(rig.console.m_mutex);
    QVERIFY(rig.console.m_leases.at("l").seenAt >= asked);
}

void TestMonitor::limitIsTold()
{
    Rig rig;
    for (int i = 0; i < 10; ++i) {
        Candidate a(*rig.server, "l" + std::to_string(i), "a", 60000ms);
        QVERIFY(a.acquire());
    }
    Monitor::Options options = quick();
    options.limit = 4;
    rig.watch(options);
    QVERIFY(rig.waitComplete());
    const std::lock_guard lock(rig.console.m_mutex);
    QCOMPARE(rig.console.m_leases.size(), 4U);
    QVERIFY(rig.console.m_last.capped);
}

void TestMonitor::publishesAtMostTwentyTimesASecond()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 60000ms);
    QVERIFY(a.acquire());
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    const Instant end = kClock.now() + 1s;
    QVERIFY(rig.console.waitFor([&](const Console&) {
        for (int i = 0; i < 50; ++i)
            (void)a.renew();
        return kClock.now() >= end;
    }));
    rig.monitor->stop();
    const std::lock_guard lock(rig.console.m_mutex);
    QVERIFY(rig.console.m_published.size() > 5);
    for (std::size_t i = 1; i < rig.console.m_published.size(); ++i)
        QVERIFY(rig.console.m_published[i] - rig.console.m_published[i - 1] >= 45ms);
}

void TestMonitor::nothingIsToldAfterStop()
{
    Rig rig;
    Candidate a(*rig.server, "l", "a", 60000ms);
    QVERIFY(a.acquire());
    rig.watch(quick());
    QVERIFY(rig.waitComplete());
    rig.monitor->stop();
    const std::size_t told = rig.console.m_published.size();
    QVERIFY(a.release());
    rig.monitor->refresh();
    QCOMPARE(rig.console.m_published.size(), told);
    rig.monitor->start(); // and goes on when started again
    QVERIFY(rig.console.waitFor(
        [](const Console& c) { return c.holder("l").empty() && c.m_last.complete; }));
}

QTEST_GUILESS_MAIN(TestMonitor)
#include "tst_monitor.moc"
