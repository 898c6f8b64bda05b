// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/alarm.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tenure
{

/// The one thread on which everything with a deadline lives: jobs that were posted and timers that
/// came due run here, one after the other, and none of them may block. Deadlines wait on a timerfd of
/// CLOCK_BOOTTIME: it counts a sleep, and a wait that SIGSTOP interrupted is over at once on SIGCONT.
/// `clock` says what time it is; waiting is always done in real time.
class TimerThread
{
public:
    using Job = std::function<void()>;

    /// A deadline and what to do at it. Belongs to its user, who disarms it before it dies.
    struct Timer {
        Job fire;
        std::optional<Instant> due; ///< set by arm(), cleared before `fire` runs
    };

    struct Hooks {
        /// Wall and boot clock parted by so much since the last turn, or a wake-up came so late: the
        /// machine slept, the process was stopped, or a clock was set. Runs before any timer or job.
        std::function<void(Duration)> jumped;
        std::function<void()> turnDone; ///< after the jobs and timers of one wake-up
    };

    TimerThread(const Clock &clock, Hooks hooks);
    ~TimerThread(); ///< stops
    TimerThread(const TimerThread &) = delete;
    TimerThread &operator=(const TimerThread &) = delete;

    void start();
    /// Joins; what was posted and did not run yet is dropped. Not from its own thread.
    void stop();
    /// Any thread, in order of posting.
    void post(Job job);
    /// Timer thread only. Arming again moves the deadline; a past deadline fires in the next turn.
    void arm(Timer &timer, Instant due);
    void disarm(Timer &timer);
    /// As SIGSTOP: after freeze() returned no job and no timer runs until thaw(). Any thread.
    void freeze();
    void thaw();

private:
    void run();
    [[nodiscard]] bool takeTurn(std::vector<Job> &jobs);
    void noticeJump(Instant now);
    void fireDue(Instant now);
    void setAlarm();

    // Constant after construction.
    const Clock &m_clock;
    const Hooks m_hooks;
    Alarm m_alarm;
    int m_wakeFd = -1;

    // Timer thread only.
    std::set<std::pair<Instant, Timer *>> m_timers;
    std::optional<Instant> m_alarmAt;
    std::optional<Duration> m_wallOffset;

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<Job> m_jobs; ///< guarded by m_mutex
    bool m_frozen = false; ///< guarded by m_mutex
    bool m_stopping = false; ///< guarded by m_mutex
    bool m_inTurn = false; ///< guarded by m_mutex
    std::thread m_thread;
};

} // namespace tenure
