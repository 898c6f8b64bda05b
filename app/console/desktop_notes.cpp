// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/desktop_notes.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QFileInfo>
#include <QVariantMap>

namespace tenure::ui
{
namespace
{

QString service()
{
    return QStringLiteral("org.freedesktop.Notifications");
}

QDBusMessage call(const QString &method)
{
    return QDBusMessage::createMethodCall(service(), QStringLiteral("/org/freedesktop/Notifications"), service(), method);
}

} // namespace

QDBusConnection DesktopNotes::sessionBus()
{
    const QString socket = qEnvironmentVariable("XDG_RUNTIME_DIR") + QStringLiteral("/bus");
    // Without either, asking for the bus would start one of our own.
    if (qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS") && !QFileInfo::exists(socket))
        return QDBusConnection(QStringLiteral("tenure-none"));
    return QDBusConnection::sessionBus();
}

DesktopNotes::DesktopNotes(QDBusConnection bus, QObject *parent) : QObject(parent), m_bus(std::move(bus))
{
    if (!m_bus.isConnected())
        return;
    const auto listen = [this](const char *signal, const char *slot) {
        m_bus.connect(service(), QStringLiteral("/org/freedesktop/Notifications"), service(), QLatin1String(signal), this, slot);
    };
    listen("ActionInvoked", SLOT(onAction(uint, QString)));
    listen("NotificationClosed", SLOT(onClosed(uint, uint)));
    ask();
}

void DesktopNotes::ask()
{
    auto *answer = new QDBusPendingCallWatcher(m_bus.asyncCall(call(QStringLiteral("GetServerInformation"))), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher *finished) {
        m_there = !finished->isError();
        finished->deleteLater();
        if (m_there)
            Q_EMIT thereChanged();
    });
}

void DesktopNotes::show(const DesktopNote &note)
{
    if (!m_there)
        return;
    Shown &known = m_shown[note.key];
    known.withdrawn = false;
    const QVariantMap hints{{QStringLiteral("urgency"), QVariant::fromValue<uchar>(note.isUrgent ? 2 : 1)},
        {QStringLiteral("desktop-entry"), QStringLiteral(TENURE_APP_ID)}};
    QStringList actions{QStringLiteral("default"), tr("Open")};
    if (note.canAcknowledge)
        actions << QStringLiteral("acknowledge") << tr("Acknowledge");
    QDBusMessage message = call(QStringLiteral("Notify"));
    // The body may be read as markup.
    message << tr("Tenure") << known.id << QStringLiteral(TENURE_APP_ID) << note.title << note.body.toHtmlEscaped() << actions << hints << -1;
    auto *answer = new QDBusPendingCallWatcher(m_bus.asyncCall(message), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this,
        [this, key = note.key](QDBusPendingCallWatcher *finished) { shown(key, finished); });
}

void DesktopNotes::shown(const QString &key, QDBusPendingCallWatcher *finished)
{
    const QDBusPendingReply<uint> reply = *finished;
    finished->deleteLater();
    const auto known = m_shown.find(key);
    if (known == m_shown.end())
        return;
    if (reply.isError()) {
        m_shown.erase(known);
        return;
    }
    known->second.id = reply.value();
    if (known->second.withdrawn)
        withdraw(key);
}

void DesktopNotes::withdraw(const QString &key)
{
    const auto known = m_shown.find(key);
    if (known == m_shown.end())
        return;
    if (known->second.id == 0) {
        known->second.withdrawn = true;
        return;
    }
    QDBusMessage message = call(QStringLiteral("CloseNotification"));
    message << known->second.id;
    m_bus.asyncCall(message);
    m_shown.erase(known);
}

QString DesktopNotes::keyOf(uint id) const
{
    for (const auto &[key, one] : m_shown) {
        if (one.id == id)
            return key;
    }
    return {};
}

void DesktopNotes::onAction(uint id, const QString &action)
{
    const QString key = keyOf(id);
    if (key.isEmpty()) // of another program
        return;
    if (action == QLatin1String("acknowledge"))
        Q_EMIT acknowledgeAsked(key);
    else
        Q_EMIT openAsked(key);
}

void DesktopNotes::onClosed(uint id, uint)
{
    if (const QString key = keyOf(id); !key.isEmpty())
        m_shown.erase(key);
}

} // namespace tenure::ui
