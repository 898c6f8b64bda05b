// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/local_instances.h"

#include "core/base/time_text.h"

#include <algorithm>
#include <array>

#include <unistd.h>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;
using Life = InstanceView::Life;

/// A graceful stop that takes longer is given up: the lease runs out by itself.
constexpr Duration kStopLimit = 10s;
constexpr Duration kFarewell = 1s; ///< the same when all of them end with the program
constexpr Duration kLook = 20ms; ///< how often a stop under way is looked at

std::string shortHostName()
{
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0)
        return "localhost";
    const std::string whole(host.data());
    return whole.substr(0, std::min<std::size_t>(whole.find('.'), 40));
}

Result<HolderId> identityFor(const std::string &name)
{
    return HolderId::parse(
        name + "@" + shortHostName() + "-" + hex64(systemEntropy()).substr(0, 8));
}

bool isEmbedded(const StoreTraits &traits)
{
    return traits.scheme == "memory" || traits.scheme == "demo";
}

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b)
{
    if (a && b)
        return std::min(*a, *b);
    return a ? a : b;
}

} // namespace

/// One life of an instance: what a process would be.
struct LocalInstances::Engine {
    Engine(const std::shared_ptr<const Backend> &backend, const Clock &clock, const LeaseId &lease,
        HolderId holder, const Timing &timing)
        : host(makeFaultyBackend(backend, faults, clock), clock)
        , elector(host, lease, std::move(holder), timing)
    {
        elector.start();
    }

    std::shared_ptr<Faults> faults = std::make_shared<Faults>();
    ElectorHost host;
    Elector elector;
};

struct LocalInstances::Instance {
    [[nodiscard]] InstanceView view() const
    {
        InstanceView out{id, name, holder, lease, timing, life, false, lastReport, earlier(pausedUntil, cutUntil)};
        if (engine) {
            out.cutOff = engine->faults->cutOff;
            out.report = engine->elector.report();
        }
        return out;
    }

    void thaw()
    {
        if (life != Life::Paused)
            return;
        engine->host.thaw();
        life = Life::Running;
        pausedUntil.reset();
    }

    void heal()
    {
        if (engine)
            engine->faults->cutOff = false;
        cutUntil.reset();
    }

    /// Ends this life; the engine is the caller's to bury.
    [[nodiscard]] std::unique_ptr<Engine> end(Life how)
    {
        lastReport = engine->elector.report();
        lastReport.believes = false;
        lastReport.phase = Phase::Stopped;
        life = how;
        pausedUntil.reset();
        cutUntil.reset();
        return std::move(engine);
    }

    std::uint64_t id = 0;
    std::string name;
    std::string holder;
    LeaseId lease;
    Timing timing;
    Life life = Life::Running;
    bool forget = false; ///< once it stopped
    std::unique_ptr<Engine> engine; ///< while it lives
    ElectorReport lastReport; ///< when it does not
    std::optional<Instant> pausedUntil;
    std::optional<Instant> cutUntil;
    Instant stopAsked;
};

LocalInstances::LocalInstances(std::shared_ptr<const Backend> backend, const Clock &clock)
    : m_backend(std::move(backend))
    , m_clock(clock)
    , m_keeper([this](const std::stop_token &stop) { keepHouse(stop); })
{
}

LocalInstances::~LocalInstances()
{
    {
        std::unique_lock lock(m_mutex);
        for (const auto &[id, instance] : m_instances) {
            instance->thaw();
            instance->heal();
            if (instance->engine)
                instance->engine->elector.requestStop();
        }
        const auto until = std::chrono::steady_clock::now() + kFarewell;
        const auto allStopped = [this] {
            return std::ranges::all_of(m_instances, [](const auto &entry) {
                const auto &engine = entry.second->engine;
                return !engine || engine->elector.report().phase == Phase::Stopped;
            });
        };
        while (!allStopped() && std::chrono::steady_clock::now() < until)
            m_changed.wait_for(lock, kLook / 4);
    }
    m_keeper.request_stop();
    m_keeper.join();
    // Each may have to wait for a call under way: together they wait as long as the longest.
    std::vector<std::jthread> graves;
    for (auto &[id, instance] : m_instances) {
        if (instance->engine)
            graves.emplace_back([engine = std::move(instance->engine)]() mutable { engine.reset(); });
    }
}

Result<std::uint64_t> LocalInstances::spawn(
    const LeaseId &lease, const Timing &timing, std::string name, Scope scope)
{
    const StoreTraits &traits = m_backend->traits();
    if (scope == Scope::DrillOnly && !isEmbedded(traits) && !lease.name().starts_with("drill/")) {
        return fail(ErrorKind::Denied, "Simulated instances compete under drill/ only", traits.display,
            "Use a name such as drill/" + lease.name() + ", or insist");
    }
    if (timing.ttl() < traits.limits.floor) {
        return fail(ErrorKind::BadConfig,
            "ttl " + durationText(timing.ttl()) + " is below this backend's floor of "
                + durationText(traits.limits.floor), traits.display);
    }
    const std::lock_guard lock(m_mutex);
    const auto taken = [this](const std::string &candidate) {
        return std::ranges::any_of(
            m_instances, [&](const auto &entry) { return entry.second->name == candidate; });
    };
    for (unsigned n = 0; name.empty() || (n > 0 && taken(name)); ++n)
        name = std::string(1, static_cast<char>('A' + n % 26)) + (n < 26 ? "" : std::to_string(n / 26 + 1));
    const Result<HolderId> holder = identityFor(name);
    if (!holder)
        return fail(holder.error());
    auto instance = std::make_unique<Instance>();
    instance->id = ++m_lastId;
    instance->name = std::move(name);
    instance->holder = holder->name();
    instance->lease = lease;
    instance->timing = timing;
    instance->engine = std::make_unique<Engine>(m_backend, m_clock, lease, *holder, timing);
    m_instances.emplace(m_lastId, std::move(instance));
    return m_lastId;
}

