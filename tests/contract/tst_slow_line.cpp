// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates whose server is a quarter of a second away: connecting takes longer than one attempt may, and must not keep
// them from ever leading.
#include "core/backend/backend.h"
#include "tests/support/election_kit.h"
#include "core/net/tcp_proxy.h"

#ifdef TENURE_HAVE_REDIS
#include "tests/support/redis_server.h"
#endif
#ifdef TENURE_HAVE_POSTGRES
#include "tests/support/postgres_server.h"
#endif

#ifdef TENURE_HAVE_KUBERNETES
#include "tests/support/kube_server.h"
#endif

#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

constexpr Milliseconds kEachWay = 200ms;
constexpr Milliseconds kTtl = 6s; // an attempt has 1.2 s: three round trips

StoreUri through(const TcpProxy &proxy, StoreUri uri)
{
    uri.hosts.front().second = proxy.port();
    return uri;
}

enum class ACut : std::uint8_t {
    CostsARenewal,
    EndsTheTerm, ///< a lock that lives as long as its session
};

void leadsAndComesBack(TcpProxy &proxy, const StoreUri &server, ACut aCut = ACut::CostsARenewal)
{
    proxy.setDelay(kEachWay);
    const auto backend = makeBackend(server).value();
    Candidate one(backend, "far", kTtl, {}, "far-away");
    one.elector.start();
    const auto why = [&] { return one.elector.report().error.value_or(Error()).text(); };
    QTRY_VERIFY2_WITH_TIMEOUT(one.diary.count(true) == 1, why().c_str(), 60'000);
    proxy.cut();
    const Instant renewedTo = one.elector.report().validUntil;
    QTRY_VERIFY2_WITH_TIMEOUT(one.elector.isLeader() && one.elector.report().validUntil > renewedTo, why().c_str(), 60'000);
    QVERIFY(one.diary.followsGrammar());
    if (aCut == ACut::CostsARenewal)
        QCOMPARE(one.diary.count(false), 0U);
}

} // namespace

class TestSlowLine final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
#ifdef TENURE_HAVE_REDIS
    void redis()
    {
        if (!RedisServer::installed()) {
            QVERIFY2(qEnvironmentVariableIsEmpty("TENURE_REQUIRE_SERVERS"), "redis-server is missing");
            QSKIP("no redis-server");
        }
        RedisServer server;
        TcpProxy proxy(server.port());
        leadsAndComesBack(proxy, through(proxy, server.tcpUri()));
    }
#endif
#ifdef TENURE_HAVE_POSTGRES
    void postgresql()
    {
        if (!PostgresServer::installed()) {
            QVERIFY2(qEnvironmentVariableIsEmpty("TENURE_REQUIRE_SERVERS"), "PostgreSQL is missing");
            QSKIP("no PostgreSQL");
        }
        PostgresServer server;
        QVERIFY(makeBackend(server.socketUri()).value()->makeStore()->init(false, BootClock::now() + 30s));
        TcpProxy proxy(server.port());
        leadsAndComesBack(proxy, through(proxy, server.tcpUri()));
    }
    /// Connecting anew takes four round trips, and an attempt has five: another session stands by.
    void postgresqlHasAnotherSessionReady()
    {
        if (!PostgresServer::installed())
            QSKIP("no PostgreSQL");
        PostgresServer server;
        QVERIFY(makeBackend(server.socketUri()).value()->makeStore()->init(false, BootClock::now() + 30s));
        TcpProxy proxy(server.port());
        proxy.setDelay(kEachWay);
        Candidate one(makeBackend(through(proxy, server.tcpUri())).value(), "far", kTtl);
        one.elector.start();
        const std::string sessions
            = " FROM pg_stat_activity WHERE application_name = 'tenure/store' AND client_port > 0";
        for (int i = 0; i < 3; ++i) {
            QTRY_COMPARE_WITH_TIMEOUT(server.run("SELECT count(*)" + sessions).number(0, 0), 2, 60'000);
            QTRY_VERIFY_WITH_TIMEOUT(one.elector.isLeader(), 60'000);
            const Instant until = one.elector.report().validUntil;
            server.run("SELECT pg_terminate_backend(pid)" + sessions + " AND query LIKE '%tenure_lease%'");
            QTRY_VERIFY_WITH_TIMEOUT(one.elector.report().validUntil > until + kTtl / 4, 60'000);
        }
        QCOMPARE(one.diary.count(false), 0U);
    }
    void advisoryLocks()
    {
        if (!PostgresServer::installed())
            QSKIP("no PostgreSQL");
        PostgresServer server;
        TcpProxy proxy(server.port());
        StoreUri uri = server.tcpUri();
        uri.parameters["mode"] = "advisory";
        leadsAndComesBack(proxy, through(proxy, uri), ACut::EndsTheTerm);
    }
#endif
#ifdef TENURE_HAVE_KUBERNETES
    void kubernetes()
    {
        if (const std::string missing = KubeServer::missing(); !missing.empty()) {
            QVERIFY2(!KubeServer::required(), missing.c_str());
            QSKIP(missing.c_str());
        }
        KubeServer &server = sharedKubeServer();
        TcpProxy proxy(server.port());
        StoreUri uri = server.uri(server.makeNamespace());
        uri.parameters["kubeconfig"] = server.kubeconfigThrough(proxy.port());
        leadsAndComesBack(proxy, uri);
    }
#endif
};

QTEST_GUILESS_MAIN(TestSlowLine)
#include "tst_slow_line.moc"
