// SPDX-License-Identifier: GPL-3.0-or-later
// The table store on real PostgreSQL servers that misbehave: each fault ends in the right kind of
// error, nothing is granted twice, and it recovers by itself.
#include "core/backend/postgres/pg_errors.h"
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"
#include "core/net/tcp_proxy.h"

#include <QTest>

#include <future>
#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

LeaseId lease(std::string_view name = "billing/scheduler")
{
    return LeaseId::parse(name).value();
}

HolderId holder(std::string_view name = "a")
{
    return HolderId::parse(name).value();
}

Instant in(Duration time)
{
    return BootClock::now() + time;
}

std::unique_ptr<LeaseStore> storeAt(const StoreUri &uri)
{
    return makePostgresBackend(uri).value()->makeStore();
}

Result<Reply> run(LeaseStore &store, const Command &command, Duration within = 10s)
{
    return std::move(store.execute({&command, 1}, in(within)).front());
}

/// A term that was granted just now.
Term gain(LeaseStore &store, Milliseconds ttl, const LeaseId &of = lease())
{
    Term term{holder(), Nonce::random(), {}};
    const auto reply = run(store, Acquire{of, term.holder, term.nonce, ttl});
    if (!reply || reply->outcome != Outcome::Done)
        qFatal("not granted: %s", reply ? "held" : reply.error().text().c_str());
    term.token = reply->record.token;
    return term;
}

} // namespace

class PgFaultsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void timeIsJudgedAfterTheLock_data();
    void timeIsJudgedAfterTheLock();
    void aCarelessStatementWouldComeBackFromTheDead();
    void anAcquireThatWaitedCountsFromAfterTheLock();
    void aLockedRowEndsInALockTimeout();
    void aDeadSessionIsReplacedBeforeAnybodyNotices();
    void aSessionKilledInMidStatementIsUnknown();
    void aStoppedServerIsUnknownAndThenFine();
    void aKilledServerKeepsItsLeases();
    void halfOpenConnectionsEnd();
    void aLostAnswerIsRepeatedWithoutHarm();
    void noRoomForAnotherSession();
    void serverErrorsHaveTheirKind_data();
    void serverErrorsHaveTheirKind();
    void everyCodeHasItsKind_data();
    void everyCodeHasItsKind();
    void standbyAndFailover();

private:
    /// Sessions of stores that wait for a row.
    [[nodiscard]] std::int64_t waiting()
    {
        return m_server
            ->run("SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                  "'tenure/store' AND wait_event_type = 'Lock'")
            .number(0, 0);
    }
    [[nodiscard]] bool expired()
    {
        return m_server
            ->run("SELECT expires_at < clock_timestamp() FROM " + m_schema + ".tenure_lease")
            .truth(0, 0);
    }
    std::unique_ptr<PostgresServer> m_server;
    std::unique_ptr<LeaseStore> m_store;
    std::string m_schema;
    int m_count = 0;
};

void PgFaultsTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
}

void PgFaultsTest::init()
{
    if (!m_server || !m_server->running())
        m_server = std::make_unique<PostgresServer>();
    m_schema = "faults" + std::to_string(++m_count);
    m_store = storeAt(m_server->socketUri(m_schema));
    QVERIFY(m_store->init(false, in(10s)));
}

void PgFaultsTest::timeIsJudgedAfterTheLock_data()
{
    QTest::addColumn<QByteArray>("other"); // what the transaction that keeps the row does to it
    QTest::addColumn<QByteArray>("end");
    QTest::newRow("only locks it")
        << QByteArray("SELECT FROM %1.tenure_lease FOR UPDATE") << QByteArray("COMMIT");
    QTest::newRow("changes it") << QByteArray("UPDATE %1.tenure_lease SET metadata = '{}'")
                                << QByteArray("COMMIT");
    QTest::newRow("changes it and takes that back")
        << QByteArray("UPDATE %1.tenure_lease SET metadata = '{}'") << QByteArray("ROLLBACK");
}

