// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/timing_options.h"

#include "core/base/time_text.h"

namespace tenure::ctl
{
namespace
{

Result<std::optional<Duration>> optionalDuration(const std::string &text)
{
    if (text.empty())
        return std::optional<Duration>();
    const Result<Duration> duration = parseDuration(text);
    if (!duration)
        return fail(duration.error());
    return std::optional<Duration>(*duration);
}

} // namespace

Result<Timing> timingOf(const TimingOptions &options, const TimingLimits &limits)
{
    const Result<Duration> ttl = parseDuration(options.ttl);
    if (!ttl)
        return fail(ttl.error());
    const auto renew = optionalDuration(options.renew);
    if (!renew)
        return fail(renew.error());
    const auto deadline = optionalDuration(options.renewDeadline);
    if (!deadline)
        return fail(deadline.error());
    TimingRequest request;
    request.ttl = *ttl;
    request.renewEvery = *renew;
    request.renewDeadline = *deadline;
    return Timing::make(request, limits);
}

void addTimingOptions(CommandNode &command, TimingOptions &options)
{
    command.option("--ttl", options.ttl, "How long one renewal lasts; default: 15s").typeName("TIME");
    command.option("--renew", options.renew, "How often to renew; default: a third of the ttl")
        .typeName("TIME");
    command.option("--renew-deadline", options.renewDeadline,
               "Stop leading so long after the last renewal; default: 4/5 of the ttl")
        .typeName("TIME");
}

} // namespace tenure::ctl
