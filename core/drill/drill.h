// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runtime/local_instances.h"
#include "core/runtime/operator_gate.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace tenure
{

/// How the leader is made to go.
enum class DrillAct {
    Ask, ///< a step-down request
    Hold, ///< a guarded take-over for a while
    Clear, ///< compare-and-clear
    Pause, ///< the leader, one of this process's own instances, is frozen beyond its ttl
    Crash, ///< ... or killed, and started again after the round
};
[[nodiscard]] const char *drillActWord(DrillAct act); ///< "ask"

/// A failover drill on a real lease.
struct DrillPlan {
    LeaseId lease;
    DrillAct act = DrillAct::Ask;
    int times = 1;
    int own = 0; ///< candidates of its own that whoever runs it starts first
    Duration maxGap{std::chrono::seconds(5)}; ///< the limit of the verdict
    Milliseconds hold{std::chrono::seconds(3)}; ///< Hold: how long nobody leads; Ask: how long the holder stays out
    std::string by;
    std::string reason = "failover drill";
};

/// One thing looked at before anything is done.
struct DrillCheck {
    enum class Grade { Good, Warning, Stop } grade = Grade::Good;
    std::string sentence;
};

/// One failover as it was seen by one clock, this machine's boot clock.
struct DrillRound {
    std::string from; ///< holder before
    FencingToken fromToken;
    std::string to; ///< holder after; empty: nobody took over in time
    FencingToken toToken;
    WallTime at; ///< of the act, for display
    Duration ttl{}; ///< granted to the holder before
    /// Without a leader: from the last look at the old holder (one that is frozen or killed: from the
    /// act) to the first at the next.
    Duration gap{};
    Duration uncertainty{}; ///< of the gap: half a look
    Duration toTaken{}; ///< from the act to the first look at the next holder
    bool reacquired = false; ///< the same holder came back
    bool passed = false;
    std::string sentence; ///< "taken by b after 212 ms"
};

struct DrillReport {
    DrillPlan plan;
    std::string backend; ///< without secrets
    WallTime began;
    std::vector<DrillCheck> checks;
    std::vector<DrillRound> rounds;
    bool aborted = false;
    std::optional<Error> error; ///< why it ended early
    bool clean = true; ///< nothing of the drill is left on the lease
    [[nodiscard]] bool passed() const;
    [[nodiscard]] Duration worstGap() const;
    [[nodiscard]] std::string verdict() const; ///< one sentence
};

/// Runs drills on one lease: looks first, acts through the operator's gate, measures with a connection
/// of its own, and leaves the lease clean however it ends. Operator mode stays on as long as it runs;
/// switched off by hand, the drill ends. Blocking; for a thread of its own.
class Drill
{
public:
    using Progress = std::function<void(const DrillRound &)>;
    /// `instances` may be null; Pause and Crash need them. Borrows all of them.
    Drill(std::shared_ptr<const Backend> backend, OperatorGate &gate, LocalInstances *instances,
        const Clock &clock, DrillPlan plan);

    /// Reads only.
    [[nodiscard]] std::vector<DrillCheck> preflight();
    /// Does nothing when a check says Stop. `cancel` ends it after cleaning up.
    [[nodiscard]] DrillReport run(const Progress &progress, const std::atomic<bool> &cancel);

private:
    struct Seen {
        LeaseRecord record;
        Instant before, after; ///< of the look
        [[nodiscard]] Instant middle() const { return before + (after - before) / 2; }
    };
    [[nodiscard]] Result<Seen> look();
    [[nodiscard]] Result<Seen> waitForLeader(const std::atomic<bool> &cancel);
    [[nodiscard]] Result<DrillRound> round(const std::atomic<bool> &cancel);
    [[nodiscard]] std::optional<Error> act(const Seen &seen);
    [[nodiscard]] ReleasePlan releaseOf(const LeaseRecord &record) const; ///< for Ask, Hold and Clear
    [[nodiscard]] std::optional<DrillCheck> checkRights(const LeaseRecord &record);
    [[nodiscard]] Result<std::uint64_t> ownLeader(const LeaseRecord &record) const;
    void measure(DrillRound &round, const Seen &start, Instant acted, const std::function<bool()> &over);
    void restore(); ///< own instances run again
    [[nodiscard]] bool cleanUp();

    const std::shared_ptr<const Backend> m_backend;
    OperatorGate &m_gate;
    LocalInstances *const m_instances;
    const Clock &m_clock;
    const DrillPlan m_plan;
    std::unique_ptr<LeaseStore> m_store;
};

/// The report for people: numbers first, then the verdict, then every round; `Html` with a chart.
[[nodiscard]] std::string drillMarkdown(const DrillReport &report);
[[nodiscard]] std::string drillHtml(const DrillReport &report);

} // namespace tenure
