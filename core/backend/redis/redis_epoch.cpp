// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_epoch.h"

#include <algorithm>

namespace tenure::redis
{

void EpochWatch::note(const ServerInfo &info)
{
    if (!info.known)
        return;
    const std::lock_guard lock(m_mutex);
    if (!m_runId.empty() && m_runId != info.runId)
        m_changedAt = info.readAt;
    m_runId = info.runId;
}

std::optional<Duration> EpochWatch::barrier(const ServerInfo &info, Milliseconds ttl) const
{
    if (!info.known)
        return std::nullopt;
    const Instant now = BootClock::now();
    // INFO tells whole seconds, hence one more.
    Duration wait = ttl + std::chrono::seconds(1) - (info.uptime + (now - info.readAt));
    const std::lock_guard lock(m_mutex);
    if (m_changedAt)
        wait = std::max<Duration>(wait, *m_changedAt + ttl - now);
    return wait > Duration::zero() ? std::optional(wait) : std::nullopt;
}

} // namespace tenure::redis
