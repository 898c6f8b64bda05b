// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/health.h"

#include "core/base/time_text.h"

#include <algorithm>
#include <cmath>

namespace tenure
{
namespace
{

constexpr std::size_t kLeastSamples = 5; ///< fewer say nothing

double ratio(Duration a, Duration b)
{
    return static_cast<double>(a.count()) / static_cast<double>(std::max<Duration::rep>(1, b.count()));
}

std::string times(double value)
{
    return value >= 10 ? std::to_string(std::lround(value))
                       : std::to_string(static_cast<double>(std::lround(value * 10)) / 10).substr(0, 3);
}

HealthVerdict ttlVerdict(const TimingSeen& seen)
{
    HealthVerdict verdict;
    verdict.subject = "ttl against round trip";
    if (!seen.ttl || !seen.roundTrip || *seen.roundTrip <= Duration::zero()) {
        verdict.sentence = "Not known: the format tells no ttl, or nothing was measured yet";
        return verdict;
    }
    const double trips = ratio(*seen.ttl, *seen.roundTrip);
    const std::string is = "The ttl of " + durationText(*seen.ttl) + " is " + times(trips)
        + " round trips of " + durationText(*seen.roundTrip);
    verdict.grade = trips < 4 ? HealthGrade::Bad : trips < 20 ? HealthGrade::Watch : HealthGrade::Good;
    verdict.sentence = is
        + (trips < 4        ? ": too few. Raise the ttl, or bring the candidates closer to the store"
                : trips < 20 ? ": a slow moment of the network can cost the lease"
                             : ": enough for retries");
    return verdict;
}

HealthVerdict renewVerdict(const TimingSeen& seen)
{
    HealthVerdict verdict;
    verdict.subject = "renewals against ttl";
    if (!seen.ttl || !seen.renewEvery || *seen.renewEvery <= Duration::zero()) {
        verdict.sentence = "Not known: too few renewals were seen";
        return verdict;
    }
    const double tries = ratio(*seen.ttl, *seen.renewEvery);
    verdict.grade = tries < 2 ? HealthGrade::Bad : tries < 2.7 ? HealthGrade::Watch : HealthGrade::Good;
    verdict.sentence = "Renewed every " + durationText(*seen.renewEvery) + ", " + times(tries)
        + " times within the ttl of " + durationText(*seen.ttl)
        + (tries < 2          ? ": one lost renewal loses the lease. Renew every third of the ttl"
                : tries < 2.7 ? ": only one lost renewal can be borne. Renew every third of the ttl"
                              : ": two lost renewals can be borne");
    return verdict;
}

HealthVerdict headroomVerdict(const TimingSeen& seen)
{
    HealthVerdict verdict;
    verdict.subject = "headroom";
    if (!seen.leastHeadroom) {
        verdict.sentence = "Not known: too few renewals were seen";
        return verdict;
    }
    const double least = *seen.leastHeadroom;
    verdict.grade = least < 0.2 ? HealthGrade::Bad : least < 0.4 ? HealthGrade::Watch : HealthGrade::Good;
    verdict.sentence = "At the latest renewal " + std::to_string(std::lround(least * 100))
        + " % of the ttl were left"
        + (least < 0.2        ? ": the lease was nearly lost. Raise the ttl, or find what delays renewals"
                : least < 0.4 ? ": keep an eye on what delays renewals"
                              : "");
    return verdict;
}

void takeTerms(LeaseHealth& health, const LeaseStatus& status, Instant now)
{
    std::vector<Duration> lengths;
    bool everLed = false;
    for (const TermSeen& term : status.terms) {
        const Duration length = term.until.value_or(now) - term.from;
        if (term.holder.empty() && everLed && !term.operatorHold) {
            health.leaderless += length;
            health.longestGap = std::max(health.longestGap, length);
        } else if (!term.holder.empty() && term.until && term.observedStart) {
            lengths.push_back(length);
        }
        everLed = everLed || !term.holder.empty();
    }
    health.tenure = spreadOf(std::move(lengths));
}

} // namespace

Spread spreadOf(std::vector<Duration> samples)
{
    Spread out;
    out.n = samples.size();
    if (samples.empty())
        return out;
    std::sort(samples.begin(), samples.end());
    const auto rank = [&](double share) {
        const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size())));
        return samples[std::max<std::size_t>(1, at) - 1];
    };
    out.least = samples.front();
    out.p50 = rank(0.5);
    out.p95 = rank(0.95);
    out.most = samples.back();
    return out;
}

std::vector<HealthVerdict> judgeTiming(const TimingSeen& seen)
{
    return {ttlVerdict(seen), renewVerdict(seen), headroomVerdict(seen)};
}

LeaseHealth healthOf(const LeaseStatus& status, Instant now)
{
    LeaseHealth health;
    std::vector<Duration> intervals;
    std::vector<Duration> delays;
    std::vector<Duration> left;
    for (const RenewalSeen& seen : status.renewals) {
        health.headroomLeast = std::min(health.headroomLeast, seen.headroom);
        health.late += seen.late ? 1 : 0;
        if (status.record.ttl) {
            left.push_back(std::chrono::duration_cast<Duration>(
                seen.headroom * std::chrono::duration<double>(*status.record.ttl)));
        }
        if (seen.interval <= Duration::zero())
            continue;
        intervals.push_back(seen.interval);
        if (status.renewInterval)
            delays.push_back(std::max(Duration::zero(), seen.interval - *status.renewInterval));
    }
    const bool enough = status.renewals.size() >= kLeastSamples;
    health.interval = spreadOf(std::move(intervals));
    health.delay = spreadOf(std::move(delays));
    health.headroom = spreadOf(std::move(left));
    health.renewals = status.renewalsSeen;
    health.missed = status.missedRenewals;
    takeTerms(health, status, now);
    TimingSeen timing;
    timing.ttl = status.usualTtl;
    timing.renewEvery = enough ? status.renewInterval : std::nullopt;
    timing.roundTrip = status.roundTrip > Duration::zero() ? std::optional(status.roundTrip) : std::nullopt;
    timing.leastHeadroom = enough ? std::optional(health.headroomLeast) : std::nullopt;
    health.verdicts = judgeTiming(timing);
    return health;
}

} // namespace tenure
