// SPDX-License-Identifier: GPL-3.0-or-later
// Advisory locks with real sessions behind them, missing rights, other encodings, hostile names,
// and tables that somebody is working on: nothing crashes, nothing hides the rest, nothing wrong is
// released.
#include "pg_shapes.h"

#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Instant soon()
{
    return BootClock::now() + 10s;
}

} // namespace

class TstPgHostile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();

    void advisoryKeysOfEveryShape_data();
    void advisoryKeysOfEveryShape();
    void endingASessionLetsTheNextIn();
    void anotherSessionIsNeverEnded();
    void sharedLocksStay();
    void oursMayBeCalledLikeTheirs();
    void withoutRightsTheRestIsShown();
    void sessionsOfOthersAreHidden();
    void lookingNeverWrites();
    void aLockedTableStallsNobody();
    void hostileNames();
    void otherEncodings_data();
    void otherEncodings();
    void manyRowsComeInPages();
    void endlessTimes();

private:
    std::unique_ptr<LeaseStore> storeOf(
        const std::string &user, const std::string &database = "postgres")
    {
        StoreUri uri = m_server->socketUri();
        uri.user = user;
        uri.path = database;
        return makePostgresBackend(uri).value()->makeStore();
    }
    /// A session that holds what `sql` takes.
    std::unique_ptr<postgres::PgConnection> holding(const std::string &sql)
    {
        auto session = m_server->session("holder");
        if (!session->ask(sql, {}, soon()))
            qFatal("%s", sql.c_str());
        return session;
    }

    std::unique_ptr<PostgresServer> m_server;
    std::unique_ptr<LeaseStore> m_store;
};

