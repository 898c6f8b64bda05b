// SPDX-License-Identifier: GPL-3.0-or-later
// Electors on a real API server that misbehaves, as FAILURES.md tells of other people's: writes that
// fail while reads work, a server that wants to be left alone, rights that are missing, tokens that
// change. What spoils the answers stands in front of the real server.
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "core/runtime/elector.h"
#include "http_peer.h"
#include "kube_server.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <atomic>
#include <fstream>
#include <mutex>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

constexpr int kWaitMs = 60'000;
constexpr Milliseconds kTtl{3000};

/// Passes requests on to the real server, unless `spoil` answers them itself. Watches are refused: an
/// elector then polls.
class Front
{
public:
    using Spoil = std::function<bool(const HttpPeer::Request &, const HttpPeer::Wire &)>;
    Front(KubeServer &server, Spoil spoil)
        : m_server(server), m_spoil(std::move(spoil)),
          m_peer([this](const HttpPeer::Request &request, const HttpPeer::Wire &wire) { handle(request, wire); })
    {
    }
    [[nodiscard]] StoreUri uri(const std::string &nameSpace, const std::string &user = "{}") const
    {
        const std::string file = m_server.path("front-" + std::to_string(m_peer.port()));
        std::ofstream(file) << "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '"
                            << m_peer.url() << "'}}]\nusers: [{name: u, user: " << user << "}]\n"
                            << "contexts: [{name: c, context: {cluster: c, user: u}}]\n";
        StoreUri uri = m_server.uri(nameSpace, "c");
        uri.parameters["kubeconfig"] = file;
        return uri;
    }

private:
    void handle(const HttpPeer::Request &request, const HttpPeer::Wire &wire)
    {
        if (m_spoil(request, wire))
            return;
        if (request.path.find("watch=1") != std::string::npos)
            return wire.answer("403 Forbidden", R"({"kind":"Status","reason":"Forbidden","message":"no watch here"})");
        const std::lock_guard lock(m_mutex);
        const HttpResponse real = m_server.call(request.method, request.path, request.body);
        wire.answer(std::to_string(real.status) + " Real", real.body);
    }

    KubeServer &m_server;
    const Spoil m_spoil;
    std::mutex m_mutex; ///< the server's own client is for one thread
    HttpPeer m_peer; ///< last: its threads end first
};

/// One candidate, as another process would be.
struct Candidate {
    Candidate(const StoreUri &uri, const char *name)
        : host(makeKubernetesBackend(uri).value()),
          elector(host, LeaseId::observed("shared"), HolderId::parse(name).value(),
              Timing::make({.ttl = kTtl}).value(), {})
    {
        elector.start();
    }
    ElectorHost host;
    Elector elector;
};

/// An elector's validity never outlives what it says; two never lead.
int leaders(const Candidate &a, const Candidate &b)
{
    return (a.elector.isLeader() ? 1 : 0) + (b.elector.isLeader() ? 1 : 0);
}

} // namespace

class TstKubeOrdeals : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init() { m_namespace = server().makeNamespace(); }
    void onlyWritesCount_data();
    void onlyWritesCount();
    void missingRightsAreSaidAndHealed();
    void aRotatedTokenIsNoLoss();
    void aWriteWhoseAnswerWasLostCounts();
    void transitionsCountHolders();
    void theHoldersOwnDurationCounts();

private:
    static KubeServer &server() { return sharedKubeServer(); }
    std::string m_namespace;
};

void TstKubeOrdeals::initTestCase()
{
    const std::string missing = KubeServer::missing();
    if (missing.empty())
        return;
    if (KubeServer::required())
        QFAIL(missing.c_str());
    QSKIP(missing.c_str());
}

void TstKubeOrdeals::onlyWritesCount_data()
{
    QTest::addColumn<QByteArray>("status");
    QTest::addColumn<QByteArray>("headers");
    QTest::newRow("500 (FAILURES 1, 14)") << QByteArray("500 Internal Server Error") << QByteArray();
    QTest::newRow("503") << QByteArray("503 Service Unavailable") << QByteArray();
    // Honoured, but not beyond the end of the term (FAILURES 78).
    QTest::newRow("429 for half a minute") << QByteArray("429 Too Many Requests") << QByteArray("Retry-After: 30\r\n");
}

