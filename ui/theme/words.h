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
/// "02:14:26" UTC, with the date in front when it is not today: "11-28 02:14:26".
[[nodiscard]] QString timeText(WallTime when, WallTime today);

} // namespace tenure::ui
