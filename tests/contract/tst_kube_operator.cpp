// SPDX-License-Identifier: GPL-3.0-or-later
// Writes by hand on a real API server, to a leader that is not ours.
#include "core/backend/kubernetes/kube_lease.h"
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "core/backend/kubernetes/kube_time.h"
#include "kube_server.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>

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

class TstKubeOperator : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void aForeignLeaderIsHeldAndCleared();
    void patchesAreGuarded();
    void rightsAreAskedBeforehand();
    void eventsOfTheElectionAreTold();

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

void TstKubeOperator::initTestCase()
{
    const std::string missing = KubeServer::missing();
    if (missing.empty())
        return;
    if (KubeServer::required())
        QFAIL(missing.c_str());
    QSKIP(missing.c_str());
}

void TstKubeOperator::init()
{
    m_backends.clear();
    m_namespace = server().makeNamespace();
}

std::unique_ptr<LeaseStore> TstKubeOperator::open(const std::string &context, const std::string &nameSpace)
{
    const auto backend = makeKubernetesBackend(server().uri(nameSpace.empty() ? m_namespace : nameSpace, context));
    if (!backend)
        qFatal("%s", backend.error().text().c_str());
    m_backends.push_back(*backend);
    return (*backend)->makeStore();
}

void TstKubeOperator::make(const std::string &name, const std::string &spec)
{
    const auto made = server().call("POST", path(),
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}");
    QVERIFY2(made.status == 201, made.body.c_str());
}

Term TstKubeOperator::gain(LeaseStore &store, const std::string &lease, const char *holder, Milliseconds ttl)
{
    Term term{HolderId::parse(holder).value(), Nonce::random(), {}};
    const auto reply = ask(store, Acquire{named(lease), term.holder, term.nonce, ttl});
    if (!reply || reply->outcome != Outcome::Done)
        QTest::qFail(("not granted: " + whyOf(reply)).c_str(), __FILE__, __LINE__);
    else
        term.token = reply->record.token;
    return term;
}

void TstKubeOperator::aForeignLeaderIsHeldAndCleared()
{
    const std::string now = kube::microTime(SystemClock::instance().wall());
    make("theirs", R"({"holderIdentity":"pod-7d9_0b1c2d3e-0000-4000-8000-123456789abc","leaseDurationSeconds":20,"leaseTransitions":4,"renewTime":")" + now
            + R"(","acquireTime":")" + now + "\"}");
    const auto store = open();
    Operate order;
    order.lease = named("theirs");
    order.by = "ann";
    order.duration = 2s;
    LeaseRecord seen = ask(*store, Read{order.lease, ReadDepth::Full})->record;
    const auto pod = std::find_if(seen.facts.begin(), seen.facts.end(), [](const RecordFact &f) { return f.name == "pod"; });
    QVERIFY(pod != seen.facts.end());
    QCOMPARE(pod->value, "pod-7d9");
    order.kind = seen.kind;
    order.expected = seen.seen();
    order.verb = OperatorVerb::Ask;
    QCOMPARE(ask(*store, order).error().kind, ErrorKind::Unsupported); // it would not understand
    order.verb = OperatorVerb::Hold;
    const auto held = ask(*store, order);
    QVERIFY2(held && held->outcome == Outcome::Done, whyOf(held).c_str());
    Json spec = stored("theirs")["spec"];
    QCOMPARE(spec["holderIdentity"].get<std::string>(), "hold:ann");
    QCOMPARE(spec["leaseDurationSeconds"].get<int>(), 20); // as long as its victim may believe
    QCOMPARE(spec["leaseTransitions"].get<int>(), 5);
    seen = ask(*store, Read{order.lease, ReadDepth::Full})->record;
    QVERIFY(seen.hold && seen.hold->by == "ann" && !seen.holder);
    order.verb = OperatorVerb::Clear;
    order.kind = seen.kind;
    order.expected = seen.seen();
    QCOMPARE(ask(*store, order)->outcome, Outcome::Done);
    spec = stored("theirs")["spec"];
    QCOMPARE(spec.value("holderIdentity", std::string()), "");
    QCOMPARE(spec["leaseTransitions"].get<int>(), 5);
    (void)gain(*store, "theirs", "b");
}

