// SPDX-License-Identifier: GPL-3.0-or-later
// The console's view of the past: what the journal kept, read beside the GUI and drawn at several zooms.
#include "fabricated.h"

#include "tests/support/journal_kit.h"
#include "ui/bridge/history.h"
#include "ui/bridge/retire.h"
#include "ui/theme/theme.h"
#include "ui/views/alerts_page.h"
#include "ui/views/journal_page.h"
#include "ui/views/terms_panel.h"
#include "ui/views/timeline_panel.h"

#include <QApplication>
#include <QDir>
#include <QJsonDocument>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTreeWidget>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::ui::test;
using tenure::test::JournalKit;

namespace
{

constexpr Duration kDay = 24h;

} // namespace

class TestHistory final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
        m_theme.setChoice(ThemeChoice::Light);
        m_theme.install(*qApp);
        writePast();
        m_history = std::make_unique<History>(m_folder.filePath(QStringLiteral("journal.db")));
    }
    void cleanupTestCase()
    {
        m_history.reset();
        QVERIFY(finishRetired(20s));
    }

    void thePastIsDrawnAtEveryZoom_data()
    {
        QTest::addColumn<qint64>("seconds");
        QTest::addColumn<quint64>("least");
        QTest::newRow("10min") << qint64(600) << quint64(0);
        QTest::newRow("1h") << qint64(3600) << quint64(7);
        QTest::newRow("24h") << qint64(86400) << quint64(40);
        QTest::newRow("7d") << qint64(7 * 86400) << quint64(300);
    }
    void thePastIsDrawnAtEveryZoom()
    {
        QFETCH(qint64, seconds);
        QFETCH(quint64, least);
        TermsPanel panel(m_theme, m_kit->clock, m_info, m_lease, nullptr);
        panel.resize(1100, 300);
        panel.setHistory(m_history.get(), m_kit->connection);
        panel.show();
        panel.swimlane().showSpan(std::chrono::seconds(seconds));
        QTRY_VERIFY_WITH_TIMEOUT(!panel.swimlane().stretches().empty(), 20000);
        QTest::qWait(200);
        const SwimWindow view = panel.swimlane().window();
        const SwimSummary seen = summaryOf(panel.swimlane().stretches(), view.from, view.until);
        QVERIFY2(seen.transitions >= least, qPrintable(QString::number(seen.transitions)));
        shoot(panel, QStringLiteral("timeline-%1").arg(QLatin1String(QTest::currentDataTag())));
        qInfo("%s: painted in %.1f ms", QTest::currentDataTag(),
            std::chrono::duration<double, std::milli>(panel.swimlane().paintTime()).count());
    }

    void aSelectionIsSummed()
    {
        TermsPanel panel(m_theme, m_kit->clock, m_info, m_lease, nullptr);
        panel.resize(1100, 300);
        panel.setHistory(m_history.get(), m_kit->connection);
        panel.show();
        panel.swimlane().showSpan(1h);
        QTRY_VERIFY_WITH_TIMEOUT(!panel.swimlane().stretches().empty(), 20000);
        const Instant now = m_kit->clock.now();
        panel.swimlane().select(TimeSpan{now - 40min, now - 5min});
        QTRY_VERIFY_WITH_TIMEOUT(panel.summaryText().contains(QStringLiteral("without leader")), 20000);
        QVERIFY(panel.summaryText().startsWith(QStringLiteral("Selection")));
        QVERIFY2(panel.summaryText().contains(QStringLiteral("41 s without leader")), qPrintable(panel.summaryText()));
        QTRY_COMPARE_WITH_TIMEOUT(panel.swimlane().marks().size(), std::size_t(2), 20000); // an alert, a release
        shoot(panel, QStringLiteral("timeline-selection"));
    }

    void oneGoesBackAndForward()
    {
        Swimlane lane(m_theme, m_kit->clock, nullptr);
        lane.resize(1000, 200);
        lane.show();
        lane.showSpan(1h);
        m_kit->clock.advance(1s);
        lane.showSpan(24h);
        QTest::keyClick(&lane, Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(lane.span(), Duration(1h));
        QTest::keyClick(&lane, Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(lane.span(), Duration(24h));
        QTest::keyClick(&lane, Qt::Key_Left);
        QVERIFY(!lane.isFollowing());
        QTest::keyClick(&lane, Qt::Key_Home);
        QVERIFY(lane.isFollowing());
        // Shift and the arrows select, Enter zooms there, Escape ends it.
        QTest::keyClick(&lane, Qt::Key_Right, Qt::ShiftModifier);
        QTest::keyClick(&lane, Qt::Key_Right, Qt::ShiftModifier);
        QVERIFY(lane.selection() && lane.selection()->length() > 2h);
        const Duration chosen = lane.selection()->length();
        QTest::keyClick(&lane, Qt::Key_Return);
        QCOMPARE(lane.span(), chosen);
        QTest::keyClick(&lane, Qt::Key_Escape);
        QVERIFY(!lane.selection());
    }

    void theSessionGoesOnWhereTheJournalEnds()
    {
        const Instant now = m_kit->clock.now();
        SwimStretch old;
        old.from = now - 2h;
        old.until = now;
        old.holder = "a";
        SwimStretch fresh;
        fresh.from = now - 10min;
        fresh.until = now;
        fresh.holder = "b";
        fresh.isOpen = true;
        const auto all = joined({old}, {fresh});
        QCOMPARE(all.size(), std::size_t(2));
        QCOMPARE(all[0].until, fresh.from);
        QCOMPARE(joined({old}, {}).size(), std::size_t(1));
        QCOMPARE(joined({}, {fresh}).front().holder, std::string("b"));
    }

    void allConnectionsInRows()
    {
        TimelinePanel panel(m_theme, m_kit->clock, nullptr);
        panel.resize(1100, 120);
        panel.setConnection(QStringLiteral("p"), QStringLiteral("prod-eu"), {}, m_kit->clock.now());
        panel.setHistory(QStringLiteral("p"), m_history.get(), m_kit->connection, Surroundings::Production);
        panel.show();
        panel.strip().showSpan(kDay);
        QTRY_VERIFY_WITH_TIMEOUT(!panel.summaryText().contains(QStringLiteral(" 0 changes")), 20000);
        QVERIFY2(panel.summaryText().contains(QStringLiteral("changes")), qPrintable(panel.summaryText()));
        QTest::qWait(200);
        shoot(panel, QStringLiteral("density"));
    }

    void rulesAreEditedForAPattern()
    {
        AlertsPage page(m_theme, m_kit->clock, {}, nullptr);
        page.resize(1180, 640);
        page.setSource(QStringLiteral("prod-eu"), m_history.get(), m_kit->connection);
        page.show();
        auto *list = page.findChild<QTreeWidget *>(QStringLiteral("rulesList"));
        QCOMPARE(list->topLevelItemCount(), int(kRuleCount));
        list->setCurrentItem(list->topLevelItem(int(RuleId::Churn)));
        page.findChild<QDoubleSpinBox *>(QStringLiteral("threshold_transitions"))->setValue(8);
        QCOMPARE(page.editor().book().valuesFor("x")[std::size_t(RuleId::Churn)].thresholds[0], 8.0);
        QSignalSpy saved(&page, &AlertsPage::saved);
        page.findChild<QPushButton *>(QStringLiteral("rulesPreview"))->click();
        auto *text = page.findChild<QLabel *>(QStringLiteral("rulesPreviewText"));
        QTRY_VERIFY_WITH_TIMEOUT(text->text().contains(QStringLiteral("would have raised")), 30000);
        QVERIFY(!list->topLevelItem(int(RuleId::Leaderless))->text(4).isEmpty());
        shoot(page, QStringLiteral("rules"));
        page.findChild<QPushButton *>(QStringLiteral("rulesSave"))->click();
        QCOMPARE(saved.size(), 1);
        const auto again = RuleBook::parse(page.editor().book().json());
        QVERIFY(again && *again == page.editor().book());
        page.showTab(AlertsPage::Past);
        auto *past = page.findChild<QTreeWidget *>(QStringLiteral("alertsPast"));
        QTRY_VERIFY_WITH_TIMEOUT(past->topLevelItemCount() >= 1, 20000);
        QVERIFY(past->topLevelItem(0)->text(7).contains(QStringLiteral("op1")));
        shoot(page, QStringLiteral("alert-history"));
    }

    void whatIsShownLeavesInEveryFormat_data()
    {
        QTest::addColumn<TimelineFormat>("format");
        QTest::addColumn<QByteArrayList>("holds");
        const auto row = [](TimelineFormat format, const QByteArrayList &holds) {
            QTest::newRow(qPrintable(suffixOf(format))) << format << holds;
        };
        row(TimelineFormat::Png, {"PNG"});
        row(TimelineFormat::Svg, {"<svg", "SIM", "billing/scheduler", "Z</text>"});
        row(TimelineFormat::Pdf, {"%PDF-"});
        row(TimelineFormat::Csv, {"at,server_time,connection,lease,change", ",expired,", "Z,", "41000"});
        row(TimelineFormat::JsonLines, {"\"type\":\"observed\"", "\"kind\":\"expired\"", "\"reason\":\"INC-4711\"", "\"rule\":\"leaderless\""});
        row(TimelineFormat::Markdown, {"# Leadership from", "**nobody**", "INC-4711", "Causes", "Not observed"});
        row(TimelineFormat::Html, {"<!DOCTYPE html>", "<svg", "nobody led", "INC-4711", "Changes over time"});
    }
    void whatIsShownLeavesInEveryFormat()
    {
        QFETCH(TimelineFormat, format);
        QFETCH(QByteArrayList, holds);
        ConnectionInfo sim = m_info;
        sim.where = Surroundings::Sim;
        TermsPanel panel(m_theme, m_kit->clock, sim, m_lease, nullptr);
        panel.resize(1100, 300);
        panel.setHistory(m_history.get(), m_kit->connection);
        panel.show();
        panel.swimlane().showSpan(1h);
        QTRY_VERIFY_WITH_TIMEOUT(!panel.swimlane().stretches().empty(), 20000);
        const QString path = QStringLiteral(TENURE_SHOTS "/incident.") + suffixOf(format);
        QSignalSpy told(&panel, &TermsPanel::told);
        setTimeShown(TimeShown::Local); // what leaves is UTC all the same
        panel.exports().save(format, path);
        QTRY_COMPARE_WITH_TIMEOUT(told.size(), 1, 20000);
        QCOMPARE(timeShown(), TimeShown::Local);
        setTimeShown(TimeShown::Utc);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray bytes = file.readAll();
        for (const QByteArray &one : holds)
            QVERIFY2(bytes.contains(one), one + " is not in " + bytes.left(2000));
        QVERIFY(!bytes.contains("<image")); // drawn, not a photograph
        if (format == TimelineFormat::JsonLines) {
            for (const QByteArray &line : bytes.trimmed().split('\n'))
                QVERIFY2(QJsonDocument::fromJson(line).isObject(), line);
        }
    }

    void somebodyElsesJournalIsShownAsNotLive()
    {
        const QString exported = m_folder.filePath(QStringLiteral("theirs.jsonl"));
        {
            TermsPanel panel(m_theme, m_kit->clock, m_info, m_lease, nullptr);
            panel.setHistory(m_history.get(), m_kit->connection);
            panel.swimlane().showSpan(kDay * 14);
            QSignalSpy told(&panel, &TermsPanel::told);
            panel.exports().save(TimelineFormat::JsonLines, exported);
            QTRY_COMPARE_WITH_TIMEOUT(told.size(), 1, 30000);
        }
        QStringList changes;
        for (const QString &path : {m_history->path(), exported}) {
            JournalPage page(m_theme, m_kit->clock, path, nullptr);
            page.resize(1300, 760);
            QSignalSpy loaded(&page, &JournalPage::loaded);
            page.show();
            QTRY_COMPARE_WITH_TIMEOUT(loaded.size(), 1, 30000);
            QVERIFY(page.findChild<QLabel *>(QStringLiteral("journalBanner"))->text().contains(QStringLiteral("NOT LIVE")));
            auto *leases = page.findChild<QTreeWidget *>(QStringLiteral("journalLeases"));
            QCOMPARE(leases->topLevelItemCount(), 1);
            QCOMPARE(leases->topLevelItem(0)->text(0), QStringLiteral("billing/scheduler"));
            changes << leases->topLevelItem(0)->text(2);
            auto *rows = page.findChild<QTreeWidget *>(QStringLiteral("journalEvents"));
            QTRY_VERIFY_WITH_TIMEOUT(rows->topLevelItemCount() > 400, 30000);
            QTRY_VERIFY_WITH_TIMEOUT(!page.terms()->swimlane().stretches().empty(), 20000);
            QTest::qWait(400);
            if (changes.size() == 1)
                shoot(page, QStringLiteral("journal"));
        }
        QVERIFY(changes[0].toInt() > 400);
        QCOMPARE(changes[1], changes[0]);
    }

    void aFileThatIsNoJournalIsASentence()
    {
        const QString path = m_folder.filePath(QStringLiteral("no.db"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("not a journal at all");
        file.close();
        JournalPage page(m_theme, m_kit->clock, path, nullptr);
        auto *banner = page.findChild<QLabel *>(QStringLiteral("journalBanner"));
        QTRY_VERIFY_WITH_TIMEOUT(!banner->text().contains(QStringLiteral("Reading")), 20000);
        QVERIFY2(banner->text().size() > 80, qPrintable(banner->text()));
    }

    void aMissingJournalIsASentence()
    {
        History none(m_folder.filePath(QStringLiteral("none.db")));
        QSignalSpy told(&none, &History::problemChanged);
        bool answered = false;
        none.ask(this, 0, [&answered](JournalQuery &) -> History::Answer { return [&answered] { answered = true; }; });
        QTRY_COMPARE_WITH_TIMEOUT(told.size(), 1, 10000);
        QVERIFY(!none.problem().isEmpty());
        QVERIFY(!answered);
    }

private:
    /// A week: quiet days, a busy one, a night nobody watched, a gap of 41 s half an hour ago.
    void writePast()
    {
        m_kit = std::make_unique<JournalKit>(m_folder.filePath(QStringLiteral("journal.db")).toStdString());
        const char *const holders[]{"sched-7f9c", "sched-a1", "sched-b2"};
        std::uint64_t token = 100;
        Duration at{};
        m_kit->watched(0s, 1s);
        m_kit->tell({1s, TransitionKind::Acquired, "", holders[0], token, {}, "billing/scheduler"});
        std::size_t now = 0;
        const auto change = [&](Duration step, Duration gap) {
            const std::string before = holders[now];
            now = (now + 1) % 3;
            const Duration from = at;
            at += step;
            m_kit->watched(from, at + gap);
            if (gap > Duration::zero())
                m_kit->tell({at, TransitionKind::Expired, before, "", token, {}, "billing/scheduler"});
            at += gap;
            m_kit->tell({at, gap > Duration::zero() ? TransitionKind::Acquired : TransitionKind::TakenOver,
                gap > Duration::zero() ? "" : before, holders[now], ++token, gap, "billing/scheduler"});
        };
        at = 1s;
        for (int i = 0; i < 40; ++i)
            change(2h, i % 5 == 0 ? Duration(9s) : Duration::zero());
        for (int i = 0; i < 400; ++i) // a busy day
            change(150s, i % 7 == 0 ? Duration(4s) : Duration::zero());
        at += 9h; // nobody looked
        for (int i = 0; i < 30; ++i)
            change(40min, i % 4 == 0 ? Duration(6s) : Duration::zero());
        change(20min, 41s);
        for (int i = 0; i < 6; ++i)
            change(4min, Duration::zero());
        const Duration end = at + 6min;
        m_kit->watched(at, end);
        writeDeeds(end);
        QVERIFY(m_kit->journal->flush(60s));
    }

    void writeDeeds(Duration end)
    {
        JournalAction action;
        action.at = m_kit->wall(end - 12min);
        action.by = "op1";
        action.lease = {m_kit->connection, m_lease};
        action.verb = "release";
        action.reason = "INC-4711";
        QVERIFY(m_kit->journal->record(action, 20s));
        Alert alert;
        alert.id = 1;
        alert.rule = "leaderless";
        alert.priority = 1;
        alert.lease = m_lease;
        alert.text = "no leader for 32 s";
        alert.action = "Find out why no candidate takes it";
        alert.firstAt = alert.lastAt = m_kit->clock.now() - 30min;
        m_kit->journal->append(m_kit->connection, 1, alert);
        alert.state = AlertState::Acknowledged;
        alert.by = "op1";
        alert.lastAt = m_kit->clock.now() - 29min;
        m_kit->journal->append(m_kit->connection, 1, alert);
        alert.state = AlertState::Resolved;
        alert.by.clear();
        alert.lastAt = m_kit->clock.now() - 28min;
        m_kit->journal->append(m_kit->connection, 1, alert);
    }

    void shoot(QWidget &widget, const QString &name)
    {
        for (const auto &[choice, suffix] : {std::pair(ThemeChoice::Dark, "dark"), std::pair(ThemeChoice::Light, "light")}) {
            m_theme.setChoice(choice);
            QCoreApplication::processEvents();
            QVERIFY(widget.grab().save(QStringLiteral(TENURE_SHOTS "/console-%1-%2.png").arg(name, QLatin1String(suffix))));
        }
    }

    QTemporaryDir m_folder;
    Theme m_theme;
    std::unique_ptr<JournalKit> m_kit;
    std::unique_ptr<History> m_history;
    const LeaseId m_lease = LeaseId::observed("billing/scheduler");
    const ConnectionInfo m_info{QStringLiteral("p"), QStringLiteral("prod-eu"), QStringLiteral("redis://h:6379"), Surroundings::Production};
};

QTEST_MAIN(TestHistory)
#include "tst_history.moc"
