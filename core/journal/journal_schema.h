// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <array>
#include <cstdint>

namespace tenure
{

/// What makes the tables of an empty journal.
[[nodiscard]] const char* journalSchemaSql();

/// "TNRJ": tells a journal from any other database.
constexpr std::int64_t kJournalMark = 0x544E524A;

/// Meaning of change.flags and lease.flags.
namespace change_flags
{
constexpr std::int64_t kInBlindSpot = 1;
constexpr std::int64_t kOperatorHold = 2;
constexpr std::int64_t kDark = 4; ///< nobody leads after it, and somebody was seen to lead before
} // namespace change_flags

/// Width of the buckets of a level, finest first.
constexpr std::array<Duration, 3> kDensityLevels{
    std::chrono::seconds(1), std::chrono::minutes(1), std::chrono::hours(1)};
constexpr std::array<Duration, 2> kRenewalLevels{std::chrono::minutes(1), std::chrono::hours(1)};
constexpr Duration kGapBucket = std::chrono::hours(1);

/// How long the finer levels are kept; the coarsest as long as everything else.
constexpr std::array<Duration, 2> kDensityKept{std::chrono::hours(24), std::chrono::hours(24 * 60)};
constexpr Duration kRenewalKept = std::chrono::hours(24);

/// Microseconds, rounded down.
[[nodiscard]] inline std::int64_t microseconds(Duration duration)
{
    return std::chrono::floor<std::chrono::microseconds>(duration).count();
}

/// The number of the bucket in which `us` lies.
[[nodiscard]] inline std::int64_t bucketOf(std::int64_t us, Duration width)
{
    const std::int64_t w = microseconds(width);
    return us >= 0 ? us / w : -((-us + w - 1) / w);
}

} // namespace tenure
