// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/main_window.h"

#include "app/console/alert_sender.h"
#include "app/console/audit_view.h"
#include "app/console/connections_dock.h"
#include "app/console/notifier.h"
#include "app/console/status_strip.h"
#include "app/console/top_bar.h"
#include "app/console/window_state.h"
#include "core/base/text.h"
#include "ui/bridge/history.h"
#include "ui/dialogs/connection_dialog.h"
#include "ui/dialogs/release_dialog.h"
#include "ui/lab/lab_view.h"
#include "ui/lab/sim_lab.h"
#include "ui/views/alerts_page.h"
#include "ui/views/alerts_view.h"
#include "ui/views/events_view.h"
#include "ui/views/fleet_view.h"
#include "ui/settings/settings_store.h"
#include "ui/views/lease_page.h"
#include "ui/views/log_view.h"
#include "ui/views/session_source.h"
#include "ui/views/timeline_panel.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QTabBar>
#include <QTabWidget>
#include <QTextEdit>
#include <QToolButton>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

const char *const kConnection = "connectionId";
const char *const kLease = "leaseName";

QString tabTitle(const LeaseId &lease)
{
    return QString::fromStdString(printable(lease.name(), 40));
}

/// Does a key typed here belong to the widget rather than to the window?
bool takesKeys(const QWidget *widget)
{
    return qobject_cast<const QLineEdit *>(widget) || qobject_cast<const QAbstractButton *>(widget)
        || qobject_cast<const QAbstractSpinBox *>(widget) || qobject_cast<const QComboBox *>(widget)
        || qobject_cast<const QTextEdit *>(widget);
}

int urgency(const Session &session)
{
    return session.isSimulated() ? 9 : static_cast<int>(session.profile().environment);
}

} // namespace

MainWindow::MainWindow(Theme &theme, const Clock &clock, Connections &connections, SettingsStore &settings,
    QWidget *parent)
    : QMainWindow(parent), m_theme(theme), m_clock(clock), m_connections(connections), m_settings(settings)
{
    setObjectName(QStringLiteral("mainWindow"));
    setDockOptions(AnimatedDocks | AllowTabbedDocks | AllowNestedDocks);
    resize(1480, 920);
    buildActions();
    buildCentre();
    buildDocks();
    buildMenus();
    buildSequences();
    connectParts();
    m_defaultState = saveState();
    restoreLayout();
    applySettings();
    loadRules();
    showFront();
    qApp->installEventFilter(this);
}

MainWindow::~MainWindow()
{
    // Views and pages borrow sources that belong to the sessions: let go of them first.
    for (Session *session : m_connections.sessions())
        dropSession(session);
}

void MainWindow::connectParts()
{
    connect(&m_connections, &Connections::sessionOpened, this, &MainWindow::addSession);
    connect(&m_connections, &Connections::sessionClosing, this, &MainWindow::dropSession);
    connect(&m_connections, &Connections::problem, this, &MainWindow::say);
    connect(m_connectionsDock, &ConnectionsDock::addRequested, this, [this] { editConnection({}); });
    connect(m_connectionsDock, &ConnectionsDock::editRequested, this, &MainWindow::editConnection);
    connect(m_connectionsDock, &ConnectionsDock::passwordRequested, this, &MainWindow::askPassword);
    connect(m_connectionsDock, &ConnectionsDock::currentChanged, this, &MainWindow::showFront);
    connect(m_fleet, &FleetView::leaseActivated, this, &MainWindow::openLease);
    connect(m_fleet, &FleetView::addConnectionRequested, this, [this] { editConnection({}); });
    connect(m_fleet, &FleetView::openSimulationRequested, this, &MainWindow::openDemo);
    connect(m_alerts, &AlertsView::leaseActivated, this, &MainWindow::openLease);
    connect(m_alerts, &AlertsView::shelfEnds, this, &MainWindow::tell);
    connect(m_alerts, &AlertsView::rulesAsked, this, &MainWindow::showRules);
    connect(m_alerts, &AlertsView::historyAsked, this, &MainWindow::showAlertHistory);
    makeAlertWays();
    connect(m_events, &EventsView::leaseActivated, this, &MainWindow::openLease);
    connect(m_fleet, &FleetView::problem, this, &MainWindow::say);
    connect(m_fleet, &FleetView::told, this, &MainWindow::tell);
    connect(m_log, &LogView::diagnosticsAsked, this, &MainWindow::saveDiagnostics);
    connect(&m_log->model(), &LogModel::added, this,
        [this] { m_status->setWarnings(m_log->model().warnings()); });
    connect(&m_settings, &SettingsStore::changed, this, &MainWindow::applySettings);
    connect(&m_settings, &SettingsStore::problem, this, &MainWindow::say);
    connect(m_tabs, &QTabWidget::currentChanged, this, &MainWindow::noteTab);
    connect(m_tabs, &QTabWidget::currentChanged, this, &MainWindow::showFront);
    connect(&m_timelineTimer, &QTimer::timeout, this, &MainWindow::showTimeline);
    connect(&m_timelineTimer, &QTimer::timeout, this, &MainWindow::showJournal);
    m_timelineTimer.start(2s);
    connect(m_timeline, &TimelinePanel::told, this, &MainWindow::tell);
    connect(m_timeline, &TimelinePanel::problem, this, &MainWindow::say);
    for (const QString &reason : {m_settings.readOnlyReason(), m_connections.readOnlyReason()}) {
        if (!reason.isEmpty())
            say(reason);
    }
    noteTab();
}

