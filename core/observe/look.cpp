// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/observe/look.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kKeptRenewals = 60;
/// Servers round the time left to milliseconds and their clocks run a little faster or slower.
constexpr Duration kRounding = 5ms;

std::optional<Duration> ttlOf(const LeaseStatus& status)
{
    if (status.record.ttl)
        return Duration(*status.record.ttl);
    return status.usualTtl;
}

/// The local moment of the renewal that the look shows, or nothing when it shows none.
std::optional<Instant> renewalIn(const LeaseStatus& status, const Look& look)
{
    const LeaseRecord& now = look.record();
    if (now.renewedAt && status.record.renewedAt) {
        if (*now.renewedAt <= *status.record.renewedAt)
            return std::nullopt;
        return look.local(now.renewedAt).value_or(look.middle());
    }
    const auto expires = look.expiresAt();
    if (!expires || !status.expiresAt
        || *expires - *status.expiresAt <= look.uncertainty() + status.uncertainty + kRounding) {
        return std::nullopt;
    }
    const auto ttl = ttlOf(status);
    const Instant earliest = status.seenAt - status.roundTrip;
    return ttl ? std::clamp(*expires - *ttl, earliest, look.middle()) : look.middle();
}

std::optional<Duration> usualInterval(const std::deque<RenewalSeen>& renewals)
{
    std::vector<Duration> intervals;
    for (const RenewalSeen& renewal : renewals) {
        if (renewal.interval > Duration::zero())
            intervals.push_back(renewal.interval);
    }
    if (intervals.empty())
        return std::nullopt;
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return *middle;
}

/// How much was left and whether it was late. Looks that are far apart may have missed renewals in
/// between; then only what the last look before it proves is told.
RenewalSeen judged(const LeaseStatus& status, Instant at)
{
    RenewalSeen seen;
    seen.at = at;
    seen.interval = at - status.lastRenewalAt;
    const auto ttl = ttlOf(status);
    if (!ttl || *ttl <= Duration::zero() || !status.expiresAt)
        return seen;
    const bool blind = at - status.seenAt > *ttl / 6 && seen.interval > *ttl / 2;
    const Instant judgedAt = blind ? status.seenAt : at;
    const auto left = static_cast<double>((*status.expiresAt - judgedAt).count());
    seen.headroom = std::clamp(left / static_cast<double>(ttl->count()), 0.0, 1.0);
    seen.late = judgedAt - status.lastRenewalAt > *ttl / 2;
    if (blind)
        seen.interval = Duration::zero();
    return seen;
}

} // namespace

Look::Look(const Observation& observation)
    : m_observation(observation), m_middle(observation.receivedAt - observation.roundTrip / 2),
      m_uncertainty(observation.roundTrip / 2)
{
}

std::optional<Instant> Look::local(std::optional<WallTime> server) const
{
    if (!server || !m_observation.serverTime)
        return std::nullopt;
    return m_middle - (*m_observation.serverTime - *server);
}

std::optional<Instant> Look::expiresAt() const
{
    if (held())
        return record().remaining ? std::optional(m_middle + *record().remaining) : std::nullopt;
    return onHold() ? std::optional(m_middle + record().hold->remaining) : std::nullopt;
}

bool isSameTerm(const LeaseStatus& status, const Look& look)
{
    const LeaseRecord& before = status.record;
    const LeaseRecord& now = look.record();
    if (before.holder != now.holder || before.token != now.token)
        return false;
    if (before.nonce && now.nonce && before.nonce != now.nonce)
        return false;
    return !before.acquiredAt || !now.acquiredAt || before.acquiredAt == now.acquiredAt;
}

void noteRenewal(LeaseStatus& status, const Look& look)
{
    const auto at = renewalIn(status, look);
    if (!at)
        return;
    const RenewalSeen seen = judged(status, *at);
    const auto usual = status.renewInterval;
    if (usual && seen.interval > *usual) {
        const double periods
            = static_cast<double>(seen.interval.count()) / static_cast<double>(usual->count());
        status.missedRenewals += static_cast<std::uint64_t>(std::max(0L, std::lround(periods) - 1));
    }
    status.renewals.push_back(seen);
    if (status.renewals.size() > kKeptRenewals)
        status.renewals.pop_front();
    ++status.renewalsSeen;
    status.lastRenewalAt = *at;
    status.renewInterval = usualInterval(status.renewals);
    if (!look.record().ttl && look.record().remaining)
        status.usualTtl
            = std::max(status.usualTtl.value_or(Duration::zero()), *look.record().remaining);
}

void takeIn(LeaseStatus& status, const Look& look)
{
    const Observation& observation = look.observation();
    const std::string kind = status.record.kind;
    const LeaseId lease = status.record.lease;
    const bool silent
        = observation.absent || (!look.held() && !look.onHold() && !observation.record.token);
    status.record = observation.absent ? LeaseRecord() : observation.record;
    status.record.lease = lease;
    if (silent && status.firstSeenAt != Instant())
        status.record.kind = kind; // a key that is gone does not say whose format it was
    status.absent = observation.absent;
    status.seenAt = observation.receivedAt;
    status.roundTrip = observation.roundTrip;
    status.expiresAt = look.expiresAt();
    status.uncertainty = look.uncertainty();
    if (status.record.ttl)
        status.usualTtl = *status.record.ttl;
}

} // namespace tenure
