// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/exit_code.h"
#include "core/lease/identity.h"

#include <functional>
#include <optional>
#include <string>

namespace tenure::ctl
{

enum class StepResult {
    Good,
    Warning, ///< works, but is unwise
    Bad, ///< ends the examination where nothing after it can work
    Skipped, ///< could not be looked at because of what came before
};

struct Step {
    std::string name;
    StepResult result = StepResult::Good;
    std::string detail; ///< what was found, one sentence
    std::string remedy; ///< what to do about it
};

/// Examines a connection, in order, telling each step as it is done. Looks only. Blocks for some
/// seconds at most.
Exit examine(const std::string &url, const std::optional<LeaseId> &lease,
    const std::function<void(const Step &)> &tell);

} // namespace tenure::ctl
