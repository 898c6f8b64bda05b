// SPDX-License-Identifier: GPL-3.0-or-later
// One session of a real PostgreSQL: what it pins, how it dies, and that it never comes back
// unasked.
#include "core/backend/postgres/pg_connection.h"
#include "postgres_server.h"

#include <QTest>

#include <thread>

using namespace tenure;
using namespace tenure::postgres;
using namespace std::chrono_literals;

namespace
{

Instant in(Duration time)
{
    return BootClock::now() + time;
}

} // namespace

class PgConnectionTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void pinsWhatMatters();
    void aCandidatesVerbsArePlannedByName();
    void neverReconnectsByItself();
    void aStatementsErrorLeavesItUsable();
    void aStoppedServerCannotHoldIt();
    void interruptEndsAWait();

private:
    std::unique_ptr<PostgresServer> m_server;
};

void PgConnectionTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = std::make_unique<PostgresServer>(std::vector<std::string>{
        "search_path = 'elsewhere'", "synchronous_commit = off", "timezone = 'Asia/Kathmandu'",
        "default_transaction_isolation = 'serializable'", "client_min_messages = 'debug1'"});
}

void PgConnectionTest::pinsWhatMatters()
{
    const auto session = m_server->session("look");
    QVERIFY(!session->server().proxied && !session->server().standby);
    QVERIFY(!session->server().version.empty() && session->server().epoch.size() > 10);
    const std::pair<const char *, const char *> pinned[] = {{"search_path", "pg_catalog, pg_temp"},
        {"synchronous_commit", "on"}, {"TimeZone", "UTC"},
        {"transaction_isolation", "read committed"}, {"application_name", "tenure/look"},
        {"client_encoding", "UTF8"}, {"client_min_messages", "error"}};
    for (const auto &[name, value] : pinned) {
        const auto rows = session->ask("SELECT current_setting($1)", {name}, in(5s));
        QVERIFY(rows);
        QCOMPARE(rows->text(0, 0), std::string_view(value));
    }
}

void PgConnectionTest::aCandidatesVerbsArePlannedByName()
{
    const Settings settings = settingsOf(m_server->socketUri()).value();
    const auto candidate = PgConnection::open(settings, "store", in(5s), nullptr, 200ms);
    QVERIFY(candidate);
    m_server->run("CREATE TABLE public.few AS SELECT 'a' || n AS name FROM generate_series(1, 300) n");
    m_server->run("CREATE UNIQUE INDEX ON public.few (name)");
    m_server->run("ANALYZE public.few"); // two pages: to read them whole looks cheapest
    const auto planOf = [](PgConnection &session) {
        const char *sql = "EXPLAIN SELECT FROM unnest('{a1,a2}'::text[]) w JOIN public.few ON name = w";
        const auto lines = session.ask(sql, {}, in(5s)).value();
        std::string plan;
        for (std::size_t i = 0; i < lines.size(); ++i)
            plan += std::string(lines.text(i, 0)) + "\n";
        return plan;
    };
    const std::string byName = planOf(**candidate);
    QVERIFY2(byName.find("Index Cond: (name = w.w)") != std::string::npos, byName.c_str());
    const auto looking = m_server->session("look"); // lists and joins whole tables
    const std::string whole = planOf(*looking);
    QVERIFY2(whole.find("Seq Scan on few") != std::string::npos, whole.c_str());
}

void PgConnectionTest::neverReconnectsByItself()
{
    const auto session = m_server->session("victim");
    QVERIFY(session->ask("SELECT pg_advisory_lock(42)", {}, in(5s)));
    m_server->run("SELECT pg_terminate_backend($1::int)", {std::to_string(session->server().pid)});
    // libpqxx 6.4 would fail twice and succeed the third time, on another session and without the
    // lock.
    for (int i = 0; i < 5; ++i) {
        const auto rows = session->ask("SELECT pg_backend_pid()", {}, in(5s));
        QVERIFY(!rows);
        QCOMPARE(rows.error().kind, ErrorKind::Unavailable);
        QCOMPARE(rows.error().recovery, Recovery::Reconnect);
        QVERIFY(!session->usable());
    }
    const auto others = m_server->run(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tenure/victim'");
    QCOMPARE(others.number(0, 0), 0);
    QVERIFY(m_server->run("SELECT pg_try_advisory_lock(42)").truth(0, 0));
    m_server->run("SELECT pg_advisory_unlock(42)");
}

void PgConnectionTest::aStatementsErrorLeavesItUsable()
{
    const auto session = m_server->session();
    const auto rows = session->ask("SELECT * FROM nowhere.nothing", {}, in(5s));
    QVERIFY(!rows);
    QCOMPARE(rows.error().kind, ErrorKind::BadConfig);
    QCOMPARE(session->lastAnswer(), PgConnection::Answer::Definite);
    QVERIFY(session->usable());
    // The server gives up by itself when the deadline comes.
    const auto slow = session->ask("SELECT pg_sleep(600)", {}, in(150ms));
    QVERIFY(!slow);
    const auto stillAtIt = [this] {
        return m_server
            ->run("SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT "
                  "pg_sleep(600)' AND state = 'active'")
            .number(0, 0);
    };
    QTRY_COMPARE_WITH_TIMEOUT(stillAtIt(), 0, 20'000);
}

void PgConnectionTest::aStoppedServerCannotHoldIt()
{
    PostgresServer server;
    const auto session = server.session();
    QVERIFY(session->ask("SELECT 1", {}, in(400ms))); // it knows the limit by now
    server.pause();
    const Instant began = BootClock::now();
    const auto rows = session->ask("SELECT 1", {}, in(400ms));
    QVERIFY(!rows && !session->usable());
    QCOMPARE(session->lastAnswer(), PgConnection::Answer::Unknown);
    const auto settings = settingsOf(server.socketUri());
    QVERIFY(!PgConnection::open(*settings, "test", in(200ms)));
    QVERIFY(BootClock::now() - began < 5s);
    server.resume();
    QTRY_VERIFY_WITH_TIMEOUT(PgConnection::open(*settings, "test", in(2s)).has_value(), 30'000);
}

void PgConnectionTest::interruptEndsAWait()
{
    const auto session = m_server->session();
    QVERIFY(session->listen("there", in(5s)));
    m_server->run("SELECT pg_notify('there', 'hello')");
    const auto heard = session->receive(in(10s));
    QVERIFY(heard);
    QCOMPARE(heard->size(), std::size_t{1});
    QCOMPARE(heard->front().payload, std::string("hello"));
    std::jthread other([&] { session->interrupt(); });
    QVERIFY(!session->receive(in(60s)));
    QVERIFY(!session->usable());
}

QTEST_GUILESS_MAIN(PgConnectionTest)
#include "tst_pg_connection.moc"
