// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/alarm.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace tenure
{
namespace
{

int openTimer()
{
    const int fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0)
        throw std::system_error(errno, std::generic_category(), "timerfd");
    return fd;
}

} // namespace

Alarm::Alarm() : m_fd(openTimer()) { }

Alarm::~Alarm()
{
    close(m_fd);
}

void Alarm::set(Instant due)
{
    using namespace std::chrono_literals;
    itimerspec spec{};
    if (due != Instant::max()) { // zero would disarm it
        const auto since = std::max<Duration>(due.time_since_epoch(), 1ns);
        spec.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(since).count();
        spec.it_value.tv_nsec = (since % 1s).count();
    }
    timerfd_settime(m_fd, TFD_TIMER_ABSTIME, &spec, nullptr);
}

void Alarm::wait()
{
    pollfd fd{m_fd, POLLIN, 0};
    while (poll(&fd, 1, -1) < 0 && errno == EINTR) { }
    drain();
}

void Alarm::drain()
{
    std::uint64_t count = 0;
    while (read(m_fd, &count, sizeof count) > 0) { }
}

} // namespace tenure
