// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of every screen, light and dark, for README: made by what is really there.
#include "app/console/main_window.h"
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/lab/drill_view.h"
#include "ui/settings/settings_dialog.h"
#include "ui/views/fleet_view.h"
#include "ui/views/tile_wall.h"
#include "ui/dialogs/connection_dialog.h"
#include "ui/dialogs/release_dialog.h"

#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

class TestConsoleShots final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setApplicationName(QStringLiteral("tst_console_shots"));
        QCoreApplication::setOrganizationName(QStringLiteral("tenure-tests"));
        QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
        m_theme.setChoice(ThemeChoice::Light);
        m_theme.install(*qApp);
        Journal::Options keep;
        keep.path = m_folder.filePath(QStringLiteral("journal.db")).toStdString();
        m_connections->setJournal(std::make_shared<Journal>(keep));
        m_window = std::make_unique<MainWindow>(m_theme, SystemClock::instance(), *m_connections, *m_settings);
        m_window->resize(1480, 920);
        m_window->show();
    }
    void cleanupTestCase()
    {
        m_window.reset();
        m_connections.reset();
        QVERIFY(finishRetired(20s));
    }

    void empty() { shoot(m_window.get(), "empty"); }

    void fleet()
    {
        m_id = m_connections->openDemo();
        QTRY_VERIFY_WITH_TIMEOUT(session()->leases().size() >= 8, 15000);
        QTest::qWait(static_cast<int>(m_history.count()));
        m_window->showFleet();
        shoot(m_window.get(), "fleet");
    }

    void tiles()
    {
        auto *fleet = m_window->findChild<FleetView *>();
        fleet->setTiles(true);
        fleet->tileWall().setPitch(20);
        QTest::qWait(500);
        shoot(m_window.get(), "tiles");
        fleet->setTiles(false);
        fleet->setGroup(FleetGroup::Prefix);
        QTest::qWait(500);
        shoot(m_window.get(), "groups");
        fleet->setGroup(FleetGroup::None);
    }

    void settings()
    {
        SettingsDialog *dialog = m_window->openSettings();
        shoot(dialog, "settings-appearance");
        dialog->showPage(SettingsDialog::tr("Keyboard"));
        shoot(dialog, "settings-keyboard");
        dialog->close();
        auto *log = m_window->findChild<QDockWidget *>(QStringLiteral("logDock"));
        log->raise();
        shoot(m_window.get(), "log");
        m_window->findChild<QDockWidget *>(QStringLiteral("eventsDock"))->raise();
    }

    void largeText()
    {
        m_settings->change([](Settings &settings) {
            settings.textSize = 150;
            settings.times = TimeShown::Both;
        });
        shoot(m_window.get(), "large");
        m_settings->change([](Settings &settings) {
            settings.textSize = 100;
            settings.times = TimeShown::Utc;
        });
    }

    void leasePage()
    {
        m_window->openLease(m_id, m_lease);
        QTest::qWait(3000);
        shoot(m_window.get(), "lease");
    }

    void lab()
    {
        m_window->openLab(session());
        QTest::qWait(4000);
        shoot(m_window.get(), "lab");
    }

    void drill()
    {
        session()->allowWrites(15min);
        m_window->openDrill(session());
        auto *drill = m_window->findChild<DrillView *>();
        drill->findChild<QDoubleSpinBox *>(QStringLiteral("drillTtl"))->setValue(2);
        drill->findChild<QDoubleSpinBox *>(QStringLiteral("drillHold"))->setValue(1);
        drill->check();
        drill->begin();
        QTRY_VERIFY_WITH_TIMEOUT(drill->report().has_value(), 60000);
        shoot(m_window.get(), "drill");
        session()->readOnly();
    }

    void releaseDialog()
    {
        m_window->openLease(m_id, m_lease);
        QTRY_VERIFY_WITH_TIMEOUT(session()->lease(m_lease)->record.holder.has_value(), 20000);
        session()->allowWrites(15min);
        auto *dialog = qobject_cast<ReleaseDialog *>(m_window->openRelease(m_id, m_lease));
        QVERIFY(dialog);
        dialog->findChild<QLineEdit *>(QStringLiteral("reason"))->setText(QStringLiteral("INC-4711 no progress for 12 min"));
        dialog->findChild<QRadioButton *>(QStringLiteral("hold"))->setChecked(true);
        QTest::qWait(300);
        shoot(dialog, "release-1-why");
        dialog->goTo(ReleaseDialog::Check);
        QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("dryRun")), Qt::LeftButton);
        QTest::qWait(500);
        shoot(dialog, "release-2-check");
        QTRY_VERIFY_WITH_TIMEOUT(dialog->findChild<QPushButton *>(QStringLiteral("release"))->isEnabled(), 20000);
        QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("release")), Qt::LeftButton);
        QTest::qWait(1000);
        QCOMPARE(dialog->step(), ReleaseDialog::Outcome);
        shoot(dialog, "release-3-outcome");
        QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("cancel")), Qt::LeftButton);
    }

    void connectionDialog()
    {
        ConnectionProfile profile;
        profile.name = QStringLiteral("orders-prod");
        profile.url = QStringLiteral("redis://ops@127.0.0.1:1/0?prefix=orders:");
        ConnectionDialog dialog(profile, m_window.get());
        dialog.show();
        dialog.startTest();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.isTesting(), 10000);
        shoot(&dialog, "connection");
    }

    void stale()
    {
        m_window->showFleet();
        session()->close();
        QTest::qWait(600);
        shoot(m_window.get(), "stale");
    }

private:
    Session *session() { return m_connections->session(m_id); }

    void shoot(QWidget *widget, const char *name)
    {
        for (const auto &[choice, suffix] : {std::pair(ThemeChoice::Dark, "dark"), std::pair(ThemeChoice::Light, "light")}) {
            m_theme.setChoice(choice);
            QTest::qWait(700); // the slowest of the repaints by time
            const QString file = QStringLiteral(TENURE_SHOTS "/console-%1-%2.png").arg(QLatin1String(name), QLatin1String(suffix));
            const QImage picture = widget->grab().toImage();
            QVERIFY(picture.save(file));
            QVERIFY(coloursOf(picture) > 8); // not a blank sheet
        }
    }

    static int coloursOf(const QImage &picture)
    {
        std::set<QRgb> seen;
        for (int y = 0; y < picture.height(); y += 3) {
            for (int x = 0; x < picture.width(); x += 3)
                seen.insert(picture.pixel(x, y));
        }
        return static_cast<int>(seen.size());
    }

    const std::chrono::milliseconds m_history{qEnvironmentVariableIntValue("TENURE_SHOTS_WAIT_MS") > 0
            ? qEnvironmentVariableIntValue("TENURE_SHOTS_WAIT_MS") : 8000};
    const LeaseId m_lease = leaseNamed("billing/scheduler");
    QTemporaryDir m_folder;
    Theme m_theme;
    std::unique_ptr<Connections> m_connections
        = std::make_unique<Connections>(m_folder.filePath(QStringLiteral("connections.json")));
    std::unique_ptr<SettingsStore> m_settings
        = std::make_unique<SettingsStore>(m_folder.filePath(QStringLiteral("settings.json")));
    std::unique_ptr<MainWindow> m_window;
    QString m_id;
};

QTEST_MAIN(TestConsoleShots)
#include "tst_console_shots.moc"
