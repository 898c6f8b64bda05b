// SPDX-License-Identifier: GPL-3.0-or-later
// The watch: on a real API server that is paused, killed, restored and wiped; and on a scripted one for
// the answers that a healthy server does not give.
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "http_peer.h"
#include "kube_server.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <mutex>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Instant soon()
{
    return BootClock::now() + 20s;
}

/// A feed and what it told.
class Listener
{
public:
    explicit Listener(const Backend &backend) : m_feed(backend.makeFeed())
    {
        m_feed->start([this](const FeedEvent &event) {
            const std::lock_guard lock(m_mutex);
            m_events.push_back(event);
        });
    }
    ~Listener() { m_feed->stop(); }
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;

    std::size_t count(FeedEvent::Kind kind, const std::string &lease = {})
    {
        const std::lock_guard lock(m_mutex);
        return static_cast<std::size_t>(std::count_if(m_events.begin(), m_events.end(),
            [&](const FeedEvent &e) { return e.kind == kind && (lease.empty() || e.lease.name() == lease); }));
    }
    FeedEvent last(FeedEvent::Kind kind)
    {
        const std::lock_guard lock(m_mutex);
        const auto found = std::find_if(m_events.rbegin(), m_events.rend(), [&](const FeedEvent &e) { return e.kind == kind; });
        return found == m_events.rend() ? FeedEvent() : *found;
    }

private:
    std::mutex m_mutex;
    std::vector<FeedEvent> m_events;
    std::unique_ptr<LeaseFeed> m_feed;
};

using Kind = FeedEvent::Kind;
constexpr int kWaitMs = 60'000; ///< bounds only; nothing here is measured

std::string leaseJson(const std::string &name, int version, const std::string &holder)
{
    return R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":")" + name
        + R"(","namespace":"ns","uid":"u-)" + name + R"(","resourceVersion":")" + std::to_string(version)
        + R"("},"spec":{"holderIdentity":")" + holder + R"(","leaseDurationSeconds":15}})";
}

std::string chunk(const std::string &text)
{
    return QByteArray::number(static_cast<qulonglong>(text.size()), 16).toStdString() + "\r\n" + text + "\r\n";
}

std::string pushed(const std::string &type, const std::string &object)
{
    return chunk("{\"type\":\"" + type + "\",\"object\":" + object + "}\n");
}

constexpr const char *kStreamHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr const char *kGone = R"({"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"})";

std::string listJson(int version, const std::string &items)
{
    return R"({"kind":"LeaseList","metadata":{"resourceVersion":")" + std::to_string(version) + R"("},"items":[)" + items + "]}";
}

} // namespace

#define NEEDS_SERVER                                                                               \
    do {                                                                                           \
        if (const std::string missing = KubeServer::missing(); !missing.empty())                   \
            QSKIP(missing.c_str());                                                                \
    } while (false)

class TstKubeFeed : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tellsWhatOthersDo();
    void aDeniedWatchIsSaid();
    void noticesSilence();
    void survivesARestart();
    void survivesAnOlderAndAFreshStore();
    void expiredPositionsMeanAFreshList_data();
    void expiredPositionsMeanAFreshList();
    void resumesWhereItEnded();
    void waitsAsLongAsTheServerWishes();
    void nonsenseIsNoCrash_data();
    void nonsenseIsNoCrash();

private:
    std::shared_ptr<const Backend> scripted(const HttpPeer &peer);
    QTemporaryDir m_directory;
};

void TstKubeFeed::tellsWhatOthersDo()
{
    NEEDS_SERVER;
    KubeServer &server = sharedKubeServer();
    const std::string ns = server.makeNamespace();
    const std::string path = "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases";
    const auto backend = makeKubernetesBackend(server.uri(ns)).value();
    Listener listener(*backend);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) == 1, kWaitMs);
    QCOMPARE(listener.last(Kind::Opened).detail, "watch");
    QVERIFY(listener.last(Kind::Opened).renewals);
    server.call("POST", path, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"x","leaseDurationSeconds":15}})");
    QTRY_COMPARE_WITH_TIMEOUT(listener.count(Kind::Changed, "l"), std::size_t{1}, kWaitMs);
    server.call("PATCH", path + "/l", R"({"spec":{"holderIdentity":"y"}})", "application/merge-patch+json");
    QTRY_COMPARE_WITH_TIMEOUT(listener.count(Kind::Changed, "l"), std::size_t{2}, kWaitMs);
    // What the watch told needs no asking: a reader sees the new holder.
    const Command read = Read{LeaseId::observed("l"), ReadDepth::Full};
    QCOMPARE(backend->makeStore()->execute({&read, 1}, soon()).front()->record.holder, "y");
    server.call("PATCH", path + "/l", R"({"spec":{"holderIdentity":""}})", "application/merge-patch+json");
    QTRY_COMPARE_WITH_TIMEOUT(listener.count(Kind::Released, "l"), std::size_t{1}, kWaitMs);
    server.call("DELETE", path + "/l");
    QTRY_COMPARE_WITH_TIMEOUT(listener.count(Kind::Released, "l"), std::size_t{2}, kWaitMs);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Alive) >= 1, kWaitMs); // proof of life in silence
    QCOMPARE(listener.count(Kind::Closed), std::size_t{0});
}

