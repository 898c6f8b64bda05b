// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/rules.h"
#include "core/journal/journal_query.h"

namespace tenure
{

/// What rules would have raised, and how long the journal had to be read for it.
struct RulePreview {
    struct Raised {
        LeaseKey lease; ///< no lease: the connection
        std::string rule;
        int priority = 2;
        std::string text;
        WallTime firstAt;
        std::optional<WallTime> clearedAt; ///< nothing: still so at the end
        std::uint64_t count = 1;
    };
    std::vector<Raised> raised; ///< oldest first
    /// Rules that need more than the journal keeps (single renewals, round trips) are not replayed.
    std::vector<std::string> notReplayed;
    bool complete = true; ///< false: too much happened, only its beginning was replayed
};

/// Replays the journaled changes of the window, by the very code that judges live ones. Reads the
/// disk; for a thread of its own.
[[nodiscard]] Result<RulePreview> whatWouldHaveFired(
    const RuleBook& rules, JournalQuery& query, const JournalFilter& filter, TimeWindow window);

} // namespace tenure
