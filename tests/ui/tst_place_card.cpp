// SPDX-License-Identifier: GPL-3.0-or-later
// What belongs to PostgreSQL on a lease page, and "copy as psql".
#include "fabricated.h"

#include "ui/theme/theme.h"
#include "ui/views/copy_as.h"
#include "ui/views/lease_page.h"
#include "ui/views/place_card.h"

#include <QApplication>
#include <QDir>
#include <QLabel>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::ui::test;

class TestPlaceCard : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void aSessionAndItsWaiters();
    void ourOwnTable();
    void nothingToTell();
    void linesComeAndGo();
    void psqlIsSafeToPaste_data();
    void psqlIsSafeToPaste();

private:
    LeaseStatus &advisory();
    LeasePage &page(const std::string &name);
    void shoot(const char *name);
    [[nodiscard]] QString shownText() const;
    ManualClock m_clock;
    std::unique_ptr<Theme> m_theme;
    std::unique_ptr<FabricatedSource> m_source;
    std::unique_ptr<LeasePage> m_page;
};

void TestPlaceCard::initTestCase()
{
    m_theme = std::make_unique<Theme>();
    m_theme->install(*qApp);
}

void TestPlaceCard::init()
{
    m_source = std::make_unique<FabricatedSource>(m_clock, QStringLiteral("p"), QStringLiteral("orders-pg"), Surroundings::Production);
    m_source->m_info.url = QStringLiteral("postgresql://ops@db.internal:5432/orders?schema=elect%22ions&roles=a,b&sslmode=verify-full");
    m_source->m_traits.scheme = "postgresql";
}

void TestPlaceCard::cleanup()
{
    m_page.reset();
}

LeaseStatus &TestPlaceCard::advisory()
{
    LeaseStatus &status = m_source->held("advisory:-1234567890123", "billing-worker@10.0.0.5 pid 4711", 1s, 0);
    status.record.kind = "advisory";
    status.record.ttl.reset();
    status.record.remaining.reset();
    status.record.raw = "ExclusiveLock billing-worker@10.0.0.5 pid 4711";
    status.record.candidates = {"billing-worker@10.0.0.6 pid 4980", "billing-worker@10.0.0.7 pid 5012"};
    status.expiresAt.reset();
    status.renewals.clear();
    status.renewalsSeen = 0;
    status.renewInterval.reset();
    status.record.facts = {{"key", "-1234567890123 (one bigint)"}, {"waits", "billing-worker@10.0.0.6 pid 4980, for 12 m 08 s"},
        {"waits", "billing-worker@10.0.0.7 pid 5012, for 41 s"}, {"session", "pid 4711, user billing"},
        {"session start", "2026-11-29T20:02:11.482Z, 1 h 12 m ago"}, {"client", "10.0.0.5:53412"},
        {"application", "billing-worker"},
        {"held since", "some time between 2026-11-29T20:02:11.482Z and 2026-11-29T20:02:11.502Z"},
        {"state", "idle for 1 h 12 m"}, {"also holds", "advisory:42, advisory:-5,7"},
        {"lasts", "until its session ends or unlocks it; no time runs"},
        {"sql", "SELECT l.granted, l.mode, s.* FROM pg_locks l LEFT JOIN pg_stat_activity s USING (pid) WHERE l.locktype = "
                "'advisory' AND l.classid = 4294967008 AND l.objid = 2382691125 AND l.objsubid = 1"}};
    return status;
}

LeasePage &TestPlaceCard::page(const std::string &name)
{
    m_page = std::make_unique<LeasePage>(*m_theme, m_clock, m_source.get(), LeaseId::observed(name), nullptr);
    m_page->resize(1180, 980);
    m_page->show();
    QCoreApplication::processEvents();
    m_page->refresh();
    QCoreApplication::processEvents();
    return *m_page;
}

void TestPlaceCard::shoot(const char *name)
{
    QDir(QCoreApplication::applicationDirPath()).mkpath(QStringLiteral("shots"));
    for (const ThemeChoice choice : {ThemeChoice::Dark, ThemeChoice::Light}) {
        m_theme->setChoice(choice);
        QCoreApplication::processEvents();
        const QString scheme = choice == ThemeChoice::Dark ? QStringLiteral("dark") : QStringLiteral("light");
        QVERIFY(m_page->grab().save(QStringLiteral("%1/shots/%2_%3.png").arg(QCoreApplication::applicationDirPath(), QLatin1String(name), scheme)));
    }
}

