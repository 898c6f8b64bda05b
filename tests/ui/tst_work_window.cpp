// SPDX-License-Identifier: GPL-3.0-or-later
// Work queues in the window: how the page is reached, why it is not, and the two lessons.
#include "app/console/main_window.h"
#include "tests/ui/ui_kit.h"
#include "tests/ui/work_kit.h"
#include "ui/bridge/retire.h"
#include "ui/lab/sim_column.h"
#include "ui/lab/sim_lab.h"
#include "ui/settings/settings_store.h"
#include "ui/views/count_tile.h"
#include "ui/views/work_page.h"

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;

class TestWorkWindow final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setApplicationName(QStringLiteral("tst_work_window"));
        QCoreApplication::setOrganizationName(QStringLiteral("tenure-tests"));
        QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
        m_theme.setChoice(ThemeChoice::Light);
        m_theme.install(*qApp);
    }
    void cleanupTestCase() { QVERIFY(finishRetired(20s)); }

    void theWindowOpensItOrSaysWhyNot()
    {
        const StoreUri here = StoreUri::parse("sqlite://" + m_folder.filePath(QStringLiteral("window.db")).toStdString()).value();
        QueueDriver work(here, "q");
        work.put("x");
        Connections connections(m_folder.filePath(QStringLiteral("connections.json")));
        SettingsStore settings(m_folder.filePath(QStringLiteral("settings.json")));
        MainWindow window(m_theme, SystemClock::instance(), connections, settings);
        window.resize(1480, 920);
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        const auto said = [&] { return window.findChild<QLabel *>(QStringLiteral("message"))->text(); };
        auto *tabs = window.findChild<QTabWidget *>(QStringLiteral("tabs"));
        const auto type = [&] {
            tabs->currentWidget()->setFocus();
            QTest::keyClick(tabs->currentWidget(), Qt::Key_G);
            QTest::keyClick(tabs->currentWidget(), Qt::Key_W);
        };
        type();
        QTRY_VERIFY(said().contains(QStringLiteral("needs a connection")));
        const QString demo = connections.openDemo();
        window.showFleet();
        window.findChild<QAction *>(QStringLiteral("work"))->trigger();
        QTRY_VERIFY(said().contains(QStringLiteral("simulation keeps no work queues")));
        connections.close(demo);
        const QString redis = connections.openUrl(QStringLiteral("redis://127.0.0.1:1"));
        window.findChild<QAction *>(QStringLiteral("work"))->trigger();
        QTRY_VERIFY2(said().contains(QStringLiteral("SQLite and PostgreSQL only")), qPrintable(said()));
        connections.close(redis);
        const QString id = connections.openUrl(QString::fromStdString(here.secretText()));
        window.showFleet();
        type();
        auto *page = window.findChild<WorkPage *>();
        QTRY_VERIFY(page != nullptr || (page = window.findChild<WorkPage *>()) != nullptr);
        QTRY_COMPARE_WITH_TIMEOUT(page->findChild<CountTile *>(QStringLiteral("tilePending"))->numberText(), QStringLiteral("1"), kPatience);
        QCOMPARE(window.openWork(id), page); // the same, not another
        // The lessons are a click away.
        Q_EMIT page->demonstrationRequested(QStringLiteral("W1"));
        auto *lab = window.findChild<SimLab *>();
        QVERIFY(lab && lab->columns().size() == 3);
        lab->pause();
        lab->seek(8500ms);
        shoot(window, "work-lesson");
        connections.close(id);
        QVERIFY(window.findChild<WorkPage *>() == nullptr);
    }

    void theLessonsTeach()
    {
        SimLab lab(m_theme);
        lab.resize(1480, 900);
        lab.show();
        lab.openNamed(QStringLiteral("W1"));
        lab.seek(1h);
        QCOMPARE(lab.columns().size(), std::size_t{3});
        const auto score = [&](std::size_t column, sim::Metric metric) { return lab.columns()[column]->player().world().scorecard()[metric]; };
        QCOMPARE(score(0, sim::Metric::Duplicates), std::int64_t{48}); // 24 items, three times
        QCOMPARE(score(1, sim::Metric::Duplicates), std::int64_t{0});
        shoot(lab, "lesson-w1");
        lab.openNamed(QStringLiteral("W2"));
        lab.seek(1h);
        QVERIFY(score(0, sim::Metric::Duplicates) >= 3);
        QCOMPARE(score(1, sim::Metric::Duplicates), std::int64_t{1});
        QCOMPARE(score(2, sim::Metric::Duplicates), std::int64_t{0});
        QCOMPARE(score(2, sim::Metric::RejectedWrites), std::int64_t{1});
        shoot(lab, "lesson-w2");
    }

private:
    void shoot(QWidget &widget, const char *name)
    {
        for (const auto &[choice, suffix] : {std::pair(ThemeChoice::Dark, "dark"), std::pair(ThemeChoice::Light, "light")}) {
            m_theme.setChoice(choice);
            QTest::qWait(200);
            QVERIFY(widget.grab().save(QStringLiteral(TENURE_SHOTS "/console-%1-%2.png").arg(QLatin1String(name), QLatin1String(suffix))));
        }
    }

    static constexpr int kPatience = 30'000;
    QTemporaryDir m_folder;
    Theme m_theme;
};

QTEST_MAIN(TestWorkWindow)
#include "tst_work_window.moc"
