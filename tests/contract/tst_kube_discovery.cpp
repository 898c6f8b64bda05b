// SPDX-License-Identifier: GPL-3.0-or-later
// What else tells of elections on a real API server: LeaseCandidates and annotations of old. The
// server of the tests may be older than LeaseCandidate, so one in front of it serves these.
#include "core/backend/kubernetes/kube_candidates.h"
#include "core/backend/kubernetes/kube_time.h"
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "http_peer.h"
#include "kube_server.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <mutex>

using namespace tenure;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace
{

Instant soon()
{
    return BootClock::now() + 20s;
}

Result<Reply> ask(LeaseStore &store, const Command &command)
{
    return std::move(store.execute({&command, 1}, soon()).front());
}

std::string wallText()
{
    return kube::microTime(SystemClock::instance().wall());
}

/// client-go wrote whole seconds there.
std::string leaderText(const std::string &holder, int seconds, int transitions)
{
    const std::string now = wallText().substr(0, 19) + "Z";
    return Json{{"holderIdentity", holder}, {"leaseDurationSeconds", seconds}, {"acquireTime", now},
        {"renewTime", now}, {"leaderTransitions", transitions}}
        .dump();
}

} // namespace

class TstKubeDiscovery : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void candidatesAreRanked_data();
    void candidatesAreRanked();
    void aServerWithoutCandidatesIsNoFailure();
    void candidatesAreShown_data();
    void candidatesAreShown();
    void electionsInAnnotationsAreListed();
    void annotationsMayBeForbidden();
    void annotationsAreNotWritten();

private:
    std::unique_ptr<LeaseStore> open(const std::string &nameSpace, const std::string &context = "admin");
    std::vector<LeaseRecord> list(LeaseStore &store);
    std::optional<LeaseRecord> listed(LeaseStore &store, const std::string &name);
    void makeLease(const std::string &name, const std::string &holder);
    void makeAnnotated(const char *kind, const std::string &name, const std::string &annotation);
    std::unique_ptr<LeaseStore> openNewer(const HttpPeer &front);
    static KubeServer &server() { return sharedKubeServer(); }

    std::string m_namespace;
};

void TstKubeDiscovery::initTestCase()
{
    const std::string missing = KubeServer::missing();
    if (missing.empty())
        return;
    if (KubeServer::required())
        QFAIL(missing.c_str());
    QSKIP(missing.c_str());
}

void TstKubeDiscovery::init()
{
    m_namespace = server().makeNamespace();
}

std::unique_ptr<LeaseStore> TstKubeDiscovery::open(const std::string &nameSpace, const std::string &context)
{
    return makeKubernetesBackend(server().uri(nameSpace, context)).value()->makeStore();
}

std::vector<LeaseRecord> TstKubeDiscovery::list(LeaseStore &store)
{
    std::vector<LeaseRecord> all;
    List page;
    page.pageSize = 2;
    do {
        const auto reply = ask(store, page);
        if (!reply) {
            QTest::qFail(reply.error().text().c_str(), __FILE__, __LINE__);
            return all;
        }
        all.insert(all.end(), reply->records.begin(), reply->records.end());
        page.cursor = reply->cursor;
    } while (!page.cursor.empty());
    return all;
}

std::optional<LeaseRecord> TstKubeDiscovery::listed(LeaseStore &store, const std::string &name)
{
    for (LeaseRecord &record : list(store)) {
        if (record.lease.name() == name)
            return std::move(record);
    }
    return std::nullopt;
}