void MainWindow::addSession(Session *session)
{
    LeaseSource *source = sourceOf(session);
    m_fleet->addSource(source);
    m_alerts->addSource(source);
    m_events->addSource(source);
    m_log->model().addSource(source);
    session->setRules(m_rules);
    if (auto *page = m_tabs->findChild<AlertsPage *>())
        page->setSource(session->profile().name, historyOf(*session), session->journalId());
    connect(session, &Session::transitionsAdded, this,
        [this, session](std::size_t howMany) { announce(session, howMany); });
    tellAlertsOf(session);
    m_timeline->setConnection(session->profile().id, session->profile().name, {}, m_clock.now());
    m_timeline->setHistory(session->profile().id, historyOf(*session), session->journalId(), source->connection().where);
    connect(session, &Session::alertsChanged, this, &MainWindow::showAlertCount);
    connect(session, &Session::audited, this, [this] { m_audit->showAudit(m_connections.sessions()); });
    connect(session, &Session::operatorChanged, this, &MainWindow::showFront);
    session->setFrozen(m_freeze->isChecked());
    m_connectionsDock->select(session->profile().id);
    m_status->setSessions(m_connections.sessions());
    if (session->isSimulated())
        openLab(session);
    showFleet();
    showFront();
    if (!session->backend())
        say(tr("%1: %2").arg(session->profile().name,
            QString::fromStdString(session->link().error->text())));
}

void MainWindow::dropSession(Session *session)
{
    const QString id = session->profile().id;
    for (int i = m_tabs->count() - 1; i > 0; --i) {
        if (m_tabs->widget(i)->property(kConnection).toString() == id)
            closeTab(i);
    }
    for (ReleaseDialog *dialog : findChildren<ReleaseDialog *>()) {
        if (dialog->property(kConnection).toString() == id)
            delete dialog;
    }
    LeaseSource *source = sourceOf(session);
    m_fleet->removeSource(source);
    m_alerts->removeSource(source);
    m_events->removeSource(source);
    m_log->model().removeSource(source);
    if (auto *page = m_tabs->findChild<AlertsPage *>())
        page->removeSource(session->profile().name);
    m_timeline->removeConnection(id);
    disconnect(session, nullptr, this, nullptr);
    m_notifier->forget(session->profile().name);
    m_sender->forget(session->profile().name);
    // The journal of a simulated world goes with it.
    if (session->isSimulated() && session->journal() != nullptr) {
        const auto known = m_histories.find(QString::fromStdString(session->journal()->path()));
        if (known != m_histories.end()) {
            delete known->second;
            m_histories.erase(known);
        }
    }
    std::vector<Session *> left = m_connections.sessions();
    std::erase(left, session);
    m_status->setSessions(left);
    m_topBar->setSession(nullptr);
    QMetaObject::invokeMethod(this, [this] { showFront(); showAlertCount(); }, Qt::QueuedConnection);
}

