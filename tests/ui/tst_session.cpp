// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"

#include <QSignalSpy>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

class TestSession final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { qRegisterMetaType<std::vector<LeaseId>>(); }

    void theDemoComesAlive()
    {
        Session session(profileOf("demo", Environment::Sim), std::make_unique<DemoWorld>(), nullptr);
        session.open();
        QTRY_VERIFY_WITH_TIMEOUT(session.leases().size() >= 5, 10000);
        QTRY_VERIFY_WITH_TIMEOUT(isFresh(session.linkState()), 10000);
        QVERIFY(session.isSimulated());
        QVERIFY(session.gate());
        QVERIFY(!session.gate()->operatorTimeLeft());
    }

    void aFrozenViewMissesNothing()
    {
        Session session(profileOf("demo", Environment::Sim), std::make_unique<DemoWorld>(), nullptr);
        session.open();
        QTRY_VERIFY_WITH_TIMEOUT(session.leases().size() >= 5, 10000);
        session.setFrozen(true);
        QCOMPARE(session.linkState(), LinkState::Paused);
        const LeaseId lease = leaseNamed("drill/frozen");
        const auto timing = Timing::make({.ttl = 2s});
        QVERIFY(session.instances()->spawn(lease, *timing, "frozen"));
        QTRY_VERIFY_WITH_TIMEOUT(session.heldBack() > 0, 10000);
        QVERIFY(!session.lease(lease));
        QTRY_VERIFY_WITH_TIMEOUT([&] {
            const auto views = session.instances()->views();
            return std::any_of(views.begin(), views.end(),
                [&](const InstanceView &view) { return view.lease == lease && view.report.believes; });
        }(), 10000);
        QTest::qWait(1500); // a rediscovery or push brings it; both are held back
        session.setFrozen(false);
        QTRY_VERIFY_WITH_TIMEOUT(session.lease(lease) != nullptr, 15000);
        QVERIFY(isFresh(session.linkState()));
    }

    void aBadBackendIsAStateNotACrash()
    {
        Session session(profileOf("bad", Environment::Development),
            Result<std::shared_ptr<const Backend>>(fail(ErrorKind::BadConfig, "unknown scheme")), nullptr);
        session.open();
        session.refresh();
        session.setFrozen(true);
        session.setFrozen(false);
        QCOMPARE(session.linkState(), LinkState::Disconnected);
        QVERIFY(!session.gate());
        QVERIFY(!session.instances());
        QCOMPARE(session.link().error->what, std::string("unknown scheme"));
    }

    void aHungBackendNeverHoldsUpTheGui()
    {
        auto backend = std::make_shared<HungBackend>();
        LatencyMeter meter;
        {
            Session session(profileOf("hung", Environment::Production),
                std::shared_ptr<const Backend>(backend), nullptr);
            session.open();
            QTRY_VERIFY_WITH_TIMEOUT(backend->gate().calls() > 0, 10000);
            session.refresh();
            session.close();
            session.open();
        }
        const Duration worst = meter.worst();
        qInfo("longest hold-up of the event loop: %.1f ms", std::chrono::duration<double, std::milli>(worst).count());
        QVERIFY2(worst < 1s, "the GUI thread waited for a hung call (its deadline is 3 s)");
        QVERIFY(finishRetired(20s));
    }
};

QTEST_GUILESS_MAIN(TestSession)
#include "tst_session.moc"
