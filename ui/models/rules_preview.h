// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/rules.h"
#include "core/journal/journal_query.h"

#include <array>
#include <vector>

namespace tenure::ui
{

/// What a rule book would have raised in a stretch of the past.
struct RulesPreview {
    std::array<std::uint64_t, kRuleCount> raised{};
    std::uint64_t events = 0; ///< that it was judged from
};

/// Can the rule be judged from recorded changes alone? The others need every renewal, which the
/// journal keeps only in buckets.
[[nodiscard]] bool isPreviewable(RuleId rule);

/// Replays `events` (one connection's, oldest first) through the rules. Pure; takes time that grows
/// with events and leases: not for the GUI thread.
[[nodiscard]] RulesPreview previewRules(
    const RuleBook &book, const std::vector<JournalEvent> &events, TimeWindow window);

} // namespace tenure::ui
