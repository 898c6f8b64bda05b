// SPDX-License-Identifier: GPL-3.0-or-later
// Drills on an embedded and on a real Redis lease: gaps that an independent observer confirms, a
// verdict against a limit, and a lease that is clean after an abort.
#include "core/backend/backend.h"
#include "core/drill/drill.h"
#include "tests/support/election_kit.h"
#ifdef TENURE_HAVE_REDIS
#include "tests/support/redis_server.h"
#endif

#include <QTest>

#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

/// Looks at a lease on a connection of its own and remembers each change with its moment.
class Observer
{
public:
    struct Change {
        Instant at;
        std::string holder;
        FencingToken token;
    };
    Observer(const Backend &backend, LeaseId lease) : m_store(backend.makeStore()), m_lease(std::move(lease))
    {
        m_thread = std::jthread([this](const std::stop_token &stop) {
            while (!stop.stop_requested()) {
                const std::array<Command, 1> commands{Read{m_lease, ReadDepth::Full}};
                const Instant before = BootClock::now();
                const auto replies = m_store->execute(commands, before + 2s);
                if (replies.front())
                    see(before + (BootClock::now() - before) / 2, replies.front()->record);
                std::this_thread::sleep_for(1ms);
            }
        });
    }
    /// What it has seen until now.
    std::vector<Change> changes() const
    {
        const std::scoped_lock lock(m_mutex);
        return m_changes;
    }

private:
    void see(Instant at, const LeaseRecord &record)
    {
        const std::scoped_lock lock(m_mutex);
        const Change now{at, record.holder.value_or(std::string()), record.token};
        if (m_changes.empty() || m_changes.back().holder != now.holder || (!now.holder.empty() && m_changes.back().token != now.token))
            m_changes.push_back(now);
    }
    std::unique_ptr<LeaseStore> m_store;
    const LeaseId m_lease;
    mutable std::mutex m_mutex;
    std::vector<Change> m_changes;
    std::jthread m_thread;
};

/// When the term `token` began, as seen.
std::optional<Instant> beginOf(const std::vector<Observer::Change> &changes, FencingToken token)
{
    for (const auto &change : changes) {
        if (!change.holder.empty() && change.token == token)
            return change.at;
    }
    return std::nullopt;
}

} // namespace

class TestDrill final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void agreesWithAnObserver_data();
    void agreesWithAnObserver();
    void failsWhenTheGapIsTooLong();
    void abortLeavesTheLeaseClean();
    void doesNotTouchOthersProcesses();
    void reportsSayWhatHappened();

private:
    struct Place {
        std::shared_ptr<const Backend> backend;
        std::unique_ptr<LocalInstances> instances;
        std::unique_ptr<OperatorGate> gate;
        std::vector<AuditEntry> audit;
    };
    std::unique_ptr<Place> placeOn(std::shared_ptr<const Backend> backend, Milliseconds ttl = 2s) const;
    DrillPlan plan(DrillAct act, int times = 2) const;

    std::shared_ptr<MemoryServer> m_memory = std::make_shared<MemoryServer>(SystemClock::instance());
#ifdef TENURE_HAVE_REDIS
    std::unique_ptr<RedisServer> m_redis;
#endif
};

void TestDrill::initTestCase()
{
#ifdef TENURE_HAVE_REDIS
    if (RedisServer::installed())
        m_redis = std::make_unique<RedisServer>();
#endif
}

std::unique_ptr<TestDrill::Place> TestDrill::placeOn(std::shared_ptr<const Backend> backend, Milliseconds ttl) const
{
    auto place = std::make_unique<Place>();
    place->backend = std::move(backend);
    place->instances = std::make_unique<LocalInstances>(place->backend, SystemClock::instance());
    const Timing timing = Timing::make({.ttl = ttl}).value();
    for (int i = 0; i < 3; ++i) {
        if (!place->instances->spawn(LeaseId::observed("drill/test"), timing))
            return nullptr;
    }
    place->gate = std::make_unique<OperatorGate>(place->backend, SystemClock::instance(),
        [raw = place.get()](const AuditEntry &entry) { raw->audit.push_back(entry); });
    place->gate->allowWrites(10min);
    return place;
}

