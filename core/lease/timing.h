// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <string>
#include <vector>

namespace tenure
{

/// What a person asks for; anything left out follows from the ttl.
struct TimingRequest {
    Duration ttl = std::chrono::seconds(15);
    std::optional<Duration> renewEvery; ///< default ttl/3
    std::optional<Duration> renewDeadline; ///< how long after a renewal onLost comes; default 4/5 ttl
    double maxClockDrift = 0.01; ///< share by which two machines' clock rates may differ
};

/// What a backend can do; part of every LeaseStore.
struct TimingLimits {
    Milliseconds floor{100}; ///< shortest ttl that makes sense there
    Milliseconds ceiling{std::chrono::hours(24 * 365)};
    bool wholeSeconds = false; ///< Kubernetes, etcd
};

/// Validated timing of one election (DESIGN.md section 3). Immutable.
class Timing
{
public:
    /// BadConfig with one sentence a problem, all problems at once.
    [[nodiscard]] static Result<Timing> make(const TimingRequest &request, const TimingLimits &limits = {});
    [[nodiscard]] Milliseconds ttl() const { return m_ttl; }
    [[nodiscard]] Duration renewEvery() const { return m_renewEvery; }
    /// onLost comes this long before validity ends.
    [[nodiscard]] Duration stopWindow() const { return m_stopWindow; }
    /// validity = sentAt + ttl - margin(): covers clock drift and rounding.
    [[nodiscard]] Duration margin() const { return m_margin; }
    /// Longest one attempt may take: min(ttl/5, 5 s). Over a slow line decide() gives it more.
    [[nodiscard]] Duration attemptTimeout() const { return m_attemptTimeout; }
    /// What is allowed but unwise, one sentence each: ttl below 4 x the measured p99 round trip.
    [[nodiscard]] std::vector<std::string> warnings(std::optional<Duration> roundTripP99) const;

private:
    Milliseconds m_ttl{};
    Duration m_renewEvery{};
    Duration m_stopWindow{};
    Duration m_margin{};
    Duration m_attemptTimeout{};
};

} // namespace tenure
