// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/alerts.h"
#include "core/journal/rule_preview.h"

namespace tenure
{

/// One connection as it was, put together again from its changes and from the minutes of its renewals,
/// and judged on the way. Used once, by one thread.
class RuleReplay
{
public:
    /// `blind`: the stretches of the window in which nobody looked.
    RuleReplay(const RuleBook& rules, JournalQuery& query, std::string connection, TimeWindow window,
        std::vector<TimeWindow> blind, RulePreview& out);
    /// What is known of a lease at the beginning of the window, and that its renewals belong to it.
    [[nodiscard]] Result<void> begin(const LeaseId& lease);
    /// Time passes up to the change, and then it happens.
    [[nodiscard]] Result<void> take(const JournalEvent& event);
    [[nodiscard]] Result<void> finish();

private:
    /// Renewals of one lease, read some hours at a time.
    struct Renewals {
        std::vector<RenewalBucket> buckets;
        std::size_t at = 0; ///< the bucket that is under way
        std::uint64_t poured = 0; ///< of its renewals
    };
    [[nodiscard]] Instant instant(WallTime at) const;
    [[nodiscard]] WallTime wall(Instant at) const;
    [[nodiscard]] bool blindAt(WallTime at) const;
    [[nodiscard]] Result<void> passTime(Instant until);
    [[nodiscard]] Result<void> step(Instant at);
    [[nodiscard]] Result<void> readRenewals(Instant from);
    void pour(LeaseStatus& status, Renewals& renewals, Instant until);
    void follow(LeaseStatus& status, const JournalEvent& event);
    void note(const std::vector<Alert>& alerts);
    [[nodiscard]] bool restless() const;

    AlertRules m_rules;
    JournalQuery& m_query;
    const std::string m_connection;
    const TimeWindow m_window;
    const std::vector<TimeWindow> m_blind;
    RulePreview& m_out;
    const Duration m_tick;
    LinkStatus m_link;
    std::map<LeaseId, LeaseStatus> m_leases;
    std::map<LeaseId, Renewals> m_renewals;
    Instant m_read; ///< renewals before are in memory, or gone
    std::map<std::uint64_t, std::size_t> m_places; ///< of alerts in m_out
    Instant m_now;
};

} // namespace tenure
