// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tenure
{

/// The smallest sample that at least `share` of all samples do not exceed (nearest rank); 0 for none.
[[nodiscard]] inline double quantile(std::vector<double> samples, double share)
{
    if (samples.empty())
        return 0;
    const auto rank = static_cast<std::size_t>(
        std::max(1.0, std::ceil(share * static_cast<double>(samples.size()))));
    const auto at = samples.begin() + static_cast<std::ptrdiff_t>(std::min(rank, samples.size()) - 1);
    std::nth_element(samples.begin(), at, samples.end());
    return *at;
}

} // namespace tenure
