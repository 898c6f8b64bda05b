// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/alerts.h"
#include "ui/settings/settings_store.h"

#include <QObject>
#include <QTimer>

#include <deque>
#include <map>

class QSystemTrayIcon;
class QWidget;

namespace tenure::ui
{

/// Tells new alerts through the desktop's tray, where there is one, and shows there that the console
/// runs. Waits some seconds so that one cause becomes one message, repeats none within a minute, and
/// turns a flood into one sentence. Never the only way an alert is told. GUI thread.
class Notifier final : public QObject
{
    Q_OBJECT
public:
    Notifier(const Clock &clock, SettingsStore &settings, QWidget *window);
    ~Notifier() override;
    /// True: this desktop has a tray and the icon stands in it.
    [[nodiscard]] bool inTray() const;
    /// The alerts of a connection as they are now.
    void take(const QString &connection, const std::map<std::uint64_t, Alert> &alerts);
    /// What would be told now; empties the queue. Called by its timer.
    [[nodiscard]] QStringList due();

Q_SIGNALS:
    void openAsked();
    void quitAsked();

private:
    struct Waiting {
        QString connection;
        Alert alert;
    };
    void apply();
    void tell();

    const Clock &m_clock;
    SettingsStore &m_settings;
    QSystemTrayIcon *m_icon = nullptr;
    QTimer m_timer;
    std::vector<Waiting> m_waiting;
    std::map<std::pair<QString, std::uint64_t>, AlertState> m_known;
    std::map<QString, Instant> m_told; ///< by rule and lease
    std::deque<Instant> m_recent; ///< new alerts of the last ten minutes
};

} // namespace tenure::ui
