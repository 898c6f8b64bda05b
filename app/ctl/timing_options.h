// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/command_line.h"
#include "core/lease/timing.h"

#include <string>

namespace tenure::ctl
{

/// The timing as typed by whoever competes. What is left empty follows from the ttl.
struct TimingOptions {
    std::string ttl = "15s";
    std::string renew;
    std::string renewDeadline;
};

void addTimingOptions(CommandNode &command, TimingOptions &options);
/// BadConfig: every problem at once, in a sentence each.
[[nodiscard]] Result<Timing> timingOf(const TimingOptions &options, const TimingLimits &limits);

} // namespace tenure::ctl
