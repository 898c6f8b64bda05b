// SPDX-License-Identifier: GPL-3.0-or-later
// mode=advisory on real servers, also behind a real pgbouncer. What it cannot do, and why it is not
// under the common contract: there is no expiry by a clock (a lease ends with its session), no ask
// and no hold (there is no row to write them to), and no renewed ttl that others could see.
#include "core/backend/postgres/pg_advisory_store.h"
#include "core/backend/postgres/postgres_backend.h"
#include "core/runtime/elector.h"
#include "postgres_server.h"
#include "tests/support/election_kit.h"

#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

namespace
{

StoreUri advisory(StoreUri uri)
{
    uri.parameters["mode"] = "advisory";
    return uri;
}

std::shared_ptr<const Backend> backendOf(const StoreUri &uri)
{
    return makePostgresBackend(uri).value();
}

Result<Reply> run(LeaseStore &store, const Command &command)
{
    return std::move(store.execute({&command, 1}, BootClock::now() + 10s).front());
}

Acquire acquireOf(std::string_view name, std::string_view who)
{
    return {LeaseId::observed(std::string(name)), *HolderId::parse(who), Nonce::random(), 500ms};
}

Term termOf(const Acquire &acquire, const Reply &reply)
{
    return {acquire.holder, acquire.nonce, reply.record.token};
}

/// Repeats while the server has only just started.
Reply granted(LeaseStore &store, const Acquire &acquire)
{
    Reply out;
    const bool done = QTest::qWaitFor(
        [&] {
            const auto reply = run(store, acquire);
            if (reply)
                out = *reply;
            return reply && reply->outcome == Outcome::Done;
        },
        10'000);
    if (!done)
        qFatal("not granted");
    return out;
}

} // namespace

class PgAdvisoryModeTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void oneHolderAndTokensGrow();
    void twoOfOneProcessExclude();
    void handWrittenLoopsCompete_data();
    void handWrittenLoopsCompete();
    void showsWhoHoldsAndEndsTheSessionByHand();
    void lostTheMomentTheSessionIs();
    void whoWaitsStandsInTheServersQueue();
    void aRestartBarsUntilNobodyCanBelieve();
    void refusedBehindATransactionPool();
    void worksBehindASessionPool();
    void tableModeWorksBehindATransactionPool();

private:
    std::unique_ptr<PostgresServer> m_server;
};

void PgAdvisoryModeTest::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = std::make_unique<PostgresServer>();
}

void PgAdvisoryModeTest::oneHolderAndTokensGrow()
{
    const auto a = backendOf(advisory(m_server->socketUri()))->makeStore();
    const auto b = backendOf(advisory(m_server->socketUri()))->makeStore();
    FencingToken last;
    for (int i = 0; i < 3; ++i) {
        const Acquire first = acquireOf("billing", "a");
        const Term term = termOf(first, granted(*a, first));
        QVERIFY(term.token > last);
        QCOMPARE(run(*a, first)->record.token, term.token); // the same grant again
        const Acquire second = acquireOf("billing", "b");
        const auto refused = run(*b, second);
        QVERIFY2(refused, refused ? "" : refused.error().text().c_str());
        QCOMPARE(refused->outcome, Outcome::Refused);
        QVERIFY(refused->record.holder.has_value());
        QCOMPARE(run(*a, Renew{first.lease, term, 500ms})->outcome, Outcome::Done);
        Term wrong = term;
        ++wrong.token.value;
        QCOMPARE(run(*a, Renew{first.lease, wrong, 500ms})->outcome, Outcome::Lost);
        QCOMPARE(run(*a, Release{first.lease, wrong})->outcome, Outcome::Lost);
        QCOMPARE(run(*a, Release{first.lease, term})->outcome, Outcome::Done);
        QCOMPARE(run(*a, Renew{first.lease, term, 500ms})->outcome, Outcome::Lost);
        const Term next = termOf(second, granted(*b, second));
        QVERIFY(next.token > term.token);
        last = next.token;
        QCOMPARE(run(*b, Release{second.lease, next})->outcome, Outcome::Done);
    }
}

/// A session may take its own lock as often as it likes: the trap of every hand-written loop.
void PgAdvisoryModeTest::twoOfOneProcessExclude()
{
    const auto store = backendOf(advisory(m_server->socketUri()))->makeStore();
    const Acquire first = acquireOf("twins", "a");
    (void)granted(*store, first);
    QCOMPARE(run(*store, acquireOf("twins", "b"))->outcome, Outcome::Refused);
    QCOMPARE(run(*store, acquireOf("twins", "a"))->outcome, Outcome::Refused); // another nonce
}

