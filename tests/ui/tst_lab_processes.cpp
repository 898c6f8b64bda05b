// SPDX-License-Identifier: GPL-3.0-or-later
// The console's lab and drill page with instances that are processes, on a real Redis.
#include "redis_server.h"
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/lab/drill_view.h"
#include "ui/lab/lab_view.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

constexpr int kLong = 60'000;
enum Column { Name, Lease, Life, Belief, Truth, Token_, ValidFor, Fault };

} // namespace

class TestLabProcesses final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        if (!RedisServer::installed()) {
            QVERIFY2(qEnvironmentVariableIsEmpty("TENURE_REQUIRE_SERVERS"), "redis-server is missing");
            QSKIP("no redis-server");
        }
        // As installed: tenurectl is found in the PATH.
        const QString directory = QFileInfo(QStringLiteral(TENURECTL_PATH)).absolutePath();
        qputenv("PATH", (directory + QLatin1Char(':')).toUtf8() + qgetenv("PATH"));
        m_theme.setChoice(ThemeChoice::Light);
        m_theme.install(*qApp);
        QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
        m_redis = std::make_unique<RedisServer>();
        const StoreUri uri = m_redis->tcpUri();
        m_session = std::make_unique<Session>(profileOf("dev", Environment::Development), makeBackend(uri), nullptr);
        m_session->setStoreUri(uri);
        m_session->open();
        m_session->allowWrites(15min);
    }
    void cleanupTestCase()
    {
        m_session.reset();
        QVERIFY(finishRetired(30s));
        m_redis.reset();
    }

    void theLabStopsAndCutsProcesses()
    {
        LabView lab(m_theme, SystemClock::instance(), *m_session);
        lab.resize(1280, 720);
        lab.show();
        auto *as = lab.findChild<QComboBox *>(QStringLiteral("spawnAs"));
        QCOMPARE(as->count(), 2);
        as->setCurrentIndex(1);
        lab.findChild<QDoubleSpinBox *>()->setValue(3); // ttl
        lab.spawn();
        const auto *table = lab.findChild<QTableWidget *>();
        const auto cell = [table](int row, int column) {
            const QTableWidgetItem *item = table->item(row, column);
            return item ? item->text() : QString();
        };
        const auto leader = [&] {
            for (int row = 0; row < table->rowCount(); ++row) {
                if (cell(row, Belief) == QStringLiteral("● LEADER"))
                    return row;
            }
            return -1;
        };
        QTRY_VERIFY_WITH_TIMEOUT(leader() >= 0 && cell(leader(), Truth) == QStringLiteral("● holds it"), kLong);
        const int first = leader();
        QVERIFY(cell(first, Life).startsWith(QStringLiteral("running, pid ")));
        lab.findChild<QTableWidget *>()->selectRow(first);
        button(lab, QStringLiteral("&Pause"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(leader() >= 0 && leader() != first, kLong);
        QVERIFY(cell(first, Life).startsWith(QStringLiteral("‖ paused, pid ")));
        const int second = leader();
        lab.findChild<QTableWidget *>()->selectRow(second);
        button(lab, QStringLiteral("C&ut off"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(leader() >= 0 && leader() != second, kLong);
        QVERIFY(cell(second, Fault).contains(QStringLiteral("cut off")));
        QTest::qWait(250);
        QVERIFY(lab.grab().save(QStringLiteral(TENURE_SHOTS "/lab-processes-light.png")));
        button(lab, QStringLiteral("C&rash"))->click();
        QTRY_COMPARE_WITH_TIMEOUT(cell(second, Life), QStringLiteral("✖ crashed"), kLong);
        lab.clearFaults();
    }

    void theDrillKillsProcesses()
    {
        DrillView view(m_theme, *m_session);
        view.resize(1280, 720);
        view.show();
        view.findChild<QComboBox *>(QStringLiteral("drillAct"))->setCurrentIndex(4); // kill
        view.findChild<QComboBox *>(QStringLiteral("drillAs"))->setCurrentIndex(1);
        view.findChild<QSpinBox *>(QStringLiteral("drillTimes"))->setValue(2);
        view.findChild<QDoubleSpinBox *>(QStringLiteral("drillTtl"))->setValue(2);
        view.findChild<QDoubleSpinBox *>(QStringLiteral("drillLimit"))->setValue(30);
        view.begin();
        QTRY_VERIFY_WITH_TIMEOUT(view.report().has_value(), kLong);
        QVERIFY2(view.report()->passed(), view.report()->verdict().c_str());
        for (const DrillRound &round : view.report()->rounds)
            QVERIFY(round.from.find("@process_") != std::string::npos && round.to.find("@process_") != std::string::npos);
        QTest::qWait(100);
        QVERIFY(view.grab().save(QStringLiteral(TENURE_SHOTS "/drill-processes-light.png")));
    }

private:
    static QPushButton *button(const QWidget &within, const QString &text)
    {
        for (QPushButton *one : within.findChildren<QPushButton *>()) {
            if (one->text() == text)
                return one;
        }
        qFatal("no button %s", qPrintable(text));
    }

    Theme m_theme;
    std::unique_ptr<RedisServer> m_redis;
    std::unique_ptr<Session> m_session;
};

QTEST_MAIN(TestLabProcesses)
#include "tst_lab_processes.moc"
