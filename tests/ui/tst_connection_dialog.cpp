// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/ui_kit.h"
#include "ui/bridge/retire.h"
#include "ui/dialogs/connection_dialog.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

template <typename T>
T *part(ConnectionDialog &dialog, const char *name)
{
    return dialog.findChild<T *>(QLatin1String(name));
}

void retype(QLineEdit *edit, const QString &text)
{
    edit->selectAll();
    QTest::keyClicks(edit, text);
}

} // namespace

class TestConnectionDialog final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanupTestCase() { QVERIFY(finishRetired(20s)); }

    void fieldsFollowTheUrl()
    {
        ConnectionDialog dialog({});
        retype(part<QLineEdit>(dialog, "url"), QStringLiteral("rediss://ops@db.example:6380/3?prefix=app:"));
        QCOMPARE(part<QComboBox>(dialog, "kind")->currentIndex(), 1);
        QCOMPARE(part<QLineEdit>(dialog, "hosts")->text(), QStringLiteral("db.example:6380"));
        QCOMPARE(part<QLineEdit>(dialog, "user")->text(), QStringLiteral("ops"));
        QCOMPARE(part<QLineEdit>(dialog, "prefix")->text(), QStringLiteral("app:"));
    }

    void theUrlFollowsTheFields()
    {
        ConnectionDialog dialog({});
        retype(part<QLineEdit>(dialog, "hosts"), QStringLiteral("cache.example:7000"));
        const auto uri = StoreUri::parse(part<QLineEdit>(dialog, "url")->text().toStdString());
        QVERIFY(uri);
        QCOMPARE(uri->hosts.front().first, std::string("cache.example"));
        QCOMPARE(int(uri->hosts.front().second), 7000);
    }

    void aPasswordLeavesTheUrl()
    {
        ConnectionProfile saved;
        saved.name = QStringLiteral("x");
        saved.url = QStringLiteral("redis://ops:hunter2@db.example/0");
        ConnectionDialog dialog(saved);
        QCOMPARE(dialog.password(), QStringLiteral("hunter2"));
        QVERIFY(!dialog.profile().url.contains(QStringLiteral("hunter2")));
        QVERIFY(!part<QLineEdit>(dialog, "url")->text().contains(QStringLiteral("hunter2")));
    }

    void aWrongUrlSaysWhatIsWrong()
    {
        ConnectionDialog dialog({});
        dialog.show();
        retype(part<QLineEdit>(dialog, "name"), QStringLiteral("x"));
        QVERIFY(part<QPushButton>(dialog, "accept")->isEnabled());
        retype(part<QLineEdit>(dialog, "url"), QStringLiteral("rediz://host"));
        QVERIFY(part<QLabel>(dialog, "problem")->isVisible());
        QVERIFY(part<QLabel>(dialog, "problem")->text().contains(QStringLiteral("rediz")));
        QVERIFY(!part<QPushButton>(dialog, "accept")->isEnabled());
    }

    void productionIsAskedAbout()
    {
        ConnectionProfile profile;
        profile.name = QStringLiteral("orders-prod");
        profile.url = QStringLiteral("redis://10.1.2.3:6379/0");
        ConnectionDialog dialog(profile);
        dialog.show();
        QVERIFY(part<QLabel>(dialog, "productionHint")->isVisible());
        part<QComboBox>(dialog, "environment")->setCurrentIndex(0);
        QVERIFY(!part<QLabel>(dialog, "productionHint")->isVisible());
        QVERIFY(dialog.profile().startReadOnly);
    }

    void aFileIsTestedStepByStep()
    {
        QTemporaryDir folder;
        ConnectionProfile profile;
        profile.url = QStringLiteral("sqlite://") + folder.filePath(QStringLiteral("leases.db"));
        ConnectionDialog dialog(profile);
        dialog.startTest();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.isTesting(), 10000);
        auto *steps = part<QTreeWidget>(dialog, "steps");
        QVERIFY(steps->topLevelItemCount() >= 2);
        QVERIFY(steps->topLevelItem(0)->text(0).startsWith(QStringLiteral("✓")));
    }

    void aSilentServerCanBeCancelled()
    {
        const SilentServer server;
        ConnectionProfile profile;
        profile.url = QStringLiteral("redis://127.0.0.1:%1/0").arg(server.port());
        LatencyMeter meter;
        ConnectionDialog dialog(profile);
        dialog.startTest();
        QVERIFY(dialog.isTesting());
        QTRY_VERIFY(part<QTreeWidget>(dialog, "steps")->topLevelItemCount() >= 1);
        QTest::mouseClick(part<QPushButton>(dialog, "test"), Qt::LeftButton);
        QVERIFY(!dialog.isTesting());
        QVERIFY(meter.worst() < 1s);
    }
};

QTEST_MAIN(TestConnectionDialog)
#include "tst_connection_dialog.moc"