DrillPlan TestDrill::plan(DrillAct act, int times) const
{
    DrillPlan plan;
    plan.lease = LeaseId::observed("drill/test");
    plan.act = act;
    plan.times = times;
    plan.own = 3;
    plan.maxGap = 30s; // a busy machine is not what is tested
    plan.hold = 500ms;
    plan.by = "tester";
    return plan;
}

void TestDrill::agreesWithAnObserver_data()
{
    QTest::addColumn<QString>("where");
    QTest::addColumn<int>("act");
    for (const char *where : {"memory", "redis"}) {
        for (const DrillAct act : {DrillAct::Ask, DrillAct::Hold, DrillAct::Clear, DrillAct::Pause, DrillAct::Crash})
            QTest::addRow("%s %s", where, drillActWord(act)) << QString::fromLatin1(where) << int(act);
    }
}

void TestDrill::agreesWithAnObserver()
{
    QFETCH(QString, where);
    QFETCH(int, act);
    std::shared_ptr<const Backend> backend;
    if (where == QLatin1String("memory")) {
        backend = makeMemoryBackend(std::make_shared<MemoryServer>(SystemClock::instance()), "memory:test");
    } else {
#ifdef TENURE_HAVE_REDIS
        if (m_redis) {
            m_redis->run({"FLUSHALL"});
            backend = makeBackend(m_redis->socketUri()).value();
        }
#endif
        if (!backend) {
            QVERIFY2(qEnvironmentVariableIsEmpty("TENURE_REQUIRE_SERVERS"), "redis-server is missing");
            QSKIP("no redis-server");
        }
    }
    auto place = placeOn(backend);
    QVERIFY(place);
    Observer observer(*backend, LeaseId::observed("drill/test"));
    Drill drill(backend, *place->gate, place->instances.get(), SystemClock::instance(), plan(DrillAct(act)));
    QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(place->instances->views(), [](const InstanceView &v) { return v.report.believes; }), 20000);
    QTRY_VERIFY_WITH_TIMEOUT(!observer.changes().empty() && !observer.changes().back().holder.empty(), 20000);
    std::atomic<bool> cancel = false;
    const DrillReport report = drill.run({}, cancel);
    QVERIFY2(report.passed(), report.verdict().c_str());
    QCOMPARE(report.rounds.size(), 2U);
    // A drill may tell of the last term before the observer's next look.
    QTRY_VERIFY_WITH_TIMEOUT(beginOf(observer.changes(), report.rounds.back().toToken).has_value(), 20000);
    const auto changes = observer.changes();
    for (const DrillRound &round : report.rounds) {
        const auto began = beginOf(changes, round.toToken);
        const auto before = beginOf(changes, round.fromToken);
        QVERIFY2(began && before, "the observer did not see a term that the drill tells of");
        QVERIFY(*began > *before);
        QVERIFY(round.toToken > round.fromToken);
        // The observer's gap: from the last moment at which it saw the old holder. For a frozen or
        // killed leader the drill counts from the act, which the record does not show.
        if (DrillAct(act) == DrillAct::Pause || DrillAct(act) == DrillAct::Crash) {
            QVERIFY(round.gap > 500ms && round.gap < round.ttl + 5s);
            continue;
        }
        Instant ended{};
        for (const auto &change : changes) {
            if (change.at <= *began && (change.holder.empty() || change.token == round.toToken) && change.at > *before) {
                ended = change.at;
                break;
            }
        }
        const Duration seen = *began - ended;
        const Duration off = round.gap > seen ? round.gap - seen : seen - round.gap;
        const std::string what = "drill " + std::to_string(round.gap.count()) + " ns, observer " + std::to_string(seen.count()) + " ns";
        QVERIFY2(off < 400ms, what.c_str());
    }
    if (DrillAct(act) == DrillAct::Ask || DrillAct(act) == DrillAct::Hold || DrillAct(act) == DrillAct::Clear)
        QCOMPARE(place->audit.size(), 4U); // intent and outcome, twice
}

