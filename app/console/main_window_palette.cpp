// SPDX-License-Identifier: GPL-3.0-or-later
// What the palette offers, and the small commands behind it.
#include "app/console/command_palette.h"
#include "app/console/main_window.h"
#include "core/base/text.h"
#include "ui/dialogs/about_dialogs.h"
#include "ui/lab/drill_view.h"
#include "ui/lab/sim_lab.h"
#include "ui/theme/words.h"
#include "ui/views/fleet_view.h"
#include "ui/views/lease_page.h"

#include <QAction>
#include <QTabWidget>

namespace tenure::ui
{

std::vector<PaletteEntry> MainWindow::paletteEntries()
{
    std::vector<PaletteEntry> entries;
    for (QAction *command : m_commands) {
        QString text = command->text();
        entries.push_back({QLatin1Char('>'), text.remove(QLatin1Char('&')),
            command->shortcut().toString(QKeySequence::NativeText), [command] { command->trigger(); }});
    }
    for (const ConnectionProfile &profile : m_connections.profiles()) {
        const QString id = profile.id;
        const bool open = m_connections.session(id) != nullptr;
        entries.push_back({QLatin1Char('@'), profile.name,
            environmentWord(profile.environment) + (open ? tr(", disconnect") : tr(", connect")),
            [this, id, open] { open ? m_connections.close(id) : m_connections.open(id); }});
    }
    const Instant now = m_clock.now();
    for (Session *session : m_connections.sessions()) {
        const QString id = session->profile().id;
        for (const auto &[number, alert] : session->alerts()) {
            if (alert.state == AlertState::Resolved || alert.lease.name().empty())
                continue;
            entries.push_back({QLatin1Char('!'), QString::fromStdString(printable(alert.lease.name())),
                QString::fromStdString(alert.text),
                [this, id, lease = alert.lease] { openLease(id, lease); }});
        }
        const LinkState link = session->linkState();
        for (const auto &[lease, status] : session->leases()) {
            const LeaseState state = stateAt(status, link, now);
            entries.push_back({QLatin1Char('#'), QString::fromStdString(printable(lease.name())),
                session->profile().name + QStringLiteral("  ") + glyph(state) + QLatin1Char(' ') + word(state),
                [this, id, which = lease] { openLease(id, which); }});
        }
    }
    return entries;
}

void MainWindow::showPalette(const QString &typed)
{
    auto *palette = new CommandPalette(paletteEntries(), typed, this);
    palette->show();
}

void MainWindow::togglePalette()
{
    showPalette();
}

void MainWindow::focusFilter()
{
    showFleet();
    m_fleet->focusFilter();
}

void MainWindow::addConnection()
{
    editConnection({});
}

void MainWindow::openDemo()
{
    m_connections.openDemo();
}

void MainWindow::openFrontLab()
{
    if (Session *session = sessionInFront(); session && session->backend())
        openLab(session);
    else
        say(tr("The lab needs a connection. Open the simulation, it needs no network."));
}

void MainWindow::openDrill(Session *session, const std::optional<LeaseId> &lease)
{
    const QString id = session->profile().id;
    DrillView *page = nullptr;
    for (DrillView *one : m_tabs->findChildren<DrillView *>()) {
        if (one->property("connectionId").toString() == id)
            page = one;
    }
    if (!page) {
        page = new DrillView(m_theme, *session, m_tabs);
        page->setProperty("connectionId", id);
        connect(page, &DrillView::problem, this, &MainWindow::say);
        connect(page, &DrillView::told, this, &MainWindow::tell);
        addTab(page, session->isSimulated() ? tr("Drill (SIM)") : tr("Drill %1").arg(session->profile().name));
    }
    if (lease)
        page->setLease(*lease);
    m_tabs->setCurrentWidget(page);
}

/// Of the connection in front; of the lease too, when a lease page is.
void MainWindow::openFrontDrill()
{
    Session *session = sessionInFront();
    if (!session || !session->backend()) {
        say(tr("A drill needs a connection. Open the simulation, it needs no network."));
        return;
    }
    const QVariant name = m_tabs->currentWidget()->property("leaseName");
    openDrill(session, name.isValid() ? std::optional(LeaseId::observed(name.toByteArray().toStdString())) : std::nullopt);
}

void MainWindow::openSimLab()
{
    auto *lab = m_tabs->findChild<SimLab *>();
    m_tabs->setCurrentIndex(lab ? m_tabs->indexOf(lab) : addTab(new SimLab(m_theme, m_tabs), tr("Simulation lab (SIM)")));
}

void MainWindow::openFrontRelease()
{
    const QWidget *page = m_tabs->currentWidget();
    if (!qobject_cast<const LeasePage *>(page)) {
        say(tr("Open the lease first: a release acts on the lease page in front."));
        return;
    }
    openRelease(page->property("connectionId").toString(),
        LeaseId::observed(page->property("leaseName").toByteArray().toStdString()));
}

void MainWindow::showShortcuts()
{
    tenure::ui::showShortcuts(this);
}

void MainWindow::showAbout()
{
    tenure::ui::showAbout(this, QStringLiteral(TENURE_VERSION));
}

} // namespace tenure::ui
