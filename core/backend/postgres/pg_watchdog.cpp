// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_watchdog.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure::postgres
{

Watchdog::Watchdog(int socket)
    : m_socket(fcntl(socket, F_DUPFD_CLOEXEC, 0)), m_thread([this] { run(); })
{
}

Watchdog::~Watchdog()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_changed.notify_all();
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
    if (m_sleepsOn || deadline < m_wakesAt) // else it looks again early enough by itself
        m_changed.notify_all();
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
    std::unique_lock lock(m_mutex);
    while (!m_ending) {
        const Instant now = BootClock::now();
        if (m_deadline && *m_deadline <= now && !m_bitten)
            bite();
        m_sleepsOn = !m_deadline || m_bitten;
        if (m_sleepsOn) {
            m_changed.wait(lock);
        } else {
            m_wakesAt = *m_deadline;
            m_changed.wait_for(lock, *m_deadline - now);
        }
    }
}

} // namespace tenure::postgres
