// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_lock_wait.h"

namespace tenure::postgres
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kConnectWithin = 5s;
constexpr Duration kTakeWithin = 3s; ///< by a candidate who was told; nobody leads meanwhile
constexpr const char *kTurn = "4s"; ///< one wait in the server's queue
constexpr Duration kTurnWithin = 6s;

constexpr const char *kWait = R"sql(
WITH budget AS MATERIALIZED (SELECT set_config('lock_timeout', $1, true) AS ms)
SELECT CASE WHEN $3 = '' THEN pg_advisory_lock($2::bigint) ELSE pg_advisory_lock($2::bigint::int, $3::int) END
FROM budget
)sql";

} // namespace

LockWait::LockWait(std::shared_ptr<Shared> shared, std::shared_ptr<SessionWatch> watch,
    LeaseId lease, const AdvisoryKey &key, const HolderId &holder, Milliseconds ttl)
    : m_shared(std::move(shared)), m_watch(std::move(watch)), m_lease(std::move(lease)), m_key(key),
      m_holder(holder), m_ttl(ttl), m_wantedAt(BootClock::now()), m_thread([this] { run(); })
{
}

LockWait::~LockWait()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
        if (m_session)
            m_session->interrupt();
    }
    m_changed.notify_all();
    m_thread.join();
    end();
}

bool LockWait::keep()
{
    const std::lock_guard lock(m_mutex);
    m_wantedAt = BootClock::now();
    return m_state != State::Over;
}

std::unique_ptr<LockWait> LockWait::again() const
{
    return std::make_unique<LockWait>(m_shared, m_watch, m_lease, m_key, m_holder, m_ttl);
}

std::unique_ptr<PgConnection> LockWait::take()
{
    std::unique_ptr<PgConnection> session;
    {
        const std::lock_guard lock(m_mutex);
        if (m_state != State::Won)
            return nullptr;
        session = std::move(m_session);
    }
    end();
    return session;
}

/// Whatever it still has is given up.
void LockWait::end()
{
    std::unique_ptr<PgConnection> session;
    {
        const std::lock_guard lock(m_mutex);
        m_state = State::Over;
        session = std::move(m_session);
        if (m_told != 0)
            m_watch->forget(std::exchange(m_told, 0));
    }
    m_changed.notify_all();
}

void LockWait::run()
{
    auto made = PgConnection::open(
        m_shared->settings, m_holder.name(), BootClock::now() + kConnectWithin, &m_ending);
    bool won = false;
    if (made) {
        {
            const std::lock_guard lock(m_mutex);
            m_session = std::move(*made);
        }
        won = standInLine();
    }
    if (!won)
        return end();
    std::unique_lock lock(m_mutex);
    m_state = State::Won;
    m_told = m_watch->add(m_lease, -1);
    m_changed.wait_for(lock, kTakeWithin, [this] { return m_ending || m_state != State::Won; });
    lock.unlock();
    end();
}

bool LockWait::standInLine()
{
    const std::string wait = markedFor(m_lease, kWait);
    while (!m_ending) {
        {
            const std::lock_guard lock(m_mutex);
            if (!wanted())
                return false;
        }
        const std::string second = m_key.pair ? std::to_string(m_key.two) : std::string();
        const auto got = m_session->ask(
            wait, {kTurn, std::to_string(m_key.one), second}, BootClock::now() + kTurnWithin);
        if (got)
            return true;
        if (!m_session->usable() || m_session->lastSqlstate() != "55P03")
            return false;
    }
    return false;
}

} // namespace tenure::postgres
