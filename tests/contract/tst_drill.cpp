// SPDX-License-Identifier: GPL-3.0-or-later
// Drills on embedded leases and on those of real servers: gaps that an independent observer confirms,
// a verdict against a limit, and a lease that is clean after an abort.
#include "core/backend/backend.h"
#include "core/drill/drill.h"
#include "tests/support/election_kit.h"
#ifdef TENURE_HAVE_REDIS
#include "tests/support/redis_server.h"
#endif
#ifdef TENURE_HAVE_POSTGRES
#include "tests/support/postgres_server.h"
#endif
#ifdef TENURE_HAVE_KUBERNETES
#include "tests/support/kube_server.h"
#endif

#include <QFile>
#include <QTest>

#include <map>
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

/// Looks at processes as the kernel shows them, and remembers when each was first seen not to run.
class ProcessObserver
{
public:
    explicit ProcessObserver(const LocalInstances &instances)
    {
        m_thread = std::jthread([this, &instances](const std::stop_token &stop) {
            while (!stop.stop_requested()) {
                for (const InstanceView &view : instances.views()) {
                    if (view.pid > 0 && !view.holder.empty())
                        m_pids.emplace(view.holder, view.pid);
                }
                for (const auto &[holder, pid] : m_pids)
                    look(holder, pid);
                std::this_thread::sleep_for(1ms);
            }
        });
    }
    /// When the process of this identity stood still or was gone.
    std::optional<Instant> stood(const std::string &holder) const
    {
        const std::scoped_lock lock(m_mutex);
        const auto found = m_stood.find(holder);
        return found == m_stood.end() ? std::nullopt : std::optional(found->second);
    }

private:
    void look(const std::string &holder, pid_t pid)
    {
        QFile file(QStringLiteral("/proc/%1/stat").arg(pid));
        const QByteArray text = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        const char state = text.isEmpty() ? 'X' : text.at(text.lastIndexOf(')') + 2);
        if (state != 'T' && state != 'Z' && state != 'X')
            return;
        const std::scoped_lock lock(m_mutex);
        m_stood.emplace(holder, BootClock::now());
    }
    std::map<std::string, pid_t> m_pids; ///< of the thread
    mutable std::mutex m_mutex;
    std::map<std::string, Instant> m_stood;
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
    void agreesWithAnObserver_data();
    void agreesWithAnObserver();
    void failsWhenTheGapIsTooLong();
    void abortLeavesTheLeaseClean();
    void doesNotTouchOthersProcesses();
    void outlastsOperatorMode();
    void reportsSayWhatHappened();

private:
    /// A store of its kind, and how drills name their leases there.
    struct Store {
        std::shared_ptr<const Backend> backend;
        std::optional<StoreUri> uri; ///< of a server
        LeaseId lease = LeaseId::observed("drill/test");
    };
    struct Place {
        std::shared_ptr<const Backend> backend;
        std::unique_ptr<LocalInstances> instances;
        std::unique_ptr<OperatorGate> gate;
        std::vector<AuditEntry> audit;
        [[nodiscard]] bool isLed() const
        {
            return std::ranges::any_of(instances->views(), [](const InstanceView &v) { return v.report.believes; });
        }
    };
    std::optional<Store> storeOf(const QString &where);
    std::unique_ptr<Place> placeOn(const Store &store, LocalInstances::As as = LocalInstances::As::Threads) const;
    std::unique_ptr<Place> placeInMemory() const
    {
        auto server = std::make_shared<MemoryServer>(SystemClock::instance());
        return placeOn({makeMemoryBackend(server, "memory:test"), {}});
    }
    DrillPlan plan(DrillAct act, int times = 2) const;
    void compare(const DrillRound &round, const std::vector<Observer::Change> &changes, std::optional<Instant> stood);

#ifdef TENURE_HAVE_REDIS
    std::unique_ptr<RedisServer> m_redis;
#endif
#ifdef TENURE_HAVE_POSTGRES
    std::unique_ptr<PostgresServer> m_postgres;
#endif
};

