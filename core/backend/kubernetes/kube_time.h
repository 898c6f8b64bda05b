// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenure::kube
{

/// Reads RFC 3339 with any fraction and any offset ("2026-11-29T02:13:44.123456Z"). Nothing for what
/// is no such time. Years 0001 to 9999 are honest values; whether to believe them is another question.
[[nodiscard]] std::optional<WallTime> parseTime(std::string_view text);
/// As a MicroTime field must be written: exactly six fractional digits, UTC.
[[nodiscard]] std::string microTime(WallTime time);

} // namespace tenure::kube
