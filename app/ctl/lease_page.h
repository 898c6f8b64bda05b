// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/output.h"
#include "core/observe/status.h"

#include <string>

namespace tenure::ctl
{

/// One lease in full, for people: a state line, the facts one a line, and the state explained.
[[nodiscard]] std::string leasePage(const Output &output, const std::string &display,
    const LeaseStatus &status, LinkState link, Instant now);

} // namespace tenure::ctl