/// Nothing: its server is not installed.
std::optional<TestDrill::Store> TestDrill::storeOf(const QString &where)
{
    Store out;
    if (where == QLatin1String("memory")) {
        out.backend = makeMemoryBackend(std::make_shared<MemoryServer>(SystemClock::instance()), "memory:test");
        return out;
    }
#ifdef TENURE_HAVE_REDIS
    if (where == QLatin1String("redis") && RedisServer::installed()) {
        m_redis = std::make_unique<RedisServer>();
        out.uri = m_redis->socketUri();
    }
#endif
#ifdef TENURE_HAVE_POSTGRES
    if (where == QLatin1String("postgresql") && PostgresServer::installed()) {
        if (!m_postgres)
            m_postgres = std::make_unique<PostgresServer>();
        m_postgres->script("DROP SCHEMA IF EXISTS drill CASCADE; CREATE SCHEMA drill");
        out.uri = m_postgres->socketUri("drill");
    }
#endif
#ifdef TENURE_HAVE_KUBERNETES
    if (where == QLatin1String("kubernetes") && KubeServer::missing().empty()) {
        out.uri = sharedKubeServer().uri(sharedKubeServer().makeNamespace());
        out.lease = LeaseId::observed("drill-test");
    }
#endif
    if (!out.uri)
        return std::nullopt;
    out.backend = makeBackend(*out.uri).value();
    return out;
}

