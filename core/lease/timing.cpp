// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lease/timing.h"

#include "core/base/time_text.h"

#include <algorithm>
#include <cmath>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

Duration share(Duration of, double part)
{
    return Duration(static_cast<Duration::rep>(static_cast<double>(of.count()) * part));
}

std::vector<std::string> ttlProblems(Duration ttl, const TimingLimits &limits)
{
    std::vector<std::string> problems;
    if (ttl <= Duration::zero())
        problems.emplace_back("ttl must be longer than 0");
    else if (ttl < limits.floor)
        problems.push_back("ttl " + durationText(ttl) + " is below this backend's floor of "
            + durationText(limits.floor));
    if (ttl > limits.ceiling)
        problems.push_back("ttl " + durationText(ttl) + " is beyond the limit of "
            + durationText(limits.ceiling));
    else if (limits.wholeSeconds && ttl % 1s != 0s)
        problems.push_back("ttl " + durationText(ttl) + " must be whole seconds on this backend");
    else if (ttl % 1ms != 0ns)
        problems.emplace_back("ttl must be whole milliseconds");
    return problems;
}

} // namespace

Result<Timing> Timing::make(const TimingRequest &request, const TimingLimits &limits)
{
    std::vector<std::string> problems = ttlProblems(request.ttl, limits);
    const Duration ttl = std::clamp<Duration>(request.ttl, 0ns, limits.ceiling);
    Timing timing;
    timing.m_ttl = std::chrono::duration_cast<Milliseconds>(ttl);
    timing.m_renewEvery = request.renewEvery.value_or(ttl / 3);
    const Duration renewDeadline = request.renewDeadline.value_or(ttl - ttl / 5);
    const bool driftOk = std::isfinite(request.maxClockDrift) && request.maxClockDrift >= 0
        && request.maxClockDrift <= 0.2;
    if (!driftOk)
        problems.emplace_back("the clock drift must be between 0 and 20 %");
    timing.m_margin = std::max<Duration>(2ms, share(ttl, driftOk ? request.maxClockDrift : 0.01));
    timing.m_attemptTimeout = std::min<Duration>(ttl / 5, 5s);
    timing.m_stopWindow = ttl - timing.m_margin - renewDeadline;

    if (timing.m_renewEvery <= 0ns)
        problems.emplace_back("the renew interval must be longer than 0");
    else if (timing.m_renewEvery > ttl / 2)
        problems.push_back("renewing every " + durationText(timing.m_renewEvery)
            + " is too rare for a ttl of " + durationText(ttl) + ": at most half of it");
    if (renewDeadline <= 0ns)
        problems.emplace_back("the renew deadline must be longer than 0");
    else if (timing.m_stopWindow <= 0ns)
        problems.push_back("the renew deadline " + durationText(renewDeadline)
            + " must come before validity ends at " + durationText(ttl - timing.m_margin));
    // With the first renewal due at renewEvery there must be room for three attempts, each as long
    // as the deadline's remainder allows, or one lost packet costs the leadership.
    else if (renewDeadline - timing.m_renewEvery < 3 * std::min(timing.m_attemptTimeout, ttl / 10))
        problems.push_back("three renew attempts do not fit between " + durationText(timing.m_renewEvery)
            + " and the deadline " + durationText(renewDeadline));
    if (problems.empty())
        return timing;
    std::string all;
    for (const std::string &problem : problems)
        all += (all.empty() ? "" : "; ") + problem;
    return fail(ErrorKind::BadConfig, "The timing cannot work: " + all, {},
        "Leave renew interval and deadline out to have them follow from the ttl");
}

std::vector<std::string> Timing::warnings(std::optional<Duration> roundTripP99) const
{
    std::vector<std::string> out;
    if (roundTripP99 && m_ttl < 4 * *roundTripP99) {
        out.push_back("ttl " + durationText(m_ttl) + " is shorter than four round trips of "
            + durationText(*roundTripP99) + ": leadership will flap when the backend is slow");
    }
    return out;
}

} // namespace tenure