void MainWindow::openLease(const QString &connectionId, const LeaseId &lease)
{
    Session *session = m_connections.session(connectionId);
    if (!session)
        return;
    session->focus(lease);
    const QByteArray name = QByteArray::fromStdString(lease.name());
    for (int i = 1; i < m_tabs->count(); ++i) {
        const QWidget *page = m_tabs->widget(i);
        if (page->property(kConnection).toString() == connectionId
            && page->property(kLease).toByteArray() == name) {
            m_tabs->setCurrentIndex(i);
            return;
        }
    }
    auto *page = new LeasePage(m_theme, m_clock, sourceOf(session), lease, m_tabs);
    page->setProperty(kConnection, connectionId);
    page->setProperty(kLease, name);
    connect(page, &LeasePage::releaseRequested, this,
        [this](const QString &id, const LeaseId &which) { openRelease(id, which); });
    connect(page, &LeasePage::problem, this, &MainWindow::say);
    connect(page, &LeasePage::told, this, &MainWindow::tell);
    connect(page, &LeasePage::pinAsked, this, [this](const QString &connection, const QByteArray &which) {
        m_settings.change([&](Settings &settings) {
            if (std::erase(settings.pins, PinnedLease{connection, which}) == 0)
                settings.pins.push_back({connection, which});
        });
    });
    page->setHistory(historyOf(*session), session->journalId());
    m_tabs->setCurrentIndex(addTab(page, tabTitle(lease)));
}

void MainWindow::openLab(Session *session)
{
    const QString id = session->profile().id;
    for (int i = 1; i < m_tabs->count(); ++i) {
        QWidget *page = m_tabs->widget(i);
        if (qobject_cast<LabView *>(page) && page->property(kConnection).toString() == id) {
            m_tabs->setCurrentIndex(i);
            return;
        }
    }
    auto *lab = new LabView(m_theme, m_clock, *session, m_tabs);
    lab->setProperty(kConnection, id);
    m_tabs->setCurrentIndex(addTab(
        lab, session->isSimulated() ? tr("Lab (SIM)") : tr("Lab %1").arg(session->profile().name)));
}

void MainWindow::showFleet()
{
    m_tabs->setCurrentIndex(0);
}

