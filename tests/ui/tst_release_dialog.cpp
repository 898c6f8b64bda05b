// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/memory/memory_backend.h"
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/dialogs/release_dialog.h"
#include "ui/dialogs/release_words.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

/// A server with one lease, held by whom the test says, and a dialog on it.
struct Scene {
    explicit Scene(Environment environment)
        : server(std::make_shared<MemoryServer>(SystemClock::instance())),
          session(profileOf("prod-eu", environment),
              Result<std::shared_ptr<const Backend>>(makeMemoryBackend(server, "memory:test")), nullptr)
    {
        hold("sched-7f");
        session.open();
    }
    void hold(const char *holder)
    {
        if (term) {
            const auto released = server->apply(Release{lease, *term});
            Q_ASSERT(released && released->outcome == tenure::Outcome::Done);
        }
        const HolderId id = *HolderId::parse(holder);
        const Nonce nonce = Nonce::random();
        const auto reply = server->apply(Acquire{lease, id, nonce, 60s});
        Q_ASSERT(reply && reply->outcome == tenure::Outcome::Done);
        term = Term{id, nonce, reply->record.token};
    }
    bool take(const char *holder)
    {
        const auto reply = server->apply(Acquire{lease, *HolderId::parse(holder), Nonce::random(), 60s});
        return reply && reply->outcome == tenure::Outcome::Done;
    }
    [[nodiscard]] bool isSeen() const { return session.lease(lease) && isFresh(session.linkState()); }
    void openDialog()
    {
        dialog = std::make_unique<ReleaseDialog>(session, lease);
        dialog->show();
    }
    template <typename T>
    T *part(const char *name) const
    {
        return dialog->findChild<T *>(QLatin1String(name));
    }
    void typeReason() const { QTest::keyClicks(part<QLineEdit>("reason"), QStringLiteral("INC-1 stuck")); }
    void press(const char *name) const { QTest::mouseClick(part<QPushButton>(name), Qt::LeftButton); }
    [[nodiscard]] QString textOf(const char *name) const { return part<QLabel>(name)->text(); }

    LeaseId lease = leaseNamed("billing/scheduler");
    std::shared_ptr<MemoryServer> server;
    std::optional<Term> term;
    Session session;
    std::unique_ptr<ReleaseDialog> dialog;
};

} // namespace

