// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_advisory_view.h"
#include "core/backend/postgres/pg_foreign.h"
#include "core/base/random.h"

#include <QTest>

#include <algorithm>

using namespace tenure;
using namespace tenure::postgres;
using namespace std::chrono_literals;

Q_DECLARE_METATYPE(tenure::postgres::Format)

namespace
{

constexpr std::int64_t kNow = 1'795'988'627'000'000;

std::string us(std::int64_t seconds)
{
    return std::to_string(kNow + seconds * 1'000'000);
}

ForeignTable tableOf(Format format, const char *quoted = "public.t")
{
    ForeignTable table;
    table.format = format;
    table.schema = "public";
    table.quoted = quoted;
    table.mayRead = table.mayUpdate = table.mayDelete = true;
    return table;
}

ForeignRow rowOf(const char *holder)
{
    ForeignRow row;
    row.key1 = "job";
    if (holder != nullptr)
        row.holder = holder;
    row.now = us(0);
    row.version = "[\"job\"]";
    row.raw = "{}";
    return row;
}

std::string factOf(const LeaseRecord &record, const char *name)
{
    const auto found = std::find_if(record.facts.begin(), record.facts.end(),
        [&](const RecordFact &fact) { return fact.name == name; });
    return found == record.facts.end() ? std::string("(none)") : found->value;
}

/// Any bytes, often those that matter to a parser.
std::string noise(Random &random)
{
    static const std::vector<std::string> kPieces{"infinity", "-infinity", "hold:", "/", "%", "%2F",
        std::string(1, '\0'), "\xff", "'", "\"", "advisory:", "-", ",", "9223372036854775807",
        "99999999999999999999", "{T}", "public.t", ":"};
    std::string out;
    for (std::uint64_t i = random.next() % 6; i > 0; --i) {
        const std::uint64_t draw = random.next();
        out += draw % 3 == 0 ? std::string(1, static_cast<char>(draw >> 8U))
                             : kPieces[(draw >> 8U) % kPieces.size()];
    }
    return out;
}

} // namespace

class TstPgForeign : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tablesAreKnownByTheirColumns_data();
    void tablesAreKnownByTheirColumns();
    void namesRoundTrip_data();
    void namesRoundTrip();
    void namesOfOtherTables();
    void rows_data();
    void rows();
    void odditiesAreTold();
    void aFreeRowTellsWhoHadIt();
    void noTableNameBecomesSql();
    void everyWriteCompares();
    void anyBytesDo();
};

void TstPgForeign::tablesAreKnownByTheirColumns_data()
{
    QTest::addColumn<QString>("columns");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<bool>("withZone");
    QTest::newRow("shedlock") << "name:S lock_until:D locked_at:D locked_by:S"
                              << "shedlock" << false;
    QTest::newRow("shedlock, zoned") << "name:S lock_until:D/tz locked_at:D/tz locked_by:S"
                                     << "shedlock" << true;
    QTest::newRow("shedlock and more") << "id:N locked_by:S locked_at:D lock_until:D name:S"
                                       << "shedlock" << false;
    QTest::newRow("spring") << "lock_key:S region:S client_id:S created_date:D expired_after:D"
                            << "spring" << false;
    QTest::newRow("spring, old") << "lock_key:S region:S client_id:S created_date:D"
                                 << "spring" << false;
    QTest::newRow("river") << "elected_at:D/tz expires_at:D/tz leader_id:S name:S"
                           << "river" << true;
    QTest::newRow("oban") << "name:S node:S started_at:D expires_at:D"
                          << "oban" << false;
    QTest::newRow("oban for python") << "name:S node:S elected_at:D expires_at:D"
                                     << "oban" << false;
    QTest::newRow("pglock") << "name:S record_version_number:N data:U owner:S"
                            << "pglock" << false;
    QTest::newRow("vault") << "ha_key:S ha_identity:S ha_value:S valid_until:D/tz"
                           << "vault" << true;
    QTest::newRow("quartz") << "sched_name:S instance_name:S last_checkin_time:N checkin_interval:N"
                            << "quartz" << false;
    QTest::newRow("a text where a time should be") << "name:S lock_until:S locked_at:D locked_by:S"
                                                   << "" << false;
    QTest::newRow("a column is missing") << "name:S lock_until:D locked_by:S"
                                         << "" << false;
    QTest::newRow("a longer name") << "nickname:S lock_until:D locked_at:D locked_by:S"
                                   << "" << false;
    QTest::newRow("warehouse") << "name:S amount:N"
                               << "" << false;
    QTest::newRow("nothing") << ""
                             << "" << false;
}

