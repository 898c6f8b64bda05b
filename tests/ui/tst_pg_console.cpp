// SPDX-License-Identifier: GPL-3.0-or-later
// The console on a live PostgreSQL in which everybody keeps leases: ours, other people's libraries,
// advisory locks. Every format has its row and its page, "copy as psql" works when it is pasted, and
// pictures are taken.
#include "app/console/main_window.h"
#include "tests/contract/pg_kit.h"
#include "tests/contract/pg_shapes.h"
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/dialogs/release_dialog.h"
#include "ui/settings/settings_store.h"
#include "ui/views/copy_as.h"
#include "ui/views/fleet_view.h"
#include "ui/views/lease_page.h"

#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QRadioButton>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <thread>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

/// A lease of every format, as the fleet names it, and who holds it.
struct Kept {
    const char *name;
    const char *holder; ///< a part of what is shown
    const char *shot; ///< name of its picture
};

constexpr Kept kKept[] = {
    {"billing/scheduler", "sched-", "tenure"},
    {"shedlock:public.shedlock/nightly", "web-1", "shedlock"},
    {"spring:public.int_lock/DEFAULT/leader", "6f1ed002", "spring"},
    {"river:public.river_leader/default", "host_1", "river"},
    {"oban:public.oban_peers/Oban", "app@10.0.0.7", "oban"},
    {"pglock:public.locks/payments", "worker-7", "pglock"},
    {"vault:public.vault_ha_locks/core/lock", "8f14e45f", "vault"},
    {"quartz:public.qrtz_scheduler_state/Sched/node-1", "node-1", "quartz"},
    {"advisory:-1234567890123", "tenure/report-loop@", "advisory"},
    {"advisory:7,-9", "tenure/report-loop@", "advisory-pair"},
};

} // namespace

class TestPgConsole final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void everyFormatHasItsRow();
    void everyFormatHasItsPage();
    void copyAsPsqlWorksWhenPasted();
    void aSessionIsEndedByHand();
    void advisoryModeNamesItsLeases();
    void aStoppedServerLooksStopped();

private:
    Session *session() { return m_connections->session(m_id); }
    void fill();
    void shoot(QWidget *widget, const char *name);

    std::unique_ptr<PostgresServer> m_server;
    std::unique_ptr<postgres::PgConnection> m_loop, m_waiter;
    std::thread m_waiting;
    std::unique_ptr<Pair> m_pair;
    QTemporaryDir m_folder;
    Theme m_theme;
    std::unique_ptr<Connections> m_connections
        = std::make_unique<Connections>(m_folder.filePath(QStringLiteral("connections.json")));
    std::unique_ptr<SettingsStore> m_settings
        = std::make_unique<SettingsStore>(m_folder.filePath(QStringLiteral("settings.json")));
    std::unique_ptr<MainWindow> m_window;
    QString m_id;
};

void TestPgConsole::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setApplicationName(QStringLiteral("tst_pg_console"));
    QCoreApplication::setOrganizationName(QStringLiteral("tenure-tests"));
    QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
    m_theme.setChoice(ThemeChoice::Light);
    m_theme.install(*qApp);
    fill();
    m_window = std::make_unique<MainWindow>(m_theme, SystemClock::instance(), *m_connections, *m_settings);
    m_window->resize(1480, 920);
    m_window->show();
    m_id = m_connections->openUrl(QString::fromStdString(m_server->tcpUri().display()));
}

void TestPgConsole::cleanupTestCase()
{
    m_window.reset();
    m_pair.reset();
    m_connections.reset();
    if (m_waiting.joinable()) {
        m_loop.reset(); // its lock goes on to who waits
        m_waiting.join();
    }
    m_waiter.reset();
    m_server.reset();
    QVERIFY(finishRetired(20s));
}