class TestReleaseDialog final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanupTestCase() { QVERIFY(finishRetired(20s)); }

    void readOnlyBlocksAndSaysSo()
    {
        Scene scene(Environment::Production);
        QTRY_VERIFY_WITH_TIMEOUT(scene.isSeen(), 10000);
        scene.openDialog();
        scene.typeReason();
        QVERIFY(!scene.part<QPushButton>("next")->isEnabled());
        QVERIFY(scene.textOf("blocked").contains(QStringLiteral("read-only")));
        scene.press("operator");
        QVERIFY(scene.part<QPushButton>("next")->isEnabled());
        scene.session.readOnly();
        QVERIFY(!scene.part<QPushButton>("next")->isEnabled());
    }

    void aReasonIsRequired()
    {
        Scene scene(Environment::Development);
        QTRY_VERIFY_WITH_TIMEOUT(scene.isSeen(), 10000);
        scene.session.allowWrites(15min);
        scene.openDialog();
        QVERIFY(!scene.part<QPushButton>("next")->isEnabled());
        scene.typeReason();
        QVERIFY(scene.part<QPushButton>("next")->isEnabled());
    }

    void anotherHolderTakesBackWhatWasTyped()
    {
        Scene scene(Environment::Production);
        QTRY_VERIFY_WITH_TIMEOUT(scene.isSeen(), 10000);
        scene.session.allowWrites(15min);
        scene.openDialog();
        scene.typeReason();
        scene.part<QRadioButton>("clear")->setChecked(true);
        scene.press("next");
        QCOMPARE(scene.dialog->step(), ReleaseDialog::Check);
        QVERIFY(!scene.part<QPushButton>("release")->isEnabled());
        QTest::keyClicks(scene.part<QLineEdit>("typed"), QStringLiteral("scheduler@prod-eu"));
        QVERIFY(scene.part<QPushButton>("release")->isEnabled());
        scene.hold("sched-a1");
        QTRY_VERIFY_WITH_TIMEOUT(scene.textOf("changed").contains(QStringLiteral("sched-a1")), 10000);
        QVERIFY(scene.part<QLabel>("changed")->isVisible());
        QCOMPARE(scene.part<QLineEdit>("typed")->text(), QString());
        QVERIFY(!scene.part<QPushButton>("release")->isEnabled());
        QVERIFY(scene.part<QLineEdit>("command")->text().contains(QStringLiteral("--holder sched-a1")));
    }

    void aClearIsWatchedUntilAnotherTookIt()
    {
        Scene scene(Environment::Development);
        QTRY_VERIFY_WITH_TIMEOUT(scene.isSeen(), 10000);
        scene.session.allowWrites(15min);
        scene.openDialog();
        scene.typeReason();
        scene.part<QRadioButton>("clear")->setChecked(true);
        scene.press("next");
        scene.press("release");
        QCOMPARE(scene.dialog->step(), ReleaseDialog::Outcome);
        scene.dialog->reject();
        QVERIFY(scene.dialog->isVisible()); // it stays until the outcome is known
        bool taken = false; // it can be taken only once
        QTRY_VERIFY_WITH_TIMEOUT((taken = taken || scene.take("sched-b2")), 10000);
        QTRY_VERIFY_WITH_TIMEOUT(
            scene.textOf("outcome").startsWith(QStringLiteral("RELEASED, taken by sched-b2")), 10000);
        QTRY_COMPARE(scene.session.audit().size(), std::size_t(2)); // intent, outcome
        scene.dialog->reject();
        QVERIFY(!scene.dialog->isVisible());
    }

    void aDryRunWritesNothing()
    {
        Scene scene(Environment::Development);
        QTRY_VERIFY_WITH_TIMEOUT(scene.isSeen(), 10000);
        scene.session.allowWrites(15min);
        scene.openDialog();
        scene.typeReason();
        scene.part<QRadioButton>("hold")->setChecked(true);
        scene.press("next");
        scene.press("dryRun");
        QTRY_VERIFY_WITH_TIMEOUT(scene.textOf("dryRunResult").startsWith(QStringLiteral("✓")), 10000);
        QVERIFY(!scene.take("thief")); // still held
    }

    void staleDataBlocks()
    {
        Scene scene(Environment::Development);
        QTRY_VERIFY_WITH_TIMEOUT(scene.isSeen(), 10000);
        scene.session.allowWrites(15min);
        scene.openDialog();
        scene.typeReason();
        QVERIFY(scene.part<QPushButton>("next")->isEnabled());
        scene.session.close();
        QTRY_VERIFY(!scene.part<QPushButton>("next")->isEnabled());
        QVERIFY(scene.textOf("blocked").startsWith(QStringLiteral("Disabled: data is")));
    }

    void enterDoesNotRelease()
    {
        Scene scene(Environment::Development);
        QTRY_VERIFY_WITH_TIMEOUT(scene.isSeen(), 10000);
        scene.session.allowWrites(15min);
        scene.openDialog();
        scene.typeReason();
        scene.part<QRadioButton>("clear")->setChecked(true);
        scene.press("next");
        QTest::keyClick(scene.dialog.get(), Qt::Key_Return);
        QCOMPARE(scene.session.audit().size(), std::size_t(0));
        QVERIFY(!scene.take("thief"));
    }

    void outcomesInExactWords_data()
    {
        QTest::addColumn<int>("outcome");
        QTest::addColumn<QString>("begins");
        const auto row = [](const char *name, ReleaseOutcome outcome, const char *begins) {
            QTest::newRow(name) << static_cast<int>(outcome) << QString::fromLatin1(begins);
        };
        row("taken", ReleaseOutcome::Taken, "RELEASED, taken by b after 900 ms (token 119)");
        row("vacant", ReleaseOutcome::Vacant, "RELEASED, still vacant");
        row("again", ReleaseOutcome::Reacquired, "RE-ACQUIRED by b");
        row("held", ReleaseOutcome::Held, "HELD by operator op1");
        row("asked", ReleaseOutcome::Asked, "ASKED: a ");
        row("refused", ReleaseOutcome::Refused, "REFUSED: it changed while you read. Holder is now b");
        row("denied", ReleaseOutcome::Denied, "DENIED: ");
        row("unknown", ReleaseOutcome::Unknown, "UNKNOWN: ");
        row("failed", ReleaseOutcome::Failed, "FAILED: nothing was written");
    }
    void outcomesInExactWords()
    {
        QFETCH(int, outcome);
        QFETCH(QString, begins);
        ReleasePlan plan;
        plan.by = "op1";
        plan.expected.holder = "a";
        ReleaseReport report;
        report.outcome = static_cast<ReleaseOutcome>(outcome);
        report.after = 900ms;
        report.record = LeaseRecord();
        report.record->holder = "b";
        report.record->token = FencingToken{119};
        const QString said = outcomeText(report, plan);
        QVERIFY2(said.startsWith(begins), qPrintable(said));
    }

    void theCommandLineIsForAShell()
    {
        ReleasePlan plan;
        plan.lease = leaseNamed("jobs/it's mine");
        plan.expected = {"a b", FencingToken{7}, "v"};
        plan.verb = OperatorVerb::Hold;
        plan.reason = "stuck";
        StoreTraits traits;
        traits.display = "redis://ops:***@h/0";
        QCOMPARE(commandLine(plan, traits), QStringLiteral("tenurectl release 'redis://ops:***@h/0' "
            "'jobs/it'\\''s mine' --holder 'a b' --token 7 --mode hold --hold 15s --reason stuck"));
    }
};

QTEST_MAIN(TestReleaseDialog)
#include "tst_release_dialog.moc"
