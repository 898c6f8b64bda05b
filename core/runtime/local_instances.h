// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/faulty.h"
#include "core/runtime/elector.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
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
/// the demo, for training and for drills. Names under "drill/" unless the caller insists. Any thread;
/// no call blocks on the network. Destruction stops all of them, briefly and gracefully.
class LocalInstances
{
public:
    LocalInstances(std::shared_ptr<const Backend> backend, const Clock &clock);
    ~LocalInstances();
    LocalInstances(const LocalInstances &) = delete;
    LocalInstances &operator=(const LocalInstances &) = delete;

    /// BadConfig: timing or name. `name` empty: the next free letter.
    Result<std::uint64_t> spawn(const LeaseId &lease, const Timing &timing, std::string name = {});
    void pause(std::uint64_t id, std::optional<Duration> howLong = {}); ///< as SIGSTOP
    void resume(std::uint64_t id);
    void crash(std::uint64_t id); ///< as SIGKILL: nothing is given back
    void cut(std::uint64_t id, std::optional<Duration> howLong = {}); ///< as a broken network
    void heal(std::uint64_t id);
    void restart(std::uint64_t id); ///< a new identity after crash or stop
    void stop(std::uint64_t id); ///< gracefully; in the background
    void remove(std::uint64_t id); ///< stops and forgets
    void clearFaults(); ///< every pause and cut ends
    [[nodiscard]] std::vector<InstanceView> views() const;

private:
    struct Instance;
    std::shared_ptr<Instance> find(std::uint64_t id) const;

    std::shared_ptr<const Backend> m_backend;
    const Clock &m_clock;
    mutable std::mutex m_mutex;
    std::map<std::uint64_t, std::shared_ptr<Instance>> m_instances; ///< guarded by m_mutex
    std::uint64_t m_lastId = 0; ///< guarded by m_mutex
};

} // namespace tenure
