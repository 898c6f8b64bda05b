// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/demo_world.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

struct Service {
    const char *lease;
    Milliseconds ttl;
    const char *candidate; ///< numbered
    int candidates;
};

constexpr const char *kFlapping = "mail/outbox";
constexpr const char *kForsaken = "jobs/reindex";

constexpr std::array<Service, 11> kServices{{
    {"billing/scheduler", 15s, "scheduler", 3},
    {"billing/ledger", 12s, "ledger", 2},
    {"search/indexer", 9s, "indexer", 3},
    {"search/compactor", 10s, "compactor", 2},
    {kFlapping, 6s, "outbox", 2},
    {"jobs/nightly-report", 15s, "report", 2},
    {kForsaken, 6s, "reindex", 1},
    {"cache/warmer", 8s, "warmer", 2},
    {"auth/key-rotation", 12s, "rotator", 2},
    {"metrics/rollup", 7s, "rollup", 2},
    {"orders/dispatcher", 10s, "dispatcher", 3},
}};

constexpr Duration kBeat = 250ms; ///< how often the story looks whether something is due
constexpr Duration kFlapEvery = 6s;
constexpr Duration kHandOverEvery = 25s;
constexpr Duration kCrashEvery = 45s;
constexpr Duration kCrashedFor = 20s;
constexpr Duration kPauseEvery = 70s;
constexpr Duration kPausedFor = 12s;

} // namespace

/// What happens in the demo, over and over. On the story's thread.
struct DemoWorld::Story {
    Story(LocalInstances &instancesUsed, const Clock &clockUsed, std::uint64_t seed)
        : instances(instancesUsed), clock(clockUsed), random(seed), began(clockUsed.now())
    {
    }

    void tell(const std::stop_token &stop)
    {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        while (!stop.stop_requested()) {
            beat();
            never.wait_for(lock, stop, kBeat, [] { return false; });
        }
    }

    void beat()
    {
        if (!forsaken && withLeader(kForsaken, [this](std::uint64_t id) { instances.crash(id); }))
            forsaken = true;
        if (isDue(nextFlap, kFlapEvery))
            withLeader(kFlapping, [this](std::uint64_t id) { instances.handOver(id); });
        if (isDue(nextHandOver, kHandOverEvery))
            withLeader(steadyLease(), [this](std::uint64_t id) { instances.handOver(id); });
        if (isDue(nextPause, kPauseEvery))
            withLeader(steadyLease(), [this](std::uint64_t id) { instances.pause(id, kPausedFor); });
        if (isDue(nextCrash, kCrashEvery)) {
            withLeader(steadyLease(), [this](std::uint64_t id) {
                instances.crash(id);
                crashed = id;
                nextRestart = clock.now() - began + kCrashedFor;
            });
        }
        if (crashed != 0 && isDue(nextRestart, kCrashEvery)) {
            instances.restart(crashed);
            crashed = 0;
        }
    }

    /// `due` and `every` count from the story's beginning.
    bool isDue(Duration &due, Duration every) const
    {
        const Duration at = clock.now() - began;
        if (at < due)
            return false;
        due = at + every;
        return true;
    }

    template <typename Act>
    bool withLeader(const std::string &lease, Act act) const
    {
        for (const InstanceView &view : instances.views()) {
            const bool runs = view.life == InstanceView::Life::Running && !view.cutOff;
            if (runs && view.report.believes && view.lease.name() == lease) {
                act(view.id);
                return true;
            }
        }
        return false;
    }

    /// Any lease but the two that have a story of their own.
    std::string steadyLease()
    {
        for (;;) {
            const std::string lease = kServices[random.below(kServices.size())].lease;
            if (lease != kFlapping && lease != kForsaken)
                return lease;
        }
    }

    LocalInstances &instances;
    const Clock &clock;
    Random random;
    const Instant began;
    bool forsaken = false; ///< the lease that nobody takes is now so
    std::uint64_t crashed = 0;
    Duration nextFlap = 4s;
    Duration nextHandOver = 10s;
    Duration nextCrash = 18s;
    Duration nextPause = 33s;
    Duration nextRestart = 0s;
};

DemoWorld::DemoWorld(const Clock &clock, std::uint64_t seed)
    : m_server(std::make_shared<MemoryServer>(clock))
    , m_backend(makeMemoryBackend(m_server, "demo:"))
    , m_instances(std::make_unique<LocalInstances>(m_backend, clock))
{
    for (const Service &service : kServices) {
        TimingRequest request;
        request.ttl = service.ttl;
        const auto timing = Timing::make(request, m_backend->traits().limits);
        for (int n = 1; timing && n <= service.candidates; ++n) {
            // Names and timing of the table above are valid; there is nobody to tell if not.
            (void)m_instances->spawn(LeaseId::observed(service.lease), *timing,
                std::string(service.candidate) + "-" + std::to_string(n));
        }
    }
    m_story = std::jthread([this, &clock, seed](const std::stop_token &stop) {
        Story(*m_instances, clock, seed).tell(stop);
    });
}

void DemoWorld::waitUntilLed(Duration limit) const
{
    const Instant until = BootClock::now() + limit;
    while (BootClock::now() < until) {
        const auto listed = m_server->apply(List{});
        if (listed && listed->records.size() >= kServices.size())
            return;
        std::this_thread::sleep_for(2ms);
    }
}

DemoWorld::~DemoWorld()
{
    m_story.request_stop();
    m_story.join();
}

} // namespace tenure
