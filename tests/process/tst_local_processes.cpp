// SPDX-License-Identifier: GPL-3.0-or-later
// Local instances that are real processes on a real Redis: stopped, killed and cut off for real.
#include "core/backend/backend.h"
#include "core/runtime/local_instances.h"
#include "ctl_process.h"
#include "redis_server.h"

#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;
using Life = InstanceView::Life;

class LocalProcessesTest final : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void beliefBesideTruth();
    void stoppedLeaderBelievesNothing();
    void killedLeaderIsReplacedAndComesBackAsAnother();
    void cutOffForReal();
    void handsOverAndStops();
    void whatEndsByItselfIsSeen();
    void noneSurvivesTheProgram();
    void passwordsStandInNoCommandLine();

private:
    [[nodiscard]] InstanceView view(std::uint64_t id) const;
    [[nodiscard]] std::uint64_t leader() const; ///< 0: none
    void spawnPair();
    [[nodiscard]] std::string holderInRedis() const;

    std::unique_ptr<RedisServer> m_redis;
    std::shared_ptr<const Backend> m_backend;
    std::unique_ptr<LocalInstances> m_instances;
    const LeaseId m_lease = LeaseId::observed("drill/test");
};

namespace
{

constexpr int kLong = 60'000;

/// "T" stopped, "S" sleeping, "Z" dead, empty: gone.
QByteArray stateOf(pid_t pid)
{
    QFile file(QStringLiteral("/proc/%1/stat").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray text = file.readAll();
    return text.mid(text.lastIndexOf(')') + 2, 1);
}

bool isGone(pid_t pid)
{
    const QByteArray state = stateOf(pid);
    return state.isEmpty() || state == "Z" || state == "X"; // who inherits it may not bury it
}

} // namespace

void LocalProcessesTest::init()
{
    if (!RedisServer::installed()) {
        QVERIFY2(qEnvironmentVariableIsEmpty("TENURE_REQUIRE_SERVERS"), "redis-server is missing");
        QSKIP("no redis-server");
    }
    m_redis = std::make_unique<RedisServer>();
    const StoreUri uri = m_redis->tcpUri();
    m_backend = makeBackend(uri).value();
    m_instances = std::make_unique<LocalInstances>(
        m_backend, SystemClock::instance(), ProcessPlace{uri, TENURECTL_PATH});
    QCOMPARE(m_instances->whyNoProcesses(), std::string());
}

void LocalProcessesTest::cleanup()
{
    m_instances.reset();
    m_redis.reset();
}

InstanceView LocalProcessesTest::view(std::uint64_t id) const
{
    for (InstanceView &one : m_instances->views()) {
        if (one.id == id)
            return one;
    }
    return {};
}

std::uint64_t LocalProcessesTest::leader() const
{
    for (const InstanceView &one : m_instances->views()) {
        if (one.report.believes)
            return one.id;
    }
    return 0;
}

std::string LocalProcessesTest::holderInRedis() const
{
    const std::array<Command, 1> commands{Read{m_lease, ReadDepth::Full}};
    const auto replies = m_backend->makeStore()->execute(commands, BootClock::now() + 5s);
    return replies.front() ? replies.front()->record.holder.value_or(std::string()) : std::string();
}

void LocalProcessesTest::spawnPair()
{
    const Timing timing = Timing::make({.ttl = 2s}).value();
    for (int i = 0; i < 2; ++i)
        QVERIFY(m_instances->spawn(m_lease, timing, {}, LocalInstances::Scope::DrillOnly, LocalInstances::As::Process));
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0, kLong);
    // The other one waits for it.
    const std::uint64_t other = 3 - leader();
    QTRY_VERIFY_WITH_TIMEOUT(view(other).report.seen && view(other).report.seen->holder == view(leader()).holder, kLong);
}

void LocalProcessesTest::beliefBesideTruth()
{
    spawnPair();
    const InstanceView first = view(leader());
    QVERIFY(first.process && first.pid > 0 && first.pid != getpid());
    QVERIFY(first.holder.starts_with("A@process_") || first.holder.starts_with("B@process_"));
    QCOMPARE(holderInRedis(), first.holder);
    QVERIFY(first.report.term.token);
    QVERIFY(first.report.validUntil > BootClock::now());
    // Renewals are told: belief goes on beyond the first ttl.
    QTRY_VERIFY_WITH_TIMEOUT(view(first.id).report.validUntil > first.report.validUntil, kLong);
    QVERIFY(stateOf(first.pid) == "S" || stateOf(first.pid) == "R");
}

void LocalProcessesTest::stoppedLeaderBelievesNothing()
{
    spawnPair();
    const std::uint64_t victim = leader();
    const pid_t pid = view(victim).pid;
    m_instances->pause(victim);
    QTRY_COMPARE_WITH_TIMEOUT(stateOf(pid), QByteArray("T"), kLong);
    QCOMPARE(view(victim).life, Life::Paused);
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0 && leader() != victim, kLong);
    QVERIFY(!view(victim).report.believes); // by the clock, though it cannot have noticed
    QCOMPARE(view(victim).report.lost, std::uint64_t(0));
    m_instances->resume(victim);
    QTRY_COMPARE_WITH_TIMEOUT(view(victim).report.lost, std::uint64_t(1), kLong);
    QTRY_VERIFY_WITH_TIMEOUT(view(victim).report.seen && view(victim).report.seen->holder == holderInRedis(), kLong);
    QCOMPARE(view(victim).pid, pid);
}

