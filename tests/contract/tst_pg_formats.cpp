// SPDX-License-Identifier: GPL-3.0-or-later
// What other people's libraries keep in PostgreSQL: seen, released, and what its holder notices.
// Their statements are theirs, word for word where they are published.
#include "pg_shapes.h"

#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

/// What stands for each format here, and what its holder does to go on holding.
struct Sample {
    const char *name;
    const char *kind;
    const char *holder;
    const char *renewal; ///< changes a row as long as it is held
    const char *rival; ///< somebody else's attempt: changes a row when it is free
    const char *takenOver; ///< another holder instead, behind everybody's back
    const char *verbs; ///< those that are possible
};

constexpr std::array<Sample, 8> kSamples{{
    {"shedlock:public.shedlock/nightly", "shedlock", "web-1",
        "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + cast('30 s' as "
        "interval) WHERE "
        "name = 'nightly' AND locked_by = 'web-1' AND lock_until > timezone('utc', "
        "CURRENT_TIMESTAMP)",
        "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + cast('30 s' as "
        "interval), locked_at = "
        "timezone('utc', CURRENT_TIMESTAMP), locked_by = 'web-2' WHERE name = 'nightly' AND "
        "lock_until <= "
        "timezone('utc', CURRENT_TIMESTAMP)",
        "UPDATE shedlock SET locked_by = 'web-2', locked_at = timezone('utc', clock_timestamp())",
        "hc"},
    {"spring:public.int_lock/DEFAULT/leader", "spring", "6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b",
        "UPDATE INT_LOCK SET EXPIRED_AFTER = timezone('utc', now()) + interval '30 s' WHERE REGION "
        "= 'DEFAULT' AND "
        "LOCK_KEY = 'c444858e-0aae-3727-9a73-d2eae62321ad' AND CLIENT_ID = "
        "'6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b'",
        "INSERT INTO INT_LOCK (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER) SELECT "
        "'DEFAULT', "
        "'c444858e-0aae-3727-9a73-d2eae62321ad', 'other', now(), now() ON CONFLICT DO NOTHING",
        "UPDATE INT_LOCK SET CLIENT_ID = 'other'", "hc"},
    {"spring:public.old_lock/DEFAULT/billing/scheduler", "spring",
        "6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b",
        "UPDATE OLD_LOCK SET CREATED_DATE = timezone('utc', now()) WHERE REGION = 'DEFAULT' AND "
        "LOCK_KEY = "
        "'54c9b374-b076-35f5-84df-d448b35fa792' AND CLIENT_ID = "
        "'6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b'",
        "INSERT INTO OLD_LOCK (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE) SELECT 'DEFAULT', "
        "'54c9b374-b076-35f5-84df-d448b35fa792', 'other', now() ON CONFLICT DO NOTHING",
        "UPDATE OLD_LOCK SET CLIENT_ID = 'other'", "c"},
    {"river:public.river_leader/default", "river", "host_1",
        "UPDATE river_leader SET expires_at = now() + interval '15 s' WHERE leader_id = 'host_1' "
        "AND expires_at > now()",
        "INSERT INTO river_leader(name, leader_id, elected_at, expires_at) VALUES ('default', "
        "'host_2', now(), "
        "now() + interval '15 s') ON CONFLICT (name) DO NOTHING",
        "UPDATE river_leader SET leader_id = 'host_2', elected_at = now()", "ahc"},
    {"oban:public.oban_peers/Oban", "oban", "app@10.0.0.7",
        "INSERT INTO oban_peers AS p VALUES ('Oban', 'app@10.0.0.7', timezone('utc', now()), "
        "timezone('utc', now()) "
        "+ interval '30 s') ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at "
        "WHERE p.node = 'app@10.0.0.7'",
        "INSERT INTO oban_peers VALUES ('Oban', 'app@10.0.0.8', timezone('utc', now()), "
        "timezone('utc', now()) + "
        "interval '30 s') ON CONFLICT (name) DO NOTHING",
        "UPDATE oban_peers SET node = 'app@10.0.0.8', started_at = timezone('utc', now())", "hc"},
    {"pglock:public.locks/payments", "pglock", "worker-7",
        "UPDATE locks SET record_version_number = nextval('locks_rvn') WHERE name = 'payments' AND "
        "owner = 'worker-7' "
        "AND record_version_number IS NOT NULL",
        "UPDATE locks SET record_version_number = nextval('locks_rvn'), owner = 'worker-8' WHERE "
        "name = 'payments' "
        "AND record_version_number IS NULL",
        "UPDATE locks SET owner = 'worker-8'", "c"},
    {"vault:public.vault_ha_locks/core/lock", "vault", "8f14e45f-ceea-467f-9538-6a1b2c3d4e5f",
        "INSERT INTO vault_ha_locks as t (ha_identity, ha_key, ha_value, valid_until) VALUES "
        "('8f14e45f-ceea-467f-9538-6a1b2c3d4e5f', 'core/lock', 'leader-uuid', NOW() + 15 * "
        "INTERVAL '1 seconds') ON "
        "CONFLICT (ha_key) DO UPDATE SET (ha_identity, ha_key, ha_value, valid_until) = "
        "('8f14e45f-ceea-467f-9538-6a1b2c3d4e5f', 'core/lock', 'leader-uuid', NOW() + 15 * "
        "INTERVAL '1 seconds') "
        "WHERE (t.valid_until < NOW() AND t.ha_key = 'core/lock') OR (t.ha_identity = "
        "'8f14e45f-ceea-467f-9538-6a1b2c3d4e5f' AND t.ha_key = 'core/lock')",
        "UPDATE vault_ha_locks SET ha_identity = 'other' WHERE valid_until < NOW()",
        "UPDATE vault_ha_locks SET ha_identity = 'other'", "h"},
    {"quartz:public.qrtz_scheduler_state/Sched/node-1", "quartz", "node-1",
        "UPDATE qrtz_scheduler_state SET LAST_CHECKIN_TIME = LAST_CHECKIN_TIME + 7500", "", "", ""},
}};

