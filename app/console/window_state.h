// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QMainWindow;

namespace tenure::ui
{

/// What the console remembers of its looks: geometry and docks. No secrets, no connections. A
/// state that does not fit (other version, vanished screen) gives the default.
void saveWindowState(const QMainWindow &window);
/// False: nothing usable was stored.
[[nodiscard]] bool restoreWindowState(QMainWindow &window);

} // namespace tenure::ui
