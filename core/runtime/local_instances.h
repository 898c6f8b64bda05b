// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/faulty.h"
#include "core/runtime/elector.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenure
{

/// One simulated instance as it is now. A copy.
struct InstanceView {
    std::uint64_t id = 0;
    std::string name; ///< "A", "B", ... or as the person called it
    std::string holder; ///< identity used in the backend
    LeaseId lease;
    Timing timing;
    enum class Life { Running, Paused, Crashed, Stopping, Stopped } life = Life::Running;
    bool cutOff = false;
    ElectorReport report; ///< `believes` is asked now, also while paused
    /// When a timed fault (pause, cut) ends by itself.
    std::optional<Instant> faultUntil;
};

/// Candidates that live in this process, each with threads, a connection and faults of its own: for
/// the demo, for training and for drills. Any thread; no call waits for the network. Destruction stops
/// all of them gracefully within a second, and abandons what is not stopped by then.
class LocalInstances
{
public:
    /// Which names may be used on a backend that others use too; a demo or memory backend takes any.
    enum class Scope { DrillOnly, Anywhere };

    LocalInstances(std::shared_ptr<const Backend> backend, const Clock &clock);
    ~LocalInstances();
    LocalInstances(const LocalInstances &) = delete;
    LocalInstances &operator=(const LocalInstances &) = delete;

    /// BadConfig: the instance's name. Denied: a lease outside "drill/" with Scope::DrillOnly.
    /// `name` empty: the next free letter.
    Result<std::uint64_t> spawn(const LeaseId &lease, const Timing &timing, std::string name = {},
        Scope scope = Scope::DrillOnly);
    void pause(std::uint64_t id, std::optional<Duration> howLong = {}); ///< as SIGSTOP
    void resume(std::uint64_t id);
    void crash(std::uint64_t id); ///< as SIGKILL: nothing is given back
    void cut(std::uint64_t id, std::optional<Duration> howLong = {}); ///< as a broken network
    void heal(std::uint64_t id);
    void handOver(std::uint64_t id); ///< gives the lease back and stays out for a moment
    void restart(std::uint64_t id); ///< a new identity after crash or stop
    void stop(std::uint64_t id); ///< gracefully; in the background
    void remove(std::uint64_t id); ///< stops and forgets
    void clearFaults(); ///< every pause and cut ends
    [[nodiscard]] std::vector<InstanceView> views() const;

private:
    struct Instance;
    struct Engine;
    [[nodiscard]] Instance *find(std::uint64_t id); ///< m_mutex held
    void bury(std::unique_ptr<Engine> engine); ///< m_mutex held
    void callKeeper(); ///< m_mutex held
    void keepHouse(const std::stop_token &stop);
    [[nodiscard]] std::optional<Instant> endFaults(); ///< m_mutex held
    [[nodiscard]] bool endStopping(); ///< m_mutex held

    const std::shared_ptr<const Backend> m_backend;
    const Clock &m_clock;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    // All guarded by m_mutex.
    std::map<std::uint64_t, std::unique_ptr<Instance>> m_instances;
    std::vector<std::unique_ptr<Engine>> m_buried; ///< to be destroyed by the keeper
    std::uint64_t m_lastId = 0;
    bool m_called = false; ///< the keeper has something to look at
    std::jthread m_keeper; ///< ends timed faults, and what may have to wait for a call under way
};

} // namespace tenure
