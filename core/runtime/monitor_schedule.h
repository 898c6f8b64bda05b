// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <map>
#include <set>
#include <utility>

namespace tenure
{

/// What decides how often a lease is looked at.
struct LookRules {
    Duration minimumPoll{}; ///< not more often, but near an expiry or a focus
    Duration probeEvery{};
    bool pushed = false; ///< the feed tells changes of leaders
    bool renewalsPushed = false; ///< the feed tells renewals: they need not be looked for
    std::size_t leases = 0; ///< watched in all; many of them are looked at less often each
};

/// Longest time between two looks at one lease whose grant lives `ttl`.
[[nodiscard]] Duration longestPause(const LookRules& rules, std::optional<Duration> ttl);
/// When to look at a lease next: right after its expiry, when its renewal is due, often while it is
/// late or just became vacant, at the latest after longestPause(). Pure.
[[nodiscard]] Instant nextLook(const LookRules& rules, const LeaseStatus& status, bool focused);

/// Which lease is due when. One owner, one thread.
class LookSchedule
{
public:
    void set(const LeaseId& lease, Instant when);
    /// Like set(), but never later than already planned.
    void hasten(const LeaseId& lease, Instant when);
    void remove(const LeaseId& lease);
    [[nodiscard]] std::optional<Instant> earliest() const;
    /// Those due at `now`, the longest due first; they leave the schedule.
    [[nodiscard]] std::vector<LeaseId> take(Instant now, std::size_t limit);

private:
    std::set<std::pair<Instant, LeaseId>> m_due;
    std::map<LeaseId, Instant> m_when;
};

} // namespace tenure
