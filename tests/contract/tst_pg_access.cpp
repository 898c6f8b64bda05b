// SPDX-License-Identifier: GPL-3.0-or-later
// How one gets to a PostgreSQL server, and what one may do there: URLs, service file, environment,
// passwords, TLS, rights; and hostile values.
#include "core/backend/postgres/pg_settings.h"
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"

#include <QTest>

#include <fstream>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Instant soon()
{
    return BootClock::now() + 10s;
}

StoreUri parsed(const std::string &text)
{
    const auto uri = StoreUri::parse(text);
    if (!uri)
        qFatal("%s", uri.error().text().c_str());
    return *uri;
}

Result<StoreFacts> probe(const StoreUri &uri)
{
    const auto backend = makePostgresBackend(uri);
    return backend ? (*backend)->makeStore()->probe(soon()) : tl::unexpected(backend.error());
}

Result<Reply> run(LeaseStore &store, const Command &command)
{
    return std::move(store.execute({&command, 1}, soon()).front());
}

/// Sets an environment variable for as long as it lives.
class Environment
{
public:
    Environment(const char *name, const std::string &value) : m_name(name)
    {
        qputenv(name, QByteArray::fromStdString(value));
    }
    ~Environment() { qunsetenv(m_name); }
    Environment(const Environment &) = delete;
    Environment &operator=(const Environment &) = delete;

private:
    const char *m_name;
};

constexpr const char *kSecret = "geh:eim@/?#%";
constexpr const char *kSecretEncoded = "geh%3Aeim%40%2F%3F%23%25";

} // namespace

class PgAccessTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void everyWayToNameAServer();
    void impossibleUrls_data();
    void impossibleUrls();
    void passwords();
    void tlsChecksTheName();
    void clientCertificate();
    void rightsOfTheThreeRoles();
    void hostileSettingsChangeNothing();
    void hostileValuesLoseNothing();

private:
    [[nodiscard]] std::string port() const { return std::to_string(m_server->port()); }
    std::unique_ptr<PostgresServer> m_server;
};

void PgAccessTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = std::make_unique<PostgresServer>();
    m_server->script(std::string("CREATE ROLE tester LOGIN PASSWORD '") + kSecret + "'");
    m_server->allow({"host all tester 127.0.0.1/32 scram-sha-256"});
    QVERIFY(makePostgresBackend(m_server->socketUri()).value()->makeStore()->init(false, soon()));
}

void PgAccessTest::everyWayToNameAServer()
{
    const std::string directory = m_server->socketDirectory();
    std::string encoded;
    for (const char c : directory)
        encoded += c == '/' ? std::string("%2F") : std::string(1, c);
    const std::string service = m_server->path("service.conf");
    std::ofstream(service) << "[leases]\nhost=127.0.0.1\nport=" << port()
                           << "\nuser=postgres\ndbname=postgres\n";
    const Environment file("PGSERVICEFILE", service);
    const std::string urls[] = {"postgresql://postgres@127.0.0.1:" + port() + "/postgres",
        "postgres://postgres@localhost:" + port() + "/postgres",
        "postgresql://postgres@" + encoded + ":" + port() + "/postgres",
        "postgresql://postgres@/postgres?host=" + directory + "&port=" + port(),
        "postgresql://?service=leases",
        "postgresql://postgres@127.0.0.1:1,127.0.0.1:" + port() + "/postgres",
        "postgresql://postgres@127.0.0.1:1,127.0.0.1:" + port()
            + "/postgres?target_session_attrs=primary"};
    for (const std::string &url : urls) {
        const auto facts = probe(parsed(url));
        QVERIFY2(facts, (url + ": " + (facts ? "" : facts.error().text())).c_str());
    }
    const Environment host("PGHOST", directory);
    const Environment number("PGPORT", port());
    const Environment user("PGUSER", "postgres");
    QVERIFY(probe(parsed("postgresql:///postgres")));
    const auto session = m_server->run("SELECT 1");
    QCOMPARE(session.number(0, 0), 1);
}

