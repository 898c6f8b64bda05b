// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "ui/bridge/session.h"

#include <QString>

#include <vector>

namespace tenure::ui
{

/// The saved connections: one JSON file in the configuration folder, mode 0600, written atomically,
/// without secrets. A file of a newer version is read as far as it is understood and never
/// overwritten. GUI thread.
class ProfileStore
{
public:
    static constexpr int kVersion = 1;
    /// `path` empty: connections.json in the user's configuration folder.
    explicit ProfileStore(QString path = {});

    [[nodiscard]] const std::vector<ConnectionProfile> &profiles() const { return m_profiles; }
    [[nodiscard]] const QString &path() const { return m_path; }
    /// Why nothing can be saved, empty when it can: written by a newer version, or unreadable.
    [[nodiscard]] const QString &readOnlyReason() const { return m_readOnlyReason; }
    /// Adds or replaces (by id) and saves. Denied: read-only. BadConfig: the URL contains a password.
    Result<void> put(const ConnectionProfile &profile);
    Result<void> remove(const QString &id);

private:
    void load();
    Result<void> save();

    QString m_path;
    std::vector<ConnectionProfile> m_profiles;
    QString m_readOnlyReason;
};

[[nodiscard]] QString newProfileId();
/// "PRODUCTION", "STAGING", "DEV", "SIM".
[[nodiscard]] QString environmentWord(Environment environment);
/// A guess that a person is asked about: not on this machine and "prod", "prd" or "live" in a name.
[[nodiscard]] bool looksLikeProduction(const QString &url, const QString &name);

} // namespace tenure::ui
