// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/period_mark.h"
#include "app/ctl/run_guardian.h"
#include "app/ctl/service_manager.h"
#include "core/runtime/elector.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include <termios.h>

namespace tenure::ctl
{

/// What `run` was asked to do, checked.
struct RunPlan {
    LeaseId lease;
    HolderId self;
    Timing timing;
    std::optional<Duration> every; ///< one run in the fleet in so long
    bool againAfterFailure = false; ///< a failed run does not count for `every`
    bool ifLeader = false; ///< do not wait for another leader's end
    std::string onLost; ///< a shell command
    Duration killAfter{}; ///< how long COMMAND may take to end once it was asked to
    bool verbose = false;
    Instant asked; ///< when this process was started
};

/// Competes and has the guardian run COMMAND while it leads. Its main thread waits for everything:
/// signals, the guardian, and the elector's callbacks, which only leave a note and wake it. Signals
/// are taken over for as long as it lives; create it before other threads, but after the guardian.
class RunSession
{
public:
    explicit RunSession(Guardian &guardian);
    ~RunSession();
    RunSession(const RunSession &) = delete;
    RunSession &operator=(const RunSession &) = delete;

    /// Returns what `run` ends with: COMMAND's own code, or one of Exit.
    [[nodiscard]] int run(const RunPlan &plan, std::shared_ptr<const Backend> backend);

private:
    void say(const std::string &sentence) const; ///< on stderr
    void whisper(const std::string &sentence) const; ///< when verbose
    // The elector's, on its dispatcher.
    [[nodiscard]] ElectorCallbacks callbacks();
    void onGained(const Term &term);
    void onLost(LossReason reason);
    // The main thread's.
    [[nodiscard]] bool periodIsOver(); ///< before competing: nothing to do any more
    void turn(Elector &elector);
    [[nodiscard]] Duration patience() const;
    void takeSignals();
    void takeNews();
    void watchLeadership(Elector &elector);
    void killInTime(Instant now);
    void begin(Elector &elector);
    [[nodiscard]] bool markPeriod();
    void gone(const GuardNews &news);
    void refused(const GuardNews &news);
    void paused(int signal);
    void lendTerminal();
    void takeTerminalBack(bool restoreModes);
    void lookWhoLeads(const ElectorReport &report); ///< for --if-leader
    void tellManager(const ElectorReport &report);
    [[nodiscard]] GuardLimits limitsFor(Instant validUntil) const;
    void runOnLost() const;

    Guardian &m_guardian;
    int m_signals = -1;
    int m_nudge = -1;
    const RunPlan *m_plan = nullptr;
    std::optional<PeriodMark> m_mark;
    ServiceManager m_manager;
    std::string m_status; ///< told to the manager last
    std::string m_trouble; ///< said last
    // The main thread's own.
    std::optional<int> m_result;
    std::optional<Instant> m_killAt; ///< COMMAND was asked to end
    bool m_killOrdered = false;
    std::optional<Instant> m_markAgainAt;
    Instant m_toldUntil; ///< validity as the guardian knows it
    Instant m_watchdogAt;
    bool m_wasLost = false; ///< the run that ended was ended by a loss
    bool m_terminalTaken = false;
    pid_t m_command = 0;
    FencingToken m_token; ///< of the last run
    termios m_modes{};
    // Guarded by m_mutex.
    std::mutex m_mutex;
    std::condition_variable m_ended;
    std::optional<Term> m_gained;
    std::optional<LossReason> m_lost;
    bool m_running = false; ///< COMMAND may be alive
};

} // namespace tenure::ctl
