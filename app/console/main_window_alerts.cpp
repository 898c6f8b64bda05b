// SPDX-License-Identifier: GPL-3.0-or-later
// Alerts and the past in the window: their count, rules, history, who is told; journals of others.
#include "app/console/alert_sender.h"
#include "app/console/announcer.h"
#include "app/console/main_window.h"
#include "app/console/notifier.h"
#include "app/console/top_bar.h"
#include "ui/bridge/history.h"
#include "ui/bridge/save_file.h"
#include "ui/settings/settings_dialog.h"
#include "ui/theme/words.h"
#include "ui/views/alerts_page.h"
#include "ui/views/journal_page.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QTabWidget>

#include <algorithm>
#include <utility>

namespace tenure::ui
{

void MainWindow::showAlertCount()
{
    int firing = 0;
    int snoozed = 0;
    for (const Session *session : m_connections.sessions()) {
        for (const auto &[id, alert] : session->alerts()) {
            firing += alert.state == AlertState::Firing || alert.state == AlertState::Returned ? 1 : 0;
            snoozed += alert.state == AlertState::Snoozed ? 1 : 0;
        }
    }
    m_topBar->setAlerts(firing, snoozed);
}

/// Beside the settings, so that one folder holds all that a person set.
std::string MainWindow::rulesPath() const
{
    return (QFileInfo(m_settings.path()).absolutePath() + QStringLiteral("/rules.json")).toStdString();
}

void MainWindow::loadRules()
{
    auto loaded = RuleBook::load(rulesPath());
    if (loaded)
        m_rules = std::move(*loaded);
    else
        say(tr("The alert rules could not be read, the shipped ones hold: %1").arg(text(loaded.error().text())));
    m_damagedRules = loaded ? QString() : QString::fromStdString(rulesPath());
}

AlertsPage *MainWindow::openAlertsPage()
{
    auto *page = m_tabs->findChild<AlertsPage *>();
    if (page == nullptr) {
        page = new AlertsPage(m_theme, m_clock, m_rules, m_tabs);
        for (const Session *session : m_connections.sessions())
            page->setSource(session->profile().name, historyOf(*session), session->journalId());
        connect(page, &AlertsPage::saved, this, &MainWindow::saveRules);
        addTab(page, tr("Alerts"));
    }
    m_tabs->setCurrentWidget(page);
    return page;
}

AlertsPage *MainWindow::showRules()
{
    AlertsPage *page = openAlertsPage();
    page->showTab(AlertsPage::Rules);
    return page;
}

AlertsPage *MainWindow::showAlertHistory()
{
    AlertsPage *page = openAlertsPage();
    page->showTab(AlertsPage::Past);
    return page;
}

void MainWindow::saveRules(const RuleBook &book)
{
    m_rules = book;
    // What could not be read is somebody's work, or a newer Tenure's: it is not written over.
    if (const QString damaged = std::exchange(m_damagedRules, {}); !damaged.isEmpty()) {
        const QString aside = damaged + QStringLiteral(".unreadable");
        QFile::remove(aside);
        if (QFile::rename(damaged, aside))
            say(tr("The rules that could not be read are kept in %1.").arg(aside));
    }
    for (Session *session : m_connections.sessions())
        session->setRules(m_rules);
    saveFile(QString::fromStdString(rulesPath()), QByteArray::fromStdString(m_rules.json()), this, [this](const QString &why) {
        if (why.isEmpty())
            tell(tr("The rules are saved and hold from now on."));
        else
            say(tr("The rules hold for this run, but could not be saved in %1: %2").arg(QString::fromStdString(rulesPath()), why));
    });
}

void MainWindow::announce(Session *session, std::size_t howMany)
{
    const std::vector<Transition> &all = session->transitions();
    for (std::size_t i = all.size() - std::min(howMany, all.size()); i < all.size(); ++i) {
        if (all[i].kind == TransitionKind::Appeared)
            continue;
        m_announcer->say(QStringLiteral("%1, %2, %3").arg(text(std::string_view(transitionWord(all[i].kind))),
            shown(all[i].lease.name()), session->profile().name));
    }
}

JournalPage *MainWindow::openJournal(const QString &path)
{
    for (auto *known : m_tabs->findChildren<JournalPage *>()) {
        if (known->path() == path) {
            m_tabs->setCurrentWidget(known);
            return known;
        }
    }
    auto *page = new JournalPage(m_theme, m_clock, path, m_tabs);
    connect(page, &JournalPage::problem, this, &MainWindow::say);
    connect(page, &JournalPage::told, this, &MainWindow::tell);
    m_tabs->setCurrentIndex(addTab(page, tr("Journal %1").arg(QFileInfo(path).fileName())));
    return page;
}

void MainWindow::askJournal()
{
    auto *dialog = new QFileDialog(this, tr("Open a journal to look at"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Journals and exports (*.db *.jsonl *.json)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) { openJournal(path); });
    dialog->open();
}

void MainWindow::makeAlertWays()
{
    m_notifier = new Notifier(m_clock, m_settings, DesktopNotes::sessionBus(), this);
    m_sender = new AlertSender(m_settings, this);
    m_announcer = new Announcer(m_clock, this);
    connect(m_sender, &AlertSender::problem, this, &MainWindow::say);
    connect(m_notifier, &Notifier::quitAsked, this, &MainWindow::quit);
    connect(m_notifier, &Notifier::openAsked, this, [this] {
        showNormal();
        raise();
        activateWindow();
    });
    connect(m_notifier, &Notifier::acknowledgeAsked, this, [this](const QString &connection, std::uint64_t alert) {
        for (Session *session : m_connections.sessions()) {
            if (session->profile().name == connection)
                session->acknowledge(alert);
        }
    });
}

void MainWindow::tellAlertsOf(Session *session)
{
    connect(session, &Session::alertsRaised, this, [this, session](const std::vector<Alert> &alerts) {
        m_notifier->take(session->profile().name, alerts);
        // What is simulated wakes nobody outside.
        if (!session->isSimulated())
            m_sender->take(session->profile().name, alerts);
    });
    connect(session, &Session::linkChanged, this, [this, session] {
        if (session->isOpen())
            return;
        m_notifier->forget(session->profile().name);
        m_sender->forget(session->profile().name);
    });
}

void MainWindow::fillAlertSettings(SettingsContext &context)
{
    context.testWebhook = [this](std::function<void(QString)> done) { m_sender->test(std::move(done)); };
    context.saveWebhookSecret = [this](const QString &secret) { m_sender->keepSecret(secret); };
    context.webhookStatus = m_sender->statusText();
    context.notifyHow = m_notifier->way();
}

void MainWindow::quit()
{
    m_quitting = true;
    close();
}

} // namespace tenure::ui
