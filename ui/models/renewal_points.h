// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"
#include "core/observe/status.h"

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

/// Of this session, oldest first.
[[nodiscard]] std::vector<RenewalPoint> pointsOf(const LeaseStatus &status);
/// From the journal: the longest interval of each bucket.
[[nodiscard]] std::vector<RenewalPoint> pointsOf(std::span<const RenewalBucket> buckets, const Clock &clock);
/// At most `most` points: of neighbours the one that waited longest, so that no spike is lost.
[[nodiscard]] std::vector<RenewalPoint> decimated(std::vector<RenewalPoint> points, std::size_t most);

} // namespace tenure::ui