void TstKubeFeed::aDeniedWatchIsSaid()
{
    NEEDS_SERVER;
    KubeServer &server = sharedKubeServer();
    const std::string ns = server.makeNamespace();
    server.allow("ann", ns, {"get", "list"});
    const auto backend = makeKubernetesBackend(server.uri(ns, "ann")).value();
    const auto store = backend->makeStore();
    const Command list = List{};
    QTRY_VERIFY_WITH_TIMEOUT(store->execute({&list, 1}, soon()).front().has_value(), kWaitMs);
    Listener listener(*backend);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Closed) >= 1, kWaitMs);
    const Error error = listener.last(Kind::Closed).error;
    QCOMPARE(error.kind, ErrorKind::Denied);
    QVERIFY2(error.remedy.find("\"watch\"") != std::string::npos, error.text().c_str());
}

void TstKubeFeed::noticesSilence()
{
    NEEDS_SERVER;
    KubeServer server; // one of its own: it is stopped
    const std::string ns = server.makeNamespace();
    const auto backend = makeKubernetesBackend(server.uri(ns)).value();
    Listener listener(*backend);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) == 1, kWaitMs);
    server.pause(); // its sockets stay open, and nothing comes any more
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Closed) >= 1, kWaitMs);
    server.resume();
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) >= 2, kWaitMs);
}

void TstKubeFeed::survivesARestart()
{
    NEEDS_SERVER;
    KubeServer server;
    const std::string ns = server.makeNamespace();
    const std::string path = "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases";
    server.call("POST", path, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"x","leaseDurationSeconds":15}})");
    const auto backend = makeKubernetesBackend(server.uri(ns)).value();
    Listener listener(*backend);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) == 1, kWaitMs);
    server.kill();
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Closed) >= 1, kWaitMs);
    server.start();
    server.call("PATCH", path + "/l", R"({"spec":{"holderIdentity":""}})", "application/merge-patch+json");
    // Whether the watch stood again before or after the write: it is told.
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Released, "l") >= 1, kWaitMs);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) >= 2, kWaitMs);
}

void TstKubeFeed::survivesAnOlderAndAFreshStore()
{
    NEEDS_SERVER;
    KubeServer server;
    const std::string ns = server.makeNamespace();
    server.keepStore();
    const auto backend = makeKubernetesBackend(server.uri(ns)).value();
    Listener listener(*backend);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) == 1, kWaitMs);
    const auto store = backend->makeStore();
    const Term term{HolderId::parse("a").value(), Nonce::random(), {}};
    const Command acquire = Acquire{LeaseId::observed("l"), term.holder, term.nonce, 30s};
    const auto granted = store->execute({&acquire, 1}, soon()).front();
    QVERIFY2(granted && granted->outcome == Outcome::Done, granted ? "" : granted.error().text().c_str());
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Changed, "l") >= 1, kWaitMs);
    const Term mine{term.holder, term.nonce, granted->record.token};

    server.restoreStore(); // of a time before the lease
    const Command renew = Renew{LeaseId::observed("l"), mine, 30s};
    const auto lost = store->execute({&renew, 1}, soon()).front();
    QVERIFY2(lost && lost->outcome == Outcome::Lost, lost ? "" : lost.error().text().c_str());
    const Command other = Acquire{LeaseId::observed("l"), HolderId::parse("b").value(), Nonce::random(), 30s};
    const auto barred = store->execute({&other, 1}, soon()).front(); // a may still believe in it
    QVERIFY2(barred && barred->outcome == Outcome::Refused && barred->epochBarrier, barred ? "" : barred.error().text().c_str());
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) >= 2, kWaitMs);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Released, "l") >= 1, kWaitMs);

    server.wipeStore();
    const std::size_t before = listener.count(Kind::Opened);
    server.call("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + ns + "\"}}");
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) > before || listener.count(Kind::Alive) > 0, kWaitMs);
    const std::size_t changes = listener.count(Kind::Changed, "fresh");
    server.call("POST", "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases",
        R"({"metadata":{"name":"fresh"},"spec":{"holderIdentity":"x","leaseDurationSeconds":15}})");
    // Its resourceVersion is far below what was known before.
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Changed, "fresh") > changes || listener.count(Kind::Opened) > before + 1, kWaitMs);
}

std::shared_ptr<const Backend> TstKubeFeed::scripted(const HttpPeer &peer)
{
    QFile file(m_directory.filePath("config"));
    if (!file.open(QIODevice::WriteOnly))
        qFatal("no file");
    file.write(QByteArray::fromStdString("clusters: [{name: c, cluster: {server: '" + peer.url()
        + "'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"));
    file.close();
    StoreUri uri;
    uri.scheme = "kubernetes";
    uri.path = "ns";
    uri.parameters["kubeconfig"] = m_directory.filePath("config").toStdString();
    return makeKubernetesBackend(uri).value();
}

