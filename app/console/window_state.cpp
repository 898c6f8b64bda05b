// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/window_state.h"

#include <QGuiApplication>
#include <QMainWindow>
#include <QScreen>
#include <QSettings>

namespace tenure::ui
{
namespace
{

/// Raised when docks or toolbars change so that an old state would hide them.
constexpr int kStateVersion = 2;
const QString kGeometry = QStringLiteral("window/geometry");
const QString kState = QStringLiteral("window/state");

void clampToScreen(QMainWindow &window)
{
    for (const QScreen *screen : QGuiApplication::screens()) {
        if (screen->availableGeometry().intersects(window.frameGeometry()))
            return;
    }
    if (const QScreen *primary = QGuiApplication::primaryScreen())
        window.move(primary->availableGeometry().topLeft());
}

} // namespace

void saveWindowState(const QMainWindow &window)
{
    QSettings settings;
    settings.setValue(kGeometry, window.saveGeometry());
    settings.setValue(kState, window.saveState(kStateVersion));
}

bool restoreWindowState(QMainWindow &window)
{
    const QSettings settings;
    const bool placed = window.restoreGeometry(settings.value(kGeometry).toByteArray());
    if (placed)
        clampToScreen(window);
    return window.restoreState(settings.value(kState).toByteArray(), kStateVersion) && placed;
}

} // namespace tenure::ui
