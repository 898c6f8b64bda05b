// SPDX-License-Identifier: GPL-3.0-or-later
// Work queues in the window: a page a connection, the way back for dead letters, the lessons.
#include "app/console/main_window.h"
#include "core/work/queue_names.h"
#include "ui/dialogs/retry_dialog.h"
#include "ui/lab/sim_lab.h"
#include "ui/views/work_page.h"

#include <QTabWidget>

namespace tenure::ui
{

WorkPage *MainWindow::openWork(const QString &connectionId)
{
    Session *session = m_connections.session(connectionId);
    if (session == nullptr || !session->storeUri())
        return nullptr;
    for (WorkPage *page : m_tabs->findChildren<WorkPage *>()) {
        if (page->property("connectionId").toString() == connectionId) {
            m_tabs->setCurrentWidget(page);
            return page;
        }
    }
    auto *page = new WorkPage(m_theme, m_clock, *session, m_tabs);
    page->setProperty("connectionId", connectionId);
    connect(page, &WorkPage::demonstrationRequested, this, &MainWindow::openLesson);
    connect(page, &WorkPage::retryRequested, this, [this, connectionId, page](const RetryPlan &plan) {
        Session *asked = m_connections.session(connectionId);
        if (asked == nullptr)
            return;
        auto *dialog = new RetryDialog(*asked, plan, page->feed().look() ? page->feed().look()->counts.dead : 0, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
    m_tabs->setCurrentIndex(addTab(page, tr("Work %1").arg(session->profile().name)));
    return page;
}

/// Of the connection in front; where that keeps none, it says why.
void MainWindow::openFrontWork()
{
    const Session *front = sessionInFront();
    if (front == nullptr)
        return say(tr("A work queue needs a connection: to an SQLite file or to PostgreSQL."));
    if (front->isSimulated())
        return say(tr("The simulation keeps no work queues. Connect to an SQLite file or to PostgreSQL; or open the simulation lab, scenario W1."));
    if (!front->storeUri())
        return say(tr("%1: %2").arg(front->profile().name, front->link().error ? QString::fromStdString(front->link().error->text()) : tr("it cannot be opened")));
    if (const auto names = openQueueNames(*front->storeUri()); !names)
        return say(tr("%1: %2").arg(front->profile().name, QString::fromStdString(names.error().text())));
    openWork(front->profile().id);
}

void MainWindow::openLesson(const QString &scenario)
{
    openSimLab();
    if (auto *lab = m_tabs->findChild<SimLab *>()) {
        lab->openNamed(scenario);
        lab->play();
    }
}

} // namespace tenure::ui
