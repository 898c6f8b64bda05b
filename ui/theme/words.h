// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "ui/theme/tokens.h"

#include <QString>

#include <string_view>

namespace tenure::ui
{

/// Foreign bytes as one printable line (core's printable()).
[[nodiscard]] QString shown(std::string_view bytes);
/// Text that core made (UTF-8, trusted).
[[nodiscard]] QString text(std::string_view utf8);
[[nodiscard]] QString text(Duration duration);

/// The exact words and glyphs of UX.md section 1.
[[nodiscard]] QString word(LeaseState state);
[[nodiscard]] QString glyph(LeaseState state);
[[nodiscard]] QString word(LinkState state);
[[nodiscard]] QString churnGlyph();

/// The text token of a state: Held is plain text, colour is for what is not normal (R2).
[[nodiscard]] Token token(LeaseState state);
[[nodiscard]] Token token(LinkState state);
/// True for what belongs into the pinned band: anything but Held, while it may be believed.
[[nodiscard]] bool isAbnormal(LeaseState state);

/// The local moment as wall-clock time, for display only; right while this machine's clock stands still.
[[nodiscard]] WallTime wallOf(Instant instant, const Clock &clock);

/// In which zone moments are shown, everywhere in the console; exports are always UTC with Z.
enum class TimeShown { Utc, Local, Both };
/// Of the whole process, like QLocale::setDefault(); GUI thread. Theme tells the widgets.
void setTimeShown(TimeShown shown);
[[nodiscard]] TimeShown timeShown();
/// "UTC", the abbreviation of the local zone, or both: for heads of columns and axes.
[[nodiscard]] QString zoneText();
/// "02:14:26", with the date in front when it is not today: "11-28 02:14:26"; in the zone that is
/// shown, for Both "02:14:26 / 03:14:26". Without the name of the zone.
[[nodiscard]] QString timeText(WallTime when, WallTime today);
/// The same with the name of each zone: "02:14:26 UTC", "02:14:26 UTC (03:14:26 CET)".
[[nodiscard]] QString stampText(WallTime when, WallTime today);
/// For axes, where room is small: "02:14" or "02:14:26", for Both that of UTC.
[[nodiscard]] QString axisText(WallTime when, Duration step, WallTime today);

/// A sentence of core's with moments such as "02:13:45.1" in it, which are UTC: in the zone that is
/// shown. `near` gives the day (the moment is at most a day before it).
[[nodiscard]] QString zoned(const QString &sentence, WallTime near);

} // namespace tenure::ui
