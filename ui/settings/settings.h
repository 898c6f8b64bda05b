// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QJsonObject>
#include <QString>

#include <map>
#include <vector>

namespace tenure::ui
{

/// A way of looking at the fleet that a person gave a name.
struct SavedView {
    QString name;
    QString filter;
    QString group; ///< FleetGroup's word: "none", "state", "backend" ...
    bool tiles = false;
    bool operator==(const SavedView &) const = default;
};

/// A lease that a person keeps in sight: in the pinned band also while nothing is wrong with it.
struct PinnedLease {
    QString connection; ///< name, because the demo's id changes with each run
    QByteArray lease;
    bool operator==(const PinnedLease &) const = default;
};

/// What the console remembers of how a person wants it, with its defaults. No secrets, no
/// connections (profile_store.h), no geometry (window_state.h).
struct Settings {
    ThemeChoice theme = ThemeChoice::System;
    Density density = Density::Comfortable;
    int textSize = 100; ///< percent
    Motion motion = Motion::Full;
    TimeShown times = TimeShown::Utc;
    bool notify = true; ///< desktop notifications of alerts
    int notifyUpTo = 2; ///< the least urgent priority that notifies, 1 to 3
    bool tray = true; ///< an icon where the desktop has a tray
    bool closeToTray = false;
    bool docksLocked = false;
    QString webhookUrl; ///< empty: none. Its secret is in the keyring
    QString webhookKind = QStringLiteral("json"); ///< or "alertmanager"
    bool webhookSigned = false; ///< a secret was given
    std::vector<SavedView> views;
    std::vector<PinnedLease> pins;
    std::map<QString, QString> keys; ///< action's name -> key sequence, only where it was changed
    bool operator==(const Settings &) const = default;
};

/// As the JSON object of the file, and back; fields that are missing or make no sense get their
/// default.
[[nodiscard]] QByteArray toJson(const Settings &settings);
[[nodiscard]] Settings settingsFromJson(const QJsonObject &object);

} // namespace tenure::ui
