// SPDX-License-Identifier: GPL-3.0-or-later
// Leases on a real API server: written as client-go writes them, foreign ones shown as what they are,
// rights and namespaces.
#include "core/backend/kubernetes/kube_lease.h"
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "core/backend/kubernetes/kube_time.h"
#include "kube_server.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

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

LeaseId named(const std::string &name)
{
    return LeaseId::observed(name);
}

std::string whyOf(const Result<Reply> &reply)
{
    return reply ? std::string("outcome ") + std::to_string(static_cast<int>(reply->outcome)) : reply.error().text();
}

} // namespace

class TstKubeLease : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void writesAsClientGoDoes();
    void keepsWhatItDoesNotKnow();
    void aLabelInBetweenIsNoLoss();
    void oneRequestARenewal();
    void foreignRecordsAreShownNotBelieved_data();
    void foreignRecordsAreShownNotBelieved();
    void aForeignLeaderIsTakenOverAfterItsTimeOnly();
    void aDeletedLeaseIsNotFreeAtOnce();
    void badNamesAreRefused_data();
    void badNamesAreRefused();
    void rightsAreNamed();
    void namespacesOneMayReadAreFound();
    void heartbeatsAreHidden();
    void manyPages();
    void badCredentialsAreTold();
    void worksByCertificate();

private:
    std::unique_ptr<LeaseStore> open(const std::string &context = "admin", const std::string &nameSpace = {});
    [[nodiscard]] Json stored(const std::string &name) { return Json::parse(server().lease(m_namespace, name)); }
    [[nodiscard]] std::string path(const std::string &name = {}) const
    {
        return "/apis/coordination.k8s.io/v1/namespaces/" + m_namespace + "/leases" + (name.empty() ? "" : "/" + name);
    }
    void make(const std::string &name, const std::string &spec);
    [[nodiscard]] Term gain(LeaseStore &store, const std::string &lease, const char *holder, Milliseconds ttl = 30s);
    static KubeServer &server() { return sharedKubeServer(); }

    std::string m_namespace;
    std::vector<std::shared_ptr<const Backend>> m_backends;
};

void TstKubeLease::initTestCase()
{
    const std::string missing = KubeServer::missing();
    if (missing.empty())
        return;
    if (KubeServer::required())
        QFAIL(missing.c_str());
    QSKIP(missing.c_str());
}

void TstKubeLease::init()
{
    m_backends.clear();
    m_namespace = server().makeNamespace();
}

std::unique_ptr<LeaseStore> TstKubeLease::open(const std::string &context, const std::string &nameSpace)
{
    const auto backend = makeKubernetesBackend(server().uri(nameSpace.empty() ? m_namespace : nameSpace, context));
    if (!backend)
        qFatal("%s", backend.error().text().c_str());
    m_backends.push_back(*backend);
    return (*backend)->makeStore();
}

void TstKubeLease::make(const std::string &name, const std::string &spec)
{
    const auto made = server().call("POST", path(),
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}");
    QVERIFY2(made.status == 201, made.body.c_str());
}

Term TstKubeLease::gain(LeaseStore &store, const std::string &lease, const char *holder, Milliseconds ttl)
{
    Term term{HolderId::parse(holder).value(), Nonce::random(), {}};
    const auto reply = ask(store, Acquire{named(lease), term.holder, term.nonce, ttl});
    if (!reply || reply->outcome != Outcome::Done)
        QTest::qFail(("not granted: " + whyOf(reply)).c_str(), __FILE__, __LINE__);
    else
        term.token = reply->record.token;
    return term;
}