void PgFaultsTest::timeIsJudgedAfterTheLock()
{
    QFETCH(QByteArray, other);
    QFETCH(QByteArray, end);
    const Milliseconds ttl = 3s;
    const Term term = gain(*m_store, ttl);
    const auto keeper = m_server->session("keeper");
    QVERIFY(
        keeper->script("BEGIN; " + other.replace("%1", m_schema.c_str()).toStdString(), in(5s)));
    auto renewal = std::async(std::launch::async, [&] {
        return run(*m_store, Renew{lease(), term, 30s});
    });
    QTRY_COMPARE_WITH_TIMEOUT(waiting(), 1, 30'000); // sent while the term still lives
    QTRY_VERIFY_WITH_TIMEOUT(expired(), 30'000);
    QVERIFY(keeper->script(end.toStdString(), in(5s)));
    const auto reply = renewal.get();
    QVERIFY2(reply, reply ? "" : reply.error().text().c_str());
    QCOMPARE(reply->outcome, Outcome::Lost);
    QVERIFY(expired());
}

/// Why it takes more than an UPDATE: PostgreSQL reads the clock of a statement that waits for a row
/// before the wait, and again only if the row was changed.
void PgFaultsTest::aCarelessStatementWouldComeBackFromTheDead()
{
    const auto session = m_server->session("store");
    const auto keeper = m_server->session("keeper");
    (void)gain(*m_store, 3s);
    QVERIFY(keeper->script("BEGIN; SELECT FROM " + m_schema + ".tenure_lease FOR UPDATE", in(5s)));
    auto careless = std::async(std::launch::async, [&] {
        return session->ask("UPDATE " + m_schema
                + ".tenure_lease SET expires_at = "
                  "clock_timestamp() + interval '30 s' WHERE expires_at > clock_timestamp() "
                  "RETURNING 1",
            {}, in(10s));
    });
    QTRY_COMPARE_WITH_TIMEOUT(waiting(), 1, 30'000);
    QTRY_VERIFY_WITH_TIMEOUT(expired(), 30'000);
    QVERIFY(keeper->script("COMMIT", in(5s)));
    QCOMPARE(careless.get()->size(), std::size_t{1});
}

void PgFaultsTest::anAcquireThatWaitedCountsFromAfterTheLock()
{
    QCOMPARE(run(*m_store, Release{lease(), gain(*m_store, 30s)})->outcome, Outcome::Done);
    const auto keeper = m_server->session("keeper");
    QVERIFY(keeper->script("BEGIN; SELECT FROM " + m_schema + ".tenure_lease FOR UPDATE", in(5s)));
    auto grant = std::async(std::launch::async, [&] { return gain(*m_store, 30s); });
    QTRY_COMPARE_WITH_TIMEOUT(waiting(), 1, 30'000);
    const std::string now(m_server->run("SELECT clock_timestamp()").text(0, 0));
    QVERIFY(keeper->script("COMMIT", in(5s)));
    (void)grant.get();
    const auto rows
        = m_server->run("SELECT acquired_at > $1::timestamptz, expires_at - acquired_at = "
                        "interval '30 s' FROM "
                + m_schema + ".tenure_lease",
            {now});
    QVERIFY(rows.truth(0, 0) && rows.truth(0, 1));
}

void PgFaultsTest::aLockedRowEndsInALockTimeout()
{
    const Term term = gain(*m_store, 60s);
    const auto keeper = m_server->session("keeper");
    QVERIFY(keeper->script("BEGIN; SELECT FROM " + m_schema + ".tenure_lease FOR UPDATE", in(5s)));
    // Whoever only looks waits for nobody.
    QCOMPARE(run(*m_store, Read{lease(), ReadDepth::Full})->record.holder, "a");
    const auto reply = run(*m_store, Renew{lease(), term, 60s}, 4s);
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::Unavailable); // for certain not done
    QCOMPARE(reply.error().recovery, Recovery::AtOnce);
    QVERIFY(keeper->script("ROLLBACK", in(5s)));
    QCOMPARE(run(*m_store, Renew{lease(), term, 60s})->outcome, Outcome::Done);
}

void PgFaultsTest::aDeadSessionIsReplacedBeforeAnybodyNotices()
{
    const Term term = gain(*m_store, 60s);
    for (int i = 0; i < 3; ++i) {
        const auto killed
            = m_server->run("SELECT count(pg_terminate_backend(pid, 5000)) FROM "
                            "pg_stat_activity WHERE application_name = 'tenure/store'");
        QVERIFY(killed.number(0, 0) >= 1);
        const auto reply = run(*m_store, Renew{lease(), term, 60s});
        QVERIFY2(reply, reply ? "" : reply.error().text().c_str());
        QCOMPARE(reply->outcome, Outcome::Done);
    }
}

void PgFaultsTest::aSessionKilledInMidStatementIsUnknown()
{
    const Term term = gain(*m_store, 60s);
    const auto keeper = m_server->session("keeper");
    QVERIFY(keeper->script("BEGIN; SELECT FROM " + m_schema + ".tenure_lease FOR UPDATE", in(5s)));
    auto renewal = std::async(std::launch::async, [&] {
        return run(*m_store, Renew{lease(), term, 60s});
    });
    QTRY_COMPARE_WITH_TIMEOUT(waiting(), 1, 30'000);
    m_server->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                  "application_name = 'tenure/store' AND wait_event_type = 'Lock'");
    const auto reply = renewal.get();
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::OutcomeUnknown);
    QVERIFY(keeper->script("ROLLBACK", in(5s)));
    QCOMPARE(run(*m_store, Renew{lease(), term, 60s})->outcome, Outcome::Done);
}

void PgFaultsTest::aStoppedServerIsUnknownAndThenFine()
{
    const Term term = gain(*m_store, 60s);
    m_server->pause();
    const Instant began = BootClock::now();
    const auto reply = run(*m_store, Renew{lease(), term, 60s}, 500ms);
    QVERIFY(!reply);
    QVERIFY(reply.error().kind == ErrorKind::OutcomeUnknown
        || reply.error().kind == ErrorKind::Unavailable);
    const auto again = run(*m_store, Read{lease(), ReadDepth::Full}, 500ms);
    QVERIFY(!again);
    QCOMPARE(again.error().kind, ErrorKind::Unavailable);
    QVERIFY(BootClock::now() - began < 20s);
    m_server->resume();
    QTRY_VERIFY_WITH_TIMEOUT(run(*m_store, Renew{lease(), term, 60s}).has_value(), 30'000);
}

void PgFaultsTest::aKilledServerKeepsItsLeases()
{
    PostgresServer server;
    const auto store = storeAt(server.socketUri());
    QVERIFY(store->init(false, in(10s)));
    const Term term = gain(*store, 300s);
    server.kill();
    const auto reply = run(*store, Renew{lease(), term, 300s}, 2s);
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::Unavailable); // it never left
    server.start();
    QCOMPARE(run(*store, Renew{lease(), term, 300s})->outcome, Outcome::Done);
    // Nothing was forgotten: nobody has to wait.
    QVERIFY(gain(*store, 30s, lease("another")).token > FencingToken{});
    server.stop();
}

void PgFaultsTest::halfOpenConnectionsEnd()
{
    TcpProxy proxy(m_server->port());
    StoreUri uri = m_server->tcpUri(m_schema);
    uri.hosts.front().second = proxy.port();
    const auto store = storeAt(uri);
    const Term term = gain(*store, 60s);
    proxy.setMode(TcpProxy::Mode::HalfOpen);
    const Instant began = BootClock::now();
    QVERIFY(!run(*store, Renew{lease(), term, 60s}, 400ms));
    QVERIFY(!run(*store, Renew{lease(), term, 60s}, 400ms));
    QVERIFY(BootClock::now() - began < 20s);
    proxy.setMode(TcpProxy::Mode::Pass);
    proxy.cut();
    QTRY_VERIFY_WITH_TIMEOUT(run(*store, Renew{lease(), term, 60s}).has_value(), 30'000);
}

void PgFaultsTest::aLostAnswerIsRepeatedWithoutHarm()
{
    TcpProxy proxy(m_server->port());
    StoreUri uri = m_server->tcpUri(m_schema);
    uri.hosts.front().second = proxy.port();
    const auto store = storeAt(uri);
    (void)gain(*store, 60s, lease("first"));
    const Term term{holder(), Nonce::random(), {}};
    const Command acquire = Acquire{lease(), term.holder, term.nonce, 60s};
    // The statement is known and the limit set: this time only the answer is lost.
    QVERIFY(store->probe(in(1s)));
    (void)gain(*store, 60s, lease("second"));
    proxy.setMode(TcpProxy::Mode::SwallowReplies);
    const auto lost = run(*store, acquire, 3s);
    QVERIFY(!lost);
    QCOMPARE(lost.error().kind, ErrorKind::OutcomeUnknown);
    proxy.setMode(TcpProxy::Mode::Pass);
    proxy.cut();
    const auto seen = run(*m_store, Read{lease(), ReadDepth::Full});
    QCOMPARE(seen->record.nonce, term.nonce); // it had been carried out
    const auto again = run(*store, acquire);
    QVERIFY(again);
    QCOMPARE(again->outcome, Outcome::Done);
    QCOMPARE(again->record.token, seen->record.token);
}

void PgFaultsTest::noRoomForAnotherSession()
{
    PostgresServer server({"max_connections = 5"});
    server.run("CREATE ROLE anybody LOGIN");
    StoreUri uri = server.socketUri();
    uri.user = "anybody";
    std::vector<std::unique_ptr<LeaseStore>> stores;
    std::optional<Error> refused;
    for (int i = 0; i < 6 && !refused; ++i) {
        stores.push_back(storeAt(uri));
        const auto facts = stores.back()->probe(in(5s));
        if (!facts)
            refused = facts.error();
    }
    QVERIFY(refused);
    QCOMPARE(refused->kind, ErrorKind::Unavailable);
    QCOMPARE(refused->recovery, Recovery::Backoff);
    QVERIFY(refused->what.find("no room") != std::string::npos);
    const auto last = std::move(stores.back());
    stores.clear();
    QTRY_VERIFY_WITH_TIMEOUT(last->probe(in(5s)).has_value(), 30'000);
}

void PgFaultsTest::serverErrorsHaveTheirKind_data()
{
    QTest::addColumn<QByteArray>("code");
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("recovery");
    const auto row = [](const char *name, const char *code, ErrorKind kind, Recovery recovery) {
        QTest::newRow(name) << QByteArray(code) << static_cast<int>(kind)
                            << static_cast<int>(recovery);
    };
    row("disk full", "53100", ErrorKind::Unavailable, Recovery::Backoff);
    row("serialization failure", "40001", ErrorKind::Unavailable, Recovery::AtOnce);
    row("deadlock", "40P01", ErrorKind::Unavailable, Recovery::AtOnce);
    row("statement timeout", "57014", ErrorKind::Unavailable, Recovery::AtOnce);
    row("read only", "25006", ErrorKind::Unavailable, Recovery::Reconnect);
    row("nobody knows", "40003", ErrorKind::OutcomeUnknown, Recovery::AtOnce);
    row("no right", "42501", ErrorKind::Denied, Recovery::Backoff);
}

/// The server says it in the middle of a renewal: nothing of it is kept, and the next one works.
void PgFaultsTest::serverErrorsHaveTheirKind()
{
    QFETCH(QByteArray, code);
    QFETCH(int, kind);
    QFETCH(int, recovery);
    const Term term = gain(*m_store, 60s);
    m_server->script("CREATE FUNCTION " + m_schema
        + ".refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
          "RAISE EXCEPTION 'made by the test' USING ERRCODE = '"
        + code.toStdString()
        + "'; END $$;"
          "CREATE TRIGGER refuse BEFORE UPDATE ON "
        + m_schema + ".tenure_lease FOR EACH ROW EXECUTE FUNCTION " + m_schema + ".refuse()");
    const auto reply = run(*m_store, Renew{lease(), term, 300s});
    QVERIFY(!reply);
    QCOMPARE(static_cast<int>(reply.error().kind), kind);
    QCOMPARE(static_cast<int>(reply.error().recovery), recovery);
    m_server->script("DROP TRIGGER refuse ON " + m_schema + ".tenure_lease");
    const auto seen = run(*m_store, Read{lease(), ReadDepth::Full});
    QVERIFY(seen->record.remaining < Duration(61s));
    QCOMPARE(run(*m_store, Renew{lease(), term, 60s})->outcome, Outcome::Done);
}

void PgFaultsTest::everyCodeHasItsKind_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<int>("kind");
    const auto row = [](const char *name, const char *message, ErrorKind kind) {
        QTest::newRow(name) << QByteArray(message) << static_cast<int>(kind);
    };
    row("wrong password",
        "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password "
        "authentication failed for user \"x\"\nLOCATION:  auth_failed, auth.c:337\n",
        ErrorKind::Rejected);
    row("in another language", "FATAL:  28P01: Passwort-Authentifizierung fehlgeschlagen\n",
        ErrorKind::Rejected);
    row("starting", "FATAL:  57P03: the database system is starting up\n", ErrorKind::Unavailable);
    row("no such database", "FATAL:  3D000: database \"x\" does not exist\n", ErrorKind::BadConfig);
    row("too many", "FATAL:  53300: sorry, too many clients already\n", ErrorKind::Unavailable);
    row("nobody listens",
        "connection to server at \"127.0.0.1\", port 1 failed: Connection refused",
        ErrorKind::Unavailable);
    row("wrong name", "server certificate for \"a\" does not match host name \"b\"",
        ErrorKind::Rejected);
    row("untrusted", "SSL error: certificate verify failed", ErrorKind::Rejected);
    row("no TLS", "server does not support SSL, but SSL was required", ErrorKind::BadConfig);
    row("no password", "fe_sendauth: no password supplied", ErrorKind::Rejected);
}

void PgFaultsTest::everyCodeHasItsKind()
{
    QFETCH(QByteArray, message);
    QFETCH(int, kind);
    const Error error = postgres::connectError(message.toStdString(), "where");
    QCOMPARE(static_cast<int>(error.kind), kind);
    QVERIFY(error.what.find("LOCATION") == std::string::npos
        && error.what.find('\n') == std::string::npos);
}

void PgFaultsTest::standbyAndFailover()
{
    PostgresServer primary;
    {
        const auto store = storeAt(primary.socketUri());
        QVERIFY(store->init(false, in(10s)));
    }
    PostgresServer standby(primary, {});
    StoreUri both = primary.tcpUri();
    both.hosts.insert(both.hosts.begin(), {"127.0.0.1", standby.port()});
    const auto store = storeAt(both);
    const Term term = gain(*store, 1s);
    // The standby shows what there is and refuses a write.
    const auto looker = storeAt(standby.tcpUri());
    QTRY_COMPARE_WITH_TIMEOUT(run(*looker, Read{lease(), ReadDepth::Full})->record.token, term.token, 30'000);
    const auto refused = run(*looker, Acquire{lease("other"), holder(), Nonce::random(), 1s});
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Unavailable);
    QCOMPARE(refused.error().recovery, Recovery::Reconnect);

    primary.kill();
    standby.promote();
    // Another timeline: what the old primary acknowledged last may be lost, so one ttl goes by
    // first.
    const Nonce nonce = Nonce::random();
    const auto barred = run(*store, Acquire{lease(), holder("b"), nonce, 2s});
    QVERIFY2(barred, barred ? "" : barred.error().text().c_str());
    QCOMPARE(barred->outcome, Outcome::Refused);
    const auto granted = [&] {
        const auto reply = run(*store, Acquire{lease(), holder("b"), nonce, 2s});
        return reply && reply->outcome == Outcome::Done && reply->record.token > term.token;
    };
    QTRY_VERIFY_WITH_TIMEOUT(granted(), 20'000);
}

QTEST_GUILESS_MAIN(PgFaultsTest)
#include "tst_pg_faults.moc"
