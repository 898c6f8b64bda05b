// SPDX-License-Identifier: GPL-3.0-or-later
// Alerts in the window: their count, rules, history, and who is told.
#include "app/console/announcer.h"
#include "app/console/main_window.h"
#include "app/console/notifier.h"
#include "app/console/top_bar.h"
#include "ui/bridge/history.h"
#include "ui/bridge/save_file.h"
#include "ui/settings/settings_store.h"
#include "ui/theme/words.h"
#include "ui/views/alerts_page.h"

#include <QFileInfo>
#include <QTabWidget>

#include <algorithm>

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

void MainWindow::quit()
{
    m_quitting = true;
    close();
}

} // namespace tenure::ui
