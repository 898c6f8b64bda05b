// SPDX-License-Identifier: GPL-3.0-or-later
// Where things stand: settings put to use, docks and their presets, the way back.
#include "app/console/main_window.h"
#include "app/console/status_strip.h"
#include "app/console/window_state.h"
#include "core/base/time_text.h"
#include "ui/bridge/save_file.h"
#include "ui/bridge/history.h"
#include "ui/settings/settings_dialog.h"
#include "ui/views/fleet_view.h"
#include "ui/views/log_view.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QSysInfo>
#include <QSystemTrayIcon>
#include <QTabWidget>

namespace tenure::ui
{

/// Only once the window has its size do the shares of the docks hold.
void MainWindow::shareDocks()
{
    const int em = fontMetrics().averageCharWidth();
    const int line = fontMetrics().height();
    const auto one = [this](const char *name) { return findChild<QDockWidget *>(QLatin1String(name)); };
    resizeDocks({one("connectionsDock")}, {em * 40}, Qt::Horizontal);
    resizeDocks({one("connectionsDock"), one("alertsDock")}, {line * 16, line * 20}, Qt::Vertical);
    resizeDocks({one("timelineDock"), one("eventsDock")}, {line * 6, line * 11}, Qt::Vertical);
}

void MainWindow::restoreLayout()
{
    m_restored = restoreWindowState(*this);
    if (!m_restored)
        restoreState(m_defaultState);
}

void MainWindow::resetLayout()
{
    restoreState(m_defaultState);
    shareDocks();
}

void MainWindow::arrange(const QString &preset)
{
    resetLayout();
    const auto show = [this](const char *name, bool shown) { findChild<QDockWidget *>(QLatin1String(name))->setVisible(shown); };
    const bool drill = preset == QLatin1String("drill");
    const bool classroom = preset == QLatin1String("classroom");
    show("connectionsDock", !classroom);
    show("alertsDock", !classroom);
    show("auditDock", !classroom);
    show("logDock", !classroom && !drill);
    if (drill || classroom)
        openFrontLab();
    else
        showFleet();
    auto *front = findChild<QDockWidget *>(drill ? QStringLiteral("auditDock") : QStringLiteral("eventsDock"));
    front->raise();
    if (preset == QLatin1String("on-call"))
        findChild<QDockWidget *>(QStringLiteral("alertsDock"))->raise();
    lockDocks();
}

void MainWindow::lockDocks()
{
    const bool locked = m_settings.now().docksLocked;
    const auto all = QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable;
    for (QDockWidget *one : findChildren<QDockWidget *>())
        one->setFeatures(locked ? QDockWidget::DockWidgetFeatures(QDockWidget::NoDockWidgetFeatures) : all);
    if (auto *action = findChild<QAction *>(QStringLiteral("lockDocks")))
        action->setChecked(locked);
}

void MainWindow::applySettings()
{
    const Settings &settings = m_settings.now();
    applyLooks(settings, m_theme);
    setAnimated(settings.motion == Motion::Full);
    for (QDockWidget *one : findChildren<QDockWidget *>())
        one->setFont(m_theme.font(FontRole::Body)); // their titles do not follow the application's
    lockDocks();
    for (const auto &[action, standard] : m_standardKeys) {
        const auto changed = settings.keys.find(action->objectName());
        if (changed != settings.keys.end())
            action->setShortcut(QKeySequence(changed->second, QKeySequence::PortableText));
        else if (action->shortcut() != standard)
            action->setShortcut(standard);
    }
}

SettingsDialog *MainWindow::openSettings()
{
    SettingsContext context;
    for (QAction *command : m_commands) {
        const auto standard = m_standardKeys.find(command);
        if (standard != m_standardKeys.end())
            context.keys.push_back({command->objectName(), command->text().remove(QLatin1Char('&')), standard->second});
    }
    context.hasTray = QSystemTrayIcon::isSystemTrayAvailable();
    if (const Journal *journal = m_connections.journal()) {
        const JournalStatus status = journal->status();
        context.journal = tr("%1, %2, %3 MB. Bounded by size and age; the oldest goes first.")
                              .arg(QString::fromStdString(status.path), QLatin1String(journalStateWord(status.state)))
                              .arg(static_cast<double>(status.bytes) / 1e6, 0, 'f', 1);
        if (!status.sentence.empty())
            context.journal += QLatin1Char(' ') + QString::fromStdString(status.sentence);
    }
    context.version = QStringLiteral(TENURE_VERSION);
    fillAlertSettings(context);
    auto *dialog = new SettingsDialog(m_theme, m_settings, std::move(context), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
    return dialog;
}

void MainWindow::showSettings()
{
    openSettings();
}

void MainWindow::toggleTimes()
{
    m_settings.change([](Settings &settings) {
        settings.times = static_cast<TimeShown>((static_cast<int>(settings.times) + 1) % 3);
    });
    tell(tr("Times are shown as %1.").arg(zoneText()));
}

void MainWindow::noteTab()
{
    QWidget *front = m_tabs->currentWidget();
    std::erase_if(m_visited, [front](const QPointer<QWidget> &one) { return one.isNull() || one == front; });
    m_visited.emplace_back(front);
}

void MainWindow::goBack()
{
    std::erase_if(m_visited, [](const QPointer<QWidget> &one) { return one.isNull(); });
    if (m_visited.size() < 2)
        return;
    // The page that is left goes to the far end, so that going back twice does not swap two pages.
    QWidget *before = m_visited[m_visited.size() - 2];
    const QPointer<QWidget> left = m_visited.back();
    m_visited.pop_back();
    m_visited.insert(m_visited.begin(), left);
    m_tabs->setCurrentWidget(before);
}

void MainWindow::exportFleet()
{
    showFleet();
    m_fleet->askExport();
}

void MainWindow::tell(const QString &success)
{
    m_log->model().add(LogLevel::Info, {}, success);
    m_status->tell(success);
}

History *MainWindow::historyOf(const Session &session)
{
    if (session.journal() == nullptr)
        return nullptr;
    const QString path = QString::fromStdString(session.journal()->path());
    History *&history = m_histories[path];
    if (history == nullptr)
        history = new History(path, this);
    return history;
}

void MainWindow::showJournal()
{
    const Journal *journal = m_connections.journal();
    if (journal == nullptr)
        return;
    const JournalStatus status = journal->status();
    const bool well = status.dropped == 0
        && (status.state == JournalState::Writing || status.state == JournalState::Opening);
    QString text = well ? QString() : tr("journal %1").arg(QLatin1String(journalStateWord(status.state)));
    if (status.dropped > 0)
        text += tr(", %1 records lost").arg(status.dropped);
    m_status->setJournal(text, QString::fromStdString(status.sentence));
}

QString MainWindow::diagnostics() const
{
    QString out = QStringLiteral("Tenure %1 diagnostics, %2\nQt %3 (%4), %5, %6\n\nSettings\n%7\nConnections\n")
                      .arg(QStringLiteral(TENURE_VERSION), QString::fromStdString(rfc3339(m_clock.wall())),
                          QLatin1String(qVersion()), QGuiApplication::platformName(), QSysInfo::prettyProductName(),
                          QSysInfo::kernelVersion(), QString::fromUtf8(toJson(m_settings.now())));
    for (const ConnectionProfile &profile : m_connections.profiles()) {
        out += QStringLiteral("  %1  %2  %3").arg(profile.name, profile.url, environmentWord(profile.environment));
        if (const Session *session = m_connections.session(profile.id)) {
            const LinkStatus &link = session->link();
            out += QStringLiteral("  %1  %2 leases  %3  push: %4")
                       .arg(QString::fromStdString(linkText(link, m_clock.now())))
                       .arg(session->leases().size())
                       .arg(QString::fromStdString(link.server), QString::fromStdString(link.pushHow));
            if (link.error)
                out += QStringLiteral("  error: ") + QString::fromStdString(link.error->text());
        }
        out += QLatin1Char('\n');
    }
    return withoutSecrets(out + QStringLiteral("\nLog\n") + m_log->model().asText());
}

void MainWindow::saveDiagnostics()
{
    auto *dialog = new QFileDialog(this, tr("Save diagnostics, secrets removed"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->selectFile(QStringLiteral("tenure-diagnostics.txt"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) {
        saveFile(path, diagnostics().toUtf8(), this, [this, path](const QString &why) {
            if (why.isEmpty())
                tell(tr("Diagnostics are in %1.").arg(path));
            else
                say(tr("The diagnostics could not be written to %1: %2").arg(path, why));
        });
    });
    dialog->open();
}

} // namespace tenure::ui
