// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"
#include "core/observe/status.h"
#include "core/work/work_queue.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenure
{

/// A release by hand, as a person confirmed it.
struct ReleasePlan {
    OperatorVerb verb = OperatorVerb::Ask;
    LeaseId lease;
    std::string kind = "tenure";
    Seen expected; ///< the very term that was on the screen
    Milliseconds duration{15000}; ///< hold for, or stay out for
    std::string by;
    std::string reason; ///< required
    Duration wait{std::chrono::seconds(30)}; ///< how long the outcome is watched
};

enum class ReleaseOutcome {
    Taken, ///< by another holder, after `after`
    Vacant, ///< free, nobody took it within the wait
    Reacquired, ///< by the same holder
    Held, ///< the hold stands
    Asked, ///< the holder was asked; it has not answered within the wait
    Refused, ///< it changed since it was seen; `record` is what it is now
    Denied, ///< read-only, or the backend says no
    Unknown, ///< no answer: it may have happened; `record` is what a re-read shows, if one came
    Failed, ///< for certain nothing was done
};

struct ReleaseReport {
    ReleaseOutcome outcome = ReleaseOutcome::Failed;
    std::optional<LeaseRecord> record;
    Duration after{}; ///< from our write to the outcome
    std::string sentence; ///< "Released, taken by b after 0.9 s (token 119)"
    std::optional<Error> error;
    bool final = true; ///< false: progress, the lease is still being watched
};
[[nodiscard]] const char* outcomeWord(ReleaseOutcome outcome); ///< "taken", "vacant", "refused" ...

/// What will happen, told before it is done. Pure.
struct ReleaseForecast {
    bool possible = true;
    std::string why; ///< when not possible
    std::vector<std::string> sentences; ///< in the order to be read
    std::optional<Duration> overlap; ///< how long two may lead at once; zero: none
};
[[nodiscard]] ReleaseForecast forecastRelease(const StoreTraits& traits, const LeaseStatus& status,
    OperatorVerb verb, Milliseconds duration, Instant now);

/// Dead letters of a work queue, made pending again as a person confirmed it.
struct RetryPlan {
    std::string queue;
    std::int64_t id = 0; ///< 0: all of them
    std::string by;
    std::string reason; ///< required
};
[[nodiscard]] std::string retryObject(const RetryPlan& plan); ///< "dead letter 17 of invoices"
/// How many became pending again.
using RetryResult = Result<std::uint64_t>;
[[nodiscard]] const char* outcomeWord(const RetryResult& result); ///< "retried", "denied" ...
[[nodiscard]] std::string retrySentence(const RetryPlan& plan, const RetryResult& result);

/// Intent before, outcome after; kept by the journal, shown in the audit list. Tells of a release,
/// or else of a retry.
struct AuditEntry {
    WallTime at;
    std::string by;
    std::string connection;
    ReleasePlan plan;
    std::optional<ReleaseReport> outcome; ///< nothing: this is the intent
    std::optional<RetryPlan> retry = {}; ///< then `plan` and `outcome` say nothing
    std::optional<RetryResult> retried = {};
    [[nodiscard]] bool isIntent() const { return !outcome && !retried; }
};

/// The only way to a write that a person causes. Read-only until operator mode is switched on,
/// which ends by itself. Any thread.
class OperatorGate
{
public:
    using Audit = std::function<void(const AuditEntry&)>;
    using Progress = std::function<void(const ReleaseReport&)>;

    OperatorGate(std::shared_ptr<const Backend> backend, const Clock& clock, Audit audit);
    void allowWrites(Duration howLong);
    void readOnly();
    /// Time left of operator mode; nothing when read-only.
    [[nodiscard]] std::optional<Duration> operatorTimeLeft() const;
    /// Operator mode does not end by itself while what is returned lives: for a drill that takes longer.
    /// readOnly() ends it all the same. Nothing happens when it is off.
    [[nodiscard]] std::shared_ptr<const void> keepWrites();

    /// Carries out `plan` and watches what comes of it. Blocks up to a call timeout plus
    /// `plan.wait`; for a thread of its own. `progress` is called on that thread, last with
    /// `final`. `cancel` (may be null) ends the watching, never the write.
    ReleaseReport release(
        const ReleasePlan& plan, const Progress& progress, const std::atomic<bool>* cancel);
    /// The same checks against the lease as it is now, nothing written.
    [[nodiscard]] ReleaseReport dryRun(const ReleasePlan& plan);
    /// Makes what must exist. Denied while read-only, except `dryRun`.
    [[nodiscard]] Result<std::string> init(bool dryRun);
    /// Dead letters of `queue`, which is the one that the plan names, become pending again. Denied
    /// while read-only; BadConfig: no reason, or nobody who gives it; OutcomeUnknown: they may be.
    /// Blocks up to a call timeout.
    RetryResult retryDead(WorkQueue& queue, const RetryPlan& plan);

private:
    [[nodiscard]] std::optional<Error> refusal() const;
    ReleaseReport watch(LeaseStore& store, const ReleasePlan& plan, Instant written,
        const Progress& progress, const std::atomic<bool>* cancel);

    std::shared_ptr<const Backend> m_backend;
    const Clock& m_clock;
    Audit m_audit;
    mutable std::mutex m_mutex;
    std::optional<Instant> m_operatorUntil; ///< guarded by m_mutex
    std::weak_ptr<const void> m_kept; ///< guarded by m_mutex; while somebody has it, m_operatorUntil is not looked at
};

} // namespace tenure