void TstPgForeign::tablesAreKnownByTheirColumns()
{
    QFETCH(QString, columns);
    QFETCH(QString, kind);
    QFETCH(bool, withZone);
    TableSeen seen;
    seen.schema = "public";
    seen.quoted = "public.t";
    seen.columns = columns.toStdString();
    const auto table = recognised(seen);
    QCOMPARE(QString::fromStdString(table ? std::string(table->sql().kind) : std::string()), kind);
    if (table)
        QCOMPARE(table->withZone, withZone);
}

void TstPgForeign::namesRoundTrip_data()
{
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<QByteArray>("second");
    QTest::newRow("plain") << QByteArray("DEFAULT") << QByteArray("leader");
    QTest::newRow("slashes") << QByteArray("a/b") << QByteArray("c/d/e");
    QTest::newRow("percents") << QByteArray("a%2Fb%") << QByteArray("%2F");
    QTest::newRow("empty") << QByteArray("") << QByteArray("");
    QTest::newRow("quotes") << QByteArray("it's") << QByteArray("\"x\"; DROP TABLE t --");
    QTest::newRow("not utf-8") << QByteArray("\xff\xfe") << QByteArray("\x80");
    QTest::newRow("10 kB") << QByteArray(10'000, 'n') << QByteArray(10'000, '/');
}

void TstPgForeign::namesRoundTrip()
{
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, second);
    const RowKey two{first.toStdString(), second.toStdString()};
    const RowKey one{first.toStdString(), {}};
    for (const char *quoted : {"public.t", "\"App Locks\".\"it's/a table\""}) {
        for (const Format format : {Format::Spring, Format::Quartz}) {
            const ForeignTable table = tableOf(format, quoted);
            QVERIFY(rowKey(table, leaseName(table, two)) == two);
        }
        for (const Format format :
            {Format::ShedLock, Format::River, Format::PgLock, Format::Vault}) {
            const ForeignTable table = tableOf(format, quoted);
            QVERIFY(rowKey(table, leaseName(table, one)) == one);
        }
    }
}

void TstPgForeign::namesOfOtherTables()
{
    const ForeignTable table = tableOf(Format::ShedLock, "public.a");
    QVERIFY(!rowKey(table, "shedlock:public.b/job"));
    QVERIFY(!rowKey(table, "shedlock:public.ab/job"));
    QVERIFY(!rowKey(table, "river:public.a/job"));
    QVERIFY(!rowKey(table, "job"));
    QVERIFY(!rowKey(table, ""));
    // A NUL would end the text on its way to the server, and "job" is another lease.
    QVERIFY(!rowKey(table, std::string_view("shedlock:public.a/job\0x", 23)));
    QVERIFY(!rowKey(tableOf(Format::Spring), "spring:public.t/no-second-part"));
}

