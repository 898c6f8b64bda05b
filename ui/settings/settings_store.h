// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/settings/settings.h"

#include <QObject>

#include <functional>

namespace tenure::ui
{

/// The settings and their file: JSON in the configuration folder, mode 0600, written atomically. A
/// file of a newer version, or a damaged one, is never overwritten: changes then last for this run.
/// GUI thread; the file is a few kilobytes.
class SettingsStore final : public QObject
{
    Q_OBJECT
public:
    static constexpr int kVersion = 1;
    /// `path` empty: settings.json in the user's configuration folder.
    explicit SettingsStore(QString path = {}, QObject *parent = nullptr);

    [[nodiscard]] const Settings &now() const { return m_settings; }
    [[nodiscard]] const QString &path() const { return m_path; }
    /// Why nothing is saved; empty when it is.
    [[nodiscard]] const QString &readOnlyReason() const { return m_readOnlyReason; }
    /// Changes, saves and tells, when `change` changed anything.
    void change(const std::function<void(Settings &)> &change);

Q_SIGNALS:
    void changed();
    void problem(const QString &sentence);

private:
    void load();
    void save();

    QString m_path;
    Settings m_settings;
    QString m_readOnlyReason;
};

/// Puts what `settings` say about looks and times on `theme`.
void applyLooks(const Settings &settings, Theme &theme);

} // namespace tenure::ui
