// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_connection.h"

#include <mutex>
#include <optional>
#include <string>

namespace tenure::postgres
{

/// What one process has seen of its server's identity and clock, to keep two kinds of surprise from
/// making a second believer: a failover that may have lost acknowledged writes (another system or
/// timeline), and a server clock that stepped ahead, or that of a new primary which is ahead of the
/// old one's: leases would seem to run out before their holders stop believing. Either bars new
/// terms for one ttl. Shared by all stores of a backend. Any thread.
class EpochWatch
{
public:
    /// After each connect, and with each server time of an answer.
    void note(const PgServer &server);
    void sample(Instant askedAt, Instant toldAt, WallTime server);
    /// How long new terms of `ttl` must wait; nothing: not at all.
    [[nodiscard]] std::optional<Duration> barrier(Milliseconds ttl) const;
    /// The latest that the server's clock can plausibly show within a moment of now; nothing:
    /// unknown.
    [[nodiscard]] std::optional<WallTime> latestPlausible(Milliseconds ttl) const;

private:
    mutable std::mutex m_mutex;
    // Guarded by m_mutex:
    std::string m_epoch;
    std::optional<Instant> m_changedAt; ///< of the epoch, or of the clock
    std::optional<WallTime> m_time; ///< the newest sample ...
    Instant m_askedAt; ///< ... was read after this
};

} // namespace tenure::postgres