void LocalInstances::pause(std::uint64_t id, std::optional<Duration> howLong)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || (instance->life != Life::Running && instance->life != Life::Paused))
        return;
    instance->engine->host.freeze();
    instance->life = Life::Paused;
    instance->pausedUntil.reset();
    if (howLong)
        instance->pausedUntil = m_clock.now() + *howLong;
    callKeeper();
}

void LocalInstances::resume(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    if (Instance *instance = find(id))
        instance->thaw();
}

void LocalInstances::crash(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || !instance->engine)
        return;
    instance->engine->host.freeze(); // not one more step, however long the burial takes
    bury(instance->end(Life::Crashed));
}

void LocalInstances::cut(std::uint64_t id, std::optional<Duration> howLong)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || !instance->engine)
        return;
    instance->engine->faults->cutOff = true;
    instance->cutUntil.reset();
    if (howLong)
        instance->cutUntil = m_clock.now() + *howLong;
    callKeeper();
}

void LocalInstances::heal(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    if (Instance *instance = find(id))
        instance->heal();
}

void LocalInstances::handOver(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (instance && instance->engine)
        instance->engine->elector.release();
}

void LocalInstances::restart(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || instance->engine)
        return;
    const Result<HolderId> holder = identityFor(instance->name);
    if (!holder)
        return; // cannot be: the same name was accepted when it was spawned
    instance->holder = holder->name();
    instance->life = Life::Running;
    instance->engine = std::make_unique<Engine>(
        m_backend, m_clock, instance->lease, *holder, instance->timing);
}

void LocalInstances::stop(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || !instance->engine || instance->life == Life::Stopping)
        return;
    instance->thaw(); // a stopped process could not hear it either
    instance->life = Life::Stopping;
    instance->stopAsked = m_clock.now();
    instance->engine->elector.requestStop();
    callKeeper();
}

void LocalInstances::remove(std::uint64_t id)
{
    stop(id);
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance)
        return;
    if (instance->engine)
        instance->forget = true;
    else
        m_instances.erase(id);
}

void LocalInstances::clearFaults()
{
    const std::lock_guard lock(m_mutex);
    for (const auto &[id, instance] : m_instances) {
        instance->thaw();
        instance->heal();
    }
}

std::vector<InstanceView> LocalInstances::views() const
{
    std::vector<InstanceView> out;
    const std::lock_guard lock(m_mutex);
    out.reserve(m_instances.size());
    for (const auto &[id, instance] : m_instances)
        out.push_back(instance->view());
    return out;
}

LocalInstances::Instance *LocalInstances::find(std::uint64_t id)
{
    const auto found = m_instances.find(id);
    return found == m_instances.end() ? nullptr : found->second.get();
}

void LocalInstances::bury(std::unique_ptr<Engine> engine)
{
    m_buried.push_back(std::move(engine));
    callKeeper();
}

void LocalInstances::callKeeper()
{
    m_called = true;
    m_changed.notify_all();
}

/// The keeper's thread: nobody else waits for an engine to end.
void LocalInstances::keepHouse(const std::stop_token &stop)
{
    std::vector<std::unique_ptr<Engine>> graves;
    std::unique_lock lock(m_mutex);
    while (!stop.stop_requested()) {
        const bool stopping = endStopping();
        const std::optional<Instant> next = endFaults();
        if (!m_buried.empty()) {
            graves.swap(m_buried);
            lock.unlock();
            graves.clear();
            lock.lock();
            continue; // much may have happened meanwhile
        }
        Duration wait = stopping ? kLook : Duration(1h);
        if (next)
            wait = std::clamp<Duration>(*next - m_clock.now(), 1ms, wait);
        m_called = false;
        m_changed.wait_for(lock, stop, wait, [this] { return m_called; });
    }
}

std::optional<Instant> LocalInstances::endFaults()
{
    const Instant now = m_clock.now();
    std::optional<Instant> next;
    for (const auto &[id, instance] : m_instances) {
        if (instance->pausedUntil && *instance->pausedUntil <= now)
            instance->thaw();
        if (instance->cutUntil && *instance->cutUntil <= now)
            instance->heal();
        next = earlier(next, earlier(instance->pausedUntil, instance->cutUntil));
    }
    return next;
}

bool LocalInstances::endStopping()
{
    bool stopping = false;
    for (auto it = m_instances.begin(); it != m_instances.end();) {
        Instance &instance = *it->second;
        const bool over = instance.life == Life::Stopping
            && (instance.engine->elector.report().phase == Phase::Stopped
                || m_clock.now() - instance.stopAsked > kStopLimit);
        if (over)
            m_buried.push_back(instance.end(Life::Stopped));
        stopping = stopping || instance.life == Life::Stopping;
        it = over && instance.forget ? m_instances.erase(it) : std::next(it);
    }
    return stopping;
}

} // namespace tenure
