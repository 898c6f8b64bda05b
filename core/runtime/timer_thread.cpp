// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/timer_thread.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

/// Differences below this are ordinary: a loaded machine, a slewing NTP.
constexpr Duration kNoticeable = 250ms;

int checkedFd(int fd, const char *what)
{
    if (fd < 0)
        throw std::system_error(errno, std::generic_category(), what);
    return fd;
}

void drain(int fd)
{
    std::uint64_t count = 0;
    while (read(fd, &count, sizeof count) > 0) { }
}

} // namespace

TimerThread::TimerThread(const Clock &clock, Hooks hooks)
    : m_clock(clock)
    , m_hooks(std::move(hooks))
    , m_wakeFd(checkedFd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd"))
{
}

TimerThread::~TimerThread()
{
    stop();
    close(m_wakeFd);
}

void TimerThread::start()
{
    m_thread = std::thread([this] { run(); });
}

void TimerThread::stop()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_changed.notify_all();
    eventfd_write(m_wakeFd, 1);
    if (m_thread.joinable())
        m_thread.join();
}

void TimerThread::post(Job job)
{
    bool first = false;
    {
        const std::lock_guard lock(m_mutex);
        first = m_jobs.empty();
        m_jobs.push_back(std::move(job));
    }
    if (first)
        eventfd_write(m_wakeFd, 1);
}

void TimerThread::arm(Timer &timer, Instant due)
{
    if (timer.due == due)
        return;
    if (timer.due) {
        // The node moves, so that a renewal costs no allocation.
        auto node = m_timers.extract({*timer.due, &timer});
        node.value().first = due;
        m_timers.insert(std::move(node));
    } else {
        m_timers.emplace(due, &timer);
    }
    timer.due = due;
}

void TimerThread::disarm(Timer &timer)
{
    if (timer.due)
        m_timers.erase({*timer.due, &timer});
    timer.due.reset();
}

void TimerThread::freeze()
{
    std::unique_lock lock(m_mutex);
    m_frozen = true;
    if (std::this_thread::get_id() != m_thread.get_id())
        m_changed.wait(lock, [this] { return !m_inTurn || m_stopping; });
}

void TimerThread::thaw()
{
    {
        const std::lock_guard lock(m_mutex);
        m_frozen = false;
    }
    m_changed.notify_all();
}

void TimerThread::run()
{
    std::array<pollfd, 2> fds{pollfd{m_alarm.fd(), POLLIN, 0}, pollfd{m_wakeFd, POLLIN, 0}};
    std::vector<Job> jobs;
    for (;;) {
        poll(fds.data(), fds.size(), -1);
        if (fds[0].revents != 0)
            m_alarmAt.reset(); // it went off
        m_alarm.drain();
        drain(m_wakeFd);
        if (!takeTurn(jobs))
            return;
        noticeJump(m_clock.now());
        for (const Job &job : jobs)
            job();
        jobs.clear();
        fireDue(m_clock.now());
        if (m_hooks.turnDone)
            m_hooks.turnDone();
        setAlarm();
        {
            const std::lock_guard lock(m_mutex);
            m_inTurn = false;
        }
        m_changed.notify_all();
    }
}

bool TimerThread::takeTurn(std::vector<Job> &jobs)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return !m_frozen || m_stopping; });
    if (m_stopping)
        return false;
    m_inTurn = true;
    jobs.swap(m_jobs);
    return true;
}

void TimerThread::noticeJump(Instant now)
{
    const Duration offset = m_clock.wall().time_since_epoch() - now.time_since_epoch();
    const Duration parted = m_wallOffset ? std::chrono::abs(offset - *m_wallOffset) : 0ns;
    m_wallOffset = offset;
    const Duration late = m_timers.empty() ? 0ns : now - m_timers.begin()->first;
    const Duration jump = std::max(parted, late);
    if (jump >= kNoticeable && m_hooks.jumped)
        m_hooks.jumped(jump);
}

void TimerThread::fireDue(Instant now)
{
    // Each timer at most once a turn: one that is armed into the past again must not keep the posted
    // jobs from their turn.
    std::vector<Timer *> due;
    for (auto it = m_timers.begin(); it != m_timers.end() && it->first <= now; ++it)
        due.push_back(it->second);
    for (Timer *timer : due) {
        if (!timer->due || *timer->due > now)
            continue; // an earlier one moved it
        disarm(*timer);
        timer->fire();
    }
}

void TimerThread::setAlarm()
{
    std::optional<Instant> next;
    if (!m_timers.empty())
        next = m_timers.begin()->first;
    if (next == m_alarmAt)
        return; // already set
    m_alarmAt = next;
    m_alarm.set(next ? BootClock::now() + std::max<Duration>(*next - m_clock.now(), 0ns) : Instant::max());
}

} // namespace tenure
