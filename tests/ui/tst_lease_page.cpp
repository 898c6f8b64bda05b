// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabricated.h"

#include "ui/charts/heartbeat_strip.h"
#include "ui/charts/swimlane.h"
#include "ui/charts/ttl_ring.h"
#include "ui/theme/theme.h"
#include "ui/views/copy_as.h"
#include "ui/views/lease_page.h"

#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::ui::test;

class TestLeasePage : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void saysWhoLeads();
    void staleValuesAreWasAndQuestionMarks();
    void releaseSaysWhyItIsDisabled();
    void vacantAndVanished();
    void hostileNamesStayInside();
    void swimlaneZoomsAndFollows();
    void narrowTermsAreMerged();
    void heartbeatShowsLateAndMissed();
    void copiesAreSafeToPaste();
    void outlivesItsSource();

private:
    void shoot(QWidget &widget, const char *name);
    LeaseStatus &busy();
    [[nodiscard]] QString label(const char *name) const;
    LeasePage &page(const std::string &name);
    ManualClock m_clock;
    std::unique_ptr<Theme> m_theme;
    std::unique_ptr<FabricatedSource> m_prod;
    std::unique_ptr<LeasePage> m_page;
};

void TestLeasePage::initTestCase()
{
    m_theme = std::make_unique<Theme>();
    m_theme->install(*qApp);
}

void TestLeasePage::init()
{
    m_prod = std::make_unique<FabricatedSource>(m_clock, QStringLiteral("p"), QStringLiteral("prod-eu"), Surroundings::Production);
}

void TestLeasePage::cleanup()
{
    m_page.reset();
}

void TestLeasePage::shoot(QWidget &widget, const char *name)
{
    QDir(QCoreApplication::applicationDirPath()).mkpath(QStringLiteral("shots"));
    for (const ThemeChoice choice : {ThemeChoice::Dark, ThemeChoice::Light}) {
        m_theme->setChoice(choice);
        widget.show();
        QCoreApplication::processEvents();
        const QString scheme = choice == ThemeChoice::Dark ? QStringLiteral("dark") : QStringLiteral("light");
        QVERIFY(widget.grab().save(QStringLiteral("%1/shots/%2_%3.png").arg(QCoreApplication::applicationDirPath(), QLatin1String(name), scheme)));
    }
}

LeaseStatus &TestLeasePage::busy()
{
    LeaseStatus &status = m_prod->held("billing/scheduler", "sched-7f9c_node-4-2211-9f3b2c1d", 1600ms);
    const Instant now = m_clock.now();
    status.terms = {{"sched-a1", {115}, now - 9min, now - 7min, false, false}, {"", {}, now - 7min, now - 400s, true, false},
        {"sched-7f9c_node-4-2211-9f3b2c1d", {116}, now - 400s, now - 290s, true, false},
        {"sched-a1", {117}, now - 290s, now - 200s, true, false}, {"", {}, now - 200s, now - 182s, true, true},
        {"sched-7f9c_node-4-2211-9f3b2c1d", {118}, now - 182s, std::nullopt, true, false}};
    status.blind = {{now - 120s, now - 100s}};
    status.transitionTimes = {now - 7min, now - 400s, now - 290s, now - 182s};
    status.transitionsSeen = 5;
    status.lastGap = 18s;
    status.renewals[20].late = true;
    status.renewals[33].interval = 15s;
    status.record.candidates = {"sched-a1", "sched-b2"};
    status.record.transitions = 117;
    status.record.renewedAt = m_clock.wall() - std::chrono::milliseconds(1600);
    for (std::uint64_t i = 0; i < 4; ++i) {
        Transition change;
        change.number = i;
        change.lease = status.record.lease;
        change.kind = i % 2 == 0 ? TransitionKind::Expired : TransitionKind::TakenOver;
        change.oldHolder = "sched-a1";
        change.newHolder = i % 2 == 0 ? "" : "sched-7f9c";
        change.at = now - 7min + 60s * i;
        change.wall = m_clock.wall() - std::chrono::minutes(7 - i);
        change.explanation = "stopped renewing at 02:13:45.1, expired 15.0 s later";
        m_prod->m_transitions.push_back(change);
    }
    return status;
}