void TstPgHostile::initTestCase()
{
    if (!PostgresServer::installed()) {
        QVERIFY(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"));
        QSKIP("PostgreSQL is not installed");
    }
    m_server = std::make_unique<PostgresServer>();
    m_server->script(kForeignTables);
    m_server->script(kForeignRows);
    m_store = storeOf("postgres");
}

void TstPgHostile::cleanupTestCase()
{
    m_store.reset();
    m_server.reset();
}

void TstPgHostile::advisoryKeysOfEveryShape_data()
{
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QString>("name");
    QTest::newRow("bigint") << "42"
                            << "advisory:42";
    QTest::newRow("negative") << "-1234567890123"
                              << "advisory:-1234567890123";
    QTest::newRow("least") << "-9223372036854775808"
                           << "advisory:-9223372036854775808";
    QTest::newRow("most") << "9223372036854775807"
                          << "advisory:9223372036854775807";
    QTest::newRow("two ints") << "7, 9"
                              << "advisory:7,9";
    QTest::newRow("two negative ints") << "-5, -2147483648"
                                       << "advisory:-5,-2147483648";
    QTest::newRow("hashed") << "hashtext('billing')"
                            << "";
}

void TstPgHostile::advisoryKeysOfEveryShape()
{
    QFETCH(QString, arguments);
    QFETCH(QString, name);
    const auto session = holding("SELECT pg_advisory_lock(" + arguments.toStdString() + ")");
    const auto all = listAll(*m_store, List{"advisory:*", {}, 1000});
    QCOMPARE(all.size(), std::size_t(1));
    const LeaseRecord listed = all.begin()->second;
    if (!name.isEmpty())
        QCOMPARE(listed.lease.name(), name.toStdString());
    const LeaseRecord read = readOne(*m_store, listed.lease.name());
    QVERIFY(read.seen() == listed.seen());
    QVERIFY(read.holder.value_or("").starts_with("tenure/holder@local pid "));
    // The statement that the page offers finds this very lock.
    QCOMPARE(read.facts.back().name, std::string("sql"));
    QCOMPARE(m_server->run(read.facts.back().value).size(), std::size_t(1));
    const auto cleared = once(*m_store, operateOn(read, OperatorVerb::Clear));
    QVERIFY2(cleared, cleared ? "" : cleared.error().text().c_str());
    QCOMPARE(cleared->outcome, Outcome::Done);
    QTRY_VERIFY_WITH_TIMEOUT(!readOne(*m_store, listed.lease.name()).holder, 30'000);
    QVERIFY(!session->ask("SELECT 1", {}, soon())); // its client finds out at its next statement
    QVERIFY(!session->usable());
}

void TstPgHostile::endingASessionLetsTheNextIn()
{
    const auto session = holding("SELECT pg_advisory_lock(42), pg_advisory_lock(43)");
    const auto waiter = m_server->session("waiter");
    std::thread waiting(
        [&] { (void)waiter->ask("SELECT pg_advisory_lock(42)", {}, BootClock::now() + 30s); });
    QTRY_COMPARE_WITH_TIMEOUT(readOne(*m_store, "advisory:42").candidates.size(), std::size_t(1), 30'000);
    const LeaseRecord seen = readOne(*m_store, "advisory:42");
    QVERIFY(seen.candidates.front().starts_with("tenure/waiter@local pid "));
    QVERIFY(std::any_of(seen.facts.begin(), seen.facts.end(), [](const RecordFact &fact) {
        return fact.name == "also holds" && fact.value == "advisory:43";
    }));
    QCOMPARE(once(*m_store, operateOn(seen, OperatorVerb::Clear))->outcome, Outcome::Done);
    waiting.join();
    const LeaseRecord now = readOne(*m_store, "advisory:42");
    QVERIFY(now.holder.value_or("").starts_with("tenure/waiter@local"));
    QVERIFY(!readOne(*m_store, "advisory:43").holder); // went with its session
    // What was seen then is not there any more, and the new holder is left alone.
    QCOMPARE(once(*m_store, operateOn(seen, OperatorVerb::Clear))->outcome, Outcome::Conflict);
    QVERIFY(waiter->ask("SELECT pg_advisory_unlock(42)", {}, soon()));
}

void TstPgHostile::anotherSessionIsNeverEnded()
{
    const auto session = holding("SELECT pg_advisory_lock(42)");
    const LeaseRecord seen = readOne(*m_store, "advisory:42");
    const std::string pid = std::to_string(session->server().pid);
    // The pid is the same, its start is another one: what happens when the number is given again.
    Operate reused = operateOn(seen, OperatorVerb::Clear);
    reused.expected.version = "[0, 42, 1, " + pid + ", 1000000000.000001]";
    QCOMPARE(once(*m_store, reused)->outcome, Outcome::Conflict);
    // The session stands, but holds another lock now.
    QVERIFY(session->ask("SELECT pg_advisory_unlock(42), pg_advisory_lock(44)", {}, soon()));
    QCOMPARE(once(*m_store, operateOn(seen, OperatorVerb::Clear))->outcome, Outcome::Conflict);
    Operate moved = operateOn(seen, OperatorVerb::Clear);
    moved.lease = leaseId("advisory:44");
    QCOMPARE(once(*m_store, moved)->outcome, Outcome::Conflict);
    QVERIFY(session->ask("SELECT pg_advisory_unlock(44)", {}, soon()));
    for (const OperatorVerb verb : {OperatorVerb::Ask, OperatorVerb::Hold}) {
        QVERIFY(session->ask("SELECT pg_advisory_lock(42)", {}, soon()));
        const auto refused = once(*m_store, operateOn(readOne(*m_store, "advisory:42"), verb));
        QVERIFY(!refused && refused.error().kind == ErrorKind::Unsupported);
    }
}

void TstPgHostile::sharedLocksStay()
{
    const auto one = holding("SELECT pg_advisory_lock_shared(9)");
    const auto two = holding("SELECT pg_advisory_lock_shared(9)");
    const LeaseRecord seen = readOne(*m_store, "advisory:9");
    QVERIFY(seen.note.find("2 sessions share") != std::string::npos);
    const auto refused = once(*m_store, operateOn(seen, OperatorVerb::Clear));
    QVERIFY(!refused && refused.error().kind == ErrorKind::Unsupported);
    QVERIFY(one->ask("SELECT 1", {}, soon()) && two->ask("SELECT 1", {}, soon()));
}

void TstPgHostile::oursMayBeCalledLikeTheirs()
{
    QVERIFY(m_store->init(false, soon()));
    for (const char *name : {"shedlock:public.nothing/here", "advisory:77"}) {
        const Acquire acquire{leaseId(name), HolderId::parse("a").value(), Nonce::random(), 30s};
        const auto granted = once(*m_store, acquire);
        QVERIFY2(granted, granted ? "" : granted.error().text().c_str());
        if (granted->outcome != Outcome::Done) // the server may be too young for a new term
            QTRY_VERIFY_WITH_TIMEOUT(once(*m_store, acquire)->outcome == Outcome::Done, 40'000);
        const LeaseRecord read = readOne(*m_store, name);
        QCOMPARE(read.kind, std::string("tenure"));
        QCOMPARE(read.holder.value_or("nobody"), std::string("a"));
        QCOMPARE(once(*m_store, operateOn(read, OperatorVerb::Clear))->outcome, Outcome::Done);
    }
    m_server->script("DROP SCHEMA tenure CASCADE");
}

void TstPgHostile::withoutRightsTheRestIsShown()
{
    m_server->script(
        "CREATE ROLE looker LOGIN; GRANT SELECT ON river_leader, oban_peers TO looker");
    const auto store = storeOf("looker");
    const auto all = listAll(*store);
    QCOMPARE(all.size(), std::size_t(2));
    const LeaseRecord river = all.at("river:public.river_leader/default");
    QVERIFY(std::any_of(river.facts.begin(), river.facts.end(),
        [](const RecordFact &fact) { return fact.name == "rights"; }));
    const auto hidden = once(*store, Read{leaseId("shedlock:public.shedlock/nightly")});
    QVERIFY(!hidden && hidden.error().kind == ErrorKind::Denied);
    QVERIFY(hidden.error().what.find("GRANT SELECT ON public.shedlock") != std::string::npos);
    // Nor does our own table, which it may not read either.
    QVERIFY(m_store->init(false, soon()));
    QCOMPARE(listAll(*store).size(), std::size_t(2));
    QVERIFY(readOne(*store, river.lease.name()).seen() == river.seen());
    QCOMPARE(once(*store, Read{leaseId("ours")}).error().kind, ErrorKind::Denied);
    const auto facts = store->probe(soon());
    QVERIFY(facts);
    QVERIFY(std::any_of(facts->notes.begin(), facts->notes.end(),
        [](const std::string &note) { return note.find("public.shedlock") != std::string::npos; }));
    for (const OperatorVerb verb : {OperatorVerb::Hold, OperatorVerb::Clear}) {
        const auto denied = once(*store, operateOn(river, verb));
        QVERIFY(!denied);
        QCOMPARE(denied.error().kind, ErrorKind::Denied);
    }
    QVERIFY(readOne(*m_store, river.lease.name()).seen() == river.seen());
}

void TstPgHostile::sessionsOfOthersAreHidden()
{
    m_server->script("CREATE ROLE stranger LOGIN; CREATE ROLE watcher LOGIN; GRANT "
                     "pg_read_all_stats TO watcher");
    const auto session = holding("SELECT pg_advisory_lock(42)");
    const LeaseRecord hidden = readOne(*storeOf("stranger"), "advisory:42");
    QVERIFY(hidden.holder && hidden.version.empty());
    QVERIFY(hidden.note.find("pg_read_all_stats") != std::string::npos);
    QVERIFY(!once(*storeOf("stranger"), operateOn(hidden, OperatorVerb::Clear)));
    // Seen in full, yet without the right to end it: the server says so.
    const auto watcher = storeOf("watcher");
    const LeaseRecord seen = readOne(*watcher, "advisory:42");
    QVERIFY(!seen.version.empty());
    const auto denied = once(*watcher, operateOn(seen, OperatorVerb::Clear));
    QVERIFY(!denied);
    QCOMPARE(denied.error().kind, ErrorKind::Denied);
    QVERIFY(session->ask("SELECT 1", {}, soon()));
}

void TstPgHostile::lookingNeverWrites()
{
    m_server->script("CREATE ROLE frozen LOGIN SUPERUSER; ALTER ROLE frozen SET "
                     "default_transaction_read_only = on");
    const auto store = storeOf("frozen");
    const auto all = listAll(*store);
    QVERIFY(all.size() >= 8);
    for (const auto &[name, record] : all)
        QVERIFY(readOne(*store, name).seen() == record.seen());
}

void TstPgHostile::aLockedTableStallsNobody()
{
    const auto migration = m_server->session("migration");
    QVERIFY(migration->ask("BEGIN", {}, soon())
        && migration->ask("LOCK TABLE public.shedlock", {}, soon()));
    const Instant began = BootClock::now();
    const auto all = listAll(*m_store);
    QVERIFY(all.count("shedlock:public.shedlock/nightly") == 0);
    QVERIFY(all.count("river:public.river_leader/default") == 1);
    const auto busy = once(*m_store, Read{leaseId("shedlock:public.shedlock/nightly")});
    QVERIFY(!busy);
    QCOMPARE(busy.error().kind, ErrorKind::Unavailable);
    QVERIFY(busy.error().what.find("session " + std::to_string(migration->server().pid))
        != std::string::npos);
    QVERIFY(BootClock::now() - began < 8s); // it did not wait for the lock until its deadline
    QVERIFY(migration->ask("COMMIT", {}, soon()));
    QVERIFY(readOne(*m_store, "shedlock:public.shedlock/nightly").holder.has_value());
    QVERIFY(listAll(*m_store).count("shedlock:public.shedlock/nightly") == 1);
}

void TstPgHostile::hostileNames()
{
    m_server->script(
        R"(CREATE SCHEMA "it's {T}"; CREATE TABLE "it's {T}"."a/b ""locks"" {E}"(name text, lock_until timestamptz,
        locked_at timestamptz, locked_by text))");
    const std::vector<std::string> names{"a'; DROP TABLE public.shedlock; --", "\"$1\" {T}",
        "a\\b\nc", std::string(10'000, 'n'), "%2F/..", "\xF0\x9F\x94\x92"};
    for (const std::string &name : names) {
        m_server->run("INSERT INTO \"it's {T}\".\"a/b \"\"locks\"\" {E}\" VALUES ($1, now() + "
                      "interval '1 min', now(), 'w')",
            {name});
    }
    const auto store = storeOf("postgres");
    std::size_t seen = 0;
    for (const auto &[name, record] : listAll(*store, List{"shedlock:\"it's*", {}, 3})) {
        ++seen;
        QCOMPARE(readOne(*store, name).holder.value_or("nobody"), std::string("w"));
        // A look by hand finds the very row, and a release touches it and no other.
        const auto sql = std::find_if(record.facts.begin(), record.facts.end(),
            [](const RecordFact &fact) { return fact.name == "sql"; });
        QCOMPARE(m_server->run(sql->value).size(), std::size_t(1));
        const auto cleared = once(*store, operateOn(record, OperatorVerb::Clear));
        QVERIFY2(cleared, cleared ? "" : cleared.error().text().substr(0, 500).c_str());
        QCOMPARE(cleared->outcome, Outcome::Done);
        const auto left = m_server->run(
            "SELECT count(*) FROM \"it's {T}\".\"a/b \"\"locks\"\" {E}\" WHERE lock_until > now()");
        QCOMPARE(left.number(0, 0), static_cast<std::int64_t>(names.size() - seen));
    }
    QCOMPARE(seen, names.size());
    QVERIFY(!readOne(*store, "shedlock:public.shedlock/nightly").raw.empty());
    // Names that nothing has, or can have. A NUL must not stand for what is before it.
    for (const std::string &name : {std::string("shedlock:public.shedlock/nightly\0x", 34),
             std::string("shedlock:public.shedlock/\xff"), std::string("shedlock:public.shedlock"),
             std::string("advisory:99999999999999999999"), std::string("vault:x.y/z")}) {
        const auto reply = once(*store, Read{leaseId(name)});
        QVERIFY(!reply || (!reply->record.holder && reply->record.raw.empty()));
    }
    m_server->script(R"(DROP SCHEMA "it's {T}" CASCADE)");
}

void TstPgHostile::otherEncodings_data()
{
    QTest::addColumn<QByteArray>("encoding");
    QTest::addColumn<QByteArray>("stored"); ///< as SQL
    QTest::addColumn<QByteArray>("told"); ///< as it comes to us
    QTest::newRow("latin1") << QByteArray("LATIN1") << QByteArray("chr(233)")
                            << QByteArray("\xc3\xa9");
    QTest::newRow("sql_ascii") << QByteArray("SQL_ASCII")
                               << QByteArray("convert_from('\\xe9ff'::bytea, 'SQL_ASCII')")
                               << QByteArray("\xe9\xff");
}

void TstPgHostile::otherEncodings()
{
    QFETCH(QByteArray, encoding);
    QFETCH(QByteArray, stored);
    QFETCH(QByteArray, told);
    const std::string database = "in_" + encoding.toLower().toStdString();
    m_server->run("CREATE DATABASE " + database + " ENCODING '" + encoding.toStdString()
        + "' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    StoreUri uri = m_server->socketUri();
    uri.path = database;
    const auto session = postgres::PgConnection::open(*postgres::settingsOf(uri), "test", soon());
    QVERIFY(session);
    QVERIFY((*session)->script(kForeignTables, soon()));
    QVERIFY((*session)->ask("INSERT INTO public.shedlock VALUES ('caf' || " + stored.toStdString()
            + ", timezone('utc', now()) + interval '1 min', timezone('utc', now()), 'h' || "
            + stored.toStdString()
            + "), ('other', timezone('utc', now()) + interval '1 min', timezone('utc', now()), "
              "'h')",
        {}, soon()));
    const auto store = storeOf("postgres", database);
    const std::string name = "shedlock:public.shedlock/caf" + told.toStdString();
    const auto all = listAll(*store);
    QCOMPARE(all.size(), std::size_t(2));
    QCOMPARE(all.at(name).holder.value_or(""), "h" + told.toStdString());
    // Names that this database cannot spell stand beside those that it can.
    const std::vector<Command> batch{Read{leaseId("shedlock:public.shedlock/\xF0\x9F\x94\x92")},
        Read{leaseId(name)}, Read{leaseId("shedlock:public.shedlock/other")}};
    const auto replies = store->execute(batch, soon());
    QVERIFY(replies[0] && !replies[0]->record.holder);
    QVERIFY(replies[1] && replies[1]->record.seen() == all.at(name).seen());
    QVERIFY(replies[2] && replies[2]->record.holder.has_value());
    QCOMPARE(once(*store, operateOn(all.at(name), OperatorVerb::Clear))->outcome, Outcome::Done);
    QVERIFY(!readOne(*store, name).holder);
    QVERIFY(readOne(*store, "shedlock:public.shedlock/other").holder.has_value());
}

void TstPgHostile::manyRowsComeInPages()
{
    constexpr std::size_t kRows = 5000;
    m_server->run("CREATE TABLE public.many_lock(name text PRIMARY KEY, lock_until timestamptz, "
                  "locked_at timestamptz, locked_by text)");
    m_server->run("INSERT INTO public.many_lock SELECT 'job-' || g, now() + interval '1 min', "
                  "now(), 'w' FROM generate_series(1, 5000) g");
    const auto store = storeOf("postgres");
    const Instant began = BootClock::now();
    const auto all = listAll(*store, List{"shedlock:public.many_lock/*", {}, 1000});
    QCOMPARE(all.size(), kRows);
    const Instant listed = BootClock::now();
    std::vector<Command> batch;
    for (const auto &[name, record] : all)
        batch.emplace_back(Read{leaseId(name)});
    for (const auto &reply : store->execute(batch, BootClock::now() + 30s))
        QVERIFY(reply && reply->record.holder);
    const auto ms = [](Duration d) {
        return static_cast<long long>(std::chrono::duration_cast<Milliseconds>(d).count());
    };
    qInfo("%zu rows: listed in %lld ms, read by name in %lld ms", kRows, ms(listed - began),
        ms(BootClock::now() - listed));
    m_server->run("DROP TABLE public.many_lock");
}

void TstPgHostile::endlessTimes()
{
    m_server->run("INSERT INTO public.shedlock VALUES ('endless', 'infinity', '-infinity', 'w'), "
                  "('far', '294276-12-31 23:59:59.999999', '4713-01-01 00:00:00 BC', 'w'), "
                  "('never', '-infinity', 'infinity', 'w')");
    const auto all = listAll(*m_store);
    const auto named
        = [&](const char *name) { return all.at(std::string("shedlock:public.shedlock/") + name); };
    QVERIFY(named("endless").holder && named("far").holder && !named("never").holder);
    QVERIFY(!named("endless").remaining && !named("far").remaining);
    QCOMPARE(
        once(*m_store, operateOn(named("endless"), OperatorVerb::Clear))->outcome, Outcome::Done);
    const auto held = once(*m_store, operateOn(named("far"), OperatorVerb::Hold));
    QVERIFY2(held && held->outcome == Outcome::Done, held ? "" : held.error().text().c_str());
    QVERIFY(held->record.hold && held->record.hold->remaining > 24h);
    m_server->run("DELETE FROM public.shedlock WHERE name <> 'nightly'");
}

QTEST_GUILESS_MAIN(TstPgHostile)
#include "tst_pg_hostile.moc"
