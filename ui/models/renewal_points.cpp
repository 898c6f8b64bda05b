// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/renewal_points.h"

#include <algorithm>

namespace tenure::ui
{

std::vector<RenewalPoint> decimated(std::vector<RenewalPoint> points, std::size_t most)
{
    if (points.size() <= most || most == 0)
        return points;
    std::vector<RenewalPoint> out;
    out.reserve(most);
    for (std::size_t i = 0; i < most; ++i) {
        const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / most);
        const auto last = points.begin() + static_cast<std::ptrdiff_t>((i + 1) * points.size() / most);
        out.push_back(*std::max_element(first, last, [](const auto &a, const auto &b) { return a.interval < b.interval; }));
    }
    return out;
}

std::vector<RenewalPoint> pointsOf(const LeaseStatus &status)
{
    std::vector<RenewalPoint> out;
    for (const RenewalSeen &renewal : status.renewals) {
        if (renewal.interval > Duration::zero())
            out.push_back({renewal.at, renewal.interval, renewal.late});
    }
    return out;
}

std::vector<RenewalPoint> pointsOf(std::span<const RenewalBucket> buckets, const Clock &clock)
{
    std::vector<RenewalPoint> out;
    for (const RenewalBucket &bucket : buckets) {
        const Instant at = clock.now() - Duration(clock.wall() - bucket.from) + bucket.width / 2;
        if (bucket.count > 0)
            out.push_back({at, bucket.intervalMost, bucket.late > 0});
    }
    return out;
}

} // namespace tenure::ui
