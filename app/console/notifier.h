// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/console/desktop_notes.h"
#include "core/churn/digest.h"
#include "ui/settings/settings_store.h"

#include <QTimer>

#include <deque>
#include <map>
#include <set>

class QSystemTrayIcon;
class QWidget;

namespace tenure::ui
{

/// Tells new alerts through the desktop: by its notifications, or else by its tray, where there is
/// one; and shows in the tray that the console runs. One cause is one message, repeated not within a
/// minute and taken back when it is no longer so; a flood is one sentence. Never the only way in which
/// an alert is told. GUI thread.
class Notifier final : public QObject
{
    Q_OBJECT
public:
    Notifier(const Clock &clock, SettingsStore &settings, QDBusConnection bus, QWidget *window);
    ~Notifier() override;
    /// True: this desktop has a tray and the icon stands in it.
    [[nodiscard]] bool inTray() const;
    /// How alerts would be told here, in a sentence.
    [[nodiscard]] QString way() const;
    /// New or changed alerts of a connection.
    void take(const QString &connection, const std::vector<Alert> &alerts);
    /// Nobody watches the connection any more.
    void forget(const QString &connection);

Q_SIGNALS:
    void openAsked();
    void quitAsked();
    void acknowledgeAsked(const QString &connection, std::uint64_t alert);

private:
    using Group = std::pair<QString, std::string>; ///< connection and rule
    void apply();
    void tell();
    void tellFlood(const std::vector<Notice> &notices);
    void show(const DesktopNote &note);
    void plan();
    void noteFlood(Instant now);
    void acknowledge(const QString &key);

    const Clock &m_clock;
    SettingsStore &m_settings;
    DesktopNotes m_notes;
    QSystemTrayIcon *m_icon = nullptr;
    QTimer m_timer;
    AlertDigest m_digest;
    std::map<Group, std::map<std::uint64_t, Alert>> m_firing;
    std::deque<Instant> m_recent; ///< new alerts of the last ten minutes
    bool m_flood = false;
};

} // namespace tenure::ui
