// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runtime/alert_outlet.h"
#include "ui/settings/settings_store.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace tenure::ui
{

/// Sends alerts to the webhook or the Alertmanager that the settings name. The key of its signature is
/// in the keyring, or in TENURE_WEBHOOK_SECRET. A change of the settings holds at once: what lasts is
/// told to the new address. GUI thread; sending itself happens on the outlet's own.
class AlertSender final : public QObject
{
    Q_OBJECT
public:
    AlertSender(SettingsStore &settings, QObject *parent);
    ~AlertSender() override;

    /// New or changed alerts of a connection, which the receiver knows by its name.
    void take(const QString &connection, const std::vector<Alert> &alerts);
    /// Nobody watches the connection any more: what was told of it is taken back.
    void forget(const QString &connection);
    /// Sends a test alert and its end with what is set now; `done` gets what came of it in a sentence.
    void test(std::function<void(QString)> done);
    /// Keeps the key in the keyring and signs with it from now on.
    void keepSecret(const QString &secret);
    /// "12 sent, none given up"; empty when nothing is sent anywhere.
    [[nodiscard]] QString statusText() const;

Q_SIGNALS:
    void problem(const QString &sentence); ///< an alert that did not arrive, a key that cannot be read

private:
    using Cause = std::pair<std::string, LeaseId>; ///< rule and lease
    void apply();
    void readKey();
    void open();
    void close();
    void look();
    void tell(const QString &connection, const Alert &alert);
    [[nodiscard]] OutletSettings outletSettings() const;

    SettingsStore &m_settings;
    QString m_url, m_kind; ///< of the outlet
    bool m_signed = false;
    bool m_waits = false; ///< for the keyring's answer
    QString m_secret;
    std::unique_ptr<AlertOutlet> m_outlet;
    std::map<QString, std::map<Cause, Alert>> m_lasting;
    std::vector<std::pair<QString, Alert>> m_early; ///< came while the keyring was asked
    std::uint64_t m_failed = 0; ///< that were told of
    QTimer m_looking;
};

} // namespace tenure::ui
