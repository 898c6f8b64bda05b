// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

namespace tenure
{

/// A timerfd of CLOCK_BOOTTIME: it counts a sleep, a wait on it that SIGSTOP interrupted is over at once
/// on SIGCONT, and moving it wakes nobody. Its owner says what may be called from which thread.
class Alarm
{
public:
    Alarm(); ///< throws std::system_error when the process has no descriptor left
    ~Alarm();
    Alarm(const Alarm &) = delete;
    Alarm &operator=(const Alarm &) = delete;

    void set(Instant due); ///< a moment in the past goes off at once; Instant::max() never does
    void wait(); ///< until it goes off
    [[nodiscard]] int fd() const { return m_fd; } ///< readable once it went off
    void drain(); ///< not readable any more

private:
    const int m_fd;
};

} // namespace tenure
