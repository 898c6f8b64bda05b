// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"
#include "core/observe/status.h"

#include <string>
#include <vector>

namespace tenure::ui
{

/// One stretch of the truth about a lease: a term, nobody, an operator's hold, nobody looked, or many
/// changes that the journal counted together.
struct SwimStretch {
    enum class Kind { Term, NoLeader, Hold, NotObserved, Dense };
    Kind kind = Kind::Term;
    Instant from, until;
    bool isOpen = false; ///< still so now
    bool observedStart = true; ///< false: it was so when one first looked
    std::string holder;
    FencingToken token;
    std::uint64_t transitions = 0; ///< Dense: how many
    Duration leaderless{}; ///< within it
};

/// Of this session, from what the fleet knows.
[[nodiscard]] std::vector<SwimStretch> stretchesOf(const LeaseStatus &status, Instant now);
/// From the journal; its moments are this machine's wall clock and become local ones.
[[nodiscard]] std::vector<SwimStretch> stretchesOf(const TermLane &lane, const Clock &clock);
/// The journal's up to where this session knows better, then the session's.
[[nodiscard]] std::vector<SwimStretch> joined(
    const std::vector<SwimStretch> &journal, const std::vector<SwimStretch> &session);

/// What a stretch of time says in numbers, counted from stretches.
struct SwimSummary {
    std::uint64_t transitions = 0;
    Duration leaderless{};
    Duration longestGap{};
    Duration notObserved{};
};
[[nodiscard]] SwimSummary summaryOf(const std::vector<SwimStretch> &stretches, Instant from, Instant until);

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
    const std::vector<SwimStretch> &stretches, const SwimWindow &window, std::size_t mostHolders);
[[nodiscard]] std::vector<SwimLane> layoutSwimlane(
    const LeaseStatus &status, const SwimWindow &window, Instant now, std::size_t mostHolders);

} // namespace tenure::ui
