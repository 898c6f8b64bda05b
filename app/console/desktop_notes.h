// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusConnection>
#include <QObject>
#include <QString>

#include <map>

class QDBusPendingCallWatcher;

namespace tenure::ui
{

/// What the desktop is asked to show.
struct DesktopNote {
    QString key; ///< a note takes the place of an earlier one with the same key
    QString title, body; ///< plain text
    bool isUrgent = false; ///< stays until somebody looks
    bool canAcknowledge = true;
};

/// Notifications by the desktop's own service (org.freedesktop.Notifications), which knows what "do not
/// disturb" means; with buttons to acknowledge and to open. Every call is asynchronous: a desktop that
/// hangs holds up nothing. GUI thread.
class DesktopNotes final : public QObject
{
    Q_OBJECT
public:
    DesktopNotes(QDBusConnection bus, QObject *parent);
    /// This session's bus where there is one; never starts one.
    [[nodiscard]] static QDBusConnection sessionBus();
    /// The service answered. False at first; thereChanged() tells.
    [[nodiscard]] bool isThere() const { return m_there; }
    void show(const DesktopNote &note);
    void withdraw(const QString &key);

Q_SIGNALS:
    void thereChanged();
    void openAsked(const QString &key);
    void acknowledgeAsked(const QString &key);

private Q_SLOTS:
    void onAction(uint id, const QString &action);
    void onClosed(uint id, uint reason);

private:
    void ask();
    void shown(const QString &key, QDBusPendingCallWatcher *call);
    [[nodiscard]] QString keyOf(uint id) const;

    QDBusConnection m_bus;
    bool m_there = false;
    struct Shown {
        uint id = 0; ///< 0: not answered yet
        bool withdrawn = false; ///< before it was answered
    };
    std::map<QString, Shown> m_shown;
};

} // namespace tenure::ui
