// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/alert_sender.h"

#include "ui/bridge/retire.h"
#include "ui/bridge/secrets.h"
#include "ui/theme/words.h"

#include <QSysInfo>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr auto kLookEvery = 2s;
constexpr std::size_t kMostEarly = 1000;
constexpr auto kTestTakes = 30s;

QString keyName()
{
    return QStringLiteral("alert-webhook");
}

/// For those who have no keyring, and for servers; the same name that tenurectl uses.
QString environmentKey()
{
    return qEnvironmentVariable("TENURE_WEBHOOK_SECRET");
}

bool isOver(const Alert &alert)
{
    return alert.state == AlertState::Returned || alert.state == AlertState::Resolved;
}

} // namespace

AlertSender::AlertSender(SettingsStore &settings, QObject *parent) : QObject(parent), m_settings(settings)
{
    connect(&settings, &SettingsStore::changed, this, &AlertSender::apply);
    connect(&m_looking, &QTimer::timeout, this, &AlertSender::look);
    m_looking.start(kLookEvery);
    apply();
}

AlertSender::~AlertSender()
{
    close();
}

OutletSettings AlertSender::outletSettings() const
{
    OutletSettings out;
    out.kind = m_settings.now().webhookKind == QLatin1String("alertmanager") ? OutletSettings::Kind::Alertmanager
                                                                             : OutletSettings::Kind::Webhook;
    out.url = m_settings.now().webhookUrl.toStdString();
    out.secret = m_secret.toStdString();
    out.source = QStringLiteral("tenure@%1").arg(QSysInfo::machineHostName()).toStdString();
    return out;
}

void AlertSender::apply()
{
    const Settings &now = m_settings.now();
    if (now.webhookUrl == m_url && now.webhookKind == m_kind && now.webhookSigned == m_signed)
        return;
    if (m_signed && !now.webhookSigned) {
        deleteSecret(keyName());
        m_secret.clear();
    }
    m_url = now.webhookUrl;
    m_kind = now.webhookKind;
    m_signed = now.webhookSigned;
    close();
    if (m_url.isEmpty())
        return;
    if (m_secret.isEmpty())
        m_secret = environmentKey();
    if (m_signed && m_secret.isEmpty())
        readKey();
    else
        open();
}

void AlertSender::readKey()
{
    m_waits = true;
    readSecret(keyName(), this, [this](const SecretAnswer &answer) {
        if (!std::exchange(m_waits, false))
            return;
        m_secret = answer.password;
        // Unsigned is better than not told: who checks the signature will refuse it, and say so.
        if (!answer.found)
            Q_EMIT problem(tr("The webhook's key is not to be had from the keyring, alerts go out unsigned. %1").arg(answer.problem));
        open();
    });
}

void AlertSender::open()
{
    auto made = AlertOutlet::make(outletSettings());
    if (!made) {
        m_early.clear();
        Q_EMIT problem(tr("Alerts are not sent: %1").arg(text(made.error().text())));
        return;
    }
    m_outlet = std::move(*made);
    m_failed = 0;
    for (const auto &[connection, alerts] : m_lasting) {
        for (const auto &[cause, alert] : alerts)
            m_outlet->tell(connection.toStdString(), alert);
    }
    for (const auto &[connection, alert] : std::exchange(m_early, {}))
        m_outlet->tell(connection.toStdString(), alert);
}

/// A call under way may take a moment to be cut off.
void AlertSender::close()
{
    m_waits = false;
    m_early.clear();
    if (m_outlet)
        retire([outlet = std::shared_ptr<AlertOutlet>(std::move(m_outlet))]() mutable { outlet.reset(); });
    m_outlet.reset();
}

void AlertSender::tell(const QString &connection, const Alert &alert)
{
    if (m_outlet)
        m_outlet->tell(connection.toStdString(), alert);
    else if (m_waits && m_early.size() < kMostEarly)
        m_early.emplace_back(connection, alert);
}

void AlertSender::take(const QString &connection, const std::vector<Alert> &alerts)
{
    auto &lasting = m_lasting[connection];
    for (const Alert &alert : alerts) {
        tell(connection, alert);
        if (isOver(alert))
            lasting.erase({alert.rule, alert.lease});
        else
            lasting.insert_or_assign({alert.rule, alert.lease}, alert);
    }
}

void AlertSender::forget(const QString &connection)
{
    const auto known = m_lasting.extract(connection);
    if (known.empty())
        return;
    for (auto &[cause, alert] : known.mapped()) {
        alert.state = AlertState::Resolved;
        alert.text = "Nobody watches it here any more; last known: " + alert.text;
        tell(connection, alert);
    }
}

void AlertSender::look()
{
    if (!m_outlet)
        return;
    const OutletStatus status = m_outlet->status();
    if (status.failed > m_failed)
        Q_EMIT problem(tr("%1 could not be delivered to the webhook. %2")
                           .arg(status.failed - m_failed == 1 ? tr("An alert") : tr("%1 alerts").arg(status.failed - m_failed),
                               text(status.lastProblem)));
    m_failed = status.failed;
}

QString AlertSender::statusText() const
{
    if (!m_outlet)
        return {};
    const OutletStatus status = m_outlet->status();
    return (status.failed == 0 ? tr("%1 sent in this run, none given up.").arg(status.delivered)
                               : tr("%1 sent in this run, %2 given up.").arg(status.delivered).arg(status.failed))
        + (status.lastProblem.empty() ? QString() : QLatin1Char(' ') + text(status.lastProblem));
}

void AlertSender::test(std::function<void(QString)> done)
{
    OutletSettings settings = outletSettings();
    settings.firstPause = 200ms;
    auto made = AlertOutlet::make(std::move(settings));
    if (!made) {
        done(text(made.error().text()));
        return;
    }
    std::shared_ptr<AlertOutlet> outlet = std::move(*made);
    Alert alert;
    alert.rule = "test";
    alert.priority = 3;
    alert.text = "A test from the settings: nothing is wrong";
    alert.action = "None: this only shows that messages arrive";
    alert.firstAt = alert.lastAt = SystemClock::instance().now();
    outlet->tell("test", alert);
    alert.state = AlertState::Resolved;
    outlet->tell("test", alert);
    auto *poll = new QTimer(this);
    const Instant limit = SystemClock::instance().now() + kTestTakes;
    connect(poll, &QTimer::timeout, this, [poll, outlet, limit, done = std::move(done)]() mutable {
        const OutletStatus status = outlet->status();
        const bool late = SystemClock::instance().now() > limit;
        if (status.failed == 0 && status.delivered < 2 && !late)
            return;
        poll->stop();
        poll->deleteLater();
        done(status.failed > 0 ? tr("Not delivered. %1").arg(text(status.lastProblem))
                : late         ? tr("No answer yet. %1").arg(text(status.lastProblem))
                               : tr("Delivered: a test alert and its end."));
        retire([outlet = std::move(outlet)]() mutable { outlet.reset(); });
    });
    poll->start(50ms);
}

void AlertSender::keepSecret(const QString &secret)
{
    m_secret = secret;
    close();
    if (!m_url.isEmpty())
        open();
    m_signed = true; // no need to ask the keyring for what is known
    m_settings.change([](Settings &settings) { settings.webhookSigned = true; });
    writeSecret(keyName(), secret, this, [this](const QString &why) {
        if (!why.isEmpty())
            Q_EMIT problem(tr("The webhook's key is kept for this run only. %1").arg(why));
    });
}

} // namespace tenure::ui