LeasePage &TestLeasePage::page(const std::string &name)
{
    m_page = std::make_unique<LeasePage>(*m_theme, m_clock, m_prod.get(), LeaseId::observed(name), nullptr);
    m_page->resize(1180, 940);
    m_page->show();
    QCoreApplication::processEvents();
    m_page->refresh();
    return *m_page;
}

QString TestLeasePage::label(const char *name) const
{
    const auto *found = m_page->findChild<QLabel *>(QLatin1String(name));
    return found == nullptr ? QStringLiteral("(no such label)") : found->text();
}

void TestLeasePage::saysWhoLeads()
{
    busy();
    page("billing/scheduler");
    shoot(*m_page, "lease_held");
    QVERIFY(label("leaseState").contains(QStringLiteral("HELD")));
    QCOMPARE(m_page->findChild<QLabel *>(QStringLiteral("leaseHolder"))->toolTip(), QStringLiteral("sched-7f9c_node-4-2211-9f3b2c1d"));
    QCOMPARE(label("leaseTerm"), QStringLiteral("118"));
    QCOMPARE(m_page->findChild<TtlRing *>()->text(), QStringLiteral("13 s"));
    QCOMPARE(label("leaseCandidates"), QStringLiteral("sched-a1, sched-b2"));
    QVERIFY(label("leaseExplanation").startsWith(QStringLiteral("by sched-7f9c")));
    QCOMPARE(m_prod->m_focused.name(), std::string("billing/scheduler"));
}

void TestLeasePage::staleValuesAreWasAndQuestionMarks()
{
    busy();
    m_prod->m_link.lastProof = m_clock.now() - 7s;
    page("billing/scheduler");
    shoot(*m_page, "lease_stale");
    QVERIFY(label("leaseState").contains(QStringLiteral("UNKNOWN")));
    QVERIFY(label("leaseHolder").startsWith(QStringLiteral("was ")));
    QCOMPARE(m_page->findChild<TtlRing *>()->text(), QStringLiteral("?"));
    QVERIFY(!m_page->findChild<QPushButton *>(QStringLiteral("leaseRelease"))->isEnabled());
}

void TestLeasePage::releaseSaysWhyItIsDisabled()
{
    busy();
    page("billing/scheduler");
    auto *release = m_page->findChild<QPushButton *>(QStringLiteral("leaseRelease"));
    QVERIFY(!release->isEnabled());
    QVERIFY(release->toolTip().startsWith(QStringLiteral("Read-only")));
    m_prod->m_canWrite = true;
    m_prod->alive();
    QVERIFY(release->isEnabled());
    QSignalSpy asked(m_page.get(), &LeasePage::releaseRequested);
    release->click();
    QCOMPARE(asked.size(), 1);
    m_prod->m_link.lastProof = m_clock.now() - 7s;
    Q_EMIT m_prod->linkChanged();
    QVERIFY(!release->isEnabled());
    QVERIFY2(release->toolTip().contains(QStringLiteral("7.0 s old")), qPrintable(release->toolTip()));
    m_prod->alive();
    m_prod->m_traits.canAsk = m_prod->m_traits.canHold = m_prod->m_traits.canClear = false;
    m_page->refresh();
    QVERIFY(release->toolTip().contains(QStringLiteral("cannot release")));
}

void TestLeasePage::vacantAndVanished()
{
    m_prod->vacant("billing/scheduler", "sched-7f9c", 41s);
    page("billing/scheduler");
    shoot(*m_page, "lease_vacant");
    QVERIFY(label("leaseState").contains(QStringLiteral("VACANT")));
    QCOMPARE(label("leaseHolder"), QStringLiteral("was sched-7f9c"));
    QCOMPARE(m_page->findChild<TtlRing *>()->text(), QStringLiteral("none"));
    m_prod->drop("billing/scheduler");
    QVERIFY(label("leaseExplanation").contains(QStringLiteral("no such lease")));
    QVERIFY(label("leaseState").contains(QStringLiteral("UNKNOWN")));
}

