// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <string>
#include <vector>

namespace tenure::ui
{

/// One piece of a lane, in pixels from the left edge of the time area.
struct SwimBar {
    enum class Kind { Term, NoLeader, NotObserved, Hold, Merged };
    Kind kind = Kind::Term;
    double left = 0;
    double right = 0;
    std::string label; ///< "118", or the length of a stretch without leader
    std::string tip;
    int merged = 0; ///< Merged: how many terms are in it
    bool isOpen = false; ///< still so at the right end
};

struct SwimLane {
    std::string holder; ///< empty: the truth lane
    std::vector<SwimBar> bars;
};

/// The stretch of time that is shown.
struct SwimWindow {
    Instant from, until;
    double width = 1; ///< pixels
    [[nodiscard]] double x(Instant at) const;
    [[nodiscard]] Instant at(double pixel) const;
};

/// Bars narrower than this are merged into one with a count.
inline constexpr double kLeastBar = 3.0;

/// The truth lane first, then a lane for each holder, the most recent first. Pure.
[[nodiscard]] std::vector<SwimLane> layoutSwimlane(
    const LeaseStatus &status, const SwimWindow &window, Instant now, std::size_t mostHolders);

} // namespace tenure::ui
