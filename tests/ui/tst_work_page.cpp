// SPDX-License-Identifier: GPL-3.0-or-later
// The work queue's page against real stores: what it shows of each state, what it says when there is
// nothing to show, and that its one write goes through the gate.
#include "tests/support/postgres_server.h"
#include "tests/ui/ui_kit.h"
#include "tests/ui/work_kit.h"
#include "ui/bridge/retire.h"
#include "ui/dialogs/retry_dialog.h"
#include "ui/models/work_model.h"
#include "ui/views/count_tile.h"
#include "ui/views/work_page.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::test;

namespace
{

constexpr int kPatience = 30'000;

/// A page on a session of its own.
struct Place {
    Place(const Theme &theme, const StoreUri &uri, Environment environment = Environment::Development)
        : session(profile(uri, environment), makeBackend(uri), nullptr)
    {
        session.setStoreUri(uri);
        page = std::make_unique<WorkPage>(theme, SystemClock::instance(), session, nullptr);
        page->resize(1320, 560);
        page->show();
    }
    static ConnectionProfile profile(StoreUri uri, Environment environment)
    {
        ConnectionProfile out = profileOf("orders-db", environment);
        uri.password.clear();
        out.url = QString::fromStdString(uri.secretText());
        return out;
    }
    template <typename T>
    T *find(const char *name)
    {
        return page->findChild<T *>(QLatin1String(name));
    }
    QString tile(const char *name) { return find<CountTile>(name)->numberText(); }
    QString message() { return find<QLabel>("workMessage")->isVisible() ? find<QLabel>("workMessage")->text() : QString(); }
    QAbstractItemModel *model() { return find<QTableView>("workItems")->model(); }
    QString cell(int row, WorkColumn column) { return model()->index(row, static_cast<int>(column)).data().toString(); }
    bool hidden(WorkColumn column) { return find<QTableView>("workItems")->isColumnHidden(static_cast<int>(column)); }
    void click(const char *tileName) { QTest::mouseClick(find<QAbstractButton>(tileName), Qt::LeftButton); }

    Session session;
    std::unique_ptr<WorkPage> page;
};

} // namespace