void TstKubeLease::writesAsClientGoDoes()
{
    const auto store = open();
    const Term term = gain(*store, "mine", "a");
    Json spec = stored("mine")["spec"];
    QCOMPARE(spec["holderIdentity"].get<std::string>(), "a");
    QCOMPARE(spec["leaseDurationSeconds"].get<int>(), 30);
    QCOMPARE(spec["leaseTransitions"].get<int>(), 0);
    const QRegularExpression micro(R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$)");
    const std::string acquired = spec["acquireTime"].get<std::string>();
    QVERIFY2(micro.match(QString::fromStdString(acquired)).hasMatch(), acquired.c_str());
    QCOMPARE(spec["renewTime"].get<std::string>(), acquired);

    QCOMPARE(ask(*store, Renew{named("mine"), term, 15s})->outcome, Outcome::Done);
    spec = stored("mine")["spec"];
    QCOMPARE(spec["acquireTime"].get<std::string>(), acquired);
    QVERIFY(spec["renewTime"].get<std::string>() > acquired);
    QCOMPARE(spec["leaseDurationSeconds"].get<int>(), 15);

    QCOMPARE(ask(*store, Release{named("mine"), term})->outcome, Outcome::Done);
    spec = stored("mine")["spec"];
    QCOMPARE(spec.value("holderIdentity", std::string()), ""); // an empty one may be left out
    QCOMPARE(spec["leaseDurationSeconds"].get<int>(), 1);
    QCOMPARE(spec["leaseTransitions"].get<int>(), 0);
    (void)gain(*store, "mine", "b");
    QCOMPARE(stored("mine")["spec"]["leaseTransitions"].get<int>(), 1);
}

void TstKubeLease::keepsWhatItDoesNotKnow()
{
    make("dressed", "{}");
    const auto patched = server().call("PATCH", path("dressed"),
        R"({"metadata":{"labels":{"team":"x"},"annotations":{"other.io/note":"keep me"},"finalizers":["x.io/y"]}})",
        "application/merge-patch+json");
    QCOMPARE(patched.status, 200);
    const auto store = open();
    const Term term = gain(*store, "dressed", "a");
    QCOMPARE(ask(*store, Renew{named("dressed"), term, 30s})->outcome, Outcome::Done);
    QCOMPARE(ask(*store, Release{named("dressed"), term})->outcome, Outcome::Done);
    const Json metadata = stored("dressed")["metadata"];
    QCOMPARE(metadata["labels"]["team"].get<std::string>(), "x");
    QCOMPARE(metadata["annotations"]["other.io/note"].get<std::string>(), "keep me");
    QCOMPARE(metadata["finalizers"].dump(), R"(["x.io/y"])");
    // Fields of newer servers pass through our hands as they came.
    const auto object = kube::leaseOf(std::string(R"({"metadata":{"name":"n","namespace":"s","uid":"u","resourceVersion":"7"},)"
                                      R"("spec":{"strategy":"OldestEmulationVersion","preferredHolder":"p","future":{"x":[1]}}})"),
        "here");
    QVERIFY(object);
    const Json body = Json::parse(kube::newTermBody(*object, {"a", Nonce::random(), {8}, 15s}, WallTime()));
    QCOMPARE(body["spec"]["future"].dump(), R"({"x":[1]})");
    QCOMPARE(body["spec"]["preferredHolder"].get<std::string>(), "p");
    QCOMPARE(body["metadata"]["resourceVersion"].get<std::string>(), "7");
}

void TstKubeLease::aLabelInBetweenIsNoLoss()
{
    const auto store = open();
    const Term term = gain(*store, "busy", "a");
    server().call("PATCH", path("busy"), R"({"metadata":{"labels":{"n":"1"}}})", "application/merge-patch+json");
    const auto renewed = ask(*store, Renew{named("busy"), term, 30s}); // its resourceVersion is stale now
    QVERIFY2(renewed && renewed->outcome == Outcome::Done, whyOf(renewed).c_str());
    QCOMPARE(stored("busy")["metadata"]["labels"]["n"].get<std::string>(), "1");
}

