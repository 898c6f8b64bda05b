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

struct LocalInstances::Instance {
    /// It lives; a process may have ended by itself.
    [[nodiscard]] bool lives() const { return engine && !(as == As::Process && engine->stopped()); }

    [[nodiscard]] InstanceView view() const
    {
        InstanceView out;
        out.id = id;
        out.name = name;
        out.holder = engine ? engine->holder() : holder;
        out.lease = lease;
        out.timing = timing;
        out.life = life;
        out.process = as == As::Process;
        out.report = lastReport;
        out.faultUntil = earlier(pausedUntil, cutUntil);
        if (engine) {
            out.cutOff = engine->isCutOff();
            out.whyNotCut = engine->whyNotCut();
            out.pid = engine->pid();
            out.report = engine->report();
        }
        if (engine && !lives() && life != Life::Stopping) {
            out.life = Life::Crashed; // nobody here asked for it
            out.cutOff = false;
            out.faultUntil.reset();
        }
        return out;
    }

    void thaw()
    {
        if (life != Life::Paused)
            return;
        engine->thaw();
        life = Life::Running;
        pausedUntil.reset();
    }

    void heal()
    {
        if (engine)
            engine->setCutOff(false);
        cutUntil.reset();
    }

    /// Ends this life; the engine is the caller's to bury.
    [[nodiscard]] std::unique_ptr<InstanceEngine> end(Life how)
    {
        holder = engine->holder();
        lastReport = engine->report();
        lastReport.believes = false;
        lastReport.phase = Phase::Stopped;
        life = how;
        pausedUntil.reset();
        cutUntil.reset();
        return std::move(engine);
    }

    std::uint64_t id = 0;
    std::string name;
    std::string holder; ///< of the last life
    LeaseId lease;
    Timing timing;
    As as = As::Threads;
    Life life = Life::Running;
    bool forget = false; ///< once it stopped
    std::unique_ptr<InstanceEngine> engine; ///< while it lives
    ElectorReport lastReport; ///< when it does not
    std::optional<Instant> pausedUntil;
    std::optional<Instant> cutUntil;
    Instant stopAsked;
};

bool isDrillLease(const StoreTraits &traits, const LeaseId &lease)
{
    const std::string &name = lease.name();
    if (name.starts_with("drill/"))
        return true;
    const std::size_t slash = name.find('/');
    return traits.scheme == "kubernetes" && name.compare(slash == std::string::npos ? 0 : slash + 1, 6, "drill-") == 0;
}

LocalInstances::LocalInstances(
    std::shared_ptr<const Backend> backend, const Clock &clock, std::optional<ProcessPlace> processes)
    : m_backend(std::move(backend))
    , m_clock(clock)
    , m_processes(std::move(processes))
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
                instance->engine->requestStop();
        }
        const auto until = std::chrono::steady_clock::now() + kFarewell;
        const auto allStopped = [this] {
            return std::ranges::all_of(m_instances, [](const auto &entry) {
                const auto &engine = entry.second->engine;
                return !engine || engine->stopped();
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

std::string LocalInstances::whyNoProcesses() const
{
    const std::string &scheme = m_backend->traits().scheme;
    if (isEmbedded(m_backend->traits()))
        return "Processes need a store that they can reach, and " + scheme + ": lives inside this one";
    if (!m_processes)
        return "Nobody told how a process reaches this store";
    return m_processes->program.empty() ? "tenurectl was found neither beside this program nor in the PATH" : "";
}

Result<std::unique_ptr<InstanceEngine>> LocalInstances::makeEngine(const Instance &instance) const
{
    const Result<HolderId> holder = identityFor(instance.name);
    if (!holder)
        return fail(holder.error());
    if (instance.as == As::Process) // the process adds host, pid and random bits
        return std::make_unique<CampaignProcess>(*m_processes, instance.lease, instance.name + "@process", instance.timing);
    return std::make_unique<ThreadEngine>(m_backend, m_clock, instance.lease, *holder, instance.timing);
}

Result<std::uint64_t> LocalInstances::spawn(
    const LeaseId &lease, const Timing &timing, std::string name, Scope scope, As as)
{
    const StoreTraits &traits = m_backend->traits();
    if (scope == Scope::DrillOnly && !isEmbedded(traits) && !isDrillLease(traits, lease)) {
        return fail(ErrorKind::Denied, "Local instances compete under drill/ only", traits.display,
            "Use a name such as drill/" + lease.name() + ", or insist");
    }
    if (timing.ttl() < traits.limits.floor) {
        return fail(ErrorKind::BadConfig,
            "ttl " + durationText(timing.ttl()) + " is below this backend's floor of "
                + durationText(traits.limits.floor), traits.display);
    }
    if (as == As::Process && !whyNoProcesses().empty())
        return fail(ErrorKind::Unsupported, whyNoProcesses(), traits.display);
    const std::lock_guard lock(m_mutex);
    const auto taken = [this](const std::string &candidate) {
        return std::ranges::any_of(
            m_instances, [&](const auto &entry) { return entry.second->name == candidate; });
    };
    for (unsigned n = 0; name.empty() || (n > 0 && taken(name)); ++n)
        name = std::string(1, static_cast<char>('A' + n % 26)) + (n < 26 ? "" : std::to_string(n / 26 + 1));
    auto instance = std::make_unique<Instance>();
    instance->id = ++m_lastId;
    instance->name = std::move(name);
    instance->lease = lease;
    instance->timing = timing;
    instance->as = as;
    auto engine = makeEngine(*instance);
    if (!engine)
        return fail(std::move(engine.error()));
    instance->engine = *std::move(engine);
    m_instances.emplace(m_lastId, std::move(instance));
    return m_lastId;
}

void LocalInstances::pause(std::uint64_t id, std::optional<Duration> howLong)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || !instance->lives() || (instance->life != Life::Running && instance->life != Life::Paused))
        return;
    instance->engine->freeze();
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
    instance->engine->kill();
    bury(instance->end(Life::Crashed));
}

void LocalInstances::cut(std::uint64_t id, std::optional<Duration> howLong)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || !instance->lives() || !instance->engine->whyNotCut().empty())
        return;
    instance->engine->setCutOff(true);
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
    if (instance && instance->lives())
        instance->engine->handOver();
}

void LocalInstances::restart(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    Instance *instance = find(id);
    if (!instance || instance->lives())
        return;
    if (instance->engine)
        bury(instance->end(Life::Crashed));
    auto engine = makeEngine(*instance);
    if (!engine)
        return; // cannot be: the same name was accepted when it was spawned
    instance->life = Life::Running;
    instance->engine = *std::move(engine);
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
    instance->engine->requestStop();
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

void LocalInstances::bury(std::unique_ptr<InstanceEngine> engine)
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
    std::vector<std::unique_ptr<InstanceEngine>> graves;
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
            && (instance.engine->stopped()
                || m_clock.now() - instance.stopAsked > kStopLimit);
        if (over)
            m_buried.push_back(instance.end(Life::Stopped));
        stopping = stopping || instance.life == Life::Stopping;
        it = over && instance.forget ? m_instances.erase(it) : std::next(it);
    }
    return stopping;
}

} // namespace tenure
