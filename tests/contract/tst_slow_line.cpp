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

#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

constexpr Milliseconds kEachWay = 200ms;
constexpr Milliseconds kTtl = 6s; // an attempt has 1.2 s: three round trips

std::shared_ptr<const Backend> through(const TcpProxy &proxy, StoreUri uri)
{
    uri.hosts.front().second = proxy.port();
    return makeBackend(uri).value();
}

void leadsAndComesBack(TcpProxy &proxy, const StoreUri &server)
{
    proxy.setDelay(kEachWay);
    const auto backend = through(proxy, server);
    Candidate one(backend, "far", kTtl);
    one.elector.start();
    const auto why = [&] { return one.elector.report().error.value_or(Error()).text(); };
    QTRY_VERIFY2_WITH_TIMEOUT(one.diary.count(true) == 1, why().c_str(), 60'000);
    proxy.cut();
    const Instant renewedTo = one.elector.report().validUntil;
    QTRY_VERIFY2_WITH_TIMEOUT(one.elector.isLeader() && one.elector.report().validUntil > renewedTo, why().c_str(), 60'000);
    QVERIFY(one.diary.followsGrammar());
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
        leadsAndComesBack(proxy, server.tcpUri());
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
        leadsAndComesBack(proxy, server.tcpUri());
    }
    void advisoryLocks()
    {
        if (!PostgresServer::installed())
            QSKIP("no PostgreSQL");
        PostgresServer server;
        TcpProxy proxy(server.port());
        StoreUri uri = server.tcpUri();
        uri.parameters["mode"] = "advisory";
        leadsAndComesBack(proxy, uri);
    }
#endif
};

QTEST_GUILESS_MAIN(TestSlowLine)
#include "tst_slow_line.moc"
