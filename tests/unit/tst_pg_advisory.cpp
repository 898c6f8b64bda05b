// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/foreign_verbs.h"
#include "core/backend/postgres/pg_advisory_view.h"

#include <QTest>

#include <algorithm>

using namespace tenure;
using namespace tenure::postgres;
using namespace std::chrono_literals;

namespace
{

std::string us(std::int64_t seconds)
{
    return std::to_string(1'795'988'627'000'000 + seconds * 1'000'000);
}

std::string factOf(const LeaseRecord &record, const char *name)
{
    const auto found = std::find_if(record.facts.begin(), record.facts.end(),
        [&](const RecordFact &fact) { return fact.name == name; });
    return found == record.facts.end() ? std::string("(none)") : found->value;
}

AdvisoryRow session(int pid, const char *application, bool granted = true)
{
    AdvisoryRow row;
    row.objid = 42;
    row.pid = pid;
    row.mode = "ExclusiveLock";
    row.granted = granted;
    row.application = application;
    row.user = "app";
    row.client = "10.0.0.5";
    row.port = 5000 + pid;
    row.startUs = us(-3600);
    row.state = "idle";
    row.stateUs = us(-60);
    row.backend = "client backend";
    row.nowUs = us(0);
    row.version = "[0, 42, 1, " + std::to_string(pid) + ", 1.5]";
    if (!granted)
        row.waitUs = us(-5);
    return row;
}

} // namespace

class TstPgAdvisory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void advisoryKeys_data();
    void advisoryKeys();
    void advisorySessions();
    void aMarkTellsTheLeasesName();
    void advisoryWithoutRights();
    void whatIsNeverEnded();
    void verbsAreRefusedWithAWayOut_data();
    void verbsAreRefusedWithAWayOut();
};

void TstPgAdvisory::advisoryKeys_data()
{
    QTest::addColumn<quint32>("classid");
    QTest::addColumn<quint32>("objid");
    QTest::addColumn<int>("objsubid");
    QTest::addColumn<QString>("name");
    QTest::newRow("small") << 0U << 42U << 1 << "advisory:42";
    QTest::newRow("zero") << 0U << 0U << 1 << "advisory:0";
    QTest::newRow("negative") << 4294967008U << 2382691125U << 1 << "advisory:-1234567890123";
    QTest::newRow("least") << 0x80000000U << 0U << 1 << "advisory:-9223372036854775808";
    QTest::newRow("most") << 0x7fffffffU << 0xffffffffU << 1 << "advisory:9223372036854775807";
    QTest::newRow("pair") << 7U << 9U << 2 << "advisory:7,9";
    QTest::newRow("negative pair") << 4294967291U << 7U << 2 << "advisory:-5,7";
    QTest::newRow("least pair") << 0x80000000U << 0xffffffffU << 2 << "advisory:-2147483648,-1";
}

void TstPgAdvisory::advisoryKeys()
{
    QFETCH(quint32, classid);
    QFETCH(quint32, objid);
    QFETCH(int, objsubid);
    QFETCH(QString, name);
    const AdvisoryKey key = advisoryKeyOf(classid, objid, objsubid);
    QCOMPARE(QString::fromStdString(advisoryName(key)), name);
    QVERIFY(advisoryKey(name.toStdString()) == key);
    for (const char *wrong : {"advisory:", "advisory:x", "advisory:1 ", "advisory:007",
             "advisory:+1", "advisory:1,", "advisory:1,2,3", "advisory:9223372036854775808",
             "advisory:2147483648,0", "Advisory:1", "advisory:-0"})
        QVERIFY2(!advisoryKey(wrong), wrong);
}

void TstPgAdvisory::advisorySessions()
{
    std::vector<AdvisoryRow> rows{
        session(100, "worker-a"), session(101, "worker-b", false), session(102, "", false)};
    AdvisoryRow other = session(100, "worker-a");
    other.objsubid = 2;
    other.classid = 7;
    rows.push_back(other);
    const auto records = advisoryRecords(rows);
    QCOMPARE(records.size(), std::size_t(2));
    const LeaseRecord &record = records.front();
    QCOMPARE(record.lease.name(), std::string("advisory:42"));
    QCOMPARE(record.holder.value_or(""), std::string("worker-a@10.0.0.5 pid 100"));
    QCOMPARE(record.candidates,
        (std::vector<std::string>{"worker-b@10.0.0.5 pid 101", "app@10.0.0.5 pid 102"}));
    QCOMPARE(record.version, rows.front().version);
    QCOMPARE(factOf(record, "client"), std::string("10.0.0.5:5100"));
    QCOMPARE(factOf(record, "waits"), std::string("worker-b@10.0.0.5 pid 101, for 5.0 s"));
    QCOMPARE(factOf(record, "also holds"), std::string("advisory:7,42"));
    QVERIFY(factOf(record, "held since").starts_with("some time between "));
    QVERIFY(!record.remaining && record.note.empty());

    // Waited for and held by nobody: what pg_locks shows in the moment of a handover.
    const auto handover
        = advisoryRecords(std::vector<AdvisoryRow>{session(101, "worker-b", false)});
    QVERIFY(!handover.front().holder);
    QCOMPARE(handover.front().candidates.size(), std::size_t(1));
}

