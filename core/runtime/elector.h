// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"
#include "core/election/election.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tenure
{

/// What an elector is doing, for people. A copy; any thread.
struct ElectorReport {
    Phase phase = Phase::Idle;
    bool degraded = false;
    bool believes = false; ///< isLeader() at `at`
    Term term; ///< of the present or last term
    Instant at;
    Instant validUntil;
    std::optional<LeaseRecord> seen; ///< what the last refusal showed: the holder one waits for
    std::optional<Error> error; ///< of the last failed call, cleared by the next success
    std::uint64_t gained = 0, lost = 0; ///< how often
};

struct ElectorCallbacks {
    /// All on the host's dispatcher, in the order (gained lost)*, never at once, never after stop()
    /// returned. They may block, throw (contained, told in ElectorReport::error) and call the elector.
    /// A handler that blocks delays its own elector's next call and nobody else's (up to 64 of them).
    std::function<void(const Term &)> onGained;
    /// At the renew deadline, before validity ends: stop the work. Until it returns the lease is not
    /// given away (bounded by the drain limit), nor competed for again.
    std::function<void(const Term &, LossReason)> onLost;
    /// Something of the report changed, also `validUntil` with each renewal; coalesced.
    std::function<void(const ElectorReport &)> onChange;
};

/// The threads and connection that electors of one backend share: one TimerThread on which all of
/// them live, one IoThread that sends what is due as ONE batch, one feed, one dispatcher for
/// callbacks. Must outlive its electors. Any thread.
class ElectorHost
{
public:
    explicit ElectorHost(std::shared_ptr<const Backend> backend, const Clock &clock = SystemClock::instance());
    ~ElectorHost(); ///< abandons: nothing is sent; waits for a call under way, at most its timeout
    ElectorHost(const ElectorHost &) = delete;
    ElectorHost &operator=(const ElectorHost &) = delete;
    /// As if the process were stopped (SIGSTOP): no timer runs, no answer is looked at until thaw().
    /// For training; isLeader() goes on telling the truth by the clock.
    void freeze();
    void thaw();

    struct Core;
    [[nodiscard]] Core &core() { return *m_core; }

private:
    std::unique_ptr<Core> m_core;
};

/// Competes for one lease. Destruction abandons (no network; others must wait for expiry) and waits
/// for a callback that runs: never destroy an elector from one of its callbacks. stop() gives back.
/// Any thread; also from its own callbacks.
class Elector
{
public:
    Elector(ElectorHost &host, LeaseId lease, HolderId holder, Timing timing,
        ElectorCallbacks callbacks = {}, Duration drainLimit = kDefaultDrainLimit);
    ~Elector();
    Elector(const Elector &) = delete;
    Elector &operator=(const Elector &) = delete;

    void start(); ///< also after stop()
    /// One atomic load and one look at the clock. No call, lock or callback can prolong it.
    [[nodiscard]] bool isLeader() const;
    /// Token of the present term, or none.
    [[nodiscard]] FencingToken token() const;
    [[nodiscard]] ElectorReport report() const;
    /// Drains, gives back, and stays out for one renew interval so that another can take over.
    void release();
    /// As stop(), but only asks: the report's phase tells when it is Stopped.
    void requestStop();
    /// Drains, gives back, ends. Returns true when given back (or nothing was held) within
    /// `deadline`, false when abandoned then: the lease runs out by itself, and an onLost that had to
    /// wait behind a blocked handler is not told any more. Called from a callback it only asks and
    /// returns true.
    bool stop(Duration deadline = std::chrono::seconds(5));

    struct Core;

private:
    std::shared_ptr<Core> m_core;
};

/// Proof that one led when the work began, to ask before every critical step.
class LeadershipGuard
{
public:
    LeadershipGuard(const Elector &elector, FencingToken token) : m_elector(elector), m_token(token) { }
    [[nodiscard]] bool stillLeader() const { return m_elector.isLeader() && m_elector.token() == m_token; }
    /// Hand it to every resource that is written to.
    [[nodiscard]] FencingToken token() const { return m_token; }

private:
    const Elector &m_elector;
    FencingToken m_token;
};

/// Runs `work(guard)` when `elector` leads now; says whether it did.
template <typename Work>
bool runIfLeader(const Elector &elector, Work &&work)
{
    const FencingToken token = elector.token();
    if (!elector.isLeader() || !token)
        return false;
    std::forward<Work>(work)(LeadershipGuard(elector, token));
    return true;
}

} // namespace tenure