void TstKubeOperator::patchesAreGuarded()
{
    // The patches themselves: the holder changes between the look and the write.
    make("race", R"({"holderIdentity":"x","leaseDurationSeconds":20,"leaseTransitions":4})");
    const auto seen = kube::leaseOf(server().lease(m_namespace, "race"), "here");
    QVERIFY(seen);
    Json lease = stored("race");
    lease["spec"]["renewTime"] = kube::microTime(SystemClock::instance().wall());
    QCOMPARE(server().call("PUT", path("race"), lease.dump()).status, 200); // a mere renewal
    const WallTime now = SystemClock::instance().wall();
    const auto patch = [&](const std::string &body) {
        return server().call("PATCH", path("race"), body, "application/json-patch+json").status;
    };
    QCOMPARE(patch(kube::holdPatch(*seen, {"hold:ann", {}, {9}, 15s}, now)), 200); // is no obstacle
    QCOMPARE(patch(kube::clearPatch(*seen, now)), 422);
    QCOMPARE(patch(kube::holdPatch(*seen, {"hold:bob", {}, {9}, 15s}, now)), 422);
    QCOMPARE(stored("race")["spec"]["holderIdentity"].get<std::string>(), "hold:ann");
}

void TstKubeOperator::rightsAreAskedBeforehand()
{
    make("theirs", R"({"holderIdentity":"x","leaseDurationSeconds":20})");
    const std::string before = server().lease(m_namespace, "theirs");
    server().allow("ann", m_namespace, {"get", "list", "watch"});
    const auto store = open("ann");
    const auto missing = [&] {
        const auto aside = store->aside(named("theirs"), soon());
        return aside ? aside->release.what : aside.error().text();
    };
    QTRY_COMPARE_WITH_TIMEOUT(missing(), "missing `patch leases` in " + m_namespace, 20'000);
    const LeaseAside aside = *store->aside(named("theirs"), soon());
    QCOMPARE(aside.noEvents, "missing `list events` in " + m_namespace);
    // The commands give what is missing, and nothing else.
    const std::string &text = aside.release.forAdmin;
    QVERIFY2(text.find("kubectl -n " + m_namespace + " create role tenure-operator --verb=patch --resource=leases.coordination.k8s.io\n")
            != std::string::npos,
        text.c_str());
    QVERIFY2(text.find("create rolebinding tenure-operator --role=tenure-operator --user=") != std::string::npos, text.c_str());
    QVERIFY2(text.find("token") == std::string::npos, text.c_str());
    QCOMPARE(server().lease(m_namespace, "theirs"), before); // asking changed nothing
    server().allow("ann", m_namespace, {"patch"});
    QTRY_COMPARE_WITH_TIMEOUT(missing(), std::string(), 20'000);
    // Who may nothing learns what all is missing.
    const auto stranger = open("bob")->aside(named("theirs"), soon());
    QVERIFY2(stranger, stranger ? "" : stranger.error().text().c_str());
    QCOMPARE(stranger->release.what, "missing `get, patch leases` in " + m_namespace);
}

void TstKubeOperator::eventsOfTheElectionAreTold()
{
    make("theirs", R"({"holderIdentity":"x","leaseDurationSeconds":20})");
    const auto store = open();
    QVERIFY(store->aside(named("theirs"), soon())->events.empty());
    const auto event = [&](const char *name, const char *about, const char *reason, const char *at, const char *message) {
        // As client-go's recorder writes them.
        const Json body{{"apiVersion", "v1"}, {"kind", "Event"}, {"metadata", {{"name", name}, {"namespace", m_namespace}}},
            {"involvedObject", {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}, {"namespace", m_namespace}, {"name", about}}},
            {"reason", reason}, {"message", message}, {"type", "Normal"}, {"source", {{"component", "cert-manager"}}},
            {"firstTimestamp", at}, {"lastTimestamp", at}, {"count", 1}};
        const auto made = server().call("POST", "/api/v1/namespaces/" + m_namespace + "/events", body.dump());
        QVERIFY2(made.status == 201, made.body.c_str());
    };
    event("e1", "theirs", "LeaderElection", "2026-11-30T02:00:00Z", "pod-a became leader");
    event("e2", "theirs", "LeaderElection", "2026-11-30T02:05:00Z", "pod-b became leader\x1b[31m");
    event("e3", "other", "LeaderElection", "2026-11-30T02:06:00Z", "pod-c became leader");
    event("e4", "theirs", "Scaled", "2026-11-30T02:07:00Z", "something else");
    const auto aside = store->aside(named("theirs"), soon());
    QVERIFY2(aside, aside ? "" : aside.error().text().c_str());
    QCOMPARE(aside->events.size(), 2U);
    QCOMPARE(aside->events[0].text, "pod-b became leader\x1b[31m"); // newest first
    QCOMPARE(aside->events[0].by, "cert-manager");
    QCOMPARE(aside->events[0].at, kube::parseTime("2026-11-30T02:05:00Z"));
    QCOMPARE(aside->events[1].text, "pod-a became leader");
    QVERIFY(aside->release.what.empty() && aside->noEvents.empty());
}

QTEST_GUILESS_MAIN(TstKubeOperator)
#include "tst_kube_operator.moc"
