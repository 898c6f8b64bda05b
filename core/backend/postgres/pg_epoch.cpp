// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_epoch.h"

#include <algorithm>

namespace tenure::postgres
{
namespace
{

using namespace std::chrono_literals;

/// Two clocks' rates differ by less than this share.
constexpr std::int64_t kDriftDivisor = 100;
/// A difference below this is no step: it is within what timing leaves as a margin.
constexpr Duration kNoStep = 100ms;
constexpr Duration kLongestFlight = 250ms;

std::chrono::microseconds whole(Duration time)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(time);
}

} // namespace

void EpochWatch::note(const PgServer &server)
{
    {
        const std::lock_guard lock(m_mutex);
        if (!server.standby) {
            if (!m_epoch.empty() && m_epoch != server.epoch)
                m_changedAt = server.toldAt;
            m_epoch = server.epoch;
        }
    }
    if (!server.standby)
        sample(server.askedAt, server.toldAt, server.time);
}

void EpochWatch::sample(Instant askedAt, Instant toldAt, WallTime server)
{
    const std::lock_guard lock(m_mutex);
    if (m_time && toldAt > m_askedAt) {
        const Duration passed = toldAt - m_askedAt;
        if (server > *m_time + whole(passed + passed / kDriftDivisor + kNoStep))
            m_changedAt = toldAt;
    }
    if (!m_time || askedAt >= m_askedAt) {
        m_time = server;
        m_askedAt = askedAt;
    }
}

std::optional<Duration> EpochWatch::barrier(Milliseconds ttl) const
{
    const std::lock_guard lock(m_mutex);
    if (!m_changedAt)
        return std::nullopt;
    const Duration wait = *m_changedAt + ttl - BootClock::now();
    return wait > Duration::zero() ? std::optional(wait) : std::nullopt;
}

std::optional<WallTime> EpochWatch::latestPlausible(Milliseconds ttl) const
{
    const std::lock_guard lock(m_mutex);
    if (!m_time)
        return std::nullopt;
    const Duration passed = BootClock::now() - m_askedAt;
    const Duration flight = std::min<Duration>(kLongestFlight, ttl / 10);
    return *m_time + whole(passed + passed / kDriftDivisor + kNoStep + flight);
}

} // namespace tenure::postgres
