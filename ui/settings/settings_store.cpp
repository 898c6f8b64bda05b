// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings_store.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>

namespace tenure::ui
{

SettingsStore::SettingsStore(QString path, QObject *parent) : QObject(parent), m_path(std::move(path))
{
    if (m_path.isEmpty()) {
        m_path = QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation)
            + QStringLiteral("/settings.json");
    }
    load();
}

void SettingsStore::load()
{
    QFile file(m_path);
    if (!file.exists())
        return;
    if (!file.open(QIODevice::ReadOnly)) {
        m_readOnlyReason = tr("%1 cannot be read: %2").arg(m_path, file.errorString());
        return;
    }
    QJsonParseError error;
    const QJsonObject root = QJsonDocument::fromJson(file.readAll(), &error).object();
    const int version = root[QLatin1String("version")].toInt();
    if (error.error != QJsonParseError::NoError || version < 1) {
        m_readOnlyReason = tr("%1 is damaged and is left as it is. Move it away to save settings again.").arg(m_path);
        return;
    }
    if (version > kVersion) {
        m_readOnlyReason = tr("%1 was written by a newer Tenure and is opened read-only: what you change "
                              "here lasts until you quit.").arg(m_path);
    }
    m_settings = settingsFromJson(root);
}

void SettingsStore::change(const std::function<void(Settings &)> &change)
{
    Settings next = m_settings;
    change(next);
    if (next == m_settings)
        return;
    m_settings = std::move(next);
    save();
    Q_EMIT changed();
}

void SettingsStore::save()
{
    if (!m_readOnlyReason.isEmpty())
        return;
    QDir().mkpath(QFileInfo(m_path).absolutePath());
    QSaveFile file(m_path);
    const bool written = file.open(QIODevice::WriteOnly)
        && file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner)
        && file.write(toJson(m_settings)) >= 0 && file.commit();
    if (!written)
        Q_EMIT problem(tr("The settings could not be saved in %1: %2").arg(m_path, file.errorString()));
}

void applyLooks(const Settings &settings, Theme &theme)
{
    theme.setChoice(settings.theme);
    theme.setDensity(settings.density);
    theme.setTextSize(settings.textSize);
    theme.setMotion(settings.motion);
    theme.setTimes(settings.times);
}

} // namespace tenure::ui
