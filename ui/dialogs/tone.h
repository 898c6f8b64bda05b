// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

class QLabel;

namespace tenure::ui
{

/// What a text says by its colour, always beside a word or a glyph (UX.md R3). For plain labels and
/// items that follow the application's style sheet; painted widgets ask the Theme.
enum class Tone { Normal, Muted, Warning, Critical, Stale, Info };

/// Of the scheme that the application's palette shows now.
[[nodiscard]] QColor toneColor(Tone tone);
/// Puts the role of the style sheet on `label`; it then follows the theme by itself.
void setTone(QLabel *label, Tone tone);

} // namespace tenure::ui