namespace
{

bool isWatch(const HttpPeer::Request &request)
{
    return request.path.find("watch=1") != std::string::npos;
}

bool resumesAt(const HttpPeer::Request &request, int version)
{
    return isWatch(request) && request.path.ends_with("resourceVersion=" + std::to_string(version));
}

} // namespace

void TstKubeFeed::expiredPositionsMeanAFreshList_data()
{
    QTest::addColumn<bool>("inTheStream");
    QTest::newRow("as an answer") << false;
    QTest::newRow("in the stream") << true;
}

void TstKubeFeed::expiredPositionsMeanAFreshList()
{
    QFETCH(bool, inTheStream);
    std::atomic<int> lists = 0;
    HttpPeer peer([&](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (!isWatch(r)) {
            if (r.path == "/version")
                return wire.answer("200 OK", "{}");
            const bool first = lists++ == 0;
            return wire.answer("200 OK", first ? listJson(10, leaseJson("l", 5, "x")) : listJson(20, leaseJson("l", 15, "")));
        }
        if (resumesAt(r, 20)) {
            wire.write(kStreamHead);
            return wire.hang();
        }
        if (!inTheStream)
            return wire.answer("410 Gone", kGone);
        wire.write(kStreamHead);
        wire.write(pushed("ERROR", kGone));
        wire.hang();
    });
    const auto backend = scripted(peer);
    Listener listener(*backend);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Released, "l") >= 1, kWaitMs);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) >= 1, kWaitMs);
    QVERIFY(lists >= 2);
    QVERIFY(lists <= 4); // no loop
}

void TstKubeFeed::resumesWhereItEnded()
{
    std::atomic<int> lists = 0;
    HttpPeer peer([&](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (!isWatch(r)) {
            if (r.path != "/version")
                ++lists;
            return wire.answer("200 OK", r.path == "/version" ? "{}" : listJson(10, ""));
        }
        wire.write(kStreamHead);
        if (resumesAt(r, 10)) {
            // The same twice: over HTTP/1.1 the feed opens a second, shorter watch at once.
            wire.write(pushed("ADDED", leaseJson("l", 11, "x")));
            wire.write(pushed("BOOKMARK", R"({"kind":"Lease","metadata":{"resourceVersion":"17"}})"));
            return wire.write("0\r\n\r\n"); // the server ends it in time
        }
        wire.hang();
    });
    const auto backend = scripted(peer);
    Listener listener(*backend);
    const auto resumed = [&] {
        const auto all = peer.requests();
        return std::any_of(all.begin(), all.end(), [](const auto &r) { return resumesAt(r, 17); });
    };
    QTRY_VERIFY_WITH_TIMEOUT(resumed(), kWaitMs);
    QVERIFY(listener.count(Kind::Changed, "l") >= 1);
    QCOMPARE(lists.load(), 1);
}

void TstKubeFeed::waitsAsLongAsTheServerWishes()
{
    std::atomic<int> refused = 0;
    HttpPeer peer([&](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (!isWatch(r))
            return wire.answer("200 OK", r.path == "/version" ? "{}" : listJson(10, ""));
        if (refused++ < 1)
            return wire.answer("429 Too Many Requests", R"({"message":"slow down"})", "Retry-After: 2\r\n");
        wire.write(kStreamHead);
        wire.hang();
    });
    const auto backend = scripted(peer);
    const Instant began = BootClock::now();
    Listener listener(*backend);
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) >= 1, kWaitMs);
    QVERIFY(BootClock::now() - began >= 2s);
    QCOMPARE(listener.last(Kind::Closed).error.what, "slow down");
}

void TstKubeFeed::nonsenseIsNoCrash_data()
{
    QTest::addColumn<QByteArray>("line");
    for (const char *line : {"what?\n", "{}\n", "[]\n", R"({"type":"ADDED","object":null})" "\n", R"({"type":7,"object":{}})" "\n",
             R"({"type":"ADDED","object":{"metadata":{}}})" "\n", R"({"type":"ERROR","object":7})" "\n", "\n"})
        QTest::addRow("%s", line) << QByteArray(line);
}

void TstKubeFeed::nonsenseIsNoCrash()
{
    QFETCH(QByteArray, line);
    std::atomic<int> watches = 0;
    HttpPeer peer([&](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (!isWatch(r))
            return wire.answer("200 OK", r.path == "/version" ? "{}" : listJson(10, ""));
        wire.write(kStreamHead);
        if (watches++ < 2)
            wire.write(chunk(line.toStdString()));
        else
            wire.write(pushed("ADDED", leaseJson("l", 11, "x")));
        wire.hang();
    });
    const auto backend = scripted(peer);
    Listener listener(*backend);
    // An empty line is nothing at all; anything else breaks the stream, which comes back.
    if (line == "\n") {
        QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Opened) >= 1, kWaitMs);
        return;
    }
    QTRY_VERIFY_WITH_TIMEOUT(listener.count(Kind::Changed, "l") >= 1, kWaitMs);
    QVERIFY(listener.count(Kind::Closed) >= 1);
}

QTEST_GUILESS_MAIN(TstKubeFeed)
#include "tst_kube_feed.moc"