void TstKubeLease::oneRequestARenewal()
{
    const auto store = open();
    const Term term = gain(*store, "cheap", "a");
    const auto version = [&] { return std::stoll(stored("cheap")["metadata"]["resourceVersion"].get<std::string>()); };
    const auto requests = [&] {
        // The server's own count of what it was asked about leases.
        long long sum = 0;
        const std::string text = server().call("GET", "/metrics").body;
        for (const QString &line : QString::fromStdString(text).split('\n')) {
            if (line.startsWith("apiserver_request_total{") && line.contains("resource=\"leases\"")
                && (line.contains("verb=\"PUT\"") || line.contains("verb=\"GET\"")))
                sum += line.section(' ', -1).toDouble() > 0 ? static_cast<long long>(line.section(' ', -1).toDouble()) : 0;
        }
        return sum;
    };
    const long long first = version();
    const long long before = requests();
    for (int i = 0; i < 10; ++i)
        QCOMPARE(ask(*store, Renew{named("cheap"), term, 30s})->outcome, Outcome::Done);
    QCOMPARE(requests() - before, 10LL);
    QVERIFY(version() > first);
}

void TstKubeLease::foreignRecordsAreShownNotBelieved_data()
{
    QTest::addColumn<QByteArray>("spec");
    QTest::addColumn<bool>("held"); // at first sight
    QTest::addColumn<QByteArray>("says"); // in its note
    const QByteArray fresh = "\"renewTime\":\"NOW\",\"acquireTime\":\"NOW\"";
    const auto row = [](const char *name, const QByteArray &spec, bool held, const char *says) {
        QTest::newRow(name) << spec << held << QByteArray(says);
    };
    row("empty spec", "{}", false, "");
    row("nulls", R"({"holderIdentity":null,"leaseDurationSeconds":null,"renewTime":null,"acquireTime":null})", false, "");
    row("no holder", R"({"holderIdentity":"","leaseDurationSeconds":1})", false, "");
    row("no duration", "{\"holderIdentity\":\"x\"," + fresh + "}", true, "no duration");
    row("no times", R"({"holderIdentity":"x","leaseDurationSeconds":15})", true, "no renewTime");
    row("the year 2031", R"({"holderIdentity":"x","leaseDurationSeconds":15,"renewTime":"2031-01-01T00:00:00.000000Z","acquireTime":"2031-01-01T00:00:00.000000Z"})",
        true, "nowhere near");
    row("the year 1", R"({"holderIdentity":"x","leaseDurationSeconds":15,"renewTime":"0001-01-02T00:00:00.000000Z"})", true, "nowhere near");
    row("a duration of 68 years", "{\"holderIdentity\":\"x\",\"leaseDurationSeconds\":2147483647," + fresh + "}", true, "longer than a day");
    row("control characters", "{\"holderIdentity\":\"a\\u0000\\u001b[31m\\nb\",\"leaseDurationSeconds\":15," + fresh + "}", true, "");
    row("100 kB", "{\"holderIdentity\":\"" + QByteArray(100'000, 'h') + "\",\"leaseDurationSeconds\":15," + fresh + "}", true, "");
    row("usual", "{\"holderIdentity\":\"x\",\"leaseDurationSeconds\":15,\"leaseTransitions\":7," + fresh + "}", true, "");
}

void TstKubeLease::foreignRecordsAreShownNotBelieved()
{
    QFETCH(QByteArray, spec);
    QFETCH(bool, held);
    QFETCH(QByteArray, says);
    spec.replace("NOW", QByteArray::fromStdString(kube::microTime(SystemClock::instance().wall())));
    make("foreign", spec.toStdString());
    const auto store = open();
    const auto reply = ask(*store, Read{named("foreign"), ReadDepth::Full});
    QVERIFY2(reply, whyOf(reply).c_str());
    const LeaseRecord &record = reply->record;
    QCOMPARE(record.holder.has_value(), held);
    QVERIFY(record.kind == "client-go");
    QVERIFY2(record.note.find(says.toStdString()) != std::string::npos && (says.isEmpty() == record.note.empty()), record.note.c_str());
    QVERIFY(!record.token);
    QVERIFY(!record.remaining || *record.remaining >= 0ns);
    QVERIFY(record.raw.find("spec:") != std::string::npos);
    QVERIFY(record.raw.size() < 10'000);
    const auto listed = ask(*store, List{});
    QVERIFY(listed);
    QCOMPARE(listed->records.size(), std::size_t{1});
    QCOMPARE(listed->records.front().holder, record.holder);
    // Whatever its times say, nobody takes it before its duration has passed unchanged under our eyes.
    const auto tried = ask(*store, Acquire{named("foreign"), HolderId::parse("me").value(), Nonce::random(), 15s});
    QVERIFY2(tried, whyOf(tried).c_str());
    QCOMPARE(tried->outcome, held ? Outcome::Refused : Outcome::Done);
    if (held)
        QVERIFY(tried->retryIn && *tried->retryIn > 10s);
}

void TstKubeLease::aForeignLeaderIsTakenOverAfterItsTimeOnly()
{
    const auto store = open();
    const auto renew = [&](const char *version) {
        const std::string now = kube::microTime(SystemClock::instance().wall() - 3600s); // an hour behind
        Json lease = stored("theirs");
        lease["spec"]["renewTime"] = now;
        lease["spec"]["leaseTransitions"] = std::atoi(version);
        return server().call("PUT", path("theirs"), lease.dump()).status;
    };
    make("theirs", R"({"holderIdentity":"slow-clock","leaseDurationSeconds":3})");
    const HolderId me = HolderId::parse("me").value();
    for (int i = 0; i < 4; ++i) {
        const auto refused = ask(*store, Acquire{named("theirs"), me, Nonce::random(), 3s});
        QVERIFY2(refused && refused->outcome == Outcome::Refused, whyOf(refused).c_str());
        QCOMPARE(renew("4"), 200);
        QTest::qWait(1000);
    }
    Result<Reply> taken = ask(*store, Acquire{named("theirs"), me, Nonce::random(), 3s});
    QCOMPARE(taken->outcome, Outcome::Refused);
    QTest::qWait(static_cast<int>(std::chrono::ceil<Milliseconds>(*taken->retryIn).count()) + 5);
    taken = ask(*store, Acquire{named("theirs"), me, Nonce::random(), 3s});
    QVERIFY2(taken && taken->outcome == Outcome::Done, whyOf(taken).c_str());
    QCOMPARE(stored("theirs")["spec"]["leaseTransitions"].get<int>(), 5);
}

void TstKubeLease::aDeletedLeaseIsNotFreeAtOnce()
{
    const auto first = open();
    const Term term = gain(*first, "gone", "a", 3s);
    const auto second = open();
    const HolderId b = HolderId::parse("b").value();
    QCOMPARE(ask(*second, Acquire{named("gone"), b, Nonce::random(), 3s})->outcome, Outcome::Refused);
    QCOMPARE(server().call("DELETE", path("gone")).status, 200);
    const auto barred = ask(*second, Acquire{named("gone"), b, Nonce::random(), 3s});
    QVERIFY2(barred && barred->outcome == Outcome::Refused, whyOf(barred).c_str());
    QVERIFY(barred->epochBarrier && barred->retryIn && *barred->retryIn > 0ns);
    QCOMPARE(ask(*first, Renew{named("gone"), term, 3s})->outcome, Outcome::Lost);
    QTest::qWait(static_cast<int>(std::chrono::ceil<Milliseconds>(*barred->retryIn).count()) + 5);
    const Term next = gain(*second, "gone", "b", 3s);
    QVERIFY(next.token > term.token); // also over a deletion
}

void TstKubeLease::badNamesAreRefused_data()
{
    QTest::addColumn<QByteArray>("name");
    for (const char *name : {"Upper", "two words", "a/b", "-a", "a-", "a..b", "a_b", "\xC3\xA4", ""})
        QTest::addRow("\"%s\"", name) << QByteArray(name);
    QTest::newRow("254 bytes") << QByteArray(254, 'n');
}

void TstKubeLease::badNamesAreRefused()
{
    QFETCH(QByteArray, name);
    const auto store = open();
    const auto reply = ask(*store, Acquire{named(name.toStdString()), HolderId::parse("a").value(), Nonce::random(), 15s});
    QVERIFY(!reply);
    QCOMPARE(reply.error().kind, ErrorKind::BadConfig);
}

void TstKubeLease::rightsAreNamed()
{
    const auto nobody = open("ann");
    const auto read = ask(*nobody, Read{named("x"), ReadDepth::Full});
    QVERIFY(!read);
    QCOMPARE(read.error().kind, ErrorKind::Denied);
    QVERIFY2(read.error().remedy.find("\"get\"") != std::string::npos, read.error().text().c_str());
    QVERIFY2(read.error().what.find("ann") != std::string::npos, read.error().text().c_str());
    const auto facts = nobody->probe(soon());
    QVERIFY2(facts, facts ? "" : facts.error().text().c_str());
    QCOMPARE(facts->notes.size(), std::size_t{5}); // list, watch, create, update, patch
    server().allow("ann", m_namespace, {"get", "list", "create"});
    const auto reader = open("ann");
    QTRY_VERIFY_WITH_TIMEOUT(ask(*reader, List{}).has_value(), 30'000);
    const auto half = ask(*reader, Acquire{named("x"), HolderId::parse("a").value(), Nonce::random(), 15s});
    QVERIFY(!half); // made, but may not be written
    QCOMPARE(half.error().kind, ErrorKind::Denied);
    QVERIFY2(half.error().remedy.find("\"update\"") != std::string::npos, half.error().text().c_str());
    const auto absent = open("admin", "no-such-namespace");
    const auto nowhere = ask(*absent, Acquire{named("x"), HolderId::parse("a").value(), Nonce::random(), 15s});
    QVERIFY(!nowhere);
    QCOMPARE(nowhere.error().kind, ErrorKind::NotFound);
}

void TstKubeLease::namespacesOneMayReadAreFound()
{
    make("there", R"({"holderIdentity":"x","leaseDurationSeconds":15})");
    StoreUri uri = server().uri({}, "bob");
    const auto denied = (*makeKubernetesBackend(uri))->makeStore();
    const auto nothing = ask(*denied, List{});
    QVERIFY(!nothing);
    QCOMPARE(nothing.error().kind, ErrorKind::Denied);
    server().allow("bob", m_namespace, {"list", "get"});
    uri.parameters["namespaces"] = m_namespace;
    const auto chosen = (*makeKubernetesBackend(uri))->makeStore();
    Result<Reply> listed;
    QTRY_VERIFY_WITH_TIMEOUT((listed = ask(*chosen, List{})).has_value(), 30'000);
    QCOMPARE(listed->records.front().lease.name(), m_namespace + "/there");
    // Allowed to see which namespaces there are, but not all leases: the readable ones are found.
    const auto role = server().call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        R"({"metadata":{"name":"see-namespaces"},"rules":[{"apiGroups":[""],"resources":["namespaces"],"verbs":["list"]}]})");
    QCOMPARE(role.status, 201);
    server().call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        R"({"metadata":{"name":"see-namespaces"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"see-namespaces"},)"
        R"("subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"bob"}]})");
    const auto found = (*makeKubernetesBackend(server().uri({}, "bob")))->makeStore();
    QTRY_VERIFY_WITH_TIMEOUT((listed = ask(*found, List{})).has_value() && listed->records.size() == 1, 30'000);
    QCOMPARE(listed->records.front().lease.name(), m_namespace + "/there");
}

void TstKubeLease::heartbeatsAreHidden()
{
    server().call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"kube-node-lease"}})");
    server().call("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
        R"({"metadata":{"name":"worker-1"},"spec":{"holderIdentity":"worker-1","leaseDurationSeconds":40}})");
    make("election", R"({"holderIdentity":"x","leaseDurationSeconds":15})");
    const auto names = [&](const char *show) {
        StoreUri uri = server().uri({});
        if (show != nullptr)
            uri.parameters["show"] = show;
        const auto store = (*makeKubernetesBackend(uri))->makeStore();
        std::map<std::string, std::string> out;
        List list;
        do {
            const auto page = ask(*store, list);
            if (!page)
                qFatal("%s", page.error().text().c_str());
            for (const LeaseRecord &record : page->records)
                out[record.lease.name()] = record.kind;
            list.cursor = page->cursor;
        } while (!list.cursor.empty());
        return out;
    };
    const auto usual = names(nullptr);
    QCOMPARE(usual.count(m_namespace + "/election"), std::size_t{1});
    QCOMPARE(usual.count("kube-node-lease/worker-1"), std::size_t{0});
    const auto all = names("all");
    QCOMPARE(all.at("kube-node-lease/worker-1"), "node heartbeat");
    QCOMPARE(all.at(m_namespace + "/election"), "client-go");
    // A sign of life is no election: nobody releases it by hand.
    StoreUri uri = server().uri("kube-node-lease");
    const auto store = (*makeKubernetesBackend(uri))->makeStore();
    const auto seen = ask(*store, Read{named("worker-1"), ReadDepth::Full});
    Operate clear;
    clear.verb = OperatorVerb::Clear;
    clear.lease = named("worker-1");
    clear.kind = seen->record.kind;
    clear.expected = seen->record.seen();
    QCOMPARE(ask(*store, clear).error().kind, ErrorKind::Unsupported);
}

