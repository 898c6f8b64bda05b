// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenure
{

/// Reads "15s", "250ms", "0.5s", "1m30s", "2h" or a bare 0. BadConfig names what is wrong: no unit,
/// not a number, negative, or beyond 10 years (so that no arithmetic on it can overflow).
[[nodiscard]] Result<Duration> parseDuration(std::string_view text);

/// UX.md section 15: under 10 s one decimal ("4.1 s"), under a minute whole seconds, then "3 m 02 s",
/// "3 h 12 m", "6 d 04 h"; under a second milliseconds ("212 ms"), under one of these its tenths ("0.4 ms",
/// "< 0.1 ms"). Negative values get a minus sign.
[[nodiscard]] std::string durationText(Duration duration);

/// "2026-11-29T02:13:44.104Z".
[[nodiscard]] std::string rfc3339(WallTime time);
/// "02:13:44" (UTC), for dense columns.
[[nodiscard]] std::string clockText(WallTime time);

} // namespace tenure
