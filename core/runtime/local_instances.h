// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runtime/campaign_process.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenure
{

/// One local instance as it is now. A copy.
struct InstanceView {
    std::uint64_t id = 0;
    std::string name; ///< "A", "B", ... or as the person called it
    std::string holder; ///< identity used in the backend
    LeaseId lease;
    Timing timing;
    enum class Life { Running, Paused, Crashed, Stopping, Stopped } life = Life::Running;
    bool cutOff = false;
    std::string whyNotCut; ///< it cannot be cut off; empty when it can
    bool process = false; ///< of its own, not threads of this one
    pid_t pid = 0; ///< while it runs
    ElectorReport report; ///< `believes` is asked now, also while paused
    /// When a timed fault (pause, cut) ends by itself.
    std::optional<Instant> faultUntil;
};

/// A lease that drills and training may use on a backend that others use too: below "drill/", or for
/// Kubernetes, whose names take no slash, "drill-".
[[nodiscard]] bool isDrillLease(const StoreTraits &traits, const LeaseId &lease);

/// Candidates that this program starts, for the demo, for training and for drills: threads of this
/// process, or processes of their own, each with a connection and faults of its own. Any thread; no
/// call waits for the network. Destruction stops all of them gracefully within a second, and abandons
/// (a process: kills) what is not stopped by then.
class LocalInstances
{
public:
    /// Which names may be used on a backend that others use too; a demo or memory backend takes any.
    enum class Scope { DrillOnly, Anywhere };
    enum class As { Threads, Process };

    /// `processes`: how processes are started; without it there are none.
    LocalInstances(std::shared_ptr<const Backend> backend, const Clock &clock,
        std::optional<ProcessPlace> processes = {});
    ~LocalInstances();
    LocalInstances(const LocalInstances &) = delete;
    LocalInstances &operator=(const LocalInstances &) = delete;

    /// BadConfig: the instance's name. Denied: not a drill's lease with Scope::DrillOnly. Unsupported:
    /// whyNoProcesses(). `name` empty: the next free letter.
    Result<std::uint64_t> spawn(const LeaseId &lease, const Timing &timing, std::string name = {},
        Scope scope = Scope::DrillOnly, As as = As::Threads);
    /// Empty when instances can be processes.
    [[nodiscard]] std::string whyNoProcesses() const;
    void pause(std::uint64_t id, std::optional<Duration> howLong = {}); ///< as SIGSTOP
    void resume(std::uint64_t id);
    void crash(std::uint64_t id); ///< as SIGKILL: nothing is given back
    /// As a broken network. Nothing when InstanceView::whyNotCut says why.
    void cut(std::uint64_t id, std::optional<Duration> howLong = {});
    void heal(std::uint64_t id);
    void handOver(std::uint64_t id); ///< gives the lease back and stays out for a moment
    void restart(std::uint64_t id); ///< a new identity after crash or stop
    void stop(std::uint64_t id); ///< gracefully; in the background
    void remove(std::uint64_t id); ///< stops and forgets
    void clearFaults(); ///< every pause and cut ends
    [[nodiscard]] std::vector<InstanceView> views() const;

private:
    struct Instance;
    [[nodiscard]] Instance *find(std::uint64_t id); ///< m_mutex held
    [[nodiscard]] Result<std::unique_ptr<InstanceEngine>> makeEngine(const Instance &instance) const;
    void bury(std::unique_ptr<InstanceEngine> engine); ///< m_mutex held
    void callKeeper(); ///< m_mutex held
    void keepHouse(const std::stop_token &stop);
    [[nodiscard]] std::optional<Instant> endFaults(); ///< m_mutex held
    [[nodiscard]] bool endStopping(); ///< m_mutex held

    const std::shared_ptr<const Backend> m_backend;
    const Clock &m_clock;
    const std::optional<ProcessPlace> m_processes;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    // All guarded by m_mutex.
    std::map<std::uint64_t, std::unique_ptr<Instance>> m_instances;
    std::vector<std::unique_ptr<InstanceEngine>> m_buried; ///< to be destroyed by the keeper
    std::uint64_t m_lastId = 0;
    bool m_called = false; ///< the keeper has something to look at
    std::jthread m_keeper; ///< ends timed faults, and what may have to wait for a call under way
};

} // namespace tenure
