// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/notifier.h"

#include "ui/theme/words.h"

#include <QIcon>
#include <QMenu>
#include <QSystemTrayIcon>
#include <QWidget>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr auto kGroupWait = 5s;
constexpr Duration kRepeatNot = 60s;
constexpr Duration kFloodWindow = 10min;
constexpr std::size_t kFlood = 10;
constexpr std::size_t kMostLines = 3;

} // namespace

Notifier::Notifier(const Clock &clock, SettingsStore &settings, QWidget *window)
    : QObject(window), m_clock(clock), m_settings(settings)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &Notifier::tell);
    connect(&settings, &SettingsStore::changed, this, &Notifier::apply);
    apply();
}

Notifier::~Notifier() = default;

void Notifier::apply()
{
    const bool wanted = QSystemTrayIcon::isSystemTrayAvailable() && (m_settings.now().tray || m_settings.now().notify);
    if (wanted && m_icon == nullptr) {
        m_icon = new QSystemTrayIcon(QIcon(QStringLiteral(":/tenure.svg")), this);
        m_icon->setToolTip(tr("Tenure"));
        auto *menu = new QMenu(qobject_cast<QWidget *>(parent()));
        connect(menu->addAction(tr("Open Tenure")), &QAction::triggered, this, &Notifier::openAsked);
        connect(menu->addAction(tr("Quit")), &QAction::triggered, this, &Notifier::quitAsked);
        m_icon->setContextMenu(menu);
        connect(m_icon, &QSystemTrayIcon::activated, this, &Notifier::openAsked);
        connect(m_icon, &QSystemTrayIcon::messageClicked, this, &Notifier::openAsked);
    }
    if (m_icon != nullptr)
        m_icon->setVisible(wanted);
}

bool Notifier::inTray() const
{
    return m_icon != nullptr && m_icon->isVisible() && m_settings.now().tray;
}

void Notifier::take(const QString &connection, const std::map<std::uint64_t, Alert> &alerts)
{
    for (const auto &[id, alert] : alerts) {
        const auto [known, isNew] = m_known.try_emplace({connection, id}, alert.state);
        const bool fires = alert.state == AlertState::Firing && (isNew || known->second != AlertState::Firing);
        known->second = alert.state;
        if (!fires)
            continue;
        m_recent.push_back(m_clock.now());
        m_waiting.push_back({connection, alert});
    }
    // What is over before it was told need not be told.
    std::erase_if(m_waiting, [&](const Waiting &one) {
        const auto now = alerts.find(one.alert.id);
        return one.connection == connection && now != alerts.end() && now->second.state != AlertState::Firing;
    });
    if (!m_waiting.empty() && !m_timer.isActive())
        m_timer.start(kGroupWait);
}

QStringList Notifier::due()
{
    const Instant now = m_clock.now();
    while (!m_recent.empty() && now - m_recent.front() > kFloodWindow)
        m_recent.pop_front();
    std::vector<Waiting> waiting = std::exchange(m_waiting, {});
    std::erase_if(waiting, [&](const Waiting &one) {
        const QString cause = one.connection + QLatin1Char('\n') + text(one.alert.rule) + QLatin1Char('\n') + text(one.alert.lease.name());
        const bool late = one.alert.priority > m_settings.now().notifyUpTo;
        const auto told = m_told.find(cause);
        if (late || (told != m_told.end() && now - told->second < kRepeatNot))
            return true;
        m_told[cause] = now;
        return false;
    });
    if (!m_settings.now().notify || waiting.empty())
        return {};
    std::stable_sort(waiting.begin(), waiting.end(), [](const Waiting &a, const Waiting &b) { return a.alert.priority < b.alert.priority; });
    if (m_recent.size() > kFlood)
        return {tr("%1 new alerts in 10 min, %2 just now; first %3 on %4").arg(m_recent.size()).arg(waiting.size())
                    .arg(shown(waiting.front().alert.rule).toUpper(), waiting.front().connection)};
    QStringList lines;
    for (const Waiting &one : waiting) {
        if (static_cast<std::size_t>(lines.size()) == kMostLines) {
            lines << tr("and %1 more").arg(waiting.size() - kMostLines);
            break;
        }
        const QString subject = one.alert.lease.name().empty() ? one.connection : shown(one.alert.lease.name()) + QStringLiteral(", ") + one.connection;
        lines << QStringLiteral("P%1 %2  %3: %4").arg(one.alert.priority).arg(shown(one.alert.rule).toUpper(), subject, shown(one.alert.text));
    }
    return lines;
}

void Notifier::tell()
{
    const QStringList lines = due();
    if (!lines.empty() && m_icon != nullptr && m_icon->isVisible())
        m_icon->showMessage(tr("Tenure"), lines.join(QLatin1Char('\n')), QSystemTrayIcon::Warning);
}

} // namespace tenure::ui