void TstPgForeign::rows_data()
{
    QTest::addColumn<Format>("format");
    QTest::addColumn<QByteArray>("holder"); ///< null: NULL
    QTest::addColumn<QString>("expires");
    QTest::addColumn<QString>("seenHolder"); ///< empty: vacant
    QTest::addColumn<int>("left"); ///< seconds; -1: not told
    QTest::addColumn<QString>("heldBy"); ///< operator
    const QString later = QString::fromStdString(us(30));
    const QString earlier = QString::fromStdString(us(-30));
    QTest::newRow("held") << Format::ShedLock << QByteArray("web-1") << later << "web-1" << 30
                          << "";
    QTest::newRow("over") << Format::ShedLock << QByteArray("web-1") << earlier << "" << -1 << "";
    QTest::newRow("ends now") << Format::ShedLock << QByteArray("web-1")
                              << QString::fromStdString(us(0)) << "" << -1 << "";
    QTest::newRow("never ends") << Format::ShedLock << QByteArray("web-1") << "infinity"
                                << "web-1" << -1 << "";
    QTest::newRow("ended before time") << Format::ShedLock << QByteArray("web-1") << "-infinity"
                                       << "" << -1 << "";
    QTest::newRow("year 294276") << Format::ShedLock << QByteArray("web-1") << "9224318015999999999"
                                 << "web-1" << -1 << "";
    QTest::newRow("not a number") << Format::River << QByteArray("a") << "soon"
                                  << "a" << -1 << "";
    QTest::newRow("our hold") << Format::River << QByteArray("hold:anna") << later << "" << -1
                              << "anna";
    QTest::newRow("our hold is over")
        << Format::River << QByteArray("hold:anna") << earlier << "" << -1 << "";
    QTest::newRow("a holder that is called so") << Format::PgLock << QByteArray("hold:anna") << ""
                                                << "hold:anna" << -1 << "";
    QTest::newRow("nobody") << Format::PgLock << QByteArray() << ""
                            << "" << -1 << "";
    QTest::newRow("an empty name") << Format::Oban << QByteArray("") << later << "" << -1 << "";
    QTest::newRow("oban") << Format::Oban << QByteArray("app@10.0.0.7") << later << "app@10.0.0.7"
                          << 30 << "";
    QTest::newRow("vault") << Format::Vault << QByteArray("8f14e45f") << later << "8f14e45f" << 30
                           << "";
    QTest::newRow("quartz") << Format::Quartz << QByteArray("node-1") << ""
                            << "node-1" << -1 << "";
    QTest::newRow("bytes") << Format::River << QByteArray("\xff\x01") << later
                           << QString::fromLatin1("\xff\x01") << 30 << "";
}

void TstPgForeign::rows()
{
    QFETCH(Format, format);
    QFETCH(QByteArray, holder);
    QFETCH(QString, expires);
    QFETCH(QString, seenHolder);
    QFETCH(int, left);
    QFETCH(QString, heldBy);
    ForeignRow row = rowOf(nullptr);
    if (!holder.isNull())
        row.holder = holder.toStdString();
    if (!expires.isEmpty())
        row.expires = expires.toStdString();
    const LeaseRecord record = foreignRecord(tableOf(format), row);
    QCOMPARE(QString::fromLatin1(QByteArray::fromStdString(record.holder.value_or(std::string()))),
        seenHolder);
    QCOMPARE(record.remaining.has_value(), left >= 0);
    if (record.remaining)
        QVERIFY(*record.remaining == std::chrono::seconds(left));
    QCOMPARE(QString::fromStdString(record.hold ? record.hold->by : std::string()), heldBy);
    QCOMPARE(record.version, row.version);
    QCOMPARE(record.kind, std::string(sqlOf(format).kind));
    QCOMPARE(factOf(record, "table"), std::string("public.t"));
    QVERIFY(!(record.holder && record.hold));
}

void TstPgForeign::odditiesAreTold()
{
    ForeignRow row = rowOf("web-1");
    row.expires = "infinity";
    QVERIFY(foreignRecord(tableOf(Format::ShedLock), row).note.find("leaked") != std::string::npos);
    // Written by a JVM two hours east of UTC: nothing about its time left can be believed.
    row.acquired = us(7200);
    row.expires = us(7800);
    const LeaseRecord east = foreignRecord(tableOf(Format::ShedLock), row);
    QVERIFY(east.note.find("in the future") != std::string::npos);
    QVERIFY(east.holder && !east.remaining && !east.acquiredAt);
    // A second of difference between two clocks is no oddity.
    row.acquired = us(1);
    QVERIFY(foreignRecord(tableOf(Format::ShedLock), row).note.empty());

    ForeignRow member = rowOf("node-1");
    member.key2 = "node-1";
    member.data = "7500";
    member.renewed = us(-14);
    QVERIFY(foreignRecord(tableOf(Format::Quartz), member).note.empty());
    member.renewed = us(-16);
    QVERIFY(foreignRecord(tableOf(Format::Quartz), member).note.starts_with("suspect"));

    ForeignTable onlyLook = tableOf(Format::ShedLock);
    onlyLook.mayUpdate = onlyLook.mayDelete = false;
    QCOMPARE(
        factOf(foreignRecord(onlyLook, row), "rights"), std::string("this role may only look"));

    ForeignRow spring = rowOf("6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b");
    spring.key1 = "DEFAULT";
    spring.key2 = "c444858e-0aae-3727-9a73-d2eae62321ad";
    spring.data = "leader";
    spring.renewed = us(-3);
    const LeaseRecord old = foreignRecord(tableOf(Format::SpringOld), spring);
    QCOMPARE(old.lease.name(), std::string("spring:public.t/DEFAULT/leader"));
    QCOMPARE(factOf(old, "key"), spring.key2);
    QVERIFY(old.remaining == std::optional<Duration>(7s));
}