/// Reads go on working: they prolong nothing, and the loss is told once.
void TstKubeOrdeals::onlyWritesCount()
{
    QFETCH(QByteArray, status);
    QFETCH(QByteArray, headers);
    std::atomic<bool> failing = false;
    const Front front(server(), [&](const HttpPeer::Request &request, const HttpPeer::Wire &wire) {
        if (!failing || request.method != "PUT")
            return false;
        wire.answer(status.toStdString(), R"({"kind":"Status","message":"not now"})", headers.toStdString());
        return true;
    });
    Candidate first(front.uri(m_namespace), "first");
    QTRY_VERIFY_WITH_TIMEOUT(first.elector.isLeader(), kWaitMs);
    Candidate second(server().uri(m_namespace), "second");
    failing = true;
    const Instant until = BootClock::now() + kTtl; // renewals under way may still have counted
    int most = 0;
    const auto taken = [&] {
        most = std::max(most, leaders(first, second));
        return second.elector.isLeader();
    };
    QTRY_VERIFY_WITH_TIMEOUT(taken(), kWaitMs);
    QCOMPARE(most, 1);
    QVERIFY(!first.elector.isLeader());
    QVERIFY(first.elector.report().validUntil <= until + kTtl);
    QTRY_COMPARE_WITH_TIMEOUT(first.elector.report().lost, std::uint64_t(1), kWaitMs);
    QCOMPARE(first.elector.report().gained, std::uint64_t(1));
    failing = false;
    QVERIFY(second.elector.stop());
    if (headers.isEmpty()) // nobody is out for ever (FAILURES 24)
        QTRY_VERIFY_WITH_TIMEOUT(first.elector.isLeader(), kWaitMs);
}

/// FAILURES 67: not retried silently for ever.
void TstKubeOrdeals::missingRightsAreSaidAndHealed()
{
    Candidate bob(server().uri(m_namespace, "bob"), "bob");
    QTRY_COMPARE_WITH_TIMEOUT(bob.elector.report().phase, Phase::Failed, kWaitMs);
    const auto error = bob.elector.report().error;
    QVERIFY(error);
    QCOMPARE(error->kind, ErrorKind::Denied);
    QVERIFY2(error->remedy.find("leases in the namespace " + m_namespace) != std::string::npos, error->text().c_str());
    server().allow("bob", m_namespace, {"get", "create", "update"});
    QTRY_VERIFY_WITH_TIMEOUT(bob.elector.isLeader(), kWaitMs);
    QVERIFY(!bob.elector.report().error);
}

/// FAILURES 74.
void TstKubeOrdeals::aRotatedTokenIsNoLoss()
{
    std::atomic<int> valid = 1;
    std::atomic<int> refused = 0;
    const Front front(server(), [&](const HttpPeer::Request &request, const HttpPeer::Wire &wire) {
        if (request.head.find("Bearer token-" + std::to_string(valid) + "\r\n") != std::string::npos)
            return false;
        ++refused;
        wire.answer("401 Unauthorized", R"({"kind":"Status","reason":"Unauthorized","message":"Unauthorized"})");
        return true;
    });
    const std::string file = server().path("rotated-" + m_namespace);
    const auto write = [&](int number) { std::ofstream(file) << "token-" << number; };
    write(1);
    Candidate candidate(front.uri(m_namespace, "{tokenFile: '" + file + "'}"), "first");
    QTRY_VERIFY_WITH_TIMEOUT(candidate.elector.isLeader(), kWaitMs);
    for (const int number : {2, 3}) {
        write(number);
        valid = number;
        const Instant before = candidate.elector.report().validUntil;
        QTRY_VERIFY_WITH_TIMEOUT(candidate.elector.report().validUntil > before + kTtl / 2, kWaitMs);
    }
    QVERIFY(refused > 0); // it did meet the rotation
    QVERIFY(candidate.elector.isLeader());
    QCOMPARE(candidate.elector.report().gained, std::uint64_t(1));
    QCOMPARE(candidate.elector.report().lost, std::uint64_t(0));
}