class TestWorkPage final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setApplicationName(QStringLiteral("tst_work_page"));
        QCoreApplication::setOrganizationName(QStringLiteral("tenure-tests"));
        QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
        m_theme.setChoice(ThemeChoice::Light);
        m_theme.install(*qApp);
        if (PostgresServer::installed())
            m_server = std::make_unique<PostgresServer>();
        else
            QVERIFY2(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"), "PostgreSQL is missing");
    }
    void cleanupTestCase()
    {
        m_server.reset();
        QVERIFY(finishRetired(20s));
    }

    void theModelKeepsWhatStays()
    {
        ManualClock clock;
        WorkModel model(m_theme, clock);
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto items = [](std::initializer_list<std::int64_t> ids) {
            std::vector<ItemView> out;
            for (const std::int64_t id : ids) {
                out.emplace_back().id = id;
                out.back().state = ItemState::Processing;
                out.back().due = 2s;
            }
            return out;
        };
        model.setItems(items({3, 5, 7, 9}), clock.now());
        const QPersistentModelIndex seven = model.index(2, 0);
        model.setItems(items({1, 2, 7, 8, 12}), clock.now());
        QCOMPARE(seven.row(), 2);
        QCOMPARE(model.rowOf(12), 4);
        QCOMPARE(model.rowOf(9), -1);
        model.setItems(items({7}), clock.now());
        QCOMPARE(seven.row(), 0);
        const auto when = [&] { return model.index(0, static_cast<int>(WorkColumn::When)).data().toString(); };
        QCOMPARE(when(), QStringLiteral("2.0 s left"));
        clock.advance(3s);
        QVERIFY2(when().contains(QStringLiteral("LATE by 1.0 s")), qPrintable(when()));
        model.setFresh(false); // P10: what is old never looks live
        QCOMPARE(when(), QString(QChar(0x2013)));
        model.setItems({}, clock.now());
        QVERIFY(!seven.isValid());
        const auto done = [&items](std::initializer_list<std::int64_t> ids) {
            std::vector<ItemView> out = items(ids);
            for (ItemView &one : out)
                one.state = ItemState::Completed;
            return out;
        };
        model.setItems(items({1, 2, 3}), clock.now());
        model.setItems(done({9, 7, 5}), clock.now()); // newest first
        const QPersistentModelIndex stays = model.index(1, 0);
        model.setItems(done({12, 9, 8, 7, 2}), clock.now());
        QCOMPARE(stays.row(), 3);
        QCOMPARE(model.rowOf(12), 0);
        QCOMPARE(model.rowOf(5), -1);
        model.setItems(done({7}), clock.now());
        QCOMPARE(stays.row(), 0);
    }

    void everyStateIsShown_data() { stores(); }
    void everyStateIsShown()
    {
        QFETCH(bool, onPostgres);
        if (onPostgres && !m_server)
            QSKIP("PostgreSQL is not installed");
        QueueDriver work(uri(), "invoices");
        fill(work);
        Place place(m_theme, uri());
        QTRY_COMPARE_WITH_TIMEOUT(place.tile("tilePending"), QStringLiteral("1"), kPatience);
        QCOMPARE(place.tile("tileProcessing"), QStringLiteral("1"));
        QCOMPARE(place.tile("tileLate"), QStringLiteral("1"));
        QCOMPARE(place.tile("tileCompleted"), QStringLiteral("1"));
        QCOMPARE(place.tile("tileDead"), QStringLiteral("2"));
        QVERIFY(place.find<CountTile>("tilePending")->note().contains(QStringLiteral("oldest put in")));
        QVERIFY(place.find<CountTile>("tilePending")->note().contains(QStringLiteral("1 more later")));
        // Pending: what can be taken, and what waits.
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 2, kPatience);
        QCOMPARE(place.cell(0, WorkColumn::When), QStringLiteral("ready"));
        QVERIFY(place.cell(1, WorkColumn::When).startsWith(QStringLiteral("in 59 m")));
        QVERIFY(place.hidden(WorkColumn::Worker));
        place.click("tileProcessing");
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 2, kPatience);
        QVERIFY2(place.cell(0, WorkColumn::When).endsWith(QStringLiteral("left")), qPrintable(place.cell(0, WorkColumn::When)));
        QVERIFY2(place.cell(1, WorkColumn::When).startsWith(QStringLiteral("▲ LATE by")), qPrintable(place.cell(1, WorkColumn::When)));
        QCOMPARE(place.cell(0, WorkColumn::Worker), QStringLiteral("worker-b"));
        QVERIFY(place.cell(0, WorkColumn::Token).toULongLong() > 0);
        QVERIFY(place.cell(1, WorkColumn::Token).toULongLong() > place.cell(0, WorkColumn::Token).toULongLong());
        QCOMPARE(place.cell(0, WorkColumn::Fence), QStringLiteral("7"));
        QCOMPARE(place.cell(0, WorkColumn::Attempts), QStringLiteral("1 of 3"));
        shoot(*place.page, onPostgres ? QStringLiteral("work") : QStringLiteral("work-sqlite"));
        place.click("tileLate");
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 1, kPatience);
        QCOMPARE(place.cell(0, WorkColumn::Worker), QStringLiteral("worker-a"));
        place.click("tileCompleted");
        QTRY_COMPARE_WITH_TIMEOUT(place.cell(0, WorkColumn::Payload), QStringLiteral("{\"invoice\": 1}"), kPatience);
        place.click("tileDead");
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 2, kPatience);
        QCOMPARE(place.cell(0, WorkColumn::Reason), QStringLiteral("mail server: 554 refused\\nfor good"));
        // It follows what happens, by itself.
        work.put("{\"invoice\": 99}");
        QTRY_COMPARE_WITH_TIMEOUT(place.tile("tilePending"), QStringLiteral("2"), kPatience);
    }

    void retryGoesThroughTheGate_data() { stores(); }
    void retryGoesThroughTheGate()
    {
        QFETCH(bool, onPostgres);
        if (onPostgres && !m_server)
            QSKIP("PostgreSQL is not installed");
        QueueDriver work(uri(), "mail");
        work.bury("one", "w", "no route to host");
        work.bury("two", "w", "no route to host");
        work.bury("three", "w", "no route to host");
        Place place(m_theme, uri());
        place.page->showQueue("mail");
        place.page->showView(WorkView::Dead);
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 3, kPatience);
        auto *one = place.find<QPushButton>("workRetry");
        auto *all = place.find<QPushButton>("workRetryAll");
        place.find<QTableView>("workItems")->selectRow(0);
        // Read-only: neither the buttons nor what stands behind them.
        QVERIFY(!one->isEnabled() && !all->isEnabled());
        QVERIFY(all->toolTip().startsWith(QStringLiteral("Read-only")));
        QVERIFY(place.find<QLabel>("workReadOnly")->text().startsWith(QStringLiteral("Read-only")));
        QSignalSpy done(&place.session, &Session::retryDone);
        place.session.retryDead({"mail", 0, "op", "INC-1"});
        QTRY_COMPARE_WITH_TIMEOUT(done.count(), 1, kPatience);
        QCOMPARE(work.counts().dead, std::uint64_t{3});
        QTRY_COMPARE_WITH_TIMEOUT(place.session.audit().size(), std::size_t{2}, kPatience);
        QVERIFY(place.session.audit()[0].isIntent());
        QCOMPARE(place.session.audit()[1].retried->error().kind, ErrorKind::Denied);
        // Operator: one, then all.
        place.session.allowWrites(15min);
        QTRY_VERIFY_WITH_TIMEOUT(one->isEnabled() && all->isEnabled(), kPatience);
        shoot(*place.page, onPostgres ? QStringLiteral("work-dead") : QStringLiteral("work-dead-sqlite"));
        confirm(place, *one, "INC-4711 the mail server is back");
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 2, kPatience);
        QCOMPARE(work.counts().pending, std::uint64_t{1});
        confirm(place, *all, "INC-4711 the rest");
        QTRY_COMPARE_WITH_TIMEOUT(place.tile("tileDead"), QStringLiteral("0"), kPatience);
        QCOMPARE(work.counts().pending, std::uint64_t{3});
        QTRY_VERIFY_WITH_TIMEOUT(place.message() == QStringLiteral("No dead letters"), kPatience);
        QCOMPARE(place.session.audit().size(), std::size_t{6});
    }

    void theDialogSendsNothingWhileReadOnly()
    {
        const StoreUri here = file("dialog.db");
        QueueDriver work(here, "mail");
        work.bury("one", "w", "no route to host");
        Place place(m_theme, here);
        RetryDialog dialog(place.session, {"mail", 0, "op", {}}, 1, nullptr);
        dialog.show();
        auto *send = dialog.findChild<QPushButton *>(QStringLiteral("retrySend"));
        auto *reason = dialog.findChild<QLineEdit *>(QStringLiteral("retryReason"));
        auto *blocked = dialog.findChild<QLabel *>(QStringLiteral("retryBlocked"));
        QTest::keyClicks(reason, QStringLiteral("INC-1"));
        QVERIFY(!send->isEnabled());
        QVERIFY(blocked->text().startsWith(QStringLiteral("Read-only")));
        shoot(dialog, QStringLiteral("work-retry-blocked"));
        QTest::keyClick(reason, Qt::Key_Return); // no way around it
        QTest::mouseClick(dialog.findChild<QPushButton *>(QStringLiteral("operator")), Qt::LeftButton);
        QVERIFY(send->isEnabled());
        reason->clear();
        QTest::keyClicks(reason, QStringLiteral("  "));
        QVERIFY(!send->isEnabled()); // a reason is required
        QTest::keyClicks(reason, QStringLiteral("INC-1"));
        place.session.readOnly();
        QVERIFY(!send->isEnabled());
        QCOMPARE(place.session.audit().size(), std::size_t{0});
        QCOMPARE(work.counts().dead, std::uint64_t{1});
    }

    void aLookMakesNothing()
    {
        const StoreUri nowhere = file("none.db");
        Place place(m_theme, nowhere);
        QTRY_COMPARE_WITH_TIMEOUT(place.message(), QStringLiteral("No queue here yet"), kPatience);
        QVERIFY(!QFile::exists(QString::fromStdString(nowhere.path)));
        QVERIFY(place.find<QLabel>("workCommand")->text().startsWith(QStringLiteral("tenurectl work init sqlite://")));
        QCOMPARE(place.tile("tilePending"), QString(QChar(0x2013)));
        shoot(*place.page, QStringLiteral("work-none"));
        // It comes by itself when there is one.
        QueueDriver work(nowhere, "late riser");
        work.put("x");
        QTRY_COMPARE_WITH_TIMEOUT(place.tile("tilePending"), QStringLiteral("1"), kPatience);
        QCOMPARE(place.find<QComboBox>("workQueue")->currentText(), QStringLiteral("late riser"));
    }

    void aNewerQueueIsLeftAlone()
    {
        const StoreUri here = file("newer.db");
        QueueDriver old(here, "old");
        old.put("x");
        QueueDriver newer(here, "newer");
        newer.put("x");
        sqlite3 *db = nullptr;
        QCOMPARE(sqlite3_open(here.path.c_str(), &db), SQLITE_OK);
        QCOMPARE(sqlite3_exec(db, "UPDATE tenure_queue SET version=99 WHERE name='newer'", nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(db);
        Place place(m_theme, here);
        QTRY_COMPARE_WITH_TIMEOUT(place.message(), QStringLiteral("This queue needs a newer Tenure"), kPatience);
        QVERIFY(place.find<QLabel>("workMessageText")->text().contains(QStringLiteral("layout 99")));
        QCOMPARE(place.tile("tileDead"), QString(QChar(0x2013)));
        // The other one is well.
        place.find<QComboBox>("workQueue")->setCurrentIndex(1);
        QTRY_COMPARE_WITH_TIMEOUT(place.tile("tilePending"), QStringLiteral("1"), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(place.message(), QString(), kPatience);
    }

    void aSilentServerIsAStateNotAHang()
    {
        const SilentServer server;
        const auto silent = StoreUri::parse("postgresql://ops:hunter2@127.0.0.1:" + std::to_string(server.port()) + "/x");
        Place place(m_theme, *silent);
        LatencyMeter meter;
        QTRY_COMPARE_WITH_TIMEOUT(place.message(), QStringLiteral("The store does not answer"), kPatience);
        QVERIFY2(meter.worst() < 2s, "the window did not answer");
        noSecretIn(*place.page);
        shoot(*place.page, QStringLiteral("work-silent"));
    }

    void aLostServerLeavesOldNumbersThatLookOld()
    {
        if (!m_server)
            QSKIP("PostgreSQL is not installed");
        PostgresServer server;
        QueueDriver work(server.socketUri(), "invoices");
        fill(work);
        Place place(m_theme, server.socketUri());
        place.page->showView(WorkView::Processing);
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 2, kPatience);
        server.kill();
        QTRY_VERIFY_WITH_TIMEOUT(place.find<QLabel>("workTrouble")->text().startsWith(QStringLiteral("What stands here is old")), kPatience);
        QCOMPARE(place.model()->rowCount(), 2);
        QCOMPARE(place.cell(0, WorkColumn::When), QString(QChar(0x2013)));
        shoot(*place.page, QStringLiteral("work-lost"));
        place.session.allowWrites(15min);
        place.page->showView(WorkView::Dead); // not known any more, and not asked for by an old number
        QCOMPARE(place.message(), QStringLiteral("The store does not answer"));
        QVERIFY(!place.find<QPushButton>("workRetryAll")->isEnabled());
        server.start();
        QTRY_VERIFY_WITH_TIMEOUT(!place.find<QLabel>("workTrouble")->isVisible(), kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 2, kPatience);
    }

    void thePasswordIsUsedAndNeverShown()
    {
        if (!m_server)
            QSKIP("PostgreSQL is not installed");
        m_server->script("DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN PASSWORD 'hunter2'; GRANT ALL ON DATABASE postgres TO clerk;");
        m_server->allow({"host all clerk 127.0.0.1/32 scram-sha-256"});
        StoreUri with = m_server->tcpUri("clerks");
        with.user = "clerk";
        with.password = "hunter2";
        QueueDriver work(with, "letters");
        work.put("x");
        {
            Place place(m_theme, with);
            QTRY_COMPARE_WITH_TIMEOUT(place.tile("tilePending"), QStringLiteral("1"), kPatience);
            noSecretIn(*place.page);
        }
        with.password = "wrong-hunter2";
        Place place(m_theme, with);
        QTRY_COMPARE_WITH_TIMEOUT(place.message(), QStringLiteral("Not allowed to look"), kPatience);
        noSecretIn(*place.page);
    }

    void manyItemsComeInPages()
    {
        const StoreUri here = file("many.db");
        QueueDriver work(here, "many");
        std::vector<NewItem> items(450, NewItem{"x"});
        QVERIFY(work.queue().enqueue(items, BootClock::now() + 20s));
        Place place(m_theme, here);
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 200, kPatience);
        QTest::mouseClick(place.find<QPushButton>("workNext"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 200, kPatience);
        QCOMPARE(place.cell(0, WorkColumn::Id), QStringLiteral("201"));
        QTest::mouseClick(place.find<QPushButton>("workNext"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(place.model()->rowCount(), 50, kPatience);
        QVERIFY(!place.find<QPushButton>("workNext")->isVisible());
        QTest::mouseClick(place.find<QPushButton>("workFirst"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(place.cell(0, WorkColumn::Id), QStringLiteral("1"), kPatience);
    }

    void aHiddenPageAsksNothing()
    {
        const StoreUri here = file("hidden.db");
        QueueDriver work(here, "q");
        work.put("x");
        Place place(m_theme, here);
        QTRY_COMPARE_WITH_TIMEOUT(place.tile("tilePending"), QStringLiteral("1"), kPatience);
        place.page->hide();
        QSignalSpy looks(&place.page->feed(), &WorkFeed::looked);
        QTest::qWait(2500);
        QVERIFY(looks.count() <= 1); // one may have been under way
        place.page->show();
        const qsizetype before = looks.count();
        QTRY_VERIFY_WITH_TIMEOUT(looks.count() > before, kPatience);
        place.session.setFrozen(true);
        QTest::qWait(1500);
        work.put("y");
        QTest::qWait(2500);
        QCOMPARE(place.tile("tilePending"), QStringLiteral("1"));
        place.session.setFrozen(false);
        QTRY_COMPARE_WITH_TIMEOUT(place.tile("tilePending"), QStringLiteral("2"), kPatience);
    }

private:
    static void stores()
    {
        QTest::addColumn<bool>("onPostgres");
        QTest::newRow("sqlite") << false;
        QTest::newRow("postgresql") << true;
    }
    StoreUri file(const char *name) { return StoreUri::parse("sqlite://" + m_folder.filePath(QLatin1String(name)).toStdString()).value(); }
    /// Of the row's store and of this test alone.
    StoreUri uri()
    {
        const QByteArray test = QTest::currentTestFunction();
        if (QByteArray(QTest::currentDataTag()) == "postgresql")
            return m_server->socketUri(test.toLower().toStdString());
        return file((test + ".db").constData());
    }
    /// One of each kind, and two dead letters.
    static void fill(QueueDriver &work)
    {
        work.put("{\"invoice\": 1}", "invoice-1");
        work.settle(work.claim("worker-a"), Settlement::Kind::Complete);
        work.bury("{\"invoice\": 2}", "worker-a", "mail server: 554 refused\nfor good");
        work.bury("{\"invoice\": 3}", "worker-b", "template 'reminder' is missing");
        work.put("{\"invoice\": 4, \"to\": \"a@example.org\"}", "invoice-4");
        (void)work.claim("worker-b", 10min, {7}); // for a leader with token 7
        work.put("{\"invoice\": 5, \"to\": \"b@example.org\"}", "invoice-5");
        (void)work.claim("worker-a", 1ms, {7}); // late at once
        work.put("{\"invoice\": 6}", "invoice-6");
        work.put("{\"invoice\": 7}", "invoice-7", 1h);
    }
    void confirm(Place &place, QPushButton &button, const char *reason)
    {
        QSignalSpy asked(place.page.get(), &WorkPage::retryRequested);
        QTest::mouseClick(&button, Qt::LeftButton);
        QCOMPARE(asked.count(), 1);
        RetryDialog dialog(place.session, asked[0][0].value<RetryPlan>(), 3, nullptr);
        dialog.show();
        QTest::keyClicks(dialog.findChild<QLineEdit *>(QStringLiteral("retryReason")), QLatin1String(reason));
        shoot(dialog, QStringLiteral("work-retry"));
        QTest::mouseClick(dialog.findChild<QPushButton *>(QStringLiteral("retrySend")), Qt::LeftButton);
        auto *outcome = dialog.findChild<QLabel *>(QStringLiteral("retryOutcome"));
        QTRY_VERIFY2_WITH_TIMEOUT(outcome->text().contains(QStringLiteral("pending again")), qPrintable(outcome->text()), kPatience);
    }
    static void noSecretIn(QWidget &page)
    {
        for (const QWidget *one : page.findChildren<QWidget *>()) {
            QString all = one->toolTip() + one->accessibleName() + one->accessibleDescription();
            if (const auto *label = qobject_cast<const QLabel *>(one))
                all += label->text();
            QVERIFY2(!all.contains(QStringLiteral("hunter2")), qPrintable(all));
        }
    }
    void shoot(QWidget &widget, const QString &name)
    {
        for (const auto &[choice, suffix] : {std::pair(ThemeChoice::Dark, "dark"), std::pair(ThemeChoice::Light, "light")}) {
            m_theme.setChoice(choice);
            QTest::qWait(200);
            QVERIFY(widget.grab().save(QStringLiteral(TENURE_SHOTS "/console-%1-%2.png").arg(name, QLatin1String(suffix))));
        }
    }

    QTemporaryDir m_folder;
    Theme m_theme;
    std::unique_ptr<PostgresServer> m_server;
};

QTEST_MAIN(TestWorkPage)
#include "tst_work_page.moc"