void TestDrill::failsWhenTheGapIsTooLong()
{
    auto place = placeOn(makeMemoryBackend(m_memory, "memory:a"));
    QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(place->instances->views(), [](const InstanceView &v) { return v.report.believes; }), 20000);
    DrillPlan strict = plan(DrillAct::Crash, 1);
    strict.maxGap = 100ms;
    Drill drill(place->backend, *place->gate, place->instances.get(), SystemClock::instance(), strict);
    std::atomic<bool> cancel = false;
    const DrillReport report = drill.run({}, cancel);
    QVERIFY(!report.passed());
    QVERIFY(report.verdict().starts_with("FAILED"));
    QVERIFY(report.worstGap() > 100ms);
}

void TestDrill::abortLeavesTheLeaseClean()
{
    auto place = placeOn(makeMemoryBackend(std::make_shared<MemoryServer>(SystemClock::instance()), "memory:b"));
    QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(place->instances->views(), [](const InstanceView &v) { return v.report.believes; }), 20000);
    DrillPlan longHold = plan(DrillAct::Hold, 1);
    longHold.hold = 10min;
    Drill drill(place->backend, *place->gate, place->instances.get(), SystemClock::instance(), longHold);
    std::atomic<bool> cancel = false;
    DrillReport report;
    std::jthread worker([&] { report = drill.run({}, cancel); });
    const auto store = place->backend->makeStore();
    const auto held = [&] {
        const std::array<Command, 1> commands{Read{LeaseId::observed("drill/test")}};
        return store->execute(commands, BootClock::now() + 1s).front()->record.hold.has_value();
    };
    QTRY_VERIFY_WITH_TIMEOUT(held(), 20000);
    cancel = true;
    worker.join();
    QVERIFY(report.aborted);
    QVERIFY(report.clean);
    QVERIFY(!held());
    QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(place->instances->views(), [](const InstanceView &v) { return v.report.believes; }), 20000);
}

void TestDrill::doesNotTouchOthersProcesses()
{
    auto place = placeOn(makeMemoryBackend(std::make_shared<MemoryServer>(SystemClock::instance()), "memory:c"));
    QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(place->instances->views(), [](const InstanceView &v) { return v.report.believes; }), 20000);
    LocalInstances mine(place->backend, SystemClock::instance()); // none of them leads
    Drill drill(place->backend, *place->gate, &mine, SystemClock::instance(), plan(DrillAct::Crash, 1));
    std::atomic<bool> cancel = false;
    const DrillReport report = drill.run({}, cancel);
    QVERIFY(!report.passed());
    QVERIFY(report.rounds.empty());
    QVERIFY2(report.verdict().find("others' processes are left alone") != std::string::npos, report.verdict().c_str());
    Drill none(place->backend, *place->gate, nullptr, SystemClock::instance(), plan(DrillAct::Crash, 1));
    QVERIFY(none.run({}, cancel).verdict().starts_with("NOT RUN"));
}

void TestDrill::reportsSayWhatHappened()
{
    DrillReport report;
    report.plan = plan(DrillAct::Ask, 1);
    report.plan.lease = LeaseId::observed("a|b<c>");
    report.backend = "redis://localhost";
    DrillRound round;
    round.from = "alpha";
    round.to = "beta";
    round.gap = 212ms;
    round.passed = true;
    report.rounds.push_back(round);
    const std::string text = drillMarkdown(report);
    QVERIFY(text.find("212 ms") != std::string::npos);
    QVERIFY(text.find("a\\|b<c>") != std::string::npos);
    QVERIFY(text.find("PASSED") != std::string::npos);
    const std::string page = drillHtml(report);
    QVERIFY(page.find("a|b&lt;c&gt;") != std::string::npos);
    QVERIFY(page.find("<svg") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestDrill)
#include "tst_drill.moc"
