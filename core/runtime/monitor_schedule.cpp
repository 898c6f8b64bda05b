// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/monitor_schedule.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kAfterExpiry = 2ms;
/// A holder that should be gone is not asked for more often than this.
constexpr Duration kConfirmEvery = 20ms;
constexpr Duration kFocusEvery = 500ms;
constexpr Duration kLongestPause = 5s;
constexpr Duration kJustVacant = 10s;
/// Polling never costs a server more than about this many reads a second.
constexpr std::size_t kReadsPerSecond = 2000;

} // namespace

Duration longestPause(const LookRules& rules, std::optional<Duration> ttl)
{
    const Duration longest
        = rules.pushed ? kLongestPause : std::min(rules.probeEvery, kLongestPause);
    const Duration fair = 1s * rules.leases / kReadsPerSecond;
    return std::max({rules.minimumPoll, ttl ? std::min(*ttl / 3, longest) : longest, fair});
}

Instant nextLook(const LookRules& rules, const LeaseStatus& status, bool focused)
{
    const Instant soonest = status.seenAt + rules.minimumPoll;
    Instant next = status.seenAt + longestPause(rules, status.usualTtl);
    if (!status.led() && !status.record.hold && status.holderSince + kJustVacant > status.seenAt)
        next = std::min(next, soonest);
    if (status.led() && status.renewInterval && !rules.renewalsPushed) {
        const Duration usual = *status.renewInterval;
        Instant renewal = status.lastRenewalAt + usual + std::max(usual / 20, Duration(5ms));
        if (renewal <= status.seenAt)
            renewal = status.seenAt + usual / 4;
        next = std::min(next, std::max(renewal, soonest));
    }
    if (status.expiresAt) {
        const Instant after = *status.expiresAt + status.uncertainty + kAfterExpiry;
        next = std::min(next, std::max(after, status.seenAt + kConfirmEvery));
    }
    return focused ? std::min(next, status.seenAt + kFocusEvery) : next;
}

void LookSchedule::set(const LeaseId& lease, Instant when)
{
    const auto [known, fresh] = m_when.try_emplace(lease, when);
    if (!fresh) {
        m_due.erase({known->second, lease});
        known->second = when;
    }
    m_due.emplace(when, lease);
}

void LookSchedule::hasten(const LeaseId& lease, Instant when)
{
    const auto known = m_when.find(lease);
    if (known == m_when.end() || when < known->second)
        set(lease, when);
}

void LookSchedule::remove(const LeaseId& lease)
{
    const auto known = m_when.find(lease);
    if (known == m_when.end())
        return;
    m_due.erase({known->second, lease});
    m_when.erase(known);
}

std::optional<Instant> LookSchedule::earliest() const
{
    return m_due.empty() ? std::nullopt : std::optional(m_due.begin()->first);
}

std::vector<LeaseId> LookSchedule::take(Instant now, std::size_t limit)
{
    std::vector<LeaseId> out;
    while (out.size() < limit && !m_due.empty() && m_due.begin()->first <= now) {
        out.push_back(m_due.begin()->second);
        remove(out.back());
    }
    return out;
}

} // namespace tenure
