// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/memory/memory_backend.h"
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/lab/belief_strip.h"
#include "ui/lab/lab_view.h"
#include "ui/lab/lab_words.h"
#include "ui/theme/theme.h"

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

InstanceView instance(std::uint64_t id, bool believes)
{
    InstanceView view;
    view.id = id;
    view.name = std::string(1, static_cast<char>('A' + id));
    view.holder = "holder-" + view.name;
    view.lease = leaseNamed("drill/x");
    view.report.believes = believes;
    return view;
}

QString cell(const LabView &lab, int row, int column)
{
    const auto *table = lab.findChild<QTableWidget *>();
    const QTableWidgetItem *item = table->item(row, column);
    return item ? item->text() : QString();
}

} // namespace

class TestLab final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanupTestCase() { QVERIFY(finishRetired(20s)); }

    void oneLeaderAmongTheStarted()
    {
        Theme theme;
        Session session(profileOf("demo", Environment::Sim), std::make_unique<DemoWorld>(), nullptr);
        session.open();
        LabView lab(theme, SystemClock::instance(), session);
        lab.show();
        lab.findChild<QLineEdit *>(QStringLiteral("leaseName"))->setText(QStringLiteral("drill/mine"));
        const auto before = session.instances()->views().size();
        lab.spawn();
        QCOMPARE(session.instances()->views().size(), before + 3);
        const auto leaders = [&] {
            int count = 0;
            for (const InstanceView &view : session.instances()->views())
                count += view.lease == leaseNamed("drill/mine") && view.report.believes ? 1 : 0;
            return count;
        };
        QTRY_COMPARE_WITH_TIMEOUT(leaders(), 1, 15000);
        const auto rowSaysLeader = [&] {
            for (int row = 0; row < lab.findChild<QTableWidget *>()->rowCount(); ++row) {
                if (cell(lab, row, 1) == QLatin1String("drill/mine") && cell(lab, row, 3) == QStringLiteral("● LEADER"))
                    return cell(lab, row, 4) == QStringLiteral("● holds it");
            }
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(rowSaysLeader(), 15000);
    }

    void aRealBackendNeedsOperatorModeAndDrillNames()
    {
        Theme theme;
        auto server = std::make_shared<MemoryServer>(SystemClock::instance());
        // "sqlite" by its word, so that it counts as a backend others use too.
        Session session(profileOf("dev", Environment::Development),
            Result<std::shared_ptr<const Backend>>(makeMemoryBackend(server, "memory:real")), nullptr);
        LabView lab(theme, SystemClock::instance(), session);
        lab.show();
        QVERIFY(!lab.findChild<QPushButton *>(QStringLiteral("spawn"))->isEnabled());
        lab.spawn();
        QVERIFY(lab.findChild<QLabel *>(QStringLiteral("problem"))->text().contains(QStringLiteral("Read-only")));
        QVERIFY(session.instances()->views().empty());
        session.allowWrites(15min);
        QVERIFY(lab.findChild<QPushButton *>(QStringLiteral("spawn"))->isEnabled());
        lab.spawn();
        QCOMPARE(session.instances()->views().size(), std::size_t(3));
    }

    void aPausedLeaderIsSeenAndLifted()
    {
        Theme theme;
        Session session(profileOf("demo", Environment::Sim), std::make_unique<DemoWorld>(), nullptr);
        LabView lab(theme, SystemClock::instance(), session);
        lab.show();
        const auto id = session.instances()->spawn(leaseNamed("drill/p"), *Timing::make({.ttl = 2s}), "P");
        QVERIFY(id);
        session.instances()->pause(*id, 60s);
        QTRY_VERIFY_WITH_TIMEOUT(lab.findChild<QLabel *>(QStringLiteral("faults"))->toolTip().contains(QStringLiteral("P paused")), 5000);
        lab.clearFaults();
        QTRY_VERIFY_WITH_TIMEOUT(!lab.findChild<QLabel *>(QStringLiteral("faults"))->toolTip().contains(QStringLiteral("P paused")), 5000);
    }

    void twoBelieversAreContested()
    {
        Theme theme;
        ManualClock clock;
        BeliefStrip strip(theme, clock, nullptr);
        const std::map<LeaseId, std::optional<std::string>> truth{{leaseNamed("drill/x"), "holder-A"}};
        strip.sample(clock.now(), {instance(0, true), instance(1, false)}, truth);
        QCOMPARE(strip.contested(), Duration::zero());
        for (int i = 0; i < 3; ++i) {
            clock.advance(200ms);
            strip.sample(clock.now(), {instance(0, true), instance(1, true)}, truth);
        }
        QCOMPARE(strip.believersNow(leaseNamed("drill/x")), 2);
        QCOMPARE(strip.contested(), Duration(400ms));
        clock.advance(2min);
        strip.sample(clock.now(), {instance(0, true), instance(1, false)}, truth);
        QCOMPARE(strip.contested(), Duration::zero()); // out of the window
    }

    void wordsTellBeliefFromTruth()
    {
        InstanceView view = instance(0, true);
        LeaseStatus status;
        status.record.holder = "other";
        QVERIFY(isMistaken(view, &status, true));
        QVERIFY(!isMistaken(view, &status, false)); // stale: we do not know
        QCOMPARE(truthText(view, &status, false), QStringLiteral("? not observed"));
        status.record.holder = view.holder;
        QVERIFY(!isMistaken(view, &status, true));
        QCOMPARE(truthText(view, &status, true), QStringLiteral("● holds it"));
        status.record.holder.reset();
        QCOMPARE(truthText(view, &status, true), QStringLiteral("▲ nobody"));
    }
};

QTEST_MAIN(TestLab)
#include "tst_lab.moc"
