// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/command_palette.h"
#include "app/console/main_window.h"
#include "app/console/options.h"
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/settings/settings_store.h"

#include <QApplication>
#include <QLabel>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

struct Scene {
    Scene() : connections(folder.filePath(QStringLiteral("connections.json")))
    {
        window.resize(1360, 860);
        window.show();
    }
    QTabWidget *tabs() { return window.findChild<QTabWidget *>(QStringLiteral("tabs")); }
    QString message() { return window.findChild<QLabel *>(QStringLiteral("message"))->text(); }

    QTemporaryDir folder;
    Theme theme;
    Connections connections;
    SettingsStore settings{folder.filePath(QStringLiteral("settings.json"))};
    MainWindow window{theme, SystemClock::instance(), connections, settings};
};

} // namespace

class TestMainWindow final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setApplicationName(QStringLiteral("tst_main_window"));
        QCoreApplication::setOrganizationName(QStringLiteral("tenure-tests"));
    }
    void cleanupTestCase() { QVERIFY(finishRetired(20s)); }

    void anEmptyStartOffersTheSimulation()
    {
        Scene scene;
        QVERIFY(scene.connections.sessions().empty());
        bool offered = false;
        for (const QLabel *label : scene.window.findChildren<QLabel *>())
            offered = offered || (label->isVisible() && label->text().contains(QStringLiteral("No connections yet")));
        QVERIFY(offered);
        QCOMPARE(scene.window.windowTitle(), QStringLiteral("Tenure"));
    }

    void theDemoShowsItsLeases()
    {
        Scene scene;
        const QString id = scene.connections.openDemo();
        Session *session = scene.connections.session(id);
        QVERIFY(session);
        QTRY_VERIFY_WITH_TIMEOUT(session->leases().size() >= 5, 10000);
        QVERIFY(scene.window.windowTitle().contains(QStringLiteral("SIM")));
        scene.window.openLease(id, session->leases().begin()->first);
        QCOMPARE(scene.tabs()->count(), 3); // fleet, lab, lease
        scene.window.openLease(id, session->leases().begin()->first);
        QCOMPARE(scene.tabs()->count(), 3); // the same page, not another
        scene.connections.close(id);
        QCOMPARE(scene.tabs()->count(), 1);
        QVERIFY(!scene.connections.session(id));
    }

    void aBadUrlIsASentence_data()
    {
        QTest::addColumn<QString>("url");
        QTest::newRow("scheme") << QStringLiteral("rediz://host");
        QTest::newRow("port") << QStringLiteral("redis://host:99999");
        QTest::newRow("nothing") << QString();
        QTest::newRow("garbage") << QStringLiteral("\x01\xff:::@@//");
        QTest::newRow("secret") << QStringLiteral("redis://ops:hunter2@host:99999/x");
    }
    void aBadUrlIsASentence()
    {
        QFETCH(QString, url);
        Scene scene;
        const QString id = scene.connections.openUrl(url);
        QCOMPARE(scene.connections.session(id)->linkState(), LinkState::Disconnected);
        QVERIFY(scene.message().size() > 10);
        QVERIFY(!scene.message().contains(QStringLiteral("hunter2")));
        QVERIFY(!scene.window.windowTitle().contains(QStringLiteral("hunter2")));
    }

    void aSilentServerIsAStateNotAHang()
    {
        const SilentServer server;
        Scene scene;
        scene.connections.openDemo();
        QTest::qWait(500);
        LatencyMeter meter;
        const QString id = scene.connections.openUrl(QStringLiteral("redis://127.0.0.1:%1").arg(server.port()));
        Session *session = scene.connections.session(id);
        if (!session->backend())
            QSKIP("built without Redis");
        QTRY_VERIFY_WITH_TIMEOUT(session->link().error.has_value(), 15000);
        QVERIFY(!isFresh(session->linkState()));
        scene.connections.close(id);
        const Duration worst = meter.worst();
        qInfo("longest hold-up of the event loop beside a silent server: %.1f ms",
            std::chrono::duration<double, std::milli>(worst).count());
        QVERIFY2(worst < 1s, "the window did not answer");
    }

    void operatorModeIsDroppedEverywhereByOneKey()
    {
        Scene scene;
        Session *session = scene.connections.session(scene.connections.openDemo());
        session->allowWrites(15min);
        auto *mode = scene.window.findChild<QToolButton *>(QStringLiteral("operatorMode"));
        QTRY_VERIFY(mode->text().startsWith(QStringLiteral("OPERATOR 1")));
        scene.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&scene.window));
        QTest::keyClick(&scene.window, Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(!session->gate()->operatorTimeLeft());
        QTRY_COMPARE(mode->text(), QStringLiteral("READ-ONLY"));
    }

    void theWindowComesBackAsItWas()
    {
        {
            Scene scene;
            scene.window.resize(1111, 777);
            scene.window.close();
        }
        Scene scene;
        QVERIFY(scene.connections.sessions().empty());
    }

    void thePaletteFinds()
    {
        const std::vector<PaletteEntry> entries{{u'>', QStringLiteral("Re-read"), {}, {}},
            {u'#', QStringLiteral("billing/scheduler"), QStringLiteral("prod-eu HELD"), {}},
            {u'#', QStringLiteral("scheduler"), QStringLiteral("stg VACANT"), {}}};
        QCOMPARE(matching(entries, QStringLiteral("sched"), 10), (std::vector<std::size_t>{2, 1}));
        QCOMPARE(matching(entries, QStringLiteral("> re"), 10), (std::vector<std::size_t>{0}));
        QCOMPARE(matching(entries, QStringLiteral("#bill prod"), 10), (std::vector<std::size_t>{1}));
        QCOMPARE(matching(entries, QString(), 2).size(), std::size_t(2));
        QVERIFY(matching(entries, QStringLiteral("# zebra"), 10).empty());
    }

    void theCommandLineIsUnderstood_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("wish");
        QTest::addColumn<QStringList>("urls");
        const auto row = [](const char *name, const QStringList &arguments, Options::Wish wish, const QStringList &urls) {
            QTest::newRow(name) << (QStringList{QStringLiteral("tenure")} + arguments) << static_cast<int>(wish) << urls;
        };
        const auto s = [](const char *text) { return QString::fromLatin1(text); };
        row("nothing", {}, Options::Wish::Run, {});
        row("demo", {s("--demo")}, Options::Wish::Run, {s("demo:")});
        row("urls", {s("demo:"), s("redis://h")}, Options::Wish::Run, {s("demo:"), s("redis://h")});
        row("help", {s("--help")}, Options::Wish::ShowHelp, {});
        row("version", {s("--version")}, Options::Wish::ShowVersion, {});
        row("unknown", {s("--frobnicate")}, Options::Wish::Refuse, {});
        row("theme", {s("--theme"), s("plaid")}, Options::Wish::Refuse, {});
        row("after", {s("--after"), s("2")}, Options::Wish::Refuse, {});
    }
    void theCommandLineIsUnderstood()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QStringList, urls);
        const Options options = parseOptions(arguments);
        QTEST(static_cast<int>(options.wish), "wish");
        if (options.wish == Options::Wish::Run)
            QCOMPARE(options.urls, urls);
        else
            QVERIFY(!options.message.isEmpty());
    }
};

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