void TstPgForeign::aFreeRowTellsWhoHadIt()
{
    ForeignRow row = rowOf("web-1");
    row.expires = us(-3600);
    const LeaseRecord record = foreignRecord(tableOf(Format::ShedLock), row);
    QCOMPARE(factOf(record, "last holder"), std::string("web-1"));
    QVERIFY(factOf(record, "ended").starts_with("2026-11-29T20:43"));
    QVERIFY(!record.raw.empty());
}

void TstPgForeign::noTableNameBecomesSql()
{
    ForeignTable table = tableOf(Format::River, "\"{S}\".\"{T} $3 {E}\"");
    table.schema = "it's {T}";
    for (const ForeignVerb verb : {ForeignVerb::Ask, ForeignVerb::Hold, ForeignVerb::Clear}) {
        const std::string sql = writeSql(table, verb);
        QVERIFY2(sql.find(table.quoted + " AS t") != std::string::npos, sql.c_str());
    }
    QVERIFY(writeSql(table, ForeignVerb::Ask).find("'it''s {T}' ||") != std::string::npos);
}

void TstPgForeign::everyWriteCompares()
{
    for (int i = 0; i <= static_cast<int>(Format::Quartz); ++i) {
        const ForeignTable table = tableOf(static_cast<Format>(i));
        for (const ForeignVerb verb : {ForeignVerb::Ask, ForeignVerb::Hold, ForeignVerb::Clear}) {
            const std::string sql = writeSql(table, verb);
            if (sql.empty())
                continue;
            QVERIFY2(sql.find("= $1") != std::string::npos, sql.c_str());
            QVERIFY2(sql.find("= $3") != std::string::npos, sql.c_str());
            for (const char *blank : {"{T}", "{S}", "{E}", "{K1}", "{K2}", "{now}"})
                QVERIFY2(sql.find(blank) == std::string::npos, sql.c_str());
        }
    }
    QVERIFY(writeSql(tableOf(Format::Quartz), ForeignVerb::Clear).empty());
    QVERIFY(writeSql(tableOf(Format::PgLock), ForeignVerb::Hold).empty());
    // ShedLock's clients remember that a row exists: without it they would never lock again.
    QVERIFY(writeSql(tableOf(Format::ShedLock), ForeignVerb::Clear).find("DELETE")
        == std::string::npos);
}

void TstPgForeign::anyBytesDo()
{
    Random random(20261129);
    for (int round = 0; round < 5000; ++round) {
        const auto format = static_cast<Format>(random.next() % 9);
        const ForeignTable table = tableOf(format);
        const auto maybe
            = [&] { return random.next() % 3 == 0 ? std::nullopt : std::optional(noise(random)); };
        ForeignRow row{noise(random), noise(random), maybe(), maybe(), maybe(), maybe(),
            random.next() % 4 == 0 ? noise(random) : us(0), maybe(), noise(random), noise(random)};
        const LeaseRecord record = foreignRecord(table, row);
        QVERIFY(!(record.holder && record.hold));
        QVERIFY(!record.remaining || *record.remaining >= Duration::zero());
        QCOMPARE(record.version, row.version);
        const bool nul = record.lease.name().find('\0') != std::string::npos;
        QCOMPARE(rowKey(table, record.lease.name()).has_value(), !nul);
        if (!nul && !table.sql().key2.empty() && !row.data)
            QVERIFY(rowKey(table, record.lease.name()) == (RowKey{row.key1, row.key2}));

        const std::string name = "advisory:" + noise(random);
        if (const auto key = advisoryKey(name))
            QCOMPARE(advisoryName(*key), name);
        TableSeen seen;
        seen.columns = noise(random) + " name:S " + noise(random);
        QVERIFY(!recognised(seen));
    }
}

QTEST_GUILESS_MAIN(TstPgForeign)
#include "tst_pg_foreign.moc"