void PgAccessTest::impossibleUrls_data()
{
    QTest::addColumn<QByteArray>("url");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("unknown") << QByteArray("postgresql://h/d?sslmodus=require")
                             << QByteArray("sslmode");
    QTest::newRow("near miss") << QByteArray("postgresql://h/d?shema=x") << QByteArray("schema");
    QTest::newRow("mode") << QByteArray("postgresql://h/d?mode=magic") << QByteArray("advisory");
    QTest::newRow("ours") << QByteArray("postgresql://h/d?application_name=x")
                          << QByteArray("application_name");
    QTest::newRow("schema") << QByteArray("postgresql://h/d?schema=") << QByteArray("schema");
    QTest::newRow("password") << QByteArray("postgresql://h/d?password=top-secret")
                              << QByteArray("URL itself");
}

void PgAccessTest::impossibleUrls()
{
    QFETCH(QByteArray, url);
    QFETCH(QByteArray, says);
    const auto uri = StoreUri::parse(url.toStdString());
    QVERIFY(uri);
    const auto backend = makePostgresBackend(*uri);
    QVERIFY(!backend);
    QCOMPARE(backend.error().kind, ErrorKind::BadConfig);
    const std::string text = backend.error().text();
    QVERIFY2(text.find(says.toStdString()) != std::string::npos, text.c_str());
    QVERIFY(text.find("top-secret") == std::string::npos);
}

void PgAccessTest::passwords()
{
    const std::string place = "@127.0.0.1:" + port() + "/postgres";
    QVERIFY(probe(parsed(std::string("postgresql://tester:") + kSecretEncoded + place)));
    const StoreUri wrong = parsed("postgresql://tester:wrong-one" + place);
    const auto refused = probe(wrong);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Rejected);
    QVERIFY(refused.error().text().find("wrong-one") == std::string::npos);
    QVERIFY(makePostgresBackend(wrong).value()->traits().display.find("wrong-one")
        == std::string::npos);
    const auto none = probe(parsed("postgresql://tester" + place));
    QVERIFY(!none);
    QCOMPARE(none.error().kind, ErrorKind::Rejected);
    const auto nobody = probe(parsed("postgresql://postgres@127.0.0.1:" + port() + "/no%20such"));
    QVERIFY(!nobody);
    QCOMPARE(nobody.error().kind, ErrorKind::BadConfig);

    const std::string passfile = m_server->path("pgpass");
    std::ofstream(passfile) << "127.0.0.1:" << port() << ":postgres:tester:geh\\:eim@/?#%\n";
    QFile::setPermissions(QString::fromStdString(passfile), QFile::ReadOwner | QFile::WriteOwner);
    const Environment file("PGPASSFILE", passfile);
    QVERIFY(probe(parsed("postgresql://tester" + place)));
}

