// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_watchdog.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure::postgres
{
namespace
{

int secondOf(int socket)
{
    const int own = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        throw std::system_error(errno, std::generic_category(), "no second descriptor for the session");
    return own;
}

} // namespace

Watchdog::Watchdog(int socket) : m_socket(secondOf(socket))
{
    try {
        m_thread = std::thread([this] { run(); });
    } catch (const std::system_error &) {
        close(m_socket);
        throw;
    }
}

Watchdog::~Watchdog()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
        lookBy(Instant());
    }
    m_thread.join();
    close(m_socket);
}

void Watchdog::bite()
{
    m_bitten = true;
    (void)shutdown(m_socket, SHUT_RDWR);
}

void Watchdog::arm(Instant deadline)
{
    const std::lock_guard lock(m_mutex);
    m_deadline = deadline;
    lookBy(deadline);
}

/// An alarm that comes sooner is left: it moves itself to the deadline of then.
void Watchdog::lookBy(Instant when)
{
    if (when >= m_alarmAt)
        return;
    m_alarmAt = when;
    m_alarm.set(when);
}

bool Watchdog::disarm()
{
    const std::lock_guard lock(m_mutex);
    m_deadline.reset();
    return m_bitten;
}

void Watchdog::interrupt()
{
    const std::lock_guard lock(m_mutex);
    m_interrupted = true;
    bite();
}

bool Watchdog::interrupted() const
{
    const std::lock_guard lock(m_mutex);
    return m_interrupted;
}

void Watchdog::run()
{
    for (;;) {
        m_alarm.wait();
        const std::lock_guard lock(m_mutex);
        if (m_ending)
            return;
        m_alarmAt = Instant::max();
        if (m_bitten || !m_deadline)
            continue;
        if (*m_deadline <= BootClock::now())
            bite();
        else
            lookBy(*m_deadline);
    }
}

} // namespace tenure::postgres
