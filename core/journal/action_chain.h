// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_records.h"

#include <string>

namespace tenure
{

/// The hash of `action` behind one whose hash is `before` (empty for the first). Covers every field
/// but `hash`, each with its length, so that no two different actions read alike.
[[nodiscard]] std::string chainedHash(const std::string& before, const JournalAction& action);

} // namespace tenure
