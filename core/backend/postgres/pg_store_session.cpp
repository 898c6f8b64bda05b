// SPDX-License-Identifier: GPL-3.0-or-later
// Which session a store talks through.
#include "core/backend/postgres/pg_store.h"

namespace tenure::postgres
{
namespace
{

constexpr Duration kNear = std::chrono::milliseconds(50); ///< a longer round trip is a slow line
constexpr Duration kSpareAgain = std::chrono::seconds(30); ///< after a second session was refused

} // namespace

Result<void> PgStore::connect(Instant deadline, const std::atomic<bool> *cancelled)
{
    if (m_connection && !m_connection->stillThere())
        m_connection.reset();
    if (m_connection)
        return {};
    m_planned = 0;
    if (m_spare && m_spare->stillThere()) {
        m_connection = std::move(m_spare);
        return {};
    }
    const Instant began = BootClock::now();
    auto made = PgConnection::open(m_shared->settings, "store", deadline, cancelled,
        m_competes ? m_usualLimit : Milliseconds());
    if (!made)
        return fail(std::move(made.error()));
    m_connection = std::move(*made);
    m_connectTook = BootClock::now() - began;
    m_fresh = true;
    m_shared->epoch.note(m_connection->server());
    return {};
}

bool PgStore::lineIsSlow() const
{
    return m_connection->server().toldAt - m_connection->server().askedAt > kNear;
}

/// A session takes four round trips and more, and a renewal that met a broken one has hardly time for them.
void PgStore::standBy(Instant deadline, const std::atomic<bool> &cancelled)
{
    const bool there = m_spare && m_spare->stillThere();
    if (there || BootClock::now() < m_spareNotBefore || m_connectTook < m_usualLimit / 2)
        return;
    auto made = PgConnection::open(m_shared->settings, "store", deadline, &cancelled, m_usualLimit);
    m_spare = made ? std::move(*made) : nullptr;
    if (!made)
        m_spareNotBefore = BootClock::now() + kSpareAgain;
}

bool PgStore::connectAhead(Instant deadline, const std::atomic<bool> &cancelled)
{
    const bool connected = m_connection && m_connection->usable();
    return !connected && connect(deadline, &cancelled).has_value();
}

} // namespace tenure::postgres