OperatorVerb verbOf(char letter)
{
    return letter == 'a' ? OperatorVerb::Ask
        : letter == 'h'  ? OperatorVerb::Hold
                         : OperatorVerb::Clear;
}

} // namespace

class TstPgFormats : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanupTestCase();

    void eachIsListedAndRead_data() { samples(); }
    void eachIsListedAndRead();
    void renewalsDoNotMoveWhatIsCompared_data() { samples("ahc"); }
    void renewalsDoNotMoveWhatIsCompared();
    void aChangedOneIsRefused_data() { samples("ahc"); }
    void aChangedOneIsRefused();
    void whatIsImpossibleIsSaid_data() { samples(); }
    void whatIsImpossibleIsSaid();
    void heldNobodyTakesIt_data() { samples("h"); }
    void heldNobodyTakesIt();
    void clearedTheNextOneTakesIt_data() { samples("c"); }
    void clearedTheNextOneTakesIt();
    void riverIsToldOnItsOwnChannel();
    void namesAreHashedAsJavaDoes();
    void shedLocksOfAnyZoneAreFreed();
    void aSecondStoreSeesNewTables();

private:
    /// Those that can be released in one of these ways; all of them without a word.
    static void samples(std::string_view verbs = {});
    [[nodiscard]] std::size_t changes(const char *sql)
    {
        return m_server->run(std::string(sql) + " RETURNING 1").size();
    }

    std::unique_ptr<PostgresServer> m_server;
    std::unique_ptr<LeaseStore> m_store;
};

