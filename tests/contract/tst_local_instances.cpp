// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/local_instances.h"

#include "tests/support/election_kit.h"

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;
using Life = InstanceView::Life;

class LocalInstancesTest final : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void namesAndPlaces();
    void pausedLeaderStopsBelieving();
    void crashedLeaderIsReplacedAndComesBackAsAnother();
    void cutLeaderIsReplaced();
    void stopsInTheBackground();
    void endsGracefully();

private:
    [[nodiscard]] InstanceView view(std::uint64_t id) const;
    [[nodiscard]] std::uint64_t leader() const; ///< 0: none
    void spawnPair();

    std::shared_ptr<MemoryServer> m_server;
    std::shared_ptr<const Backend> m_backend;
    std::unique_ptr<LocalInstances> m_instances;
    const LeaseId m_lease = LeaseId::observed("drill/test");
};

namespace
{

/// The same leases, but as if other people used them too.
class SharedPlace final : public Backend
{
public:
    explicit SharedPlace(std::shared_ptr<const Backend> real) : m_real(std::move(real)), m_traits(m_real->traits())
    {
        m_traits.scheme = "redis";
    }
    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override { return m_real->makeStore(); }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override { return m_real->makeFeed(); }

private:
    std::shared_ptr<const Backend> m_real;
    StoreTraits m_traits;
};

} // namespace

void LocalInstancesTest::init()
{
    m_server = std::make_shared<MemoryServer>(SystemClock::instance());
    m_backend = makeMemoryBackend(m_server, "memory:test");
    m_instances = std::make_unique<LocalInstances>(m_backend, SystemClock::instance());
}

InstanceView LocalInstancesTest::view(std::uint64_t id) const
{
    for (InstanceView &one : m_instances->views()) {
        if (one.id == id)
            return one;
    }
    return {};
}

std::uint64_t LocalInstancesTest::leader() const
{
    for (const InstanceView &one : m_instances->views()) {
        if (one.report.believes)
            return one.id;
    }
    return 0;
}

void LocalInstancesTest::spawnPair()
{
    QVERIFY(m_instances->spawn(m_lease, timingOf(500ms)));
    QVERIFY(m_instances->spawn(m_lease, timingOf(500ms)));
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0, 30'000);
}

void LocalInstancesTest::namesAndPlaces()
{
    QVERIFY(m_instances->spawn(m_lease, timingOf(500ms)));
    QVERIFY(m_instances->spawn(m_lease, timingOf(500ms), "worker"));
    QVERIFY(m_instances->spawn(m_lease, timingOf(500ms)));
    const auto views = m_instances->views();
    QCOMPARE(views.size(), std::size_t(3));
    QCOMPARE(views[0].name, std::string("A"));
    QCOMPARE(views[1].name, std::string("worker"));
    QCOMPARE(views[2].name, std::string("B"));
    QVERIFY(views[0].holder.starts_with("A@") && views[0].holder != views[2].holder);
    QVERIFY(!m_instances->spawn(m_lease, timingOf(500ms), "two\nlines"));

    LocalInstances shared(std::make_shared<SharedPlace>(m_backend), SystemClock::instance());
    const auto refused = shared.spawn(LeaseId::observed("billing/scheduler"), timingOf(500ms));
    QVERIFY(!refused && refused.error().kind == ErrorKind::Denied);
    QVERIFY(shared.spawn(m_lease, timingOf(500ms)));
    QVERIFY(shared.spawn(
        LeaseId::observed("billing/scheduler"), timingOf(500ms), {}, LocalInstances::Scope::Anywhere));
}

void LocalInstancesTest::pausedLeaderStopsBelieving()
{
    spawnPair();
    const std::uint64_t victim = leader();
    m_instances->pause(victim, Duration(1500ms));
    QCOMPARE(view(victim).life, Life::Paused);
    QVERIFY(view(victim).faultUntil.has_value());
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0 && leader() != victim, 30'000);
    QVERIFY(!view(victim).report.believes); // by the clock, though it does not know yet
    QCOMPARE(view(victim).report.lost, std::uint64_t(0));
    QTRY_COMPARE_WITH_TIMEOUT(view(victim).life, Life::Running, 30'000); // ends by itself
    QTRY_COMPARE_WITH_TIMEOUT(view(victim).report.lost, std::uint64_t(1), 30'000);
}

void LocalInstancesTest::crashedLeaderIsReplacedAndComesBackAsAnother()
{
    spawnPair();
    const std::uint64_t victim = leader();
    const std::string holder = view(victim).holder;
    m_instances->crash(victim);
    QCOMPARE(view(victim).life, Life::Crashed);
    QVERIFY(!view(victim).report.believes);
    // Nothing was given back: the lease still stands in its name.
    QCOMPARE(m_server->apply(Read{m_lease, ReadDepth::Full})->record.holder, std::optional(holder));
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0, 30'000);
    m_instances->restart(victim);
    QCOMPARE(view(victim).life, Life::Running);
    QVERIFY(view(victim).holder != holder);
    QTRY_COMPARE_WITH_TIMEOUT(view(victim).report.phase, Phase::Waiting, 30'000);
}

void LocalInstancesTest::cutLeaderIsReplaced()
{
    spawnPair();
    const std::uint64_t victim = leader();
    m_instances->cut(victim);
    QVERIFY(view(victim).cutOff);
    QTRY_VERIFY_WITH_TIMEOUT(leader() != 0 && leader() != victim, 30'000);
    m_instances->clearFaults();
    QVERIFY(!view(victim).cutOff);
    QTRY_COMPARE_WITH_TIMEOUT(view(victim).report.phase, Phase::Waiting, 30'000);
}

void LocalInstancesTest::stopsInTheBackground()
{
    spawnPair();
    const std::uint64_t first = leader();
    const Instant before = BootClock::now();
    m_instances->cut(first);
    m_instances->stop(first);
    QVERIFY2(BootClock::now() - before < 200ms, "stop() waited for the network");
    QTRY_COMPARE_WITH_TIMEOUT(view(first).life, Life::Stopped, 15000);
    const std::uint64_t second = m_instances->views().back().id == first ? first - 1 : first + 1;
    m_instances->remove(second);
    QTRY_COMPARE_WITH_TIMEOUT(m_instances->views().size(), std::size_t(1), 30'000);
    m_instances->remove(first);
    QVERIFY(m_instances->views().empty());
}

void LocalInstancesTest::endsGracefully()
{
    spawnPair();
    m_instances->pause(leader());
    const Instant before = BootClock::now();
    m_instances.reset();
    QVERIFY(BootClock::now() - before < 3s);
    QVERIFY(!m_server->apply(Read{m_lease, ReadDepth::Full})->record.holder);
}

QTEST_GUILESS_MAIN(LocalInstancesTest)
#include "tst_local_instances.moc"