void TstKubeLease::manyPages()
{
    for (int i = 0; i < 23; ++i)
        make("page-" + std::to_string(i), R"({"holderIdentity":"x","leaseDurationSeconds":15})");
    const auto store = open();
    std::set<std::string> seen;
    List list{"*", {}, 5};
    int pages = 0;
    do {
        const auto page = ask(*store, list);
        QVERIFY2(page, whyOf(page).c_str());
        QVERIFY(page->records.size() <= 5);
        for (const LeaseRecord &record : page->records)
            QVERIFY(seen.insert(record.lease.name()).second);
        list.cursor = page->cursor;
        ++pages;
    } while (!list.cursor.empty());
    QCOMPARE(seen.size(), std::size_t{23});
    QCOMPARE(pages, 5 + 2); // and one each of the older kinds of lock
}

void TstKubeLease::badCredentialsAreTold()
{
    const std::string file = server().path("stranger");
    QFile::remove(QString::fromStdString(file));
    QFile copy(QString::fromStdString(server().kubeconfig()));
    QVERIFY(copy.open(QIODevice::ReadOnly));
    QFile out(QString::fromStdString(file));
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(copy.readAll().replace("admin-token", "secret-and-wrong"));
    out.close();
    StoreUri uri = server().uri(m_namespace);
    uri.parameters["kubeconfig"] = file;
    const auto store = (*makeKubernetesBackend(uri))->makeStore();
    const auto refused = ask(*store, List{});
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Rejected);
    QVERIFY(refused.error().text().find("secret-and-wrong") == std::string::npos);
}

void TstKubeLease::worksByCertificate()
{
    const auto store = open("certificate");
    (void)gain(*store, "certified", "a");
    const auto facts = store->probe(soon());
    QVERIFY2(facts, facts ? "" : facts.error().text().c_str());
    QVERIFY(facts->server.starts_with("Kubernetes v1."));
    QCOMPARE(facts->epoch.size(), std::size_t{36});
    const Duration offset = *facts->serverTime - SystemClock::instance().wall();
    QVERIFY(offset < 2s && offset > -2s); // one machine, one clock
}

QTEST_GUILESS_MAIN(TstKubeLease)
#include "tst_kube_lease.moc"
