// SPDX-License-Identifier: GPL-3.0-or-later
// Real servers at their limits: a disk that is full, transactions that cannot be put in any order,
// a deadlock.
#include "pg_kit.h"

#include <QTemporaryDir>

#include <fstream>
#include <future>
#include <sched.h>
#include <set>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

/// A file system of its own that is soon full. Only this process and its children see it, and it
/// goes with them.
class SmallDisk
{
public:
    explicit SmallDisk(const char *size)
    {
        const std::string options = std::string("mode=0755,size=") + size;
        m_mounted = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
            && mount("tmpfs", path().c_str(), "tmpfs", 0, options.c_str()) == 0;
        chmod(m_directory.path().toStdString().c_str(), 0755);
    }
    ~SmallDisk()
    {
        if (m_mounted)
            umount2(path().c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk &) = delete;
    SmallDisk &operator=(const SmallDisk &) = delete;
    [[nodiscard]] bool mounted() const { return m_mounted; }
    [[nodiscard]] std::string path() const { return m_directory.path().toStdString(); }
    void fill() const
    {
        std::ofstream file(path() + "/filler", std::ios::binary | std::ios::app);
        for (std::size_t piece = 1 << 20; piece > 0; piece /= 2) {
            const std::string bytes(piece, 'x');
            while (file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()) { }
            file.clear();
        }
    }
    void free() const { unlink((path() + "/filler").c_str()); }

private:
    QTemporaryDir m_directory;
    bool m_mounted = false;
};

Result<Reply> once(LeaseStore &store, const Command &command)
{
    return store.execute({&command, 1}, BootClock::now() + 10s).front();
}

Acquire acquireOf(const std::string &lease, const char *who, Milliseconds ttl = 60s)
{
    return {LeaseId::observed(lease), HolderId::parse(who).value(), Nonce::random(), ttl};
}

} // namespace

class PgStrainTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void aFullDisk();
    void transactionsThatFitNoOrder();
    void aDeadlock();
    void aBatchIsOneStatement();
};

void PgStrainTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
}