void TstKubeDiscovery::makeLease(const std::string &name, const std::string &holder)
{
    const std::string now = wallText();
    const Json body{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}, {"metadata", {{"name", name}}},
        {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", 600}, {"renewTime", now}, {"acquireTime", now}}}};
    const auto made = server().call("POST", "/apis/coordination.k8s.io/v1/namespaces/" + m_namespace + "/leases", body.dump());
    QVERIFY2(made.status == 201, made.body.c_str());
}

void TstKubeDiscovery::makeAnnotated(const char *kind, const std::string &name, const std::string &annotation)
{
    Json body{{"apiVersion", "v1"}, {"kind", kind},
        {"metadata", {{"name", name}, {"annotations", {{"control-plane.alpha.kubernetes.io/leader", annotation}}}}}};
    std::string resource = kind == std::string("ConfigMap") ? "configmaps" : "endpoints";
    if (resource == "configmaps")
        body["data"] = {{"password", "hunter2"}};
    const auto made = server().call("POST", "/api/v1/namespaces/" + m_namespace + "/" + resource, body.dump());
    QVERIFY2(made.status == 201, made.body.c_str());
}

/// The real server behind one that also serves candidates.
std::unique_ptr<LeaseStore> TstKubeDiscovery::openNewer(const HttpPeer &front)
{
    const std::string file = server().path("newer-" + std::to_string(front.port()));
    std::ofstream(file) << "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '"
                        << front.url() << "'}}]\nusers: [{name: u, user: {}}]\n"
                        << "contexts: [{name: c, context: {cluster: c, user: u}}]\n";
    StoreUri uri = server().uri(m_namespace, "c");
    uri.parameters["kubeconfig"] = file;
    return makeKubernetesBackend(uri).value()->makeStore();
}

void TstKubeDiscovery::candidatesAreRanked_data()
{
    QTest::addColumn<QByteArray>("items");
    QTest::addColumn<QByteArray>("expected"); ///< of ns/a
    const auto item = [](const char *name, const char *emulation, const char *binary, const char *made) {
        return Json{{"metadata", {{"namespace", "ns"}, {"name", name}, {"creationTimestamp", made}}},
            {"spec", {{"leaseName", "a"}, {"emulationVersion", emulation}, {"binaryVersion", binary}}}}
            .dump();
    };
    const auto row = [](const char *name, const std::string &items, const char *expected) {
        QTest::newRow(name) << QByteArray::fromStdString(items) << QByteArray(expected);
    };
    row("by numbers, not by letters", item("ten", "1.10.0", "1.33.0", "1") + "," + item("nine", "1.9.0", "1.33.0", "2"), "nine ten");
    row("then by binary", item("b", "1.31.0", "1.33.0", "1") + "," + item("a", "1.31.0", "1.32.0", "2"), "a b");
    row("then by age", item("b", "1.31.0", "1.32.0", "2026-01-02T00:00:00Z") + "," + item("a", "1.31.0", "1.32.0", "2026-01-01T00:00:00Z"), "a b");
    row("no version is last", item("none", "", "", "1") + "," + item("some", "1.99.0", "1.99.0", "2"), "some none");
    row("nonsense is last", item("odd", "latest", "\x01", "1") + "," + item("some", "1.99.0", "1.99.0", "2"), "some odd");
    row("nulls", R"({"metadata":null,"spec":null},{"spec":{"leaseName":7}},null,3)", "");
    row("none", "", "");
}

void TstKubeDiscovery::candidatesAreRanked()
{
    QFETCH(QByteArray, items);
    QFETCH(QByteArray, expected);
    const kube::CandidateMap all = kube::candidatesOf("{\"items\":[" + items.toStdString() + "]}");
    std::string names;
    if (const auto found = all.find("ns/a"); found != all.end()) {
        for (const std::string &name : found->second)
            names += (names.empty() ? "" : " ") + name;
    }
    QCOMPARE(names, expected.toStdString());
    QVERIFY(kube::candidatesOf(items.toStdString()).empty()); // no list at all
}

void TstKubeDiscovery::aServerWithoutCandidatesIsNoFailure()
{
    // It does serve the group, and even a version v1beta1 of it, which knows no candidates.
    QCOMPARE(server().call("GET", "/apis/coordination.k8s.io/v1beta1").status, 200);
    makeLease("scheduler", "a");
    const auto store = open(m_namespace);
    const auto record = listed(*store, "scheduler");
    QVERIFY(record && record->holder == "a");
    QVERIFY(record->candidates.empty());
}

void TstKubeDiscovery::candidatesAreShown_data()
{
    QTest::addColumn<QByteArray>("version");
    QTest::addColumn<QByteArray>("status"); ///< of the candidates' list
    QTest::addColumn<bool>("shown");
    QTest::newRow("first beta") << QByteArray("v1beta1") << QByteArray("200 OK") << true;
    QTest::newRow("alpha") << QByteArray("v1alpha2") << QByteArray("200 OK") << true;
    QTest::newRow("forbidden") << QByteArray("v1beta1") << QByteArray("403 Forbidden") << false;
    QTest::newRow("gone since") << QByteArray("v1beta1") << QByteArray("404 Not Found") << false;
    QTest::newRow("unheard of") << QByteArray("v7") << QByteArray("200 OK") << false;
}

/// As the API documents them.
void TstKubeDiscovery::candidatesAreShown()
{
    QFETCH(QByteArray, version);
    QFETCH(QByteArray, status);
    QFETCH(bool, shown);
    const std::string group = "/apis/coordination.k8s.io/" + version.toStdString();
    const auto candidate = [&](const char *name, const char *emulation) {
        return Json{{"metadata", {{"namespace", m_namespace}, {"name", name}, {"creationTimestamp", "2026-11-30T00:00:00Z"}}},
            {"spec", {{"leaseName", "scheduler"}, {"binaryVersion", "1.33.0"}, {"emulationVersion", emulation},
                         {"renewTime", wallText()}, {"pingTime", nullptr}, {"strategy", "OldestEmulationVersion"}}}};
    };
    const Json items{candidate("new", "1.32.0"), candidate("newest", "1.33.0"), candidate("old", "1.9.0")};
    std::mutex mutex; // the real server's client is for one thread
    const HttpPeer front([&](const HttpPeer::Request &request, const HttpPeer::Wire &wire) {
        if (request.path == group)
            return wire.answer("200 OK", Json{{"resources", {{{"name", "leases"}}, {{"name", "leasecandidates"}}}}}.dump());
        if (request.path.starts_with(group + "/namespaces/" + m_namespace + "/leasecandidates"))
            return wire.answer(status.toStdString(), Json{{"kind", "LeaseCandidateList"}, {"items", items}}.dump());
        const std::lock_guard lock(mutex);
        const HttpResponse real = server().call(request.method, request.path, request.body);
        wire.answer(std::to_string(real.status) + " Real", real.body);
    });
    makeLease("scheduler", "new"); // the leader stands, too
    makeLease("other", "x");
    const auto store = openNewer(front);
    const auto record = listed(*store, "scheduler");
    QVERIFY(record && record->holder == "new");
    QCOMPARE(record->candidates, shown ? std::vector<std::string>({"old", "newest"}) : std::vector<std::string>());
    QVERIFY(listed(*store, "other")->candidates.empty());
    const auto read = ask(*store, Read{LeaseId::observed("scheduler")});
    QVERIFY(read);
    QCOMPARE(read->record.candidates, record->candidates);
}

void TstKubeDiscovery::electionsInAnnotationsAreListed()
{
    makeLease("scheduler", "a"); // the same name as one of old: both are there
    makeAnnotated("Endpoints", "scheduler", leaderText("pod-a_1", 600, 3));
    makeAnnotated("ConfigMap", "ingress-leader", leaderText("pod-b_2", 600, 7));
    makeAnnotated("ConfigMap", "broken", "no json");
    makeAnnotated("ConfigMap", "empty", "{}");
    const auto store = open(m_namespace);
    const auto endpoints = listed(*store, "endpoints/scheduler");
    QVERIFY(endpoints);
    QCOMPARE(endpoints->kind, "endpoints");
    QCOMPARE(endpoints->holder.value_or(""), "pod-a_1");
    QCOMPARE(endpoints->transitions.value_or(0), 3U);
    QVERIFY(endpoints->remaining && *endpoints->remaining > 500s && *endpoints->remaining <= 600s);
    const auto map = listed(*store, "configmaps/ingress-leader"); // listed anew: now the known are re-read
    QVERIFY(map);
    QCOMPARE(map->kind, "configmap");
    QCOMPARE(map->holder.value_or(""), "pod-b_2");
    QVERIFY2(map->raw.find("hunter2") == std::string::npos, map->raw.c_str());
    QCOMPARE(listed(*store, "scheduler")->holder.value_or(""), "a");
    QVERIFY(!listed(*store, "configmaps/broken"));
    QVERIFY(!listed(*store, "configmaps/empty")->holder);
    // A renewal and a take-over are seen; so is the end.
    const std::string path = "/api/v1/namespaces/" + m_namespace + "/configmaps/ingress-leader";
    const Json patch{{"metadata", {{"annotations", {{"control-plane.alpha.kubernetes.io/leader", leaderText("pod-c_3", 600, 8)}}}}}};
    QCOMPARE(server().call("PATCH", path, patch.dump(), "application/merge-patch+json").status, 200);
    QCOMPARE(listed(*store, "configmaps/ingress-leader")->holder.value_or(""), "pod-c_3");
    QCOMPARE(server().call("DELETE", path).status, 200);
    QVERIFY(!listed(*store, "configmaps/ingress-leader"));
    const auto gone = ask(*store, Read{LeaseId::observed("configmaps/ingress-leader")});
    QVERIFY(gone && !gone->record.holder);
    const auto read = ask(*store, Read{LeaseId::observed("endpoints/scheduler")});
    QVERIFY(read && read->record.holder == "pod-a_1");
}

void TstKubeDiscovery::annotationsMayBeForbidden()
{
    makeLease("scheduler", "a");
    makeAnnotated("Endpoints", "scheduler", leaderText("pod-a_1", 600, 3));
    server().allow("bob", m_namespace, {"get", "list", "watch"});
    const auto store = open(m_namespace, "bob");
    const auto seen = [&] { return ask(*store, List{}).has_value(); };
    QTRY_VERIFY_WITH_TIMEOUT(seen(), 20'000);
    const auto all = list(*store);
    QCOMPARE(all.size(), 1U);
    QCOMPARE(all.front().holder.value_or(""), "a");
}

void TstKubeDiscovery::annotationsAreNotWritten()
{
    makeAnnotated("Endpoints", "scheduler", leaderText("pod-a_1", 600, 3));
    const std::string path = "/api/v1/namespaces/" + m_namespace + "/endpoints/scheduler";
    const std::string before = server().call("GET", path).body;
    const auto store = open(m_namespace);
    const LeaseId lease = LeaseId::observed("endpoints/scheduler");
    const auto seen = ask(*store, Read{lease});
    QVERIFY(seen);
    Operate order;
    order.lease = lease;
    order.kind = seen->record.kind;
    order.expected = seen->record.seen();
    order.by = "ann";
    for (const OperatorVerb verb : {OperatorVerb::Ask, OperatorVerb::Hold, OperatorVerb::Clear}) {
        order.verb = verb;
        const auto done = ask(*store, order);
        QVERIFY(!done);
        QCOMPARE(done.error().kind, ErrorKind::Unsupported);
    }
    const auto taken = ask(*store, Acquire{lease, HolderId::parse("me").value(), Nonce::random(), 15s});
    QVERIFY(!taken);
    QCOMPARE(taken.error().kind, ErrorKind::Unsupported);
    QCOMPARE(server().call("GET", path).body, before);
}

QTEST_GUILESS_MAIN(TstKubeDiscovery)
#include "tst_kube_discovery.moc"