void TestPgConsole::fill()
{
    m_server = std::make_unique<PostgresServer>();
    makeTable(m_server->socketUri());
    m_server->script(kForeignTables);
    m_server->script(kForeignRows);
    m_server->script("UPDATE public.shedlock SET lock_until = lock_until + interval '1 h';"
                     "UPDATE public.int_lock SET expired_after = expired_after + interval '1 h';"
                     "UPDATE public.old_lock SET created_date = created_date + interval '1 h';"
                     "UPDATE public.river_leader SET expires_at = expires_at + interval '1 h';"
                     "UPDATE public.oban_peers SET expires_at = expires_at + interval '1 h';"
                     "UPDATE public.vault_ha_locks SET valid_until = valid_until + interval '1 h'");
    m_loop = m_server->session("report-loop");
    QVERIFY(m_loop->ask("SELECT pg_advisory_lock(-1234567890123), pg_advisory_lock(7, -9)", {},
        BootClock::now() + 10s));
    m_waiter = m_server->session("report-loop-2");
    m_waiting = std::thread([this] {
        (void)m_waiter->ask("SELECT pg_advisory_lock(-1234567890123)", {}, BootClock::now() + 10min);
    });
    m_pair = std::make_unique<Pair>(m_server->socketUri(), 6s, "sched-7f", "sched-9c");
    m_pair->start();
    QTRY_VERIFY_WITH_TIMEOUT(m_pair->oneLeads(), 30'000);
}

void TestPgConsole::everyFormatHasItsRow()
{
    for (const Kept &kept : kKept) {
        const auto shown = [&] {
            const LeaseStatus *status = session()->lease(leaseNamed(kept.name));
            return status != nullptr && status->record.holder
                && status->record.holder->find(kept.holder) != std::string::npos;
        };
        QTRY_VERIFY2_WITH_TIMEOUT(shown(), kept.name, 30'000);
    }
    QTRY_COMPARE_WITH_TIMEOUT(session()->linkState(), LinkState::Live, 30'000);
    m_window->showFleet();
    QTest::qWait(3000);
    shoot(m_window.get(), "fleet");
}

void TestPgConsole::everyFormatHasItsPage()
{
    for (const Kept &kept : kKept) {
        m_window->openLease(m_id, leaseNamed(kept.name));
        QTest::qWait(700);
        const auto shows = [&] { // of the pages that were opened, the one in front
            const auto all = m_window->findChildren<QLabel *>(QStringLiteral("leaseHolder"));
            return std::any_of(all.begin(), all.end(), [&](const QLabel *holder) {
                return holder->isVisible() && holder->toolTip().contains(QLatin1String(kept.holder));
            });
        };
        QTRY_VERIFY2_WITH_TIMEOUT(shows(), kept.name, 30'000);
        shoot(m_window.get(), (std::string("lease-") + kept.shot).c_str());
    }
}

/// As a person does it: into a shell, with a psql that knows nothing of us.
void TestPgConsole::copyAsPsqlWorksWhenPasted()
{
    if (QStandardPaths::findExecutable(QStringLiteral("psql")).isEmpty())
        QSKIP("psql is not installed");
    ConnectionInfo info;
    bool socket = false;
    for (const Kept &kept : kKept) {
        socket = !socket; // both ways to get there
        info.url = QString::fromStdString((socket ? m_server->socketUri() : m_server->tcpUri()).display());
        const LeaseStatus *status = session()->lease(leaseNamed(kept.name));
        QVERIFY(status != nullptr);
        const QString line
            = copyAs(CopyFormat::Psql, *status, info, session()->link(), SystemClock::instance());
        QProcess shell;
        shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), line});
        QVERIFY(shell.waitForFinished(30'000));
        const QByteArray out = shell.readAllStandardOutput();
        const QByteArray complaint = line.toUtf8() + "\n" + out + shell.readAllStandardError();
        QVERIFY2(shell.exitCode() == 0, complaint.constData());
        QVERIFY2(out.contains("(1 row)") || out.contains("(2 rows)"), complaint.constData());
        const QByteArray holder(kept.holder); // with the place of its session only as we show it
        QVERIFY2(out.contains(holder.endsWith('@') ? holder.chopped(1) : holder), complaint.constData());
    }
}

void TestPgConsole::aSessionIsEndedByHand()
{
    const LeaseId lease = leaseNamed("advisory:-1234567890123");
    m_window->openLease(m_id, lease);
    session()->allowWrites(15min);
    auto *dialog = qobject_cast<ReleaseDialog *>(m_window->openRelease(m_id, lease));
    QVERIFY(dialog);
    dialog->findChild<QLineEdit *>(QStringLiteral("reason"))->setText(QStringLiteral("INC-4711 it hangs"));
    dialog->findChild<QRadioButton *>(QStringLiteral("ask"))->setChecked(true);
    const auto *next = dialog->findChild<QPushButton *>(QStringLiteral("next"));
    const auto refused = [&] { // while it has just been looked at; a busy machine may be late
        return !next->isEnabled() && next->toolTip().contains(QLatin1String("understands no request"));
    };
    QTRY_VERIFY2_WITH_TIMEOUT(refused(), qPrintable(next->toolTip()), 30'000);
    dialog->findChild<QRadioButton *>(QStringLiteral("clear"))->setChecked(true);
    QTest::qWait(300);
    shoot(dialog, "release-1-why");
    dialog->goTo(ReleaseDialog::Check);
    QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("dryRun")), Qt::LeftButton);
    QTest::qWait(500);
    shoot(dialog, "release-2-check");
    QTRY_VERIFY_WITH_TIMEOUT(dialog->findChild<QPushButton *>(QStringLiteral("release"))->isEnabled(), 20'000);
    QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("release")), Qt::LeftButton);
    const auto taken = [&] {
        const LeaseStatus *status = session()->lease(lease);
        return status != nullptr && status->record.holder
            && status->record.holder->starts_with("tenure/report-loop-2@");
    };
    QTRY_VERIFY_WITH_TIMEOUT(taken(), 30'000);
    QTest::qWait(500);
    shoot(dialog, "release-3-outcome");
    QVERIFY(!m_loop->ask("SELECT 1", {}, BootClock::now() + 5s));
    QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("cancel")), Qt::LeftButton);
}