QDialog *MainWindow::openRelease(const QString &connectionId, const LeaseId &lease)
{
    Session *session = m_connections.session(connectionId);
    if (!session || !session->lease(lease))
        return nullptr;
    session->focus(lease);
    auto *dialog = new ReleaseDialog(*session, lease, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setProperty(kConnection, connectionId);
    dialog->open();
    return dialog;
}

int MainWindow::addTab(QWidget *page, const QString &title)
{
    const int index = m_tabs->addTab(page, title);
    auto *close = new QToolButton;
    close->setAutoRaise(true);
    close->setText(QStringLiteral("×"));
    close->setToolTip(tr("Close the tab (Ctrl+W)"));
    close->setAccessibleName(tr("Close %1").arg(title));
    // Queued: closing deletes the page, and with it this very button.
    connect(close, &QToolButton::clicked, page, [this, page] { closeTab(m_tabs->indexOf(page)); },
        Qt::QueuedConnection);
    m_tabs->tabBar()->setTabButton(index, QTabBar::RightSide, close);
    return index;
}

void MainWindow::closeTab(int index)
{
    if (index <= 0)
        return;
    QWidget *page = m_tabs->widget(index);
    m_tabs->removeTab(index);
    delete page;
}

Session *MainWindow::sessionInFront() const
{
    if (const QWidget *page = m_tabs->currentWidget()) {
        if (Session *session = m_connections.session(page->property(kConnection).toString()))
            return session;
    }
    if (Session *session = m_connections.session(m_connectionsDock->currentId()))
        return session;
    // The most dangerous one: a band must never look more harmless than what is connected.
    Session *first = nullptr;
    for (Session *session : m_connections.sessions()) {
        if (!first || urgency(*session) < urgency(*first))
            first = session;
    }
    return first;
}

void MainWindow::showFront()
{
    Session *front = sessionInFront();
    m_topBar->setSession(front);
    QStringList names;
    bool sim = false;
    for (const Session *session : m_connections.sessions()) {
        names += session->profile().name;
        sim = sim || session->isSimulated();
    }
    if (front) {
        names.removeOne(front->profile().name);
        names.prepend(front->profile().name);
    }
    QString title = names.size() > 2 ? tr("%1, %2 +%3").arg(names[0], names[1]).arg(names.size() - 2)
                                     : names.join(QStringLiteral(", "));
    if (sim)
        title.prepend(QStringLiteral("◇ SIM ◇ "));
    setWindowTitle(title.isEmpty() ? tr("Tenure") : tr("%1 · Tenure").arg(title));
}

void MainWindow::showTimeline()
{
    const Instant hourAgo = m_clock.now() - 1h;
    for (const Session *session : m_connections.sessions()) {
        std::vector<Instant> times;
        for (const Transition &one : session->transitions()) {
            if (one.at >= hourAgo && one.kind != TransitionKind::Appeared)
                times.push_back(one.at);
        }
        m_timeline->setConnection(session->profile().id, session->profile().name, std::move(times),
            session->openedAt());
    }
}

void MainWindow::editConnection(const QString &id)
{
    const ConnectionProfile *known = m_connections.profile(id);
    auto *dialog = new ConnectionDialog(known ? *known : ConnectionProfile{}, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    const bool isNew = known == nullptr;
    connect(dialog, &QDialog::accepted, this, [this, dialog, isNew] {
        const ConnectionProfile profile = dialog->profile();
        m_connections.save(profile, dialog->password());
        if (isNew)
            m_connections.open(profile.id, dialog->password());
    });
    dialog->open();
}

void MainWindow::askPassword(const QString &id)
{
    const ConnectionProfile *known = m_connections.profile(id);
    if (!known)
        return;
    auto *dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Sign in to %1").arg(known->name));
    dialog->setLabelText(tr("Password, forgotten on exit:"));
    dialog->setTextEchoMode(QLineEdit::Password);
    connect(dialog, &QInputDialog::textValueSelected, this,
        [this, id](const QString &password) { m_connections.open(id, password); });
    dialog->open();
}

void MainWindow::say(const QString &problem)
{
    if (!problem.isEmpty())
        m_log->model().add(LogLevel::Problem, {}, problem);
    m_message->setText(problem);
    m_messageBar->setVisible(!problem.isEmpty());
}

void MainWindow::setFrozen(bool frozen)
{
    m_freeze->setChecked(frozen);
    for (Session *session : m_connections.sessions())
        session->setFrozen(frozen);
}

void MainWindow::rereadAll()
{
    setFrozen(false);
    for (Session *session : m_connections.sessions())
        session->refresh();
}

void MainWindow::clearSimFaults()
{
    for (LabView *lab : findChildren<LabView *>())
        lab->clearFaults();
    for (SimLab *lab : findChildren<SimLab *>())
        lab->clearFaults();
}

void MainWindow::readOnlyEverywhere()
{
    for (Session *session : m_connections.sessions())
        session->readOnly();
}

bool MainWindow::event(QEvent *event)
{
    const bool done = QMainWindow::event(event);
    if (!m_painted && event->type() == QEvent::Paint) {
        m_painted = true;
        // After this paint has reached the screen.
        QMetaObject::invokeMethod(this, &MainWindow::firstPainted, Qt::QueuedConnection);
    }
    return done;
}

bool MainWindow::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::KeyPress && QApplication::activeWindow() == this) {
        const auto *key = static_cast<QKeyEvent *>(event);
        const bool plain = key->modifiers() == Qt::NoModifier && key->key() == Qt::Key_Space;
        if (plain && watched == QApplication::focusWidget() && !takesKeys(QApplication::focusWidget())) {
            setFrozen(!m_freeze->isChecked());
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::showEvent(QShowEvent *event)
{
    QMainWindow::showEvent(event);
    if (!m_restored)
        shareDocks();
    m_restored = true;
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    saveWindowState(*this);
    if (m_settings.now().closeToTray && m_notifier->inTray() && !m_quitting) {
        hide();
        event->ignore();
        return;
    }
    QMainWindow::closeEvent(event);
}

} // namespace tenure::ui