/// Only a name that really has this key is believed.
void TstPgAdvisory::aMarkTellsTheLeasesName()
{
    for (const std::string &name : {std::string("billing/scheduler"), std::string("100 %\n\xF0\x9F\x94\x92\x7f")}) {
        const LeaseId lease = LeaseId::observed(name);
        const std::string text = markedFor(lease, "SELECT 1");
        QCOMPARE(std::count(text.begin(), text.end(), '\n'), 1);
        QVERIFY(text.ends_with("\nSELECT 1"));
        const auto key = static_cast<std::uint64_t>(keyOf(lease).one);
        AdvisoryRow row = session(100, "tenure/a");
        row.classid = static_cast<std::uint32_t>(key >> 32U);
        row.objid = static_cast<std::uint32_t>(key);
        row.mark = text.substr(16, text.find('\n') - 16); // as advisorySql() cuts it out
        QCOMPARE(factOf(advisoryRecords(std::vector<AdvisoryRow>{row}).front(), "lease"), name);
        row.mark += "x";
        QCOMPARE(factOf(advisoryRecords(std::vector<AdvisoryRow>{row}).front(), "lease"), std::string("(none)"));
    }
}

void TstPgAdvisory::advisoryWithoutRights()
{
    AdvisoryRow hidden = session(100, "worker-a");
    hidden.client.clear();
    hidden.startUs.reset();
    hidden.state.clear();
    hidden.stateUs.reset();
    hidden.backend.clear();
    hidden.version.clear();
    const LeaseRecord record = advisoryRecords(std::vector<AdvisoryRow>{hidden}).front();
    QCOMPARE(record.holder.value_or(""), std::string("worker-a@hidden pid 100"));
    QVERIFY(record.note.find("pg_read_all_stats") != std::string::npos);
    QVERIFY(!whyNotReleased(record, OperatorVerb::Clear).empty());
}

void TstPgAdvisory::whatIsNeverEnded()
{
    std::vector<AdvisoryRow> shared{session(100, "a"), session(101, "b")};
    AdvisoryRow worker = session(100, "logical replication worker");
    worker.backend = "logical replication worker";
    AdvisoryRow prepared = session(0, "");
    for (const auto &rows :
        {shared, std::vector<AdvisoryRow>{worker}, std::vector<AdvisoryRow>{prepared}}) {
        const LeaseRecord record = advisoryRecords(rows).front();
        QVERIFY(record.holder && !record.note.empty());
        QVERIFY(record.version.empty());
        QVERIFY(!whyNotReleased(record, OperatorVerb::Clear).empty());
    }
    // The same session twice, shared and exclusively, is one holder.
    AdvisoryRow twice = session(100, "a");
    twice.mode = "ShareLock";
    const LeaseRecord one
        = advisoryRecords(std::vector<AdvisoryRow>{session(100, "a"), twice}).front();
    QVERIFY(whyNotReleased(one, OperatorVerb::Clear).empty());
}

void TstPgAdvisory::verbsAreRefusedWithAWayOut_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("verbs"); ///< those that are possible: a(sk) h(old) c(lear)
    QTest::newRow("tenure") << "tenure"
                            << "ahc";
    QTest::newRow("shedlock") << "shedlock"
                              << "hc";
    QTest::newRow("spring") << "spring"
                            << "hc";
    QTest::newRow("river") << "river"
                           << "ahc";
    QTest::newRow("oban") << "oban"
                          << "hc";
    QTest::newRow("pglock") << "pglock"
                            << "c";
    QTest::newRow("vault") << "vault"
                           << "h";
    QTest::newRow("quartz") << "quartz"
                            << "";
    QTest::newRow("advisory") << "advisory"
                              << "c";
}

void TstPgAdvisory::verbsAreRefusedWithAWayOut()
{
    QFETCH(QString, kind);
    QFETCH(QString, verbs);
    LeaseRecord record;
    record.kind = kind.toStdString();
    record.holder = "x";
    record.version = "seen";
    const auto allowed = [&](OperatorVerb verb) { return whyNotReleased(record, verb).empty(); };
    QCOMPARE(allowed(OperatorVerb::Ask), verbs.contains(QLatin1Char('a')));
    QCOMPARE(allowed(OperatorVerb::Hold), verbs.contains(QLatin1Char('h')));
    QCOMPARE(allowed(OperatorVerb::Clear), verbs.contains(QLatin1Char('c')));
    record.holder.reset();
    record.hold = OperatorHold{"anna", 1s};
    if (kind == QLatin1String("vault"))
        QVERIFY(whyNotReleased(record, OperatorVerb::Clear).empty());
}

QTEST_GUILESS_MAIN(TstPgAdvisory)
#include "tst_pg_advisory.moc"
