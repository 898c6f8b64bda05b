// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>

class QObject;

namespace tenure::ui
{

/// Passwords of connections in the system's keyring. Nothing here blocks; `done` is called in the GUI
/// thread, not when `context` is gone first. They are never logged and never reach the settings.
struct SecretAnswer {
    bool found = false;
    QString password;
    QString problem; ///< "The system keyring is locked ...", empty when it simply has none
};
void readSecret(const QString &profileId, QObject *context, std::function<void(SecretAnswer)> done);
/// `done` gets an empty text, or why it could not be kept.
void writeSecret(const QString &profileId, const QString &password, QObject *context,
    std::function<void(QString)> done);
void deleteSecret(const QString &profileId);
/// TENURE_PASSWORD, or nothing.
[[nodiscard]] QString environmentPassword();

} // namespace tenure::ui
