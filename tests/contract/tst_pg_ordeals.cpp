// SPDX-License-Identifier: GPL-3.0-or-later
// One fault after the other strikes two candidates and a watching console on real servers: the
// error has the right kind, the screen the right state, nobody believes beside another, and all
// recover by themselves when the fault is over.
#include "pg_kit.h"
#include "core/net/tcp_proxy.h"

#include <functional>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

constexpr Milliseconds kTtl = 2s;

/// One login of a server with a schema of its own, reached through a proxy with a password.
struct World {
    World(PostgresServer &s, const std::string &n) : server(s), name(n), proxy(s.port())
    {
        server.script("CREATE ROLE " + name + " LOGIN PASSWORD 'one' IN ROLE tenure_elector");
        makeTable(server.socketUri(name));
        uri = server.tcpUri(name);
        uri.hosts.front().second = proxy.port();
        uri.user = name;
        uri.password = "one";
    }
    ~World() { restore(); }
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    void alter(const std::string &how) { server.script("ALTER ROLE " + name + " " + how); }
    void endSessions()
    {
        server.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = $1", {name});
    }
    /// A role's settings and rights count for new sessions only.
    void alterAll(const std::string &how)
    {
        alter(how);
        endSessions();
    }
    void keep(const std::string &sql)
    {
        keeper = server.session("keeper");
        if (!keeper->script("BEGIN; " + sql, BootClock::now() + 10s))
            qFatal("%s", sql.c_str());
    }
    void restore() { keeper.reset(); }

    PostgresServer &server;
    const std::string name; ///< of role and schema
    TcpProxy proxy;
    StoreUri uri;
    std::unique_ptr<postgres::PgConnection> keeper; ///< another transaction
};

enum class Belief { Keeps, Ends };

struct Fault {
    const char *name;
    std::function<void(World &)> strike, mend;
    Belief belief;
    LinkState shown; ///< while it lasts
    std::optional<ErrorKind> kind; ///< what candidates, or the screen if it is not connected, say
    const char *says = ""; ///< a part of it
    bool ownServer = false; ///< it hits everybody on the server
};

using enum ErrorKind;

/// What every new session of the login has to live with; what the settings say must not matter.
Fault setting(const char *name, const char *sets)
{
    return {name, [sets](World &w) {
                std::string all = sets;
                for (std::size_t end = 0; !all.empty(); all.erase(0, end + 1)) {
                    end = std::min(all.find(';'), all.size() - 1);
                    w.alter("SET " + all.substr(0, all.find(';')));
                }
                w.endSessions();
            },
        [](World &w) { w.alterAll("RESET ALL"); }, Belief::Keeps, LinkState::Live, std::nullopt};
}

std::vector<Fault> faults()
{
    const auto end = [](World &w) { w.restore(); };
    return {
        {"sessions ended", [](World &w) { w.endSessions(); }, [](World &w) { w.endSessions(); }, Belief::Keeps,
            LinkState::Live, std::nullopt},
        {"server stopped", [](World &w) { w.server.pause(); }, [](World &w) { w.server.resume(); }, Belief::Ends,
            LinkState::Disconnected, Unavailable, "", true},
        {"server killed", [](World &w) { w.server.kill(); }, [](World &w) { w.server.start(); }, Belief::Ends,
            LinkState::Disconnected, Unavailable, "", true},
        {"server shut down", [](World &w) { w.server.stop(); }, [](World &w) { w.server.start(); }, Belief::Ends,
            LinkState::Disconnected, Unavailable, "", true},
        {"half-open", [](World &w) { w.proxy.setMode(TcpProxy::Mode::HalfOpen); },
            [](World &w) {
                w.proxy.setMode(TcpProxy::Mode::Pass);
                w.proxy.cut();
            },
            Belief::Ends, LinkState::Disconnected, Unavailable, "did not answer"},
        {"no way there", [](World &w) { w.proxy.setMode(TcpProxy::Mode::Refuse); },
            [](World &w) { w.proxy.setMode(TcpProxy::Mode::Pass); }, Belief::Ends, LinkState::Disconnected,
            Unavailable},
        {"no writes", [](World &w) { w.alterAll("SET default_transaction_read_only = on"); },
            [](World &w) { w.alter("RESET ALL"); }, Belief::Ends, LinkState::Live, Unavailable, "takes no writes"},
        {"no room", [](World &w) { w.alterAll("CONNECTION LIMIT 0"); },
            [](World &w) { w.alter("CONNECTION LIMIT -1"); }, Belief::Ends, LinkState::Disconnected, Unavailable,
            "no room for another session"},
        {"another password", [](World &w) { w.alterAll("PASSWORD 'two'"); },
            [](World &w) { w.alter("PASSWORD 'one'"); }, Belief::Ends, LinkState::Denied, Rejected, "password"},
        {"no login", [](World &w) { w.alterAll("NOLOGIN"); }, [](World &w) { w.alter("LOGIN"); }, Belief::Ends,
            LinkState::Denied, Rejected},
        {"no rights", [](World &w) { w.server.script("REVOKE tenure_elector FROM " + w.name); },
            [](World &w) { w.server.script("GRANT tenure_elector TO " + w.name); }, Belief::Ends, LinkState::Denied,
            Denied, "right for this is missing"},
        {"no table",
            [](World &w) { w.server.script("ALTER TABLE " + w.name + ".tenure_lease RENAME TO away"); },
            [](World &w) { w.server.script("ALTER TABLE " + w.name + ".away RENAME TO tenure_lease"); },
            Belief::Ends, LinkState::Live, BadConfig, "tenurectl init"},
        {"row locked", [](World &w) { w.keep("SELECT FROM " + w.name + ".tenure_lease FOR UPDATE"); }, end,
            Belief::Ends, LinkState::Live, Unavailable, "kept the row or its table locked"},
        {"table locked", [](World &w) { w.keep("LOCK TABLE " + w.name + ".tenure_lease"); }, end, Belief::Ends,
            LinkState::Disconnected, Unavailable, "whether a table is locked"},
        setting("the administrator's limits",
            "statement_timeout = '1ms';lock_timeout = '1ms';idle_session_timeout = '100ms';"
            "idle_in_transaction_session_timeout = '1ms'"),
        setting("another isolation", "default_transaction_isolation = 'serializable'"),
        setting("another zone", "TimeZone = 'Asia/Kathmandu';DateStyle = 'German';IntervalStyle = 'iso_8601'"),
        setting("another path", "search_path = 'pg_temp, nowhere'"),
    };
}

} // namespace

class PgOrdealsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void faultsStrike_data();
    void faultsStrike();
    void advisoryLocksOutliveIdleLimits();
    void whatNeverConnectsSaysWhy_data();
    void whatNeverConnectsSaysWhy();
    void aStandbyIsWatchedByPolling();

private:
    static std::unique_ptr<PostgresServer> newServer();
    std::unique_ptr<PostgresServer> m_server;
    int m_count = 0;
};

void PgOrdealsTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = newServer();
}

std::unique_ptr<PostgresServer> PgOrdealsTest::newServer()
{
    auto server = std::make_unique<PostgresServer>();
    server->script("CREATE ROLE tenure_elector");
    server->allow({"host all postgres 127.0.0.1/32 trust", "host all all 127.0.0.1/32 scram-sha-256"});
    return server;
}

void PgOrdealsTest::faultsStrike_data()
{
    QTest::addColumn<int>("number");
    int number = 0;
    for (const Fault &fault : faults())
        QTest::newRow(fault.name) << number++;
}

void PgOrdealsTest::faultsStrike()
{
    QFETCH(int, number);
    const Fault fault = faults()[static_cast<std::size_t>(number)];
    const auto own = fault.ownServer ? newServer() : nullptr;
    World world(own ? *own : *m_server, "world" + std::to_string(++m_count));
    Screen screen(world.uri);
    Pair pair(world.uri, kTtl);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    QTRY_VERIFY2_WITH_TIMEOUT(screen.state() == LinkState::Live, screen.text().c_str(), 30'000);
    QTRY_COMPARE_WITH_TIMEOUT(screen.leaseState(), LeaseState::Held, 30'000);
    const FencingToken before = pair.token();

    fault.strike(world);
    if (fault.belief == Belief::Ends) {
        QTRY_VERIFY_WITH_TIMEOUT(pair.nobodyLeads(), 30'000);
        const auto told = [&] {
            const bool linked = fault.shown == LinkState::Live;
            const auto error = linked ? pair.trouble() : screen.link().error;
            return screen.state() == fault.shown && pair.trouble() && error && error->kind == *fault.kind
                && error->text().find(fault.says) != std::string::npos;
        };
        QTRY_VERIFY2_WITH_TIMEOUT(told(), (screen.text() + " | "
            + (pair.trouble() ? pair.trouble()->text() : "")).c_str(), 30'000);
        if (fault.shown != LinkState::Live) // no word and no countdown that could not be true
            QCOMPARE(screen.leaseState(), LeaseState::Unknown);
    } else {
        QTest::qWait(static_cast<int>(2 * kTtl.count()));
    }
    fault.mend(world);
    QTRY_VERIFY2_WITH_TIMEOUT(pair.oneLeads(), pair.trouble() ? pair.trouble()->text().c_str() : "", 60'000);
    QTRY_VERIFY2_WITH_TIMEOUT(screen.state() == LinkState::Live, screen.text().c_str(), 60'000);
    QTRY_COMPARE_WITH_TIMEOUT(screen.leaseState(), LeaseState::Held, 30'000);
    if (fault.shown != LinkState::Live) // what was not observed stays visible
        QVERIFY(!screen.lease()->blind.empty());
    QVERIFY(fault.belief == Belief::Ends ? pair.token() >= before : pair.token() == before);
    if (fault.belief == Belief::Keeps)
        QCOMPARE(pair.losses(), 0U);
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

/// A session lock is nothing but its session: an administrator's limit for idle ones must not end it.
void PgOrdealsTest::advisoryLocksOutliveIdleLimits()
{
    World world(*m_server, "idle");
    world.alter("SET idle_session_timeout = '200ms'");
    world.uri.parameters["mode"] = "advisory";
    Pair pair(world.uri, 6s); // renewed every 2 s: idle for much longer than that limit
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    QTest::qWait(5000);
    QVERIFY(pair.oneLeads());
    QCOMPARE(pair.losses(), 0U);
}

void PgOrdealsTest::whatNeverConnectsSaysWhy_data()
{
    QTest::addColumn<QByteArray>("parameters");
    QTest::addColumn<QByteArray>("user");
    QTest::addColumn<LinkState>("shown");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("a certificate for another name") << QByteArray("sslmode=verify-full&sslrootcert=CA")
        << QByteArray("postgres") << LinkState::Denied << QByteArray("certificate is for another name");
    QTest::newRow("an authority nobody trusts") << QByteArray("sslmode=verify-ca&sslrootcert=CRT")
        << QByteArray("postgres") << LinkState::Denied << QByteArray("not trusted");
    QTest::newRow("no client certificate") << QByteArray("sslmode=require") << QByteArray("machine")
        << LinkState::Denied << QByteArray("certificate");
    QTest::newRow("no such login") << QByteArray() << QByteArray("nobody") << LinkState::Denied
        << QByteArray("password");
    QTest::newRow("no such role for a host") << QByteArray("target_session_attrs=standby") << QByteArray("postgres")
        << LinkState::Connecting << QByteArray("No host has the role");
}

void PgOrdealsTest::whatNeverConnectsSaysWhy()
{
    QFETCH(QByteArray, parameters);
    QFETCH(QByteArray, user);
    QFETCH(LinkState, shown);
    QFETCH(QByteArray, says);
    const auto server = newServer();
    server->enableTls("db.example");
    server->script("CREATE ROLE machine LOGIN");
    server->allow({"hostssl all machine 127.0.0.1/32 cert"});
    parameters.replace("CA", server->caFile().c_str()).replace("CRT", server->path("server.crt").c_str());
    StoreUri uri = StoreUri::parse("postgresql://" + user.toStdString() + "@127.0.0.1:"
        + std::to_string(server->port()) + "/postgres?" + parameters.toStdString()).value();
    QTRY_VERIFY_WITH_TIMEOUT(server->run("SHOW ssl").text(0, 0) == "on", 30'000);
    const Screen screen(uri);
    const auto told = [&] {
        return screen.state() == shown && screen.text().find(says.toStdString()) != std::string::npos;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(told(), screen.text().c_str(), 30'000);
}

void PgOrdealsTest::aStandbyIsWatchedByPolling()
{
    const auto primary = newServer();
    World world(*primary, "streamed");
    PostgresServer standby(*primary, {});
    const Screen screen(standby.socketUri("streamed"));
    StoreUri both = world.uri;
    both.hosts.emplace_back("127.0.0.1", standby.port());
    Pair pair(both, kTtl);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    const FencingToken before = pair.token();
    // A standby shows the leases as they arrive, takes no LISTEN, and both is said.
    QTRY_COMPARE_WITH_TIMEOUT(screen.leaseState(), LeaseState::Held, 30'000);
    QTRY_VERIFY2_WITH_TIMEOUT(screen.state() == LinkState::Polling, screen.text().c_str(), 30'000);
    QVERIFY2(screen.text().find("standby takes no LISTEN") != std::string::npos, screen.text().c_str());
    QVERIFY(screen.link().server.find("standby") != std::string::npos);

    primary->kill();
    QTRY_VERIFY_WITH_TIMEOUT(pair.nobodyLeads(), 30'000); // nobody leads on a server without writes
    QVERIFY(pair.trouble().has_value());
    QTest::qWait(static_cast<int>(2 * kTtl.count()));
    QVERIFY(pair.nobodyLeads());
    standby.promote();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 60'000);
    QVERIFY(pair.token() > before);
    QTRY_VERIFY2_WITH_TIMEOUT(screen.state() == LinkState::Live, screen.text().c_str(), 60'000);
    QTRY_VERIFY2_WITH_TIMEOUT(screen.link().server.find("primary") != std::string::npos,
        screen.link().server.c_str(), 60'000);
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

QTEST_GUILESS_MAIN(PgOrdealsTest)
#include "tst_pg_ordeals.moc"