QString TestPlaceCard::shownText() const
{
    QStringList lines;
    for (const QLabel *label : m_page->findChild<PlaceCard *>()->findChildren<QLabel *>()) {
        if (label->isVisibleTo(m_page.get()))
            lines << label->text();
    }
    return lines.join(QLatin1Char('\n'));
}

void TestPlaceCard::aSessionAndItsWaiters()
{
    advisory();
    page("advisory:-1234567890123");
    shoot("place_advisory");
    const QString text = shownText();
    for (const char *said : {"IN POSTGRESQL", "Session", "pid 4711, user billing", "10.0.0.5:53412", "for 12 m 08 s", "Also holds"})
        QVERIFY2(text.contains(QLatin1String(said)), qPrintable(text));
    QCOMPARE(m_page->findChild<QLabel *>(QStringLiteral("leaseCandidates"))->text(),
        QStringLiteral("billing-worker@10.0.0.6 pid 4980, billing-worker@10.0.0.7 pid 5012"));
}

void TestPlaceCard::ourOwnTable()
{
    m_source->held("it's", "a", 1s);
    page("it's");
    shoot("place_own");
    QVERIFY(shownText().contains(QStringLiteral("\"elect\"\"ions\".tenure_lease")));
    QVERIFY(shownText().contains(QStringLiteral("WHERE name = 'it''s'")));
}

void TestPlaceCard::nothingToTell()
{
    m_source->m_info.url = QStringLiteral("redis://redis.internal:6379/0");
    m_source->held("jobs", "a", 1s);
    page("jobs");
    QVERIFY(!m_page->findChild<PlaceCard *>()->isVisibleTo(m_page.get()));
}

void TestPlaceCard::linesComeAndGo()
{
    LeaseStatus &status = advisory();
    page("advisory:-1234567890123");
    status.record.facts = {{"key", "7 (one bigint)"}, {"a\nline", "a\tvalue"}};
    m_page->refresh();
    QCOMPARE(shownText().count(QLatin1Char('\n')), 4); // the title and two lines of two
    QVERIFY(!shownText().contains(QStringLiteral("Session")));
    QVERIFY(shownText().contains(QStringLiteral("a\\tvalue")));
}

void TestPlaceCard::psqlIsSafeToPaste_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QString>("literal");
    QTest::newRow("plain") << QByteArray("billing/scheduler") << "'\\''billing/scheduler'\\''";
    QTest::newRow("a quote") << QByteArray("a'; DROP TABLE x; --") << "'\\''a'\\'''\\''; DROP TABLE x; --'\\''";
    QTest::newRow("a backslash") << QByteArray("a\\'b") << "E'\\''a\\x5c\\x27b'\\''";
    QTest::newRow("a line") << QByteArray("a\nb") << "E'\\''a\\x0ab'\\''";
    QTest::newRow("not utf-8") << QByteArray("\xff") << "E'\\''\\xff'\\''";
}

void TestPlaceCard::psqlIsSafeToPaste()
{
    QFETCH(QByteArray, name);
    QFETCH(QString, literal);
    const LeaseStatus &status = m_source->held(name.toStdString(), "h", 1s);
    const QString line = copyAs(CopyFormat::Psql, status, m_source->connection(), m_source->link(), m_clock);
    QCOMPARE(line, QStringLiteral("psql 'postgresql://ops@db.internal:5432/orders?sslmode=verify-full' -c 'SELECT * FROM "
                                  "\"elect\"\"ions\".tenure_lease WHERE name = ") + literal + QLatin1Char('\''));
    m_source->m_info.url = QStringLiteral("redis://redis.internal:6379/0");
    QVERIFY(copyAs(CopyFormat::Psql, status, m_source->connection(), m_source->link(), m_clock).isEmpty());
}

QTEST_MAIN(TestPlaceCard)
#include "tst_place_card.moc"