void TstPgFormats::initTestCase()
{
    if (!PostgresServer::installed()) {
        QVERIFY(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"));
        QSKIP("PostgreSQL is not installed");
    }
    m_server = std::make_unique<PostgresServer>();
    m_server->script(kForeignTables);
    StoreUri uri = m_server->socketUri();
    uri.parameters["roles"] = "billing/scheduler,caf\xc3\xa9";
    m_store = makePostgresBackend(uri).value()->makeStore();
}

void TstPgFormats::init()
{
    m_server->script(kForeignRows);
}

void TstPgFormats::cleanupTestCase()
{
    m_store.reset();
    m_server.reset();
}

void TstPgFormats::samples(std::string_view verbs)
{
    QTest::addColumn<std::size_t>("index");
    for (std::size_t i = 0; i < kSamples.size(); ++i) {
        if (verbs.empty()
            || std::string_view(kSamples[i].verbs).find_first_of(verbs) != std::string_view::npos)
            QTest::newRow(kSamples[i].name) << i;
    }
}

void TstPgFormats::eachIsListedAndRead()
{
    QFETCH(std::size_t, index);
    const Sample &sample = kSamples[index];
    const auto all = listAll(*m_store);
    QCOMPARE(all.size(), kSamples.size());
    QVERIFY(all.count(sample.name) == 1);
    const LeaseRecord listed = all.at(sample.name);
    const LeaseRecord read = readOne(*m_store, sample.name);
    for (const LeaseRecord &record : {listed, read}) {
        QCOMPARE(record.kind, std::string(sample.kind));
        QCOMPARE(record.holder.value_or("nobody"), std::string(sample.holder));
        QVERIFY(!record.version.empty() && !record.raw.empty() && !record.facts.empty());
        QVERIFY2(record.note.empty(), record.note.c_str());
        const bool timeless = record.kind == "pglock" || record.kind == "quartz";
        QCOMPARE(record.remaining.has_value(), !timeless);
        if (record.remaining)
            QVERIFY(*record.remaining > 15s && *record.remaining <= 30s);
    }
    QVERIFY(listed.seen() == read.seen());
}

/// A release would never win against a healthy holder that renews between the look and the click.
void TstPgFormats::renewalsDoNotMoveWhatIsCompared()
{
    QFETCH(std::size_t, index);
    const Sample &sample = kSamples[index];
    const LeaseRecord before = readOne(*m_store, sample.name);
    QCOMPARE(changes(sample.renewal), std::size_t(1));
    QVERIFY(readOne(*m_store, sample.name).seen() == before.seen());
}

void TstPgFormats::aChangedOneIsRefused()
{
    QFETCH(std::size_t, index);
    const Sample &sample = kSamples[index];
    for (const char letter : std::string(sample.verbs)) {
        init();
        const LeaseRecord seen = readOne(*m_store, sample.name);
        QCOMPARE(changes(sample.takenOver), std::size_t(1));
        const LeaseRecord now = readOne(*m_store, sample.name);
        QVERIFY(now.holder != seen.holder);
        const auto reply = once(*m_store, operateOn(seen, verbOf(letter)));
        QVERIFY2(reply, reply ? "" : reply.error().text().c_str());
        QCOMPARE(reply->outcome, Outcome::Conflict);
        QCOMPARE(reply->record.holder.value_or(""), now.holder.value_or("?"));
        QVERIFY(readOne(*m_store, sample.name).raw == now.raw);
        // Nor does a forged piece of evidence match.
        Operate forged = operateOn(now, verbOf(letter));
        forged.expected.version = "[]";
        QCOMPARE(once(*m_store, forged)->outcome, Outcome::Conflict);
        forged.expected.version.clear();
        QCOMPARE(once(*m_store, forged)->outcome, Outcome::Conflict);
    }
}

void TstPgFormats::whatIsImpossibleIsSaid()
{
    QFETCH(std::size_t, index);
    const Sample &sample = kSamples[index];
    const LeaseRecord seen = readOne(*m_store, sample.name);
    for (const char letter : {'a', 'h', 'c'}) {
        if (std::string_view(sample.verbs).find(letter) != std::string_view::npos)
            continue;
        const auto reply = once(*m_store, operateOn(seen, verbOf(letter)));
        QVERIFY(!reply);
        QCOMPARE(reply.error().kind, ErrorKind::Unsupported);
        QVERIFY(!reply.error().what.empty());
    }
    QVERIFY(readOne(*m_store, sample.name).seen() == seen.seen());
    QCOMPARE(changes(sample.renewal), std::size_t(1));
}

void TstPgFormats::heldNobodyTakesIt()
{
    QFETCH(std::size_t, index);
    const Sample &sample = kSamples[index];
    const auto held = once(*m_store, operateOn(readOne(*m_store, sample.name), OperatorVerb::Hold));
    QVERIFY2(held, held ? "" : held.error().text().c_str());
    QCOMPARE(held->outcome, Outcome::Done);
    QVERIFY(held->record.hold && !held->record.holder);
    QCOMPARE(held->record.hold->by, std::string("anna"));
    QVERIFY(held->record.hold->remaining > 20s); // the victim's own time, which was more
    QCOMPARE(changes(sample.renewal), std::size_t(0)); // it learns that it leads no more
    QCOMPARE(changes(sample.rival), std::size_t(0));
    // The operator may end the hold, and then the next one takes it.
    const auto ended = once(*m_store, operateOn(held->record, OperatorVerb::Clear));
    QVERIFY2(ended, ended ? "" : ended.error().text().c_str());
    QCOMPARE(ended->outcome, Outcome::Done);
    QVERIFY(!ended->record.hold && !ended->record.holder);
    QCOMPARE(changes(sample.rival), std::size_t(1));
}

void TstPgFormats::clearedTheNextOneTakesIt()
{
    QFETCH(std::size_t, index);
    const Sample &sample = kSamples[index];
    QCOMPARE(changes(sample.rival), std::size_t(0));
    const auto cleared
        = once(*m_store, operateOn(readOne(*m_store, sample.name), OperatorVerb::Clear));
    QVERIFY2(cleared, cleared ? "" : cleared.error().text().c_str());
    QCOMPARE(cleared->outcome, Outcome::Done);
    QVERIFY(!cleared->record.holder);
    QCOMPARE(changes(sample.rival), std::size_t(1));
    QVERIFY(readOne(*m_store, sample.name).raw.find(sample.holder) == std::string::npos);
}

void TstPgFormats::riverIsToldOnItsOwnChannel()
{
    const auto listener = m_server->session("listener");
    QVERIFY(listener->listen("public.river_leadership", BootClock::now() + 5s));
    const std::string name = "river:public.river_leader/default";
    const LeaseRecord seen = readOne(*m_store, name);
    const auto asked = once(*m_store, operateOn(seen, OperatorVerb::Ask));
    QCOMPARE(asked->outcome, Outcome::Done);
    QCOMPARE(asked->record.holder.value_or(""), std::string("host_1")); // it gives back by itself
    auto heard = listener->receive(BootClock::now() + 10s);
    QVERIFY(heard && heard->size() == 1);
    QCOMPARE(heard->front().payload,
        std::string(R"({"leader_id" : "host_1", "action" : "request_resign"})"));
    QCOMPARE(once(*m_store, operateOn(seen, OperatorVerb::Clear))->outcome, Outcome::Done);
    heard = listener->receive(BootClock::now() + 10s);
    QVERIFY(heard && heard->size() == 1);
    QVERIFY(heard->front().payload.find("\"resigned\"") != std::string::npos);
    // Refused: nobody is told anything.
    QCOMPARE(once(*m_store, operateOn(seen, OperatorVerb::Ask))->outcome, Outcome::Conflict);
    heard = listener->receive(BootClock::now() + 100ms);
    QVERIFY(heard && heard->empty());
}

void TstPgFormats::namesAreHashedAsJavaDoes()
{
    // As UUID.nameUUIDFromBytes(name.getBytes(UTF_8)) of a JDK gave them.
    m_server->run("INSERT INTO int_lock SELECT k, 'a/b', 'c', now(), now() + interval '1 min' FROM "
                  "unnest(ARRAY["
                  "'07117fe4-a1eb-3544-965d-c19573183da2', 'c510248f-7a3c-352b-9a5d-6468e47fa48e', "
                  "'54c9b374-b076-35f5-84df-d448b35fa792']) AS k");
    const auto all = listAll(*m_store, List{"spring:public.int_lock/a*", {}, 1000});
    QCOMPARE(all.size(), std::size_t(3));
    QVERIFY(all.count("spring:public.int_lock/a%2Fb/caf\xc3\xa9") == 1); // it is among the roles
    QVERIFY(all.count("spring:public.int_lock/a%2Fb/billing/scheduler") == 1);
    QVERIFY(all.count("spring:public.int_lock/a%2Fb/c510248f-7a3c-352b-9a5d-6468e47fa48e") == 1);
    // One that nobody told us is found by its name and by its key.
    for (const char *name : {"spring:public.int_lock/a%2Fb/\xF0\x9F\x94\x92",
             "spring:public.int_lock/a%2Fb/c510248f-7a3c-352b-9a5d-6468e47fa48e"})
        QCOMPARE(readOne(*m_store, name).holder.value_or("nobody"), std::string("c"));
}

/// A row without a zone whose writer lives west of UTC: a plain "now" would lie in his future.
void TstPgFormats::shedLocksOfAnyZoneAreFreed()
{
    m_server->run("UPDATE shedlock SET locked_at = now() AT TIME ZONE 'America/Los_Angeles', "
                  "lock_until = (now() AT TIME ZONE 'America/Los_Angeles') + interval '12 h'");
    const LeaseRecord seen = readOne(*m_store, kSamples[0].name);
    QVERIFY(seen.holder.has_value());
    QCOMPARE(once(*m_store, operateOn(seen, OperatorVerb::Clear))->outcome, Outcome::Done);
    QVERIFY(
        m_server->run("SELECT lock_until <= now() AT TIME ZONE 'America/Los_Angeles' FROM shedlock")
            .truth(0, 0));
}

void TstPgFormats::aSecondStoreSeesNewTables()
{
    m_server->run("CREATE TABLE jobs_lock AS SELECT * FROM shedlock");
    const auto store = makePostgresBackend(m_server->socketUri()).value()->makeStore();
    QVERIFY(listAll(*store).count("shedlock:public.jobs_lock/nightly") == 1);
    m_server->run("DROP TABLE jobs_lock");
    QVERIFY(!readOne(*store, kSamples[0].name).raw.empty()); // the others go on
    QVERIFY(listAll(*store).count("shedlock:public.jobs_lock/nightly") == 0);
}

QTEST_GUILESS_MAIN(TstPgFormats)
#include "tst_pg_formats.moc"
