// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/rules.h"
#include "core/journal/journal_query.h"

#include <array>

namespace tenure
{

/// How well a journal can tell what a rule would have raised.
enum class Replayable {
    Exactly, ///< from changes alone
    ByTheMinute, ///< from renewals, which are kept as least, most and mean of a minute
    No,
};
struct Replayability {
    Replayable how = Replayable::No;
    const char* why = ""; ///< a sentence; empty for Exactly
};
[[nodiscard]] Replayability replayability(RuleId rule);

/// What rules would have raised.
struct RulePreview {
    struct Raised {
        LeaseKey lease; ///< no lease: the connection
        RuleId rule = RuleId::Leaderless;
        int priority = 2;
        std::string text;
        WallTime firstAt;
        std::optional<WallTime> clearedAt; ///< nothing: still so at the end
        std::uint64_t count = 1;
    };
    std::vector<Raised> raised; ///< oldest first
    std::uint64_t events = 0; ///< changes that it was judged from
    std::uint64_t renewals = 0; ///< and renewals
    bool complete = true; ///< false: too much happened, only a part was replayed

    [[nodiscard]] std::uint64_t countOf(RuleId rule) const;
    /// That of another connection too.
    void add(RulePreview other);
};

/// Replays what was journaled of the window, by the very code that judges what is live. Reads the
/// disk; for a thread of its own.
[[nodiscard]] Result<RulePreview> whatWouldHaveFired(
    const RuleBook& rules, JournalQuery& query, const JournalFilter& filter, TimeWindow window);

} // namespace tenure
