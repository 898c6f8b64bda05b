// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/console/connections.h"
#include "core/churn/rules.h"
#include "ui/theme/theme.h"

#include <QMainWindow>
#include <QPointer>
#include <QTimer>

#include <map>

class QDockWidget;
class QLabel;
class QTabWidget;

namespace tenure::ui
{

class AlertSender;
class AlertsPage;
class AlertsView;
class Announcer;
class AuditView;
class CommandPalette;
class ConnectionsDock;
class EventsView;
class FleetView;
class History;
class JournalPage;
class LabView;
class LeasePage;
class LeaseSource;
class LogView;
class Notifier;
class SettingsDialog;
class SettingsStore;
struct SettingsContext;
class StatusStrip;
class TimelinePanel;
class TopBar;
class WorkPage;
struct PaletteEntry;

/// The console's window: top bar, connections, fleet and lease pages and labs as tabs, alerts, events,
/// audit, timeline (UX.md section 3). Composition only; it never waits for anything.
class MainWindow final : public QMainWindow
{
    Q_OBJECT
public:
    MainWindow(Theme &theme, const Clock &clock, Connections &connections, SettingsStore &settings,
        QWidget *parent = nullptr);
    ~MainWindow() override;

    void openLease(const QString &connectionId, const LeaseId &lease);
    void openLab(Session *session);
    /// Failover drills of a connection; the lease is filled in when one is given.
    void openDrill(Session *session, const std::optional<LeaseId> &lease = {});
    /// The work queues of a connection; null when it is not open or cannot keep any.
    WorkPage *openWork(const QString &connectionId);
    void showFleet();
    AlertsPage *showRules();
    AlertsPage *showAlertHistory();
    /// A journal, or an export of one, in a tab that is not live.
    JournalPage *openJournal(const QString &path);
    void quit();
    /// Opens the release dialog for a lease; null when its connection is not open.
    QDialog *openRelease(const QString &connectionId, const LeaseId &lease);
    void editConnection(const QString &id); ///< empty: a new one
    void askPassword(const QString &id);
    void showPalette(const QString &typed = {});
    void say(const QString &problem); ///< in the bar under the top bar, until closed; and in the log
    void tell(const QString &success); ///< in the status bar for some seconds; and in the log
    SettingsDialog *openSettings();
    /// Arranges docks for a kind of work: "on-call", "drill", "classroom".
    void arrange(const QString &preset);
    void setFrozen(bool frozen);

Q_SIGNALS:
    void firstPainted();

protected:
    bool event(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void closeEvent(QCloseEvent *event) override;

private:
    void buildCentre();
    void buildDocks();
    QDockWidget *dock(const char *name, const QString &title, QWidget *content, Qt::DockWidgetArea area);
    void buildActions();
    void buildMenus();
    void buildSequences();
    QAction *action(
        const char *name, const QString &text, const QKeySequence &key, void (MainWindow::*act)());
    void addCommand(QAction *action, const char *name, const QString &text, const QKeySequence &key);
    void buildViewMenu();
    void applySettings();
    void lockDocks();
    void showSettings();
    void toggleTimes();
    void goBack();
    void noteTab();
    void exportFleet();
    void saveDiagnostics();
    [[nodiscard]] QString diagnostics() const;
    void connectParts();
    void addSession(Session *session);
    void dropSession(Session *session);
    void closeTab(int index);
    [[nodiscard]] Session *sessionInFront() const;
    void showFront(); ///< band, title, operator state
    void showAlertCount();
    AlertsPage *openAlertsPage();
    void loadRules();
    void saveRules(const RuleBook &book);
    void announce(Session *session, std::size_t howMany);
    void makeAlertWays(); ///< who is told of alerts besides the window
    void tellAlertsOf(Session *session);
    void fillAlertSettings(SettingsContext &context);
    [[nodiscard]] std::string rulesPath() const;
    void askJournal(); ///< somebody else's, to look at
    void showTimeline();
    void showJournal();
    /// What was before this session; nothing without a journal.
    [[nodiscard]] History *historyOf(const Session &session);
    void rereadAll();
    void clearSimFaults();
    void readOnlyEverywhere();
    void focusFilter();
    void openFrontLab();
    void openFrontDrill();
    void openSimLab();
    void openFrontWork();
    void openLesson(const QString &scenario);
    void openFrontRelease();
    void openDemo();
    void addConnection();
    void togglePalette();
    void showShortcuts();
    void showAbout();
    void resetLayout();
    void restoreLayout();
    void shareDocks();
    int addTab(QWidget *page, const QString &title);
    [[nodiscard]] std::vector<PaletteEntry> paletteEntries();

    Theme &m_theme;
    const Clock &m_clock;
    Connections &m_connections;
    SettingsStore &m_settings;
    QTabWidget *m_tabs = nullptr;
    QWidget *m_messageBar = nullptr;
    QLabel *m_message = nullptr;
    FleetView *m_fleet = nullptr;
    ConnectionsDock *m_connectionsDock = nullptr;
    AlertsView *m_alerts = nullptr;
    EventsView *m_events = nullptr;
    AuditView *m_audit = nullptr;
    LogView *m_log = nullptr;
    TimelinePanel *m_timeline = nullptr;
    std::map<QString, History *> m_histories; ///< by the journal's file
    TopBar *m_topBar = nullptr;
    StatusStrip *m_status = nullptr;
    QAction *m_freeze = nullptr;
    QAction *m_reread = nullptr;
    QTimer m_timelineTimer;
    std::vector<QAction *> m_commands; ///< what the palette offers
    std::map<QAction *, QKeySequence> m_standardKeys;
    std::vector<QPointer<QWidget>> m_visited; ///< tabs in the order they were in front, the present last
    QByteArray m_defaultState;
    bool m_restored = false; ///< the layout of last time stands
    bool m_painted = false;
    bool m_quitting = false; ///< Quit was asked for, also where closing means the tray
    RuleBook m_rules;
    QString m_damagedRules; ///< the file that could not be read; moved aside before a new one is saved
    Notifier *m_notifier = nullptr;
    AlertSender *m_sender = nullptr;
    Announcer *m_announcer = nullptr;
};

} // namespace tenure::ui
