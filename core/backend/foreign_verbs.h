// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/store.h"

#include <string>

namespace tenure
{

/// Why a held lease of this format (LeaseRecord::kind) is not released this way, in a sentence with
/// what to do instead; empty: it can be. A store that has the format and what tells people
/// beforehand both go by it. Pure.
[[nodiscard]] std::string whyNotReleased(const LeaseRecord &record, OperatorVerb verb);

} // namespace tenure
