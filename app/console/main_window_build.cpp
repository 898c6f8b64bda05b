// SPDX-License-Identifier: GPL-3.0-or-later
// How the window is put together: centre, docks, actions, menus.
#include "app/console/audit_view.h"
#include "app/console/connections_dock.h"
#include "app/console/main_window.h"
#include "app/console/status_strip.h"
#include "app/console/top_bar.h"
#include "app/console/window_state.h"
#include "ui/dialogs/tone.h"
#include "ui/views/alerts_view.h"
#include "ui/views/events_view.h"
#include "ui/settings/settings_store.h"
#include "ui/views/fleet_view.h"
#include "ui/views/log_view.h"
#include "ui/views/timeline_panel.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QShortcut>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace tenure::ui
{

void MainWindow::buildCentre()
{
    auto *centre = new QWidget;
    auto *all = new QVBoxLayout(centre);
    all->setContentsMargins({});
    all->setSpacing(0);
    m_messageBar = new QWidget;
    auto *row = new QHBoxLayout(m_messageBar);
    m_message = new QLabel;
    m_message->setObjectName(QStringLiteral("message"));
    m_message->setWordWrap(true);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setTone(m_message, Tone::Critical);
    auto *dismiss = new QToolButton;
    dismiss->setText(tr("Dismiss"));
    connect(dismiss, &QToolButton::clicked, m_messageBar, &QWidget::hide);
    row->addWidget(m_message, 1);
    row->addWidget(dismiss);
    m_messageBar->hide();

    m_tabs = new QTabWidget;
    m_tabs->setObjectName(QStringLiteral("tabs"));
    m_tabs->setDocumentMode(true);
    m_fleet = new FleetView(m_theme, m_clock, m_tabs);
    m_fleet->setStore(m_settings);
    m_tabs->addTab(m_fleet, tr("Fleet"));
    all->addWidget(m_messageBar);
    all->addWidget(m_tabs, 1);
    setCentralWidget(centre);

    m_topBar = new TopBar(m_theme, m_freeze, m_reread, this);
    addToolBar(Qt::TopToolBarArea, m_topBar);
    connect(m_topBar, &TopBar::findRequested, this, &MainWindow::togglePalette);
    m_status = new StatusStrip(m_theme, m_clock, this);
    statusBar()->addWidget(m_status, 1);
    statusBar()->setSizeGripEnabled(false);
}

QDockWidget *MainWindow::dock(
    const char *name, const QString &title, QWidget *content, Qt::DockWidgetArea area)
{
    auto *out = new QDockWidget(title, this);
    out->setObjectName(QLatin1String(name));
    out->setWidget(content);
    addDockWidget(area, out);
    return out;
}

void MainWindow::buildDocks()
{
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    m_connectionsDock = new ConnectionsDock(m_theme, m_connections, this);
    m_alerts = new AlertsView(m_theme, m_clock, this);
    m_events = new EventsView(m_theme, m_clock, std::nullopt, this);
    m_audit = new AuditView(this);
    m_log = new LogView(m_theme, m_clock, this);
    m_events->setMinimumHeight(m_theme.rowHeight() * 5);
    m_timeline = new TimelinePanel(m_theme, m_clock, this);
    dock("connectionsDock", tr("Connections"), m_connectionsDock, Qt::LeftDockWidgetArea);
    // Under the connections, not at the right: the fleet table needs the width more.
    QDockWidget *alerts = dock("alertsDock", tr("Alerts"), m_alerts, Qt::LeftDockWidgetArea);
    QDockWidget *timeline = dock("timelineDock", tr("Timeline, all leases"), m_timeline,
        Qt::BottomDockWidgetArea);
    QDockWidget *events = dock("eventsDock", tr("Events"), m_events, Qt::BottomDockWidgetArea);
    QDockWidget *audit = dock("auditDock", tr("Audit"), m_audit, Qt::BottomDockWidgetArea);
    QDockWidget *log = dock("logDock", tr("Log"), m_log, Qt::BottomDockWidgetArea);
    splitDockWidget(timeline, events, Qt::Vertical);
    tabifyDockWidget(events, audit);
    tabifyDockWidget(audit, log);
    events->raise();
    connect(m_topBar, &TopBar::alertsRequested, alerts, [alerts] {
        alerts->show();
        alerts->raise();
    });
}

void MainWindow::addCommand(QAction *action, const char *name, const QString &text, const QKeySequence &key)
{
    action->setObjectName(QLatin1String(name));
    action->setText(text);
    action->setShortcut(key);
    addAction(action);
    m_commands.push_back(action);
    m_standardKeys[action] = key;
}

QAction *MainWindow::action(
    const char *name, const QString &text, const QKeySequence &key, void (MainWindow::*act)())
{
    auto *out = new QAction(this);
    addCommand(out, name, text, key);
    connect(out, &QAction::triggered, this, act);
    return out;
}

void MainWindow::buildActions()
{
    m_freeze = new QAction(tr("‖ Freeze"), this);
    m_freeze->setCheckable(true);
    m_freeze->setToolTip(tr("Holds the view still (Space); nothing is missed"));
    connect(m_freeze, &QAction::triggered, this, &MainWindow::setFrozen);
    connect(m_freeze, &QAction::toggled, this,
        [this](bool on) { m_freeze->setText(on ? tr("▶ Thaw") : tr("‖ Freeze")); });
    m_commands.push_back(m_freeze);
    m_reread = action("reread", tr("Re-read"), Qt::Key_F5, &MainWindow::rereadAll);
    m_reread->setToolTip(tr("Reads every lease again, verified (F5)"));
}

void MainWindow::buildMenus()
{
    QMenu *file = menuBar()->addMenu(tr("&Console"));
    file->addAction(action("addConnection", tr("Add connection…"), QKeySequence::New, &MainWindow::addConnection));
    file->addAction(action("openSimulation", tr("Open simulation"), {}, &MainWindow::openDemo));
    file->addSeparator();
    file->addAction(action("openJournal", tr("Look at a journal…"), QKeySequence::Open, &MainWindow::askJournal));
    file->addAction(action("export", tr("Export the fleet…"), Qt::CTRL | Qt::Key_E, &MainWindow::exportFleet));
    file->addAction(action("diagnostics", tr("Save diagnostics…"), {}, &MainWindow::saveDiagnostics));
    file->addAction(action("settings", tr("Settings…"), Qt::CTRL | Qt::Key_Comma, &MainWindow::showSettings));
    file->addSeparator();
    auto *quit = new QAction(tr("Quit"), this);
    quit->setShortcut(QKeySequence::Quit);
    connect(quit, &QAction::triggered, this, &MainWindow::quit);
    file->addAction(quit);
    buildViewMenu();

    QMenu *safety = menuBar()->addMenu(tr("&Safety"));
    safety->addAction(action("readOnlyNow", tr("Read-only now, all connections"),
        Qt::CTRL | Qt::SHIFT | Qt::Key_M, &MainWindow::readOnlyEverywhere));
    safety->addAction(action("clearFaults", tr("Clear all simulated faults"), Qt::CTRL | Qt::SHIFT | Qt::Key_0,
        &MainWindow::clearSimFaults));
    safety->addAction(action("openSimLab", tr("Open simulation lab"), {}, &MainWindow::openSimLab));
    safety->addAction(action("openLab", tr("Open lab of this connection"), {}, &MainWindow::openFrontLab));
    safety->addAction(action("openDrill", tr("Failover drill…"), {}, &MainWindow::openFrontDrill));
    // On purpose without a key: it opens from the lease page, here, or "> release" in the palette.
    safety->addAction(action("release", tr("Release the lease in front…"), {}, &MainWindow::openFrontRelease));

    QMenu *help = menuBar()->addMenu(tr("&Help"));
    QAction *keys = action("keyboard", tr("Keyboard"), Qt::Key_F1, &MainWindow::showShortcuts);
    keys->setShortcuts({QKeySequence(Qt::Key_F1), QKeySequence(Qt::CTRL | Qt::Key_Slash)});
    help->addAction(keys);
    help->addAction(action("about", tr("About Tenure"), {}, &MainWindow::showAbout));
}

void MainWindow::buildViewMenu()
{
    QMenu *view = menuBar()->addMenu(tr("&View"));
    view->addAction(action("palette", tr("Find or run…"), Qt::CTRL | Qt::Key_K, &MainWindow::togglePalette));
    view->addAction(action("filter", tr("Filter the fleet"), QKeySequence::Find, &MainWindow::focusFilter));
    QAction *back = action("back", tr("Back to the tab before"), Qt::Key_Backspace, &MainWindow::goBack);
    back->setShortcuts({QKeySequence(Qt::Key_Backspace), QKeySequence(Qt::ALT | Qt::Key_Left)});
    view->addAction(back);
    view->addAction(m_freeze);
    view->addAction(m_reread);
    view->addAction(action("work", tr("Work queue of this connection"), {}, &MainWindow::openFrontWork));
    view->addAction(action("times", tr("Times: UTC, local, both"), Qt::Key_T, &MainWindow::toggleTimes));
    view->addSeparator();
    for (QDockWidget *one : findChildren<QDockWidget *>())
        view->addAction(one->toggleViewAction());
    QMenu *layouts = view->addMenu(tr("Layout"));
    for (const auto &[name, text] : {std::pair("on-call", tr("On-call")), std::pair("drill", tr("Drill")),
             std::pair("classroom", tr("Classroom"))}) {
        auto *one = new QAction(this);
        addCommand(one, name, text, {});
        one->setText(tr("Layout: %1").arg(text));
        connect(one, &QAction::triggered, this, [this, name = name] { arrange(QLatin1String(name)); });
        layouts->addAction(one);
    }
    layouts->addSeparator();
    layouts->addAction(action("resetLayout", tr("Reset layout"), {}, &MainWindow::resetLayout));
    auto *lock = new QAction(this);
    addCommand(lock, "lockDocks", tr("Lock docks"), {});
    lock->setCheckable(true);
    connect(lock, &QAction::triggered, this,
        [this](bool on) { m_settings.change([on](Settings &settings) { settings.docksLocked = on; }); });
    layouts->addAction(lock);
    QMenu *theme = view->addMenu(tr("Theme"));
    auto *group = new QActionGroup(this);
    const std::array names{tr("System"), tr("Light"), tr("Dark"), tr("High contrast")};
    for (std::size_t i = 0; i < names.size(); ++i) {
        QAction *one = theme->addAction(names[i]);
        one->setCheckable(true);
        group->addAction(one);
        connect(one, &QAction::triggered, this, [this, i] {
            m_settings.change([i](Settings &settings) { settings.theme = static_cast<ThemeChoice>(i); });
        });
        connect(theme, &QMenu::aboutToShow, one,
            [this, one, i] { one->setChecked(m_theme.choice() == static_cast<ThemeChoice>(i)); });
    }
}

void MainWindow::buildSequences()
{
    const auto go = [this](const QString &keys, auto act) {
        connect(new QShortcut(QKeySequence(keys), this), &QShortcut::activated, this, act);
    };
    const auto raise = [this](const char *name) {
        auto *one = findChild<QDockWidget *>(QLatin1String(name));
        one->show();
        one->raise();
        one->widget()->setFocus();
    };
    go(QStringLiteral("G, F"), [this] { showFleet(); });
    go(QStringLiteral("G, A"), [raise] { raise("alertsDock"); });
    go(QStringLiteral("G, L"), [this] { openFrontLab(); });
    go(QStringLiteral("G, T"), [raise] { raise("timelineDock"); });
    go(QStringLiteral("G, E"), [raise] { raise("eventsDock"); });
    go(QStringLiteral("G, D"), [this] { openSimLab(); });
    go(QStringLiteral("G, W"), [this] { openFrontWork(); });
    go(QStringLiteral("Ctrl+W"), [this] { closeTab(m_tabs->currentIndex()); });
    for (int i = 1; i <= 9; ++i) {
        go(QStringLiteral("Ctrl+%1").arg(i), [this, i] {
            if (i <= m_tabs->count())
                m_tabs->setCurrentIndex(i - 1);
        });
    }
}

} // namespace tenure::ui
