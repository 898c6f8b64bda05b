// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/memory/memory_backend.h"
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/lab/drill_view.h"
#include "ui/lab/gap_bars.h"
#include "ui/theme/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

constexpr int kWaitMs = 60'000;

/// A drill page on a store that counts as shared with others.
struct Page {
    Theme theme;
    std::shared_ptr<MemoryServer> server = std::make_shared<MemoryServer>(SystemClock::instance());
    Session session{profileOf("dev", Environment::Development),
        Result<std::shared_ptr<const Backend>>(makeMemoryBackend(server, "memory:real")), nullptr};
    DrillView view{theme, session};

    template <typename Widget>
    Widget *part(const char *name)
    {
        return view.findChild<Widget *>(QLatin1String(name));
    }
    void quick(int act, int rounds)
    {
        part<QComboBox>("drillAct")->setCurrentIndex(act);
        part<QSpinBox>("drillTimes")->setValue(rounds);
        part<QDoubleSpinBox>("drillTtl")->setValue(1);
        part<QDoubleSpinBox>("drillHold")->setValue(0.5);
        part<QDoubleSpinBox>("drillLimit")->setValue(30); // a busy machine is not what is tested
    }
    LeaseRecord record(const std::string &lease)
    {
        const std::array<Command, 1> commands{Read{LeaseId::observed(lease), ReadDepth::Full}};
        return makeMemoryBackend(server, "memory:real")->makeStore()->execute(commands, BootClock::now() + 5s).front()->record;
    }
};

} // namespace

class TestDrillView final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanupTestCase() { QVERIFY(finishRetired(30s)); }

    void readOnlyMayCheckButNotBegin()
    {
        Page page;
        QVERIFY(!page.part<QPushButton>("drillBegin")->isEnabled());
        QVERIFY(page.part<QLabel>("drillWhy")->text().contains(QStringLiteral("Read-only")));
        page.view.begin();
        QVERIFY(!page.view.isRunning());
        page.view.check();
        const auto said = [&] {
            for (const QLabel *label : page.view.findChildren<QLabel *>()) {
                if (label->text().contains(QStringLiteral("Nobody leads now; 3 candidates of the drill's own")))
                    return true;
            }
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(said(), kWaitMs);
    }

    void aLeaseOutsideDrillMustBeTyped()
    {
        Page page;
        page.session.allowWrites(15min);
        QVERIFY(page.part<QPushButton>("drillBegin")->isEnabled());
        page.view.setLease(LeaseId::observed("billing/nightly"));
        auto *begin = page.part<QPushButton>("drillBegin");
        QVERIFY(!begin->isEnabled());
        page.part<QCheckBox>("drillInsist")->setChecked(true);
        QVERIFY(!begin->isEnabled());
        page.part<QLineEdit>("drillTyped")->setText(QStringLiteral("billing/nightl"));
        QVERIFY(!begin->isEnabled());
        page.part<QLineEdit>("drillTyped")->setText(QStringLiteral("billing/nightly"));
        QVERIFY(begin->isEnabled());
    }

    void runsAndReports()
    {
        Page page;
        page.session.allowWrites(15min);
        page.quick(0, 2); // ask
        page.view.begin();
        QVERIFY(page.view.isRunning());
        QVERIFY(page.session.isDrilled(LeaseId::observed("drill/failover")));
        QTRY_VERIFY_WITH_TIMEOUT(page.view.report().has_value(), kWaitMs);
        QVERIFY2(page.view.report()->passed(), page.view.report()->verdict().c_str());
        QCOMPARE(page.view.findChild<GapBars *>()->rounds().size(), std::size_t(2));
        QVERIFY(page.part<QLabel>("drillVerdict")->text().startsWith(QStringLiteral("PASSED: 2 of 2 failovers")));
        QVERIFY(!page.session.isDrilled(LeaseId::observed("drill/failover")));
        QVERIFY(page.session.audit().size() >= 4); // intent and outcome of each round
        QTemporaryDir folder;
        for (const QString &name : {QStringLiteral("drill.md"), QStringLiteral("drill.html")}) {
            QSignalSpy told(&page.view, &DrillView::told);
            page.view.saveReport(folder.filePath(name));
            QVERIFY(told.wait(kWaitMs));
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            QVERIFY(file.readAll().contains("PASSED: 2 of 2 failovers"));
        }
        QSignalSpy problem(&page.view, &DrillView::problem);
        page.view.saveReport(QStringLiteral("/nowhere/at/all/drill.md"));
        QVERIFY(problem.wait(kWaitMs));
    }

    void killsAnOwnInstance()
    {
        Page page;
        page.session.allowWrites(15min);
        page.quick(4, 1); // crash
        page.view.begin();
        QTRY_VERIFY_WITH_TIMEOUT(page.view.report().has_value(), kWaitMs);
        QVERIFY2(page.view.report()->passed(), page.view.report()->verdict().c_str());
        // Nobody can have noticed before the lease ran out.
        QVERIFY(page.view.report()->rounds.front().gap > 500ms);
    }

    void abortLeavesTheLeaseClean()
    {
        Page page;
        page.session.allowWrites(15min);
        page.quick(1, 1); // hold
        page.part<QDoubleSpinBox>("drillHold")->setValue(600);
        page.view.begin();
        QTRY_VERIFY_WITH_TIMEOUT(page.record("drill/failover").hold.has_value(), kWaitMs);
        page.view.abort();
        QTRY_VERIFY_WITH_TIMEOUT(page.view.report().has_value(), kWaitMs);
        QVERIFY(page.view.report()->aborted);
        QVERIFY(page.view.report()->clean);
        QVERIFY(!page.record("drill/failover").hold);
        QVERIFY(page.part<QLabel>("drillVerdict")->text().startsWith(QStringLiteral("ABORTED")));
    }

    void closingThePageLeavesTheLeaseClean()
    {
        auto page = std::make_unique<Page>();
        auto server = page->server;
        page->session.allowWrites(15min);
        page->quick(1, 1);
        page->part<QDoubleSpinBox>("drillHold")->setValue(600);
        page->view.begin();
        QTRY_VERIFY_WITH_TIMEOUT(page->record("drill/failover").hold.has_value(), kWaitMs);
        page.reset();
        const auto backend = makeMemoryBackend(server, "memory:real");
        const auto held = [&] {
            const std::array<Command, 1> commands{Read{LeaseId::observed("drill/failover"), ReadDepth::Full}};
            return backend->makeStore()->execute(commands, BootClock::now() + 5s).front()->record.hold.has_value();
        };
        QTRY_VERIFY_WITH_TIMEOUT(!held(), kWaitMs);
    }
};

QTEST_MAIN(TestDrillView)
#include "tst_drill_view.moc"
