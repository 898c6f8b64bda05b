// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>

namespace tenure::ctl
{

/// What tenurectl ends with; scripts rely on the numbers (DESIGN.md section 8).
enum class Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    NobodyLeads = 3, ///< also: no such lease
    Conflict = 4, ///< the holder or the term is another than was said
    Denied = 5, ///< no right, or not signed in
    Unreachable = 6, ///< also: no answer, the outcome is unknown
    LeadershipLost = 7,
};

[[nodiscard]] Exit exitFor(ErrorKind kind);

/// Says on stderr, in one line, what went wrong and what to do. Returns exitFor(error.kind).
Exit complain(const Error &error);
/// The same for what the person typed: always Exit::Usage.
Exit complainUsage(const std::string &sentence);

} // namespace tenure::ctl