std::unique_ptr<TestDrill::Place> TestDrill::placeOn(const Store &store, LocalInstances::As as) const
{
    auto place = std::make_unique<Place>();
    place->backend = store.backend;
    const auto processes = store.uri ? std::optional(ProcessPlace{*store.uri, TENURECTL_PATH}) : std::nullopt;
    place->instances = std::make_unique<LocalInstances>(place->backend, SystemClock::instance(), processes);
    if (store.uri && !place->backend->makeStore()->init(false, BootClock::now() + 10s))
        return nullptr;
    const Timing timing = Timing::make({.ttl = 2s}).value();
    for (int i = 0; i < 3; ++i) {
        if (!place->instances->spawn(store.lease, timing, {}, LocalInstances::Scope::DrillOnly, as))
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
    QTest::addColumn<bool>("processes");
    for (const char *where : {"memory", "redis", "postgresql", "kubernetes"}) {
        for (const DrillAct act : {DrillAct::Ask, DrillAct::Hold, DrillAct::Clear, DrillAct::Pause, DrillAct::Crash}) {
            QTest::addRow("%s %s", where, drillActWord(act)) << QString::fromLatin1(where) << int(act) << false;
            if (std::string_view(where) != "memory" && (act == DrillAct::Pause || act == DrillAct::Crash))
                QTest::addRow("%s %s processes", where, drillActWord(act)) << QString::fromLatin1(where) << int(act) << true;
        }
    }
}

void TestDrill::agreesWithAnObserver()
{
    QFETCH(QString, where);
    QFETCH(int, act);
    QFETCH(bool, processes);
    const std::optional<Store> store = storeOf(where);
    if (!store) {
        const bool required = where == QLatin1String("kubernetes") ? KubeServer::required()
                                                                   : qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS");
        QVERIFY2(!required, qPrintable(where + " is missing"));
        QSKIP("its server is not installed");
    }
    auto place = placeOn(*store, processes ? LocalInstances::As::Process : LocalInstances::As::Threads);
    QVERIFY(place);
    Observer observer(*store->backend, store->lease);
    ProcessObserver kernel(*place->instances);
    DrillPlan how = plan(DrillAct(act));
    how.lease = store->lease;
    if (where == QLatin1String("kubernetes"))
        how.hold = 1s; // whole seconds there
    Drill drill(store->backend, *place->gate, place->instances.get(), SystemClock::instance(), how);
    QTRY_VERIFY_WITH_TIMEOUT(place->isLed(), 60'000);
    QTRY_VERIFY_WITH_TIMEOUT(!observer.changes().empty() && !observer.changes().back().holder.empty(), 20000);
    std::atomic<bool> cancel = false;
    const DrillReport report = drill.run({}, cancel);
    QVERIFY2(report.passed(), report.verdict().c_str());
    QCOMPARE(report.rounds.size(), 2U);
    // A drill may tell of the last term before the observer's next look.
    QTRY_VERIFY_WITH_TIMEOUT(beginOf(observer.changes(), report.rounds.back().toToken).has_value(), 20000);
    const bool onOwn = DrillAct(act) == DrillAct::Pause || DrillAct(act) == DrillAct::Crash;
    for (const DrillRound &round : report.rounds) {
        QVERIFY(round.toToken > round.fromToken);
        if (onOwn && !processes) { // of a frozen thread nobody else can tell since when it is
            QVERIFY(round.gap > 500ms && round.gap < round.ttl + 5s);
            continue;
        }
        if (onOwn)
            QVERIFY2(kernel.stood(round.from), "the process of the leader was never seen to stand still");
        compare(round, observer.changes(), onOwn ? kernel.stood(round.from) : std::nullopt);
        if (QTest::currentTestFailed())
            return;
    }
    if (!onOwn)
        QCOMPARE(place->audit.size(), 4U); // intent and outcome, twice
}

/// The observer's gap: from the last moment at which it saw the old holder, or the one at which the
/// kernel showed its process standing, to the first at which it saw the next.
void TestDrill::compare(const DrillRound &round, const std::vector<Observer::Change> &changes, std::optional<Instant> stood)
{
    const auto began = beginOf(changes, round.toToken);
    const auto before = beginOf(changes, round.fromToken);
    QVERIFY2(began && before, "the observer did not see a term that the drill tells of");
    QVERIFY(*began > *before);
    Instant ended = stood.value_or(Instant());
    for (const auto &change : changes) {
        const bool gone = change.holder.empty() || change.token > round.fromToken;
        if (!stood && ended == Instant() && gone && change.at > *before)
            ended = change.at;
    }
    const Duration seen = *began - ended;
    const Duration off = round.gap > seen ? round.gap - seen : seen - round.gap;
    const std::string what = "drill " + std::to_string(round.gap.count() / 1000) + " us, observer " + std::to_string(seen.count() / 1000) + " us";
    qInfo("%s", what.c_str());
    QVERIFY2(off < 400ms, what.c_str());
}

void TestDrill::failsWhenTheGapIsTooLong()
{
    auto place = placeInMemory();
    QTRY_VERIFY_WITH_TIMEOUT(place->isLed(), 20000);
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
    auto place = placeInMemory();
    QTRY_VERIFY_WITH_TIMEOUT(place->isLed(), 20000);
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
    QTRY_VERIFY_WITH_TIMEOUT(place->isLed(), 20000);
}

void TestDrill::doesNotTouchOthersProcesses()
{
    auto place = placeInMemory();
    QTRY_VERIFY_WITH_TIMEOUT(place->isLed(), 20000);
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

void TestDrill::outlastsOperatorMode()
{
    auto place = placeInMemory();
    QTRY_VERIFY_WITH_TIMEOUT(place->isLed(), 20000);
    place->gate->allowWrites(200ms); // less than one round takes
    Drill drill(place->backend, *place->gate, place->instances.get(), SystemClock::instance(), plan(DrillAct::Hold, 2));
    std::atomic<bool> cancel = false;
    const DrillReport report = drill.run({}, cancel);
    QVERIFY2(report.passed(), report.verdict().c_str());
    QVERIFY(!place->gate->operatorTimeLeft()); // but no longer than the drill
    // Switched off by hand it ends the drill in its middle.
    place->gate->allowWrites(10min);
    const DrillReport second = drill.run([&](const DrillRound &) { place->gate->readOnly(); }, cancel);
    QCOMPARE(second.rounds.size(), 1U);
    QVERIFY(second.error && second.error->kind == ErrorKind::Denied);
    QVERIFY(!place->gate->keepWrites());
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
