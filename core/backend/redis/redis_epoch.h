// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/redis/resp_connection.h"

#include <mutex>
#include <optional>
#include <string>

namespace tenure::redis
{

/// The epoch rule: a server that started a short while ago, or that is another one than before, may
/// have forgotten leases whose holders still believe. Shared by all stores of a backend. Any
/// thread.
class EpochWatch
{
public:
    /// After each connect.
    void note(const ServerInfo &info);
    /// How long new terms of `ttl` must wait; nothing: not at all (also when INFO is forbidden).
    [[nodiscard]] std::optional<Duration> barrier(const ServerInfo &info, Milliseconds ttl) const;

private:
    mutable std::mutex m_mutex;
    std::string m_runId; ///< guarded by m_mutex
    std::optional<Instant> m_changedAt; ///< guarded by m_mutex
};

} // namespace tenure::redis