void LocalProcessesTest::killedLeaderIsReplacedAndComesBackAsAnother()
{
    spawnPair();
    const std::uint64_t victim = leader();
    const InstanceView before = view(victim);
    m_instances->crash(victim);
    QTRY_VERIFY_WITH_TIMEOUT(isGone(before.pid), kLong);
    QCOMPARE(view(victim).life, Life::Crashed);
    QCOMPARE(view(victim).holder, before.holder);
    QVERIFY(!view(victim).report.believes);
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0 && leader() != victim, kLong);
    m_instances->restart(victim);
    QTRY_VERIFY_WITH_TIMEOUT(view(victim).pid > 0 && view(victim).pid != before.pid, kLong);
    QTRY_VERIFY_WITH_TIMEOUT(view(victim).holder.starts_with(before.name) && view(victim).holder != before.holder, kLong);
}

void LocalProcessesTest::cutOffForReal()
{
    spawnPair();
    const std::uint64_t victim = leader();
    const InstanceView before = view(victim);
    m_instances->cut(victim);
    QVERIFY(view(victim).cutOff);
    QTRY_VERIFY_WITH_TIMEOUT(view(victim).report.lost == 1, kLong); // it noticed by itself, in time
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0 && leader() != victim, kLong);
    QVERIFY(!isGone(before.pid));
    QTRY_VERIFY_WITH_TIMEOUT(view(victim).report.error.has_value(), kLong);
    m_instances->heal(victim);
    QTRY_VERIFY_WITH_TIMEOUT(view(victim).report.seen && view(victim).report.seen->holder == view(leader()).holder, kLong);
    QCOMPARE(view(victim).pid, before.pid);
}

void LocalProcessesTest::handsOverAndStops()
{
    spawnPair();
    const std::uint64_t first = leader();
    const std::uint64_t other = 3 - first;
    m_instances->handOver(first);
    QTRY_COMPARE_WITH_TIMEOUT(leader(), other, kLong);
    QVERIFY(view(first).pid > 0);
    const pid_t pid = view(other).pid;
    m_instances->pause(other); // a stopped one is woken to be stopped
    m_instances->stop(other);
    QTRY_COMPARE_WITH_TIMEOUT(view(other).life, Life::Stopped, kLong);
    QTRY_VERIFY_WITH_TIMEOUT(isGone(pid), kLong);
    QTRY_COMPARE_WITH_TIMEOUT(leader(), first, kLong);
    m_instances.reset(); // gracefully
    QCOMPARE(holderInRedis(), std::string());
}

void LocalProcessesTest::whatEndsByItselfIsSeen()
{
    spawnPair();
    const std::uint64_t victim = leader();
    ::kill(view(victim).pid, SIGKILL); // somebody else does
    QTRY_COMPARE_WITH_TIMEOUT(view(victim).life, Life::Crashed, kLong);
    m_instances->restart(victim);
    QTRY_VERIFY_WITH_TIMEOUT(view(victim).life == Life::Running && view(victim).pid > 0, kLong);
    LocalInstances none(m_backend, SystemClock::instance(), ProcessPlace{m_redis->tcpUri(), "/nowhere/tenurectl"});
    const auto id = none.spawn(m_lease, Timing::make({.ttl = 2s}).value(), {}, LocalInstances::Scope::DrillOnly, LocalInstances::As::Process);
    QVERIFY(id);
    QTRY_COMPARE_WITH_TIMEOUT(none.views().front().life, Life::Crashed, kLong);
    QVERIFY(none.views().front().report.error->text().find("/nowhere/tenurectl") != std::string::npos);
}

/// As when the console is killed: no destructor runs, no pipe is closed by hand, one child is stopped.
void LocalProcessesTest::noneSurvivesTheProgram()
{
    QProcess host;
    dieWithParent(host);
    host.start(QStringLiteral(INSTANCE_HOST_PATH),
        {QString::fromStdString(m_redis->tcpUri().secretText()), QStringLiteral(TENURECTL_PATH)});
    QByteArray text;
    QTRY_VERIFY_WITH_TIMEOUT((host.waitForReadyRead(50), text += host.readAll(), text.contains('\n')), kLong);
    QList<pid_t> pids;
    for (const QByteArray &word : text.simplified().split(' '))
        pids << word.toInt();
    QCOMPARE(pids.size(), 3);
    for (const pid_t pid : pids)
        QVERIFY(pid > 0 && !isGone(pid));
    QTRY_COMPARE_WITH_TIMEOUT(stateOf(pids.first()), QByteArray("T"), kLong);
    host.kill(); // SIGKILL
    QVERIFY(host.waitForFinished(kLong));
    for (const pid_t pid : pids)
        QTRY_VERIFY_WITH_TIMEOUT(isGone(pid), kLong);
}

void LocalProcessesTest::passwordsStandInNoCommandLine()
{
    m_redis->run({"CONFIG", "SET", "requirepass", "hunter-77"});
    StoreUri uri = m_redis->tcpUri();
    uri.password = "hunter-77";
    m_instances = std::make_unique<LocalInstances>(
        makeBackend(uri).value(), SystemClock::instance(), ProcessPlace{uri, TENURECTL_PATH});
    QVERIFY(m_instances->spawn(m_lease, Timing::make({.ttl = 2s}).value(), {}, LocalInstances::Scope::DrillOnly, LocalInstances::As::Process));
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0, kLong);
    QFile file(QStringLiteral("/proc/%1/cmdline").arg(view(1).pid));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray line = file.readAll();
    QVERIFY(line.contains("campaign"));
    QVERIFY(!line.contains("hunter-77"));
}

QTEST_GUILESS_MAIN(LocalProcessesTest)
#include "tst_local_processes.moc"
