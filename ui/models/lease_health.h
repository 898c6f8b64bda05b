// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"
#include "core/observe/status.h"

#include <QString>

#include <optional>
#include <span>
#include <vector>

namespace tenure::ui
{

/// A renewal as a point: how long after the one before it came.
struct RenewalPoint {
    Instant at;
    Duration interval{};
    bool late = false;
};

/// p50, p95 and largest of some durations, always with how many they are.
struct Percentiles {
    std::size_t count = 0;
    Duration p50{}, p95{}, most{};
};
/// Nothing under 5 samples: fewer say nothing (UX.md section 15).
[[nodiscard]] std::optional<Percentiles> percentilesOf(std::vector<Duration> values);

/// How a lease does, from what was seen of it. Pure.
struct LeaseHealth {
    std::optional<Percentiles> intervals; ///< between renewals
    std::optional<double> leastHeadroom; ///< share of the ttl that was left at the latest renewal
    std::uint64_t renewals = 0, late = 0, missed = 0;
    std::optional<Percentiles> tenures; ///< of terms that began and ended while one looked
    Duration leaderless{}, longestGap{};
    std::optional<Duration> deadline; ///< a holder that has not renewed by then is overdue: 4/5 ttl
    std::optional<Duration> ttl;
};
[[nodiscard]] LeaseHealth healthOf(const LeaseStatus &status, Instant now);

/// The timing judged: what is wrong with it and what to do, or that it is sane.
struct TimingAdvice {
    enum class Level { Sane, Unknown, Worrying, Dangerous };
    Level level = Level::Unknown;
    QString sentence;
};
[[nodiscard]] TimingAdvice judge(const LeaseStatus &status);

/// At most `most` points, the latest of equals kept, so that no spike is lost.
[[nodiscard]] std::vector<RenewalPoint> pointsOf(const LeaseStatus &status, std::size_t most);
[[nodiscard]] std::vector<RenewalPoint> pointsOf(std::span<const RenewalBucket> buckets, const Clock &clock);
[[nodiscard]] std::vector<RenewalPoint> decimated(std::vector<RenewalPoint> points, std::size_t most);

} // namespace tenure::ui
