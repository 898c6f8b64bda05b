// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QString;
class QWidget;

namespace tenure::ui
{

/// The keyboard map. Not modal to the event loop; deletes itself.
void showShortcuts(QWidget *parent);
/// What this is, its version and licence.
void showAbout(QWidget *parent, const QString &version);

} // namespace tenure::ui