void TestPgConsole::advisoryModeNamesItsLeases()
{
    StoreUri uri = m_server->socketUri();
    uri.parameters["mode"] = "advisory";
    Candidate candidate(backendOf(uri), "reporter", 6s, {}, "reports/daily");
    candidate.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(candidate.elector.isLeader(), 30'000);
    const QString id = m_connections->openUrl(QString::fromStdString(uri.display()));
    const auto named = [&] {
        const LeaseStatus *status = m_connections->session(id)->lease(leaseNamed("reports/daily"));
        return status != nullptr && status->record.holder
            && status->record.holder->find("reporter") != std::string::npos;
    };
    QTRY_VERIFY_WITH_TIMEOUT(named(), 30'000);
    // Once, and not under its number too; nor do the table's leases stand here.
    std::size_t reporters = 0;
    for (const auto &[lease, status] : m_connections->session(id)->leases())
        reporters += status.record.holder && status.record.holder->find("reporter") != std::string::npos ? 1 : 0;
    QCOMPARE(reporters, 1U);
    QVERIFY(m_connections->session(id)->lease(leaseNamed("billing/scheduler")) == nullptr);
    m_window->openLease(id, leaseNamed("reports/daily"));
    QTest::qWait(700);
    shoot(m_window.get(), "lease-advisory-mode");
    m_connections->close(id);
}

void TestPgConsole::aStoppedServerLooksStopped()
{
    m_window->openLease(m_id, leaseNamed("billing/scheduler"));
    m_server->pause();
    QTRY_VERIFY_WITH_TIMEOUT(session()->linkState() == LinkState::Disconnected, 30'000);
    shoot(m_window.get(), "stopped");
    m_server->resume();
    QTRY_COMPARE_WITH_TIMEOUT(session()->linkState(), LinkState::Live, 30'000);
}

void TestPgConsole::shoot(QWidget *widget, const char *name)
{
    for (const auto &[choice, suffix] : {std::pair(ThemeChoice::Dark, "dark"), std::pair(ThemeChoice::Light, "light")}) {
        m_theme.setChoice(choice);
        QTest::qWait(700); // the slowest of the repaints by time
        QVERIFY(widget->grab().save(
            QStringLiteral(TENURE_SHOTS "/pg-%1-%2.png").arg(QLatin1String(name), QLatin1String(suffix))));
    }
}

QTEST_MAIN(TestPgConsole)
#include "tst_pg_console.moc"
