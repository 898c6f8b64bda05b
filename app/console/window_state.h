// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

class QMainWindow;

namespace tenure::ui
{

/// What the console remembers of its looks: geometry, docks, theme. No secrets, no connections. A
/// state that does not fit (other version, vanished screen) gives the default.
void saveWindowState(const QMainWindow &window);
/// False: nothing usable was stored.
[[nodiscard]] bool restoreWindowState(QMainWindow &window);
[[nodiscard]] ThemeChoice savedTheme();
void saveTheme(ThemeChoice choice);

} // namespace tenure::ui