void PgAdvisoryModeTest::handWrittenLoopsCompete_data()
{
    QTest::addColumn<QByteArray>("lease");
    QTest::addColumn<QByteArray>("arguments");
    QTest::newRow("bigint") << QByteArray("advisory:42") << QByteArray("42");
    QTest::newRow("negative") << QByteArray("advisory:-9000000000") << QByteArray("-9000000000");
    QTest::newRow("two ints") << QByteArray("advisory:7,-9") << QByteArray("7, -9");
}

void PgAdvisoryModeTest::handWrittenLoopsCompete()
{
    QFETCH(QByteArray, lease);
    QFETCH(QByteArray, arguments);
    const auto store = backendOf(advisory(m_server->socketUri()))->makeStore();
    const auto rival = m_server->session("rival");
    const auto tries = [&] {
        return rival
            ->ask("SELECT pg_try_advisory_lock(" + arguments.toStdString() + ")", {},
                BootClock::now() + 5s)
            ->truth(0, 0);
    };
    const Acquire ours = acquireOf(lease.toStdString(), "ours");
    const Reply reply = granted(*store, ours);
    QVERIFY(!tries());
    QCOMPARE(run(*store, Renew{ours.lease, termOf(ours, reply), 500ms})->outcome, Outcome::Done);
    QCOMPARE(run(*store, Release{ours.lease, termOf(ours, reply)})->outcome, Outcome::Done);
    QTRY_VERIFY_WITH_TIMEOUT(tries(), 30'000);
    QCOMPARE(run(*store, acquireOf(lease.toStdString(), "ours"))->outcome, Outcome::Refused);
}

void PgAdvisoryModeTest::showsWhoHoldsAndEndsTheSessionByHand()
{
    const auto backend = backendOf(advisory(m_server->socketUri()));
    const auto store = backend->makeStore();
    const Acquire ours = acquireOf("shown", "somebody");
    const Term term = termOf(ours, granted(*store, ours));
    const auto looker = backendOf(advisory(m_server->socketUri()))->makeStore();
    const auto seen = run(*looker, Read{ours.lease, ReadDepth::Full});
    QVERIFY2(seen, seen ? "" : seen.error().text().c_str());
    QVERIFY(seen->record.holder->find("tenure/somebody") != std::string::npos);
    // A listing has it under the name that its candidates use, not under the number made from it.
    const auto listed = run(*looker, List{"sh*", {}, 1000});
    QVERIFY2(listed, listed ? "" : listed.error().text().c_str());
    QCOMPARE(listed->records.size(), std::size_t(1));
    QCOMPARE(listed->records.front().lease, ours.lease);
    QVERIFY(listed->records.front().seen() == seen->record.seen());
    Operate clear;
    clear.verb = OperatorVerb::Clear;
    clear.lease = ours.lease;
    clear.kind = seen->record.kind;
    clear.expected = seen->record.seen();
    clear.by = "ann";
    const auto cleared = run(*looker, clear);
    QVERIFY2(cleared, cleared ? "" : cleared.error().text().c_str());
    QCOMPARE(cleared->outcome, Outcome::Done);
    QTRY_COMPARE_WITH_TIMEOUT(run(*store, Renew{ours.lease, term, 500ms})->outcome, Outcome::Lost, 30'000);
    const auto again = run(*looker, clear);
    QVERIFY(!again || again->outcome == Outcome::Conflict);
}

void PgAdvisoryModeTest::lostTheMomentTheSessionIs()
{
    constexpr auto kTtl = 20s; // renewed every 6 s at the earliest
    Candidate ours(backendOf(advisory(m_server->socketUri())), "ours", kTtl);
    ours.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader(), 40'000);
    const FencingToken before = ours.elector.token();
    m_server->run("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND "
                  "granted AND pid <> pg_backend_pid()");
    QTRY_VERIFY_WITH_TIMEOUT(ours.diary.count(false) == 1, 30'000);
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader() && ours.elector.token() > before, 30'000);
    QVERIFY(ours.diary.followsGrammar());
}

void PgAdvisoryModeTest::whoWaitsStandsInTheServersQueue()
{
    auto holder = backendOf(advisory(m_server->socketUri()))->makeStore();
    const Acquire acquire = acquireOf("billing/scheduler", "first");
    const Term term = termOf(acquire, granted(*holder, acquire));
    auto waiter
        = std::make_unique<Candidate>(backendOf(advisory(m_server->socketUri())), "waiter", 2s);
    waiter->elector.start();
    const auto waiting = [this] {
        return m_server
            ->run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            .number(0, 0);
    };
    QTRY_COMPARE_WITH_TIMEOUT(waiting(), 1, 15'000);
    const auto seen = run(*holder, Read{acquire.lease, ReadDepth::Full});
    QVERIFY(seen && seen->record.candidates.size() == 1);
    QVERIFY(seen->record.candidates.front().find("waiter") != std::string::npos);
    // It asked once and only looks since: the same wait stands there several ttl and turns later.
    const auto stood = [this] {
        return m_server
            ->run("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' "
                  "AND NOT granted AND backend_start < now() - interval '10 s'")
            .number(0, 0);
    };
    QTRY_COMPARE_WITH_TIMEOUT(stood(), 1, 30'000);
    holder.reset(); // its session ends without a word
    QTRY_VERIFY_WITH_TIMEOUT(waiter->elector.isLeader(), 30'000);
    QVERIFY(waiter->elector.token() > term.token);
    QCOMPARE(waiting(), 0);
    waiter.reset();
    const auto anybody = [this] {
        return m_server->run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
            .number(0, 0);
    };
    QTRY_COMPARE_WITH_TIMEOUT(anybody(), 0, 15'000);
}

void PgAdvisoryModeTest::aRestartBarsUntilNobodyCanBelieve()
{
    PostgresServer server;
    const auto store = backendOf(advisory(server.socketUri()))->makeStore();
    Acquire acquire = acquireOf("forgotten", "a");
    const Term term = termOf(acquire, granted(*store, acquire));
    server.kill();
    server.start();
    QCOMPARE(run(*store, Renew{acquire.lease, term, 500ms})->outcome, Outcome::Lost);
    acquire.ttl = 60s;
    const auto barred = run(*store, acquire);
    QVERIFY(barred);
    QCOMPARE(barred->outcome, Outcome::Refused);
    QVERIFY(barred->epochBarrier && *barred->retryIn > 0s);
    acquire.ttl = 500ms;
    QVERIFY(granted(*store, acquire).record.token > term.token);
}

void PgAdvisoryModeTest::refusedBehindATransactionPool()
{
    if (!PgBouncer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("pgbouncer is not installed");
    const PgBouncer pool(*m_server, PgBouncer::Pools::Transactions);
    const auto store = backendOf(advisory(pool.uri()))->makeStore();
    const auto refused = run(*store, acquireOf("pooled", "a"));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Unsupported);
    QVERIFY(refused.error().what.find("pools transactions") != std::string::npos);
    const auto facts = store->probe(BootClock::now() + 10s); // doctor says so beforehand
    QVERIFY(facts);
    const bool told = std::any_of(facts->notes.begin(), facts->notes.end(), [](const auto &note) {
        return note.find("pools transactions stands between") != std::string::npos;
    });
    QVERIFY(told);
}

void PgAdvisoryModeTest::worksBehindASessionPool()
{
    if (!PgBouncer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("pgbouncer is not installed");
    const PgBouncer pool(*m_server, PgBouncer::Pools::Sessions);
    const auto store = backendOf(advisory(pool.uri()))->makeStore();
    const Acquire acquire = acquireOf("pooled", "a");
    const Term term = termOf(acquire, granted(*store, acquire));
    QCOMPARE(run(*store, Renew{acquire.lease, term, 500ms})->outcome, Outcome::Done);
    QCOMPARE(run(*store, Release{acquire.lease, term})->outcome, Outcome::Done);
}

void PgAdvisoryModeTest::tableModeWorksBehindATransactionPool()
{
    if (!PgBouncer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("pgbouncer is not installed");
    const PgBouncer pool(*m_server, PgBouncer::Pools::Transactions);
    const auto made
        = backendOf(pool.uri("pooled"))->makeStore()->init(false, BootClock::now() + 10s);
    QVERIFY2(made, made ? "" : made.error().text().c_str());
    Candidate ours(backendOf(pool.uri("pooled")), "ours", 1s);
    Candidate theirs(backendOf(pool.uri("pooled")), "theirs", 1s);
    const BelieverWatch watch({&ours.elector, &theirs.elector});
    ours.elector.start();
    theirs.elector.start();
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader() || theirs.elector.isLeader(), 30'000);
    QTest::qWait(2500);
    QVERIFY(ours.elector.isLeader() != theirs.elector.isLeader());
    QCOMPARE(watch.overlaps(), 0);
    // Push cannot work there, and that is told instead of pretended.
    const auto feed = backendOf(pool.uri("pooled"))->makeFeed();
    std::mutex mutex;
    std::optional<FeedEvent> first;
    feed->start([&](const FeedEvent &event) {
        const std::lock_guard lock(mutex);
        if (!first)
            first = event;
    });
    const auto told = [&] {
        const std::lock_guard lock(mutex);
        return first.has_value();
    };
    QTRY_VERIFY_WITH_TIMEOUT(told(), 15'000);
    feed->stop();
    QCOMPARE(static_cast<int>(first->kind), static_cast<int>(FeedEvent::Kind::Closed));
    QVERIFY(first->error.what.find("polling") != std::string::npos);
}

QTEST_GUILESS_MAIN(PgAdvisoryModeTest)
#include "tst_pg_advisory_mode.moc"
