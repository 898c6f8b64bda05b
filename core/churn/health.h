// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <string>
#include <vector>

namespace tenure
{

/// How some durations are spread. All zero for n = 0; always shown with n.
struct Spread {
    std::size_t n = 0;
    Duration least{}, p50{}, p95{}, most{};
};
[[nodiscard]] Spread spreadOf(std::vector<Duration> samples);

enum class HealthGrade { Good, Watch, Bad, NotKnown };

/// One judgement with its advice, in a sentence.
struct HealthVerdict {
    HealthGrade grade = HealthGrade::NotKnown;
    std::string subject; ///< "ttl against round trip"
    std::string sentence;
};

/// What the timing of a lease is judged by; what is not known is left out.
struct TimingSeen {
    std::optional<Duration> ttl;
    std::optional<Duration> renewEvery; ///< usual, as seen
    std::optional<Duration> roundTrip; ///< from this observer to the store
    std::optional<double> leastHeadroom; ///< share of the ttl
};
/// The ttl against the round trip, the renewals against the ttl, the headroom. Pure.
[[nodiscard]] std::vector<HealthVerdict> judgeTiming(const TimingSeen& seen);

/// How well a lease lives, from what was observed of it in this session. `delay` is by how much
/// renewals came later than usual: what a holder's own renewal took cannot be seen from outside.
struct LeaseHealth {
    Spread interval; ///< between renewals
    Spread delay; ///< of renewals, beyond the usual interval
    Spread headroom; ///< time left when a renewal came
    double headroomLeast = 1; ///< share of the ttl
    std::uint64_t renewals = 0, late = 0, missed = 0;
    Spread tenure; ///< terms that were seen to begin and to end
    Duration leaderless{}; ///< seen, after somebody led
    Duration longestGap{};
    std::vector<HealthVerdict> verdicts;
};
[[nodiscard]] LeaseHealth healthOf(const LeaseStatus& status, Instant now);

} // namespace tenure