void PgAccessTest::tlsChecksTheName()
{
    PostgresServer server;
    const std::string number = std::to_string(server.port());
    const std::string plain = "postgresql://postgres@127.0.0.1:" + number + "/postgres?sslmode=";
    const auto noTls = probe(parsed(plain + "require"));
    QVERIFY(!noTls);
    QCOMPARE(noTls.error().kind, ErrorKind::BadConfig);
    server.enableTls("db.example");
    const std::string trust = "&sslrootcert=" + server.caFile();
    QTRY_VERIFY_WITH_TIMEOUT(probe(parsed(plain + "require")).has_value(), 30'000);
    const auto wrongName = probe(parsed(plain + "verify-full" + trust));
    QVERIFY(!wrongName);
    QCOMPARE(wrongName.error().kind, ErrorKind::Rejected);
    QVERIFY(wrongName.error().what.find("another name") != std::string::npos);
    const auto untrusted
        = probe(parsed(plain + "verify-ca&sslrootcert=" + server.path("server.crt")));
    QVERIFY(!untrusted);
    QCOMPARE(untrusted.error().kind, ErrorKind::Rejected);
    QVERIFY(probe(parsed(plain + "verify-ca" + trust)));
    const auto right = probe(parsed("postgresql://postgres@db.example:" + number
        + "/postgres?hostaddr=127.0.0.1&sslmode=verify-full" + trust));
    QVERIFY2(right, right ? "" : right.error().text().c_str());
    const auto noFile = probe(parsed(plain + "verify-full&sslrootcert=/nowhere/ca.crt"));
    QVERIFY(!noFile);
    QCOMPARE(noFile.error().kind, ErrorKind::BadConfig);
}

void PgAccessTest::clientCertificate()
{
    PostgresServer server;
    server.enableTls("db.example");
    server.script("CREATE ROLE machine LOGIN");
    server.allow({"hostssl all machine 127.0.0.1/32 cert", "host all machine 127.0.0.1/32 reject"});
    const std::string openssl = "/usr/bin/openssl";
    server.tool({openssl, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-subj", "/CN=machine", "-keyout", server.path("m.key"), "-out", server.path("m.csr")});
    server.tool({openssl, "x509", "-req", "-in", server.path("m.csr"), "-CA", server.path("ca.crt"),
        "-CAkey", server.path("ca.key"), "-CAcreateserial", "-days", "30", "-out",
        server.path("m.crt")});
    const QString key = QString::fromStdString(server.path("client.key"));
    QVERIFY(
        QFile::copy(QString::fromStdString(server.path("m.key")), key)); // ours: libpq wants that
    QVERIFY(QFile::setPermissions(key, QFile::ReadOwner | QFile::WriteOwner));
    const std::string url = "postgresql://machine@127.0.0.1:" + std::to_string(server.port())
        + "/postgres?sslmode=verify-ca&sslrootcert=" + server.caFile();
    const auto works = [&] {
        return probe(
            parsed(url + "&sslcert=" + server.path("m.crt") + "&sslkey=" + key.toStdString()))
            .has_value();
    };
    QTRY_VERIFY_WITH_TIMEOUT(works(), 30'000);
    const auto without = probe(parsed(url));
    QVERIFY(!without);
    QCOMPARE(without.error().kind, ErrorKind::Rejected);
}

void PgAccessTest::rightsOfTheThreeRoles()
{
    m_server->script(
        "CREATE ROLE tenure_elector; CREATE ROLE tenure_viewer; CREATE ROLE tenure_operator;"
        "CREATE ROLE elects LOGIN IN ROLE tenure_elector;"
        "CREATE ROLE looks LOGIN IN ROLE tenure_viewer;"
        "CREATE ROLE releases LOGIN IN ROLE tenure_operator; CREATE ROLE stranger LOGIN");
    StoreUri uri = m_server->socketUri("roles");
    QVERIFY(makePostgresBackend(uri).value()->makeStore()->init(false, soon()));
    const auto as = [&](const char *user) {
        uri.user = user;
        return makePostgresBackend(uri).value()->makeStore();
    };
    const LeaseId lease = LeaseId::observed("billing");
    const auto acquire = [&] {
        return Acquire{lease, *HolderId::parse("a"), Nonce::random(), 60s};
    };
    const auto operate = [&](OperatorVerb verb, const LeaseRecord &seen) {
        Operate command;
        command.verb = verb;
        command.lease = lease;
        command.expected = seen.seen();
        command.by = "ann";
        return command;
    };
    const auto elects = as("elects");
    const Acquire mine = acquire();
    const auto granted = run(*elects, mine);
    QVERIFY2(granted, granted ? "" : granted.error().text().c_str());
    const Term term{mine.holder, mine.nonce, granted->record.token};
    QCOMPARE(run(*elects, Renew{lease, term, 60s})->outcome, Outcome::Done);
    const auto looks = as("looks");
    const auto seen = run(*looks, Read{lease, ReadDepth::Full});
    QCOMPARE(seen->record.holder, "a");
    for (LeaseStore *store : {looks.get(), elects.get()}) {
        const auto held = run(*store, operate(OperatorVerb::Hold, seen->record));
        QVERIFY(!held);
        QCOMPARE(held.error().kind, ErrorKind::Denied);
    }
    QCOMPARE(run(*looks, acquire()).error().kind, ErrorKind::Denied);
    const auto facts = looks->probe(soon());
    QVERIFY(facts && !facts->notes.empty());
    const auto held = run(*as("releases"), operate(OperatorVerb::Hold, seen->record));
    QVERIFY2(held, held ? "" : held.error().text().c_str());
    QCOMPARE(held->outcome, Outcome::Done);
    QCOMPARE(run(*elects, Renew{lease, term, 60s})->outcome, Outcome::Lost);
    const auto stranger = run(*as("stranger"), Read{lease, ReadDepth::Full});
    QVERIFY(!stranger);
    QCOMPARE(stranger.error().kind, ErrorKind::Denied);
    QVERIFY(stranger.error().remedy.find("init") != std::string::npos);
}

/// A search_path with another table of the name in it, other time zones and date styles.
void PgAccessTest::hostileSettingsChangeNothing()
{
    m_server->script(
        "CREATE ROLE misled LOGIN SUPERUSER; CREATE TABLE public.tenure_lease (name int);"
        "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
        "$$SELECT 'epoch'::timestamptz$$;"
        "ALTER ROLE misled SET search_path = public, pg_catalog;"
        "ALTER ROLE misled SET TimeZone = 'America/St_Johns';"
        "ALTER ROLE misled SET DateStyle = 'German'; ALTER ROLE misled SET IntervalStyle = "
        "'iso_8601';"
        "ALTER ROLE misled SET default_transaction_isolation = 'serializable';"
        "ALTER ROLE misled SET bytea_output = 'escape'");
    StoreUri uri = m_server->socketUri();
    uri.user = "misled";
    const auto store = makePostgresBackend(uri).value()->makeStore();
    const auto other = makePostgresBackend(m_server->socketUri()).value()->makeStore();
    const LeaseId lease = LeaseId::observed("misled");
    const Acquire acquire{lease, *HolderId::parse("a"), Nonce::random(), 60s};
    const auto granted = run(*store, acquire);
    QVERIFY2(granted, granted ? "" : granted.error().text().c_str());
    QCOMPARE(run(*other, Acquire{lease, *HolderId::parse("b"), Nonce::random(), 60s})->outcome,
        Outcome::Refused);
    const auto here = run(*store, Read{lease, ReadDepth::Full});
    const auto there = run(*other, Read{lease, ReadDepth::Full});
    QCOMPARE(here->record.acquiredAt, there->record.acquiredAt);
    QVERIFY(*here->record.remaining > 50s && *here->record.remaining <= 60s);
    m_server->script("DROP TABLE public.tenure_lease; DROP FUNCTION public.clock_timestamp()");
}

void PgAccessTest::hostileValuesLoseNothing()
{
    m_server->run("CREATE DATABASE old_fashioned ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'");
    StoreUri uri = m_server->socketUri();
    uri.path = "old_fashioned";
    const auto store = makePostgresBackend(uri).value()->makeStore();
    QVERIFY(store->init(false, soon()));
    const auto acquire = [](std::string name) {
        return Acquire{
            LeaseId::observed(std::move(name)), *HolderId::parse("a"), Nonce::random(), 60s};
    };
    const std::vector<Command> batch{acquire("plain"), acquire("\xF0\x9F\x94\x92"),
        acquire(std::string(10'000, 'x')), acquire(std::string("nul\0byte", 8)),
        acquire("\xff\xfe"), acquire("it's \"quoted\" \\ {a,b} NULL; --"), acquire("caf\xC3\xA9"),
        acquire("")};
    const auto results = store->execute(batch, soon());
    const bool possible[] = {true, false, false, false, false, true, true, false};
    for (std::size_t i = 0; i < batch.size(); ++i) {
        QVERIFY2(results[i].has_value() == possible[i],
            results[i] ? std::to_string(i).c_str() : results[i].error().text().c_str());
        if (possible[i]) {
            QCOMPARE(results[i]->outcome, Outcome::Done);
            const LeaseId &lease = std::get<Acquire>(batch[i]).lease;
            QCOMPARE(run(*store, Read{lease, ReadDepth::Full})->record.lease, lease);
        } else {
            QCOMPARE(results[i].error().kind, ErrorKind::BadConfig);
            QVERIFY(results[i].error().text().size() < 1000);
        }
    }
}

QTEST_GUILESS_MAIN(PgAccessTest)
#include "tst_pg_access.moc"
