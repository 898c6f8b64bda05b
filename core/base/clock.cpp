// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/clock.h"

#include <ctime>

namespace tenure
{

BootClock::time_point BootClock::now() noexcept
{
    timespec ts{};
    clock_gettime(CLOCK_BOOTTIME, &ts);
    return time_point(std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec));
}

WallTime SystemClock::wall() const
{
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

const SystemClock &SystemClock::instance()
{
    // Never destroyed: a thread that hangs in a dead server's call may still look at it at exit.
    static const SystemClock *const clock = new SystemClock;
    return *clock;
}

Instant ManualClock::now() const
{
    const std::lock_guard lock(m_mutex);
    return m_now;
}

WallTime ManualClock::wall() const
{
    const std::lock_guard lock(m_mutex);
    return m_wall;
}

void ManualClock::advance(Duration by)
{
    const std::lock_guard lock(m_mutex);
    m_now += by;
    m_wall += std::chrono::duration_cast<std::chrono::microseconds>(by);
}

void ManualClock::stepWall(Duration by)
{
    const std::lock_guard lock(m_mutex);
    m_wall += std::chrono::duration_cast<std::chrono::microseconds>(by);
}

} // namespace tenure
