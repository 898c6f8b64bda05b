// SPDX-License-Identifier: GPL-3.0-or-later
// Which session a store talks through, and what is made ready on it.
#include "core/backend/postgres/pg_store.h"

#include <array>

namespace tenure::postgres
{
namespace
{

constexpr Duration kNear = std::chrono::milliseconds(50); ///< a longer round trip is a slow line
constexpr Duration kSpareAgain = std::chrono::seconds(30); ///< after a second session was refused

constexpr std::size_t kPlans = 9;

struct Plan {
    const std::string *statement;
    std::vector<PgValue> nobody; ///< values that concern no lease
};

/// What a candidate will need, most urgent first.
std::array<Plan, kPlans> urgentPlans(const Statements &sql)
{
    const std::string none = PgArray().text();
    const std::vector<PgValue> verb{"1s", none, none, none, none, none};
    std::vector<PgValue> acquire = verb; // a new term for nobody, and that refused
    acquire.insert(acquire.end(), {"t", std::nullopt});
    std::vector<PgValue> awaiting = acquire;
    awaiting.emplace_back("0");
    return {{{&sql.renew, verb}, {&sql.quickRelease, {"", "", "", "0"}},
        {&sql.quickAwaitingAcquire, {"", "", "", "0", "0", "0"}}, {&sql.quickAcquire, {"", "", "", "0", "0"}},
        {&sql.read, {none}}, {&sql.acquire, acquire}, {&sql.release, verb}, {&sql.awaitingAcquire, awaiting},
        {&sql.tail, {}}}};
}

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

bool PgStore::idle(Instant deadline, const std::atomic<bool> &cancelled)
{
    if (!m_competes)
        return false;
    if (!m_connection || !m_connection->usable())
        return connectAhead(deadline, cancelled);
    if (lineIsSlow()) {
        standBy(deadline, cancelled);
        return false;
    }
    if (m_planned >= kPlans || m_connection->server().proxied)
        return false;
    const Plan plan = urgentPlans(m_shared->statements).at(m_planned++);
    m_connection->plan(*plan.statement, plan.nobody, m_usualLimit, deadline);
    return m_connection->usable();
}

bool PgStore::connectAhead(Instant deadline, const std::atomic<bool> &cancelled)
{
    const bool connected = m_connection && m_connection->usable();
    return !connected && connect(deadline, &cancelled).has_value();
}

} // namespace tenure::postgres
