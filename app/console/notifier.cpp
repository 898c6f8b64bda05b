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

constexpr Duration kFloodWindow = 10min;
constexpr std::size_t kFlood = 10; ///< more new alerts than this are one
constexpr std::size_t kFloodOver = 5;
constexpr std::size_t kMostLines = 3;

QString keyOf(const QString &connection, const std::string &rule)
{
    return connection + QLatin1Char('\n') + text(rule);
}

QString floodKey()
{
    return QStringLiteral("flood");
}

} // namespace

Notifier::Notifier(const Clock &clock, SettingsStore &settings, QDBusConnection bus, QWidget *window)
    : QObject(window), m_clock(clock), m_settings(settings), m_notes(std::move(bus), this)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &Notifier::tell);
    connect(&settings, &SettingsStore::changed, this, &Notifier::apply);
    connect(&m_notes, &DesktopNotes::openAsked, this, &Notifier::openAsked);
    connect(&m_notes, &DesktopNotes::acknowledgeAsked, this, &Notifier::acknowledge);
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

QString Notifier::way() const
{
    if (m_notes.isThere())
        return tr("At most one a minute for each cause, many at once become one; with buttons to acknowledge and to open.");
    return QSystemTrayIcon::isSystemTrayAvailable()
        ? tr("At most one a minute for each cause, many at once become one; through the tray.")
        : tr("This desktop offers neither notifications nor a tray: nothing can be told there.");
}

void Notifier::take(const QString &connection, const std::vector<Alert> &alerts)
{
    const Instant now = m_clock.now();
    for (const Alert &alert : alerts) {
        auto &firing = m_firing[{connection, alert.rule}];
        if (alert.state != AlertState::Firing)
            firing.erase(alert.id);
        else if (firing.insert_or_assign(alert.id, alert).second)
            m_recent.push_back(now);
        // What nobody wants to be told of is as if it were over.
        Alert told = alert;
        if (!m_settings.now().notify || alert.priority > m_settings.now().notifyUpTo)
            told.state = AlertState::Resolved;
        m_digest.take(connection.toStdString(), told, now);
    }
    plan();
}

void Notifier::forget(const QString &connection)
{
    std::vector<Alert> over;
    for (const auto &[group, alerts] : m_firing) {
        for (const auto &[id, alert] : alerts) {
            if (group.first == connection) {
                over.push_back(alert);
                over.back().state = AlertState::Resolved;
            }
        }
    }
    take(connection, over);
    std::erase_if(m_firing, [&](const auto &entry) { return entry.first.first == connection; });
}

void Notifier::plan()
{
    const auto next = m_digest.nextDue();
    if (!next)
        return m_timer.stop();
    m_timer.start(std::chrono::ceil<Milliseconds>(std::max<Duration>(*next - m_clock.now(), Duration::zero())));
}

void Notifier::noteFlood(Instant now)
{
    while (!m_recent.empty() && now - m_recent.front() > kFloodWindow)
        m_recent.pop_front();
    if (m_recent.size() > kFlood)
        m_flood = true;
    else if (m_recent.size() < kFloodOver)
        m_flood = false;
}

void Notifier::tell()
{
    const Instant now = m_clock.now();
    std::vector<Notice> notices = m_digest.due(now);
    noteFlood(now);
    for (const Notice &notice : notices) {
        if (notice.withdraw)
            m_notes.withdraw(keyOf(text(notice.connection), notice.rule));
    }
    std::erase_if(notices, [](const Notice &notice) { return notice.withdraw; });
    std::stable_sort(notices.begin(), notices.end(), [](const Notice &a, const Notice &b) { return a.priority < b.priority; });
    if (m_flood && !notices.empty()) {
        tellFlood(notices);
    } else {
        for (const Notice &notice : notices) {
            show({keyOf(text(notice.connection), notice.rule),
                QStringLiteral("P%1 %2  %3").arg(notice.priority).arg(shown(notice.rule).toUpper(), text(notice.connection)),
                text(notice.text) + QLatin1Char('\n') + text(notice.action), notice.priority == 1});
        }
    }
    plan();
}

void Notifier::tellFlood(const std::vector<Notice> &notices)
{
    QStringList lines;
    for (const Notice &notice : notices) {
        if (static_cast<std::size_t>(lines.size()) == kMostLines) {
            lines << tr("and %1 more causes").arg(notices.size() - kMostLines);
            break;
        }
        lines << QStringLiteral("P%1 %2  %3").arg(notice.priority).arg(shown(notice.rule).toUpper(), text(notice.text));
    }
    show({floodKey(), tr("%1 new alerts in 10 min").arg(m_recent.size()), lines.join(QLatin1Char('\n')), notices.front().priority == 1, false});
}

void Notifier::show(const DesktopNote &note)
{
    if (m_notes.isThere())
        m_notes.show(note);
    else if (m_icon != nullptr && m_icon->isVisible())
        m_icon->showMessage(note.title, note.body, QSystemTrayIcon::Warning);
}

void Notifier::acknowledge(const QString &key)
{
    for (const auto &[group, alerts] : m_firing) {
        if (key != keyOf(group.first, group.second))
            continue;
        for (const auto &[id, alert] : alerts)
            Q_EMIT acknowledgeAsked(group.first, id);
    }
}

} // namespace tenure::ui