/// The connection breaks when the write was carried out: what comes back when it is repeated is a conflict with
/// oneself, and over a slow line there is no time for a third write.
void TstKubeOrdeals::aWriteWhoseAnswerWasLostCounts()
{
    std::mutex mutex;
    bool lose = false;
    std::vector<std::string> puts;
    const Front front(server(), [&](const HttpPeer::Request &request, const HttpPeer::Wire &wire) {
        const std::lock_guard lock(mutex);
        if (request.method != "PUT")
            return false;
        puts.push_back(request.body);
        if (!std::exchange(lose, false))
            return false;
        server().call(request.method, request.path, request.body);
        wire.hangUp();
        return true;
    });
    const auto store = makeKubernetesBackend(front.uri(m_namespace)).value()->makeStore();
    const auto ask = [&](const Command &command) {
        return std::move(store->execute({&command, 1}, BootClock::now() + 20s).front());
    };
    const LeaseId lease = LeaseId::observed("shared");
    Term term{HolderId::parse("a").value(), Nonce::random(), {}};
    const auto gained = ask(Acquire{lease, term.holder, term.nonce, 30s});
    QVERIFY(gained && gained->outcome == Outcome::Done);
    term.token = gained->record.token;
    {
        const std::lock_guard lock(mutex);
        puts.clear();
        lose = true;
    }
    const auto renewed = ask(Renew{lease, term, 30s});
    QVERIFY2(renewed, renewed ? "" : renewed.error().text().c_str());
    QCOMPARE(renewed->outcome, Outcome::Done);
    QCOMPARE(puts.size(), 2U); // the one, and its repetition by the HTTP library
    QCOMPARE(puts[0], puts[1]);
    const auto spec = nlohmann::json::parse(server().lease(m_namespace, "shared"))["spec"];
    QCOMPARE(spec["renewTime"], nlohmann::json::parse(puts[0])["spec"]["renewTime"]);
}

/// FAILURES 72.
void TstKubeOrdeals::transitionsCountHolders()
{
    const auto store = makeKubernetesBackend(server().uri(m_namespace)).value()->makeStore();
    const LeaseId lease = LeaseId::observed("shared");
    const auto ask = [&](const Command &command) {
        return std::move(store->execute({&command, 1}, BootClock::now() + 20s).front());
    };
    for (const char *name : {"a", "b", "c"}) {
        Term term{HolderId::parse(name).value(), Nonce::random(), {}};
        const auto gained = ask(Acquire{lease, term.holder, term.nonce, 30s});
        QVERIFY(gained && gained->outcome == Outcome::Done);
        term.token = gained->record.token;
        for (int i = 0; i < 34; ++i) {
            const auto renewed = ask(Renew{lease, term, 30s});
            QVERIFY(renewed && renewed->outcome == Outcome::Done);
        }
        const auto released = ask(Release{lease, term});
        QVERIFY(released && released->outcome == Outcome::Done);
    }
    const auto spec = nlohmann::json::parse(server().lease(m_namespace, "shared"))["spec"];
    QCOMPARE(spec["leaseTransitions"].get<int>(), 2);
}

/// FAILURES 15: expiry is judged by what the holder was granted, not by one's own ttl.
void TstKubeOrdeals::theHoldersOwnDurationCounts()
{
    const auto store = makeKubernetesBackend(server().uri(m_namespace)).value()->makeStore();
    const Command taken = Acquire{LeaseId::observed("shared"), HolderId::parse("long").value(), Nonce::random(), 30s};
    const auto gained = std::move(store->execute({&taken, 1}, BootClock::now() + 20s).front());
    QVERIFY(gained && gained->outcome == Outcome::Done);
    // Another process that knows the record only as the server tells it.
    const auto other = makeKubernetesBackend(server().uri(m_namespace)).value()->makeStore();
    const Command tried = Acquire{LeaseId::observed("shared"), HolderId::parse("short").value(), Nonce::random(), 1s};
    const auto refused = std::move(other->execute({&tried, 1}, BootClock::now() + 20s).front());
    QVERIFY(refused && refused->outcome == Outcome::Refused);
    QVERIFY(refused->retryIn && *refused->retryIn > 25s && *refused->retryIn <= 30s);
}

QTEST_GUILESS_MAIN(TstKubeOrdeals)
#include "tst_kube_ordeals.moc"