void TestLeasePage::hostileNamesStayInside()
{
    const std::string name = "\xF0\x9F\x9A\x80 <b>bold</b>\n" + std::string(480, 'x');
    LeaseStatus &status = m_prod->held(name, std::string(250, 'h'));
    status.record.note = "no expiry: a leaked lock";
    status.record.raw = std::string(100, '\x01') + "</pre><script>";
    page(name);
    m_page->findChild<QPushButton *>(QStringLiteral("leaseRaw"))->click();
    shoot(*m_page, "lease_hostile");
    QVERIFY2(m_page->minimumSizeHint().width() <= 1180, qPrintable(QString::number(m_page->minimumSizeHint().width())));
    QVERIFY(!label("leaseTitle").contains(QLatin1Char('\n')));
}

void TestLeasePage::swimlaneZoomsAndFollows()
{
    busy();
    page("billing/scheduler");
    auto *lane = m_page->findChild<Swimlane *>();
    const Duration before = lane->span();
    QVERIFY(lane->isFollowing());
    QTest::keyClick(lane, Qt::Key_Plus);
    QVERIFY(lane->span() < before);
    QTest::keyClick(lane, Qt::Key_Left);
    QVERIFY(!lane->isFollowing());
    QTest::keyClick(lane, Qt::Key_Home);
    QVERIFY(lane->isFollowing());
    QTest::mousePress(lane, Qt::LeftButton, {}, QPoint(400, 40));
    QTest::mouseMove(lane, QPoint(500, 40));
    QTest::mouseRelease(lane, Qt::LeftButton, {}, QPoint(500, 40));
    QVERIFY(!lane->isFollowing());
}

void TestLeasePage::narrowTermsAreMerged()
{
    LeaseStatus status;
    const Instant now = m_clock.now();
    for (int i = 0; i < 40; ++i)
        status.terms.push_back({i % 2 == 0 ? "a" : "b", {static_cast<std::uint64_t>(i + 1)}, now - 40s + i * 1s, now - 39s + i * 1s, true, false});
    const SwimWindow window{now - 1h, now, 900};
    const auto lanes = layoutSwimlane(status, window, now, 6);
    QCOMPARE(lanes.size(), std::size_t(3));
    int terms = 0;
    for (const SwimBar &bar : lanes.front().bars) {
        QVERIFY(bar.kind == SwimBar::Kind::Merged);
        QVERIFY(bar.right - bar.left >= kLeastBar);
        terms += bar.merged;
    }
    QCOMPARE(terms, 40);
    QVERIFY(lanes.front().bars.size() < 8);
}

void TestLeasePage::heartbeatShowsLateAndMissed()
{
    const auto beats = HeartbeatStrip::beatsOf(busy(), 60);
    QCOMPARE(std::count(beats.begin(), beats.end(), HeartbeatStrip::Beat::Missed), 2);
    QCOMPARE(std::count(beats.begin(), beats.end(), HeartbeatStrip::Beat::Late), 1);
    QCOMPARE(beats.size(), std::size_t(50));
}

void TestLeasePage::copiesAreSafeToPaste()
{
    const LeaseStatus &status = m_prod->held("a'; rm -rf ~ #", "h\n", 1s);
    const auto copy = [&](CopyFormat format) { return copyAs(format, status, m_prod->connection(), m_prod->link(), m_clock); };
    QCOMPARE(copy(CopyFormat::Tenurectl), QStringLiteral("tenurectl show redis://redis.internal:6379/0 'a'\\''; rm -rf ~ #'"));
    QCOMPARE(copy(CopyFormat::RedisCli), QStringLiteral("redis-cli -h redis.internal -p 6379 -n 0 GET 'a'\\''; rm -rf ~ #'"));
    QVERIFY(!copy(CopyFormat::Markdown).contains(QLatin1Char('\n')));
    QVERIFY(copy(CopyFormat::Json).contains(QStringLiteral("\"token\":\"118\"")));
}

void TestLeasePage::outlivesItsSource()
{
    busy();
    page("billing/scheduler");
    m_prod.reset();
    m_page->refresh();
    QVERIFY(label("leaseExplanation").contains(QStringLiteral("closed")));
    QVERIFY(!m_page->findChild<QPushButton *>(QStringLiteral("leaseRelease"))->isEnabled());
}

QTEST_MAIN(TestLeasePage)
#include "tst_lease_page.moc"
