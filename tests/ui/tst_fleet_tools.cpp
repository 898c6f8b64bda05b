// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabricated.h"

#include "ui/models/fleet_export.h"
#include "ui/models/log_model.h"
#include "ui/settings/settings_store.h"
#include "ui/theme/theme.h"
#include "ui/views/fleet_view.h"
#include "ui/views/tile_wall.h"

#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTreeWidget>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::ui::test;

class TestFleetTools final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { m_theme.install(*qApp); }
    void init()
    {
        m_prod = std::make_unique<FabricatedSource>(m_clock, QStringLiteral("p"), QStringLiteral("prod-eu"), Surroundings::Production);
        m_sim = std::make_unique<FabricatedSource>(m_clock, QStringLiteral("d"), QStringLiteral("demo"), Surroundings::Sim);
        m_view = std::make_unique<FleetView>(m_theme, m_clock, nullptr);
        m_view->resize(1180, 640);
        m_prod->held("billing/ledger", "ledger-6c9", 800ms);
        m_prod->vacant("billing/scheduler", "sched-7f9c", 41s);
        m_prod->held("mail/outbox", "=cmd|'/c calc'!A0", 2s);
        m_sim->held("drill/leader", "instance-b", 1500ms, 7);
        m_view->addSource(m_prod.get());
        m_view->addSource(m_sim.get());
        m_view->show();
    }
    void cleanup() { m_view.reset(); }

    void csvIsSafeForSpreadsheets()
    {
        for (const char *bad : {"=1+1", "+1", "-1", "@SUM(A1)", "\tx"})
            QVERIFY(csvField(QLatin1String(bad)).startsWith(QLatin1Char('\'')));
        QCOMPARE(csvField(QStringLiteral("a,\"b\"")), QStringLiteral("\"a,\"\"b\"\"\""));
        const QList<QByteArray> lines = fleetCsv(m_view->model(), m_clock).split('\n');
        QCOMPARE(lines.size(), 6); // head, four leases, the end
        QVERIFY(lines[1].startsWith("VACANT,billing/scheduler,prod-eu,PRODUCTION"));
        const QByteArray all = lines.join();
        QVERIFY(!all.contains(",=cmd"));
        QVERIFY(all.contains(",'=cmd"));
        QVERIFY(all.contains("SIM demo,SIM")); // R8: never without the word
        QVERIFY(all.contains("Z,"));
    }

    void jsonTellsWhatIsNotKnownAsNull()
    {
        const QJsonArray leases = QJsonDocument::fromJson(fleetJson(m_view->model(), m_clock)).object()[QLatin1String("leases")].toArray();
        QCOMPARE(leases.size(), 4);
        const QJsonObject vacant = leases[0].toObject();
        QCOMPARE(vacant[QLatin1String("state")].toString(), QStringLiteral("VACANT"));
        QVERIFY(vacant[QLatin1String("remaining_ms")].isNull());
        QCOMPARE(vacant[QLatin1String("token")].toString(), QStringLiteral("118"));
    }

    void groupsStandTogether()
    {
        m_view->setGroup(FleetGroup::Prefix);
        const auto groups = m_view->model().groups();
        QCOMPARE(groups.size(), std::size_t(3));
        QCOMPARE(groups[0].title, QStringLiteral("billing/"));
        QCOMPARE(groups[0].count, 2);
        QCOMPARE(groups[0].abnormal, 1);
        auto *panel = m_view->findChild<QTreeWidget *>(QStringLiteral("groupPanel"));
        m_view->model().flush();
        QCOMPARE(panel->topLevelItemCount(), 3);
        QVERIFY(panel->isVisible());
        m_view->setGroup(FleetGroup::None);
        m_view->model().flush();
        QVERIFY(!panel->isVisible());
    }

    void aTileKeepsItsPlace()
    {
        m_view->setTiles(true);
        TileWall &wall = m_view->tileWall();
        const FleetKey ledger{QStringLiteral("p"), LeaseId::observed("billing/ledger")};
        const FleetKey outbox{QStringLiteral("p"), LeaseId::observed("mail/outbox")};
        const QRect before = wall.tileRect(outbox);
        QVERIFY(!before.isEmpty());
        m_prod->drop("billing/ledger");
        m_prod->held("aaa/first-by-name", "x");
        m_prod->tellAll();
        m_view->model().flush();
        QCOMPARE(wall.tileRect(outbox), before);
        QVERIFY(wall.tileRect(ledger).isEmpty());
        m_prod->held("billing/ledger", "back");
        m_prod->tellAll();
        m_view->model().flush();
        QVERIFY(wall.tileRect(ledger).right() < before.left()); // where it was
        m_view->setFilter(QStringLiteral("outbox"));
        QCOMPARE(wall.tileRect(outbox), before);
    }

    void tilesAreWalkedAndSpoken()
    {
        m_view->setTiles(true);
        TileWall &wall = m_view->tileWall();
        QTest::keyClick(&wall, Qt::Key_Right);
        QTest::keyClick(&wall, Qt::Key_Right);
        QVERIFY(wall.current());
        QCOMPARE(wall.current()->lease.name(), std::string("billing/scheduler"));
        QVERIFY(wall.sentence().startsWith(QStringLiteral("VACANT, billing scheduler, prod-eu")));
        QAccessibleInterface *spoken = QAccessible::queryAccessibleInterface(&wall);
        QVERIFY(spoken != nullptr);
        QCOMPARE(spoken->text(QAccessible::Value), wall.sentence());
        QSignalSpy opened(m_view.get(), &FleetView::leaseActivated);
        QTest::keyClick(&wall, Qt::Key_Return);
        QCOMPARE(opened.size(), 1);
    }

    void tenThousandTilesArePaintedQuickly()
    {
        for (int i = 0; i < 10000; ++i)
            m_prod->held("team/worker-" + std::to_string(i), "pod");
        m_prod->tellAll();
        m_view->model().flush();
        m_view->setTiles(true);
        m_view->tileWall().setPitch(10);
        const Instant start = BootClock::now();
        QVERIFY(!m_view->tileWall().grab().isNull());
        qInfo("10,000 tiles painted in %.1f ms", std::chrono::duration<double, std::milli>(BootClock::now() - start).count());
    }

    void aViewComesBackUnderItsName()
    {
        QTemporaryDir folder;
        SettingsStore store(folder.filePath(QStringLiteral("settings.json")));
        m_view->setStore(store);
        m_view->setFilter(QStringLiteral("env:prod"));
        m_view->setGroup(FleetGroup::State);
        const SavedView kept = m_view->view(QStringLiteral("mine"));
        m_view->setFilter({});
        m_view->setGroup(FleetGroup::None);
        m_view->showView(kept);
        QCOMPARE(m_view->model().rowCount(), 3);
        QCOMPARE(m_view->model().group(), FleetGroup::State);
        // A pin keeps a lease in sight that nothing is wrong with.
        store.change([](Settings &settings) { settings.pins = {{QStringLiteral("prod-eu"), QByteArray("billing/ledger")}}; });
        auto *pin = m_view->findChild<QWidget *>(QStringLiteral("pinnedRow4"));
        QVERIFY(pin->isVisible());
        QVERIFY(pin->accessibleName().contains(QStringLiteral("billing ledger")));
    }

    void theLogKeepsNoSecret_data()
    {
        QTest::addColumn<QString>("said");
        QTest::newRow("url") << QStringLiteral("cannot reach redis://ops:hunter2@host:6379/0");
        QTest::newRow("parameter") << QStringLiteral("bad option password=hunter2, sslmode=off");
        QTest::newRow("header") << QStringLiteral("Authorization: Bearer hunter2 was refused");
        QTest::newRow("key") << QStringLiteral("api_key: hunter2");
    }
    void theLogKeepsNoSecret()
    {
        QFETCH(QString, said);
        LogModel log(m_clock, nullptr);
        log.add(LogLevel::Problem, QStringLiteral("prod"), said);
        QVERIFY2(!log.asText().contains(QStringLiteral("hunter2")), qPrintable(log.asText()));
        QVERIFY(log.asText().contains(QStringLiteral("***")));
    }

    void theLogTellsWhatTheLinkDoes()
    {
        LogModel log(m_clock, nullptr);
        m_prod->alive();
        log.addSource(m_prod.get());
        m_prod->m_link.connected = false;
        m_prod->m_link.error = Error{ErrorKind::Unavailable, "connection reset by peer"};
        Q_EMIT m_prod->linkChanged();
        QCOMPARE(log.entry(0).level, LogLevel::Problem);
        QVERIFY(log.entry(0).text.contains(QStringLiteral("DISCONNECTED")));
        QVERIFY(log.entry(0).text.contains(QStringLiteral("reset by peer")));
        QCOMPARE(log.warnings(), 1);
        log.setLeast(LogLevel::Problem);
        QCOMPARE(log.rowCount(), 1);
        log.removeSource(m_prod.get());
    }

private:
    ManualClock m_clock;
    Theme m_theme;
    std::unique_ptr<FabricatedSource> m_prod, m_sim;
    std::unique_ptr<FleetView> m_view;
};

QTEST_MAIN(TestFleetTools)
#include "tst_fleet_tools.moc"