/// First no table can grow: new leases are refused, who leads goes on. Then the server cannot even
/// write its log and dies; with room again all goes on as if nothing had been.
void PgStrainTest::aFullDisk()
{
    const SmallDisk disk("150m");
    if (!disk.mounted())
        QSKIP("only who may mount can have a small disk");
    qputenv("TMPDIR", disk.path().c_str());
    PostgresServer server({"checkpoint_timeout = 1h", "max_wal_size = 1GB", "autovacuum = off"});
    qunsetenv("TMPDIR");
    makeTable(server.socketUri());
    const Screen screen(server.socketUri());
    Pair pair(server.socketUri(), 2s);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);
    const FencingToken before = pair.token();

    disk.fill();
    const auto store = backendOf(server.socketUri())->makeStore();
    std::optional<Error> refused;
    for (int i = 0; i < 2000 && !refused; ++i) {
        const auto reply = once(*store, acquireOf("another " + std::to_string(i) + std::string(400, 'x'), "a"));
        if (!reply)
            refused = reply.error();
    }
    QVERIFY(refused);
    QVERIFY2(refused->kind == ErrorKind::Unavailable && refused->recovery == Recovery::Backoff
            && refused->what.find("disk is full") != std::string::npos,
        refused->text().c_str());
    QTest::qWait(5000); // two leases long: a renewal needs no room
    QVERIFY(pair.oneLeads() && pair.token() == before);
    QCOMPARE(pair.losses(), 0U);
    QVERIFY2(screen.state() == LinkState::Live, screen.text().c_str());

    const auto session = server.session();
    for (int i = 0; i < 1000 && session->usable(); ++i) {
        (void)session->ask("SELECT pg_logical_emit_message(true, 'fill', repeat('x', 100000))", {},
            BootClock::now() + 10s);
        (void)session->ask("SELECT pg_switch_wal()", {}, BootClock::now() + 10s);
    }
    QVERIFY(!session->usable());
    QTRY_VERIFY_WITH_TIMEOUT(pair.nobodyLeads(), 30'000);
    QTRY_VERIFY2_WITH_TIMEOUT(screen.state() == LinkState::Disconnected, screen.text().c_str(), 30'000);
    QCOMPARE(pair.trouble()->kind, ErrorKind::Unavailable);
    server.kill(); // what is left of it
    disk.free();
    server.start();
    QTRY_VERIFY2_WITH_TIMEOUT(pair.oneLeads(), pair.trouble() ? pair.trouble()->text().c_str() : "", 60'000);
    QVERIFY(pair.token() >= before);
    QTRY_VERIFY2_WITH_TIMEOUT(screen.state() == LinkState::Live, screen.text().c_str(), 60'000);
    QVERIFY(once(*store, acquireOf("another", "a")));
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

/// Behind a proxy sessions are not ours to set up: there the database's own isolation counts, and
/// of verbs that meet all but one fail and are repeated.
void PgStrainTest::transactionsThatFitNoOrder()
{
    if (!PgBouncer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("pgbouncer is not installed");
    PostgresServer server;
    makeTable(server.socketUri());
    server.run("ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
    const PgBouncer pool(server, PgBouncer::Pools::Transactions);
    Pair pair(pool.uri(), 2s);
    pair.start();
    QTRY_VERIFY_WITH_TIMEOUT(pair.oneLeads(), 30'000);

    std::atomic<int> failures = 0;
    std::atomic<int> grants = 0;
    std::atomic<bool> odd = false;
    const auto contend = [&](const char *who) {
        const auto store = backendOf(pool.uri())->makeStore();
        const Instant end = BootClock::now() + 30s;
        for (int i = 0; i < 4000 && BootClock::now() < end && !(failures >= 20 && grants >= 20); ++i) {
            const Acquire wants = acquireOf("contended", who, 1s);
            const auto reply = once(*store, wants);
            if (reply && reply->outcome == Outcome::Done) {
                ++grants;
                const Term term{wants.holder, wants.nonce, reply->record.token};
                for (int tries = 0; tries < 100; ++tries) {
                    if (once(*store, Release{wants.lease, term}))
                        break;
                }
            } else if (!reply) {
                ++failures;
                const Error &error = reply.error();
                odd = odd || error.kind != ErrorKind::Unavailable || error.recovery != Recovery::AtOnce;
            }
        }
    };
    std::vector<std::future<void>> all;
    for (const char *who : {"c", "d", "e", "f"})
        all.push_back(std::async(std::launch::async, contend, who));
    for (auto &one : all)
        one.get();
    qInfo("%d grants, %d serialization failures", grants.load(), failures.load());
    QVERIFY(failures > 0 && grants > 0 && !odd);
    // The history is in the order of the tokens, and nobody gained before the one before had released
    // or run out.
    const auto crossed = server.run(
        "SELECT count(*) FROM (SELECT event, lag(event) OVER o AS before, at - lag(at) OVER o AS after FROM "
        "tenure.tenure_history WHERE lease = 'contended' WINDOW o AS (ORDER BY token, id)) h WHERE event = "
        "'gained' AND before = 'gained' AND after < interval '1 s'");
    QCOMPARE(crossed.number(0, 0), 0);
    QVERIFY(pair.oneLeads());
    QCOMPARE(pair.watch.overlaps(), 0);
    QVERIFY(pair.a.diary.followsGrammar() && pair.b.diary.followsGrammar());
}

void PgStrainTest::aDeadlock()
{
    PostgresServer server({"deadlock_timeout = 1s"});
    makeTable(server.socketUri());
    const auto store = backendOf(server.socketUri())->makeStore();
    std::vector<Command> renewals;
    for (const char *lease : {"a", "b"}) {
        const Acquire wants = acquireOf(lease, "h");
        const auto reply = once(*store, wants);
        QVERIFY(reply && reply->outcome == Outcome::Done);
        renewals.emplace_back(Renew{wants.lease, {wants.holder, wants.nonce, reply->record.token}, 60s});
    }
    const auto keeper = server.session("keeper");
    const auto soon = [] { return BootClock::now() + 30s; };
    QVERIFY(keeper->script("SET deadlock_timeout = '1h'; BEGIN; "
                           "SELECT FROM tenure.tenure_lease WHERE name = 'b' FOR UPDATE", soon()));
    auto batch = std::async(std::launch::async, [&] { return store->execute(renewals, BootClock::now() + 20s); });
    const auto waits = [&] {
        return server.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tenure/store' AND "
                          "wait_event_type = 'Lock'").number(0, 0);
    };
    QTRY_COMPARE_WITH_TIMEOUT(waits(), 1, 30'000); // it has locked a
    QVERIFY(keeper->script("SELECT FROM tenure.tenure_lease WHERE name = 'a' FOR UPDATE", soon()));
    for (const auto &result : batch.get()) { // the server found the circle and ended us
        QVERIFY(!result);
        QCOMPARE(result.error().kind, ErrorKind::Unavailable);
        QCOMPARE(result.error().recovery, Recovery::AtOnce);
    }
    QVERIFY(keeper->script("COMMIT", soon()));
    for (const auto &result : store->execute(renewals, soon()))
        QVERIFY(result && result->outcome == Outcome::Done);
}

/// By the server's own log: whatever is in a batch, each verb of it is asked once.
void PgStrainTest::aBatchIsOneStatement()
{
    PostgresServer server({"log_min_duration_statement = 0", "log_line_prefix = '%a|'"});
    makeTable(server.socketUri());
    const auto store = backendOf(server.socketUri())->makeStore();
    const auto statements = [&] { // of the store, but for those that only set its limits
        std::ifstream log(server.path("log"));
        int count = 0;
        for (std::string line; std::getline(log, line);) {
            count += line.starts_with("tenure/store|") && line.find(" execute ") != std::string::npos
                    && line.find("statement_timeout") == std::string::npos
                ? 1 : 0;
        }
        return count;
    };
    const auto all = [&](const std::vector<Command> &batch) {
        int done = 0;
        for (const auto &result : store->execute(batch, BootClock::now() + 20s))
            done += result && result->outcome == Outcome::Done ? 1 : 0;
        return done;
    };
    std::vector<Command> acquires, renewals, releases, mixed;
    for (int i = 0; i < 100; ++i)
        acquires.emplace_back(acquireOf("lease " + std::to_string(i), "h"));
    QVERIFY(store->probe(BootClock::now() + 20s));
    const int before = statements();
    const auto granted = store->execute(acquires, BootClock::now() + 20s);
    QCOMPARE(statements() - before, 1);
    for (std::size_t i = 0; i < granted.size(); ++i) {
        QVERIFY(granted[i] && granted[i]->outcome == Outcome::Done);
        const auto &one = std::get<Acquire>(acquires[i]);
        const Term term{one.holder, one.nonce, granted[i]->record.token};
        renewals.emplace_back(Renew{one.lease, term, 60s});
        releases.emplace_back(Release{one.lease, term});
    }
    QCOMPARE(all(renewals), 100);
    QCOMPARE(statements() - before, 2);
    mixed.assign(renewals.begin(), renewals.begin() + 50);
    mixed.insert(mixed.end(), releases.begin() + 50, releases.end());
    QCOMPARE(all(mixed), 100);
    QCOMPARE(statements() - before, 4);
}

QTEST_GUILESS_MAIN(PgStrainTest)
#include "tst_pg_strain.moc"
