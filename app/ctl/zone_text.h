// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/command_line.h"
#include "core/base/clock.h"

#include <optional>
#include <string>

namespace tenure::ctl
{

/// In which zone moments are told to people. What programs read (--json, --csv, reports) is always UTC
/// with Z.
enum class Zone { Utc, Local, Both };
[[nodiscard]] std::optional<Zone> zoneNamed(const std::string &word); ///< "utc", "local", "both"
/// What the console's settings say (settings.json beside rules.json); Utc where they say nothing.
[[nodiscard]] Zone settingsZone();
/// --times, which is over the settings.
void addTimesOption(CommandNode &command, std::string &times);
/// As --times says (empty: as the settings say), for this process, before anything is told. False: no
/// such zone.
[[nodiscard]] bool chooseZone(const std::string &times);
constexpr const char *kNoSuchZone = "--times is utc, local or both";

/// "2026-11-29T02:13:44.104Z", "2026-11-29 03:13:44.104 CET", or both.
[[nodiscard]] std::string stampText(WallTime when);
/// "02:13:44 UTC", "03:13:44 CET", or both.
[[nodiscard]] std::string clockStamp(WallTime when);
/// A sentence of core's with moments such as "02:13:45.1" in it, which are UTC: in the zone that is
/// shown. `near` gives the day (the moment is at most a day before it).
[[nodiscard]] std::string zoned(const std::string &sentence, WallTime near);

} // namespace tenure::ctl
