// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/lease_health.h"

#include "ui/theme/words.h"

#include <QCoreApplication>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kEnough = 5;

QString tr(const char *source)
{
    return QCoreApplication::translate("LeaseHealth", source);
}

TimingAdvice advice(TimingAdvice::Level level, const QString &sentence)
{
    return {level, sentence};
}

int percent(double share)
{
    return static_cast<int>(std::clamp(share, 0.0, 1.0) * 100);
}

} // namespace

std::optional<Percentiles> percentilesOf(std::vector<Duration> values)
{
    if (values.size() < kEnough)
        return std::nullopt;
    std::sort(values.begin(), values.end());
    const auto at = [&](std::size_t share) { return values[std::min(values.size() - 1, values.size() * share / 100)]; };
    return Percentiles{values.size(), at(50), at(95), values.back()};
}

LeaseHealth healthOf(const LeaseStatus &status, Instant now)
{
    LeaseHealth out;
    std::vector<Duration> intervals;
    for (const RenewalSeen &renewal : status.renewals) {
        if (renewal.interval > Duration::zero())
            intervals.push_back(renewal.interval);
        out.late += renewal.late ? 1 : 0;
    }
    out.intervals = percentilesOf(std::move(intervals));
    if (!status.renewals.empty())
        out.leastHeadroom = status.leastHeadroom();
    out.renewals = status.renewalsSeen;
    out.missed = status.missedRenewals;
    std::vector<Duration> tenures;
    for (const TermSeen &term : status.terms) {
        const Duration length = term.until.value_or(now) - term.from;
        if (term.holder.empty() && !term.operatorHold) {
            out.leaderless += length;
            out.longestGap = std::max(out.longestGap, length);
        } else if (term.until && term.observedStart && !term.operatorHold) {
            tenures.push_back(length);
        }
    }
    out.tenures = percentilesOf(std::move(tenures));
    if (status.record.ttl) {
        out.ttl = Duration(*status.record.ttl);
        out.deadline = *out.ttl * 4 / 5;
    }
    return out;
}

TimingAdvice judge(const LeaseStatus &status)
{
    using Level = TimingAdvice::Level;
    if (!status.record.ttl || *status.record.ttl <= 0ms)
        return advice(Level::Unknown, tr("The record names no duration, so its timing cannot be judged."));
    const Duration ttl = *status.record.ttl;
    const Duration trip = status.roundTrip;
    if (trip > Duration::zero() && ttl < 3 * trip)
        return advice(Level::Dangerous, tr("The ttl of %1 is shorter than three round trips to the backend (%2 each, from here): "
                                           "one slow answer loses the lease. Raise the ttl to at least %3.")
                                            .arg(text(ttl), text(trip), text(4 * trip)));
    if (!status.renewInterval || status.renewals.size() < kEnough)
        return advice(Level::Unknown, tr("Not enough history yet (%1 renewals seen) to judge the timing.").arg(status.renewals.size()));
    const Duration every = *status.renewInterval;
    if (every > ttl / 2)
        return advice(Level::Dangerous, tr("Renews every %1 of a ttl of %2: a single lost renewal loses the lease. Renew at least "
                                           "every %3, a third of the ttl.").arg(text(every), text(ttl), text(ttl / 3)));
    const double least = status.leastHeadroom();
    if (least < 0.2)
        return advice(Level::Worrying, tr("The latest renewal came with only %1 % of the ttl left. Look at what delays the holder "
                                          "(load, pauses, the network), or raise the ttl.").arg(percent(least)));
    if (status.missedRenewals > 0 && status.renewalsSeen > 0) {
        const double share = static_cast<double>(status.missedRenewals)
            / static_cast<double>(status.missedRenewals + status.renewalsSeen);
        if (share > 0.05)
            return advice(Level::Worrying, tr("%1 % of the renewals were missed. The ttl still covers it, but the renew path is not well.")
                                               .arg(percent(share)));
    }
    const auto spare = static_cast<int>(ttl / every) - 1;
    return advice(Level::Sane, tr("Sane: renews every %1 of a ttl of %2, so %3 renewals in a row may fail before the lease is lost.")
                                   .arg(text(every), text(ttl)).arg(std::max(1, spare)));
}

std::vector<RenewalPoint> decimated(std::vector<RenewalPoint> points, std::size_t most)
{
    if (points.size() <= most || most == 0)
        return points;
    std::vector<RenewalPoint> out;
    out.reserve(most);
    for (std::size_t i = 0; i < most; ++i) {
        const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / most);
        const auto last = points.begin() + static_cast<std::ptrdiff_t>((i + 1) * points.size() / most);
        out.push_back(*std::max_element(first, last, [](const auto &a, const auto &b) { return a.interval < b.interval; }));
    }
    return out;
}

std::vector<RenewalPoint> pointsOf(const LeaseStatus &status, std::size_t most)
{
    std::vector<RenewalPoint> out;
    for (const RenewalSeen &renewal : status.renewals) {
        if (renewal.interval > Duration::zero())
            out.push_back({renewal.at, renewal.interval, renewal.late});
    }
    return decimated(std::move(out), most);
}

std::vector<RenewalPoint> pointsOf(std::span<const RenewalBucket> buckets, const Clock &clock)
{
    std::vector<RenewalPoint> out;
    for (const RenewalBucket &bucket : buckets) {
        const Instant at = clock.now() - Duration(clock.wall() - bucket.from) + bucket.width / 2;
        if (bucket.count > 0)
            out.push_back({at, bucket.intervalMost, bucket.late > 0});
    }
    return out;
}

} // namespace tenure::ui
