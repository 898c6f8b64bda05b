// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/faulty.h"
#include "core/backend/memory/memory_backend.h"

#include <QTest>

#include <algorithm>
#include <mutex>
#include <vector>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

const LeaseId kLease = LeaseId::observed("x");

struct World {
    std::shared_ptr<MemoryServer> server = std::make_shared<MemoryServer>(SystemClock::instance());
    std::shared_ptr<Faults> faults = std::make_shared<Faults>();
    std::shared_ptr<const Backend> backend
        = makeFaultyBackend(makeMemoryBackend(server, "memory:"), faults, SystemClock::instance());
    std::unique_ptr<LeaseStore> store = backend->makeStore();

    Result<Reply> run(const Command &command, Duration limit = 5s) const
    {
        return store->execute({&command, 1}, BootClock::now() + limit).front();
    }
    [[nodiscard]] bool held() const { return server->apply(Read{kLease})->record.holder.has_value(); }
};

Acquire acquire()
{
    return {kLease, HolderId::parse("a").value(), Nonce::random(), 30s};
}

} // namespace

class TstFaulty : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cutOffSendsNothing();
    void lostRepliesLeaveAWriteInDoubt();
    void failNextCountsDown();
    void latencyDelaysAndMayMissTheDeadline();
    void feedTellsTheCutAndTheHealing();
};

void TstFaulty::cutOffSendsNothing()
{
    World world;
    world.faults->cutOff = true;
    const Instant began = BootClock::now();
    const auto result = world.run(acquire());
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::Unavailable);
    QCOMPARE(result.error().recovery, Recovery::Reconnect);
    QVERIFY(BootClock::now() - began < 2s);
    QVERIFY(!world.held());
    QVERIFY(!world.store->probe(BootClock::now() + 50ms));
    world.faults->cutOff = false;
    QVERIFY(world.run(acquire()));
}

void TstFaulty::lostRepliesLeaveAWriteInDoubt()
{
    World world;
    world.faults->loseReplies = true;
    const auto write = world.run(acquire(), 50ms);
    QVERIFY(!write);
    QCOMPARE(write.error().kind, ErrorKind::OutcomeUnknown);
    QVERIFY(world.held());
    const auto read = world.run(Read{kLease}, 50ms);
    QVERIFY(!read);
    QCOMPARE(read.error().kind, ErrorKind::Unavailable);
}

void TstFaulty::failNextCountsDown()
{
    World world;
    world.faults->failNext = 2;
    QVERIFY(!world.run(acquire()));
    QVERIFY(!world.run(acquire()));
    QVERIFY(!world.held());
    QVERIFY(world.run(acquire()));
}

void TstFaulty::latencyDelaysAndMayMissTheDeadline()
{
    World world;
    world.faults->latencyMs = 60;
    const Instant began = BootClock::now();
    QVERIFY(world.run(Read{kLease}));
    QVERIFY(BootClock::now() - began >= 60ms);
    QVERIFY(!world.run(acquire(), 20ms));
    QVERIFY(!world.held());
}

void TstFaulty::feedTellsTheCutAndTheHealing()
{
    World world;
    std::mutex mutex;
    std::vector<FeedEvent::Kind> kinds;
    const auto feed = world.backend->makeFeed();
    feed->start([&](const FeedEvent &event) {
        const std::lock_guard lock(mutex);
        // A change told just before the healing may arrive just after it.
        if (event.kind != FeedEvent::Kind::Alive && event.kind != FeedEvent::Kind::Changed)
            kinds.push_back(event.kind);
    });
    const auto saw = [&](std::vector<FeedEvent::Kind> expected) {
        const std::lock_guard lock(mutex);
        return kinds == expected;
    };
    using Kind = FeedEvent::Kind;
    QTRY_VERIFY(saw({Kind::Opened}));
    world.faults->cutOff = true;
    QTRY_VERIFY(saw({Kind::Opened, Kind::Closed}));
    const Acquire unseen = acquire();
    QVERIFY(world.server->apply(unseen));
    world.faults->cutOff = false;
    QTRY_VERIFY(saw({Kind::Opened, Kind::Closed, Kind::Opened}));
    const auto term = world.server->apply(Read{kLease})->record;
    QVERIFY(world.server->apply(Release{kLease, {unseen.holder, unseen.nonce, term.token}}));
    QTRY_VERIFY(saw({Kind::Opened, Kind::Closed, Kind::Opened, Kind::Released}));
    feed->stop();
}

QTEST_GUILESS_MAIN(TstFaulty)
#include "tst_faulty.moc"
