// SPDX-License-Identifier: GPL-3.0-or-later
// Our electors and client-go's own example contender compete for one Lease of a real API server: each
// takes over from the other, and there are never two leaders. The contender's timing is fixed (lease
// 60 s, renew deadline 15 s, retry 5 s), so a crash of it costs a minute; TENURE_KUBE_MINUTES=n lets
// the mixed crowd below compete for longer.
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "core/base/random.h"
#include "core/runtime/elector.h"
#include "kube_server.h"

#include <QRandomGenerator>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

constexpr int kWaitMs = 100'000;

/// One of ours, with a backend of its own as another process would have.
struct Ours {
    Ours(KubeServer &server, const std::string &ns, const char *name, Duration ttl = 15s)
        : host(makeKubernetesBackend(server.uri(ns)).value()),
          elector(host, LeaseId::observed("shared"), HolderId::parse(name).value(),
              Timing::make({.ttl = ttl}).value(), {})
    {
        elector.start();
    }
    ElectorHost host;
    Elector elector;
};

} // namespace

class TstKubeElection : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init() { m_namespace = server().makeNamespace(); }
    void handsOverBothWays();
    void takesOverFromAKilledClientGo();
    void standbyTakesOverAtOnceAfterARelease();
    void neverTwoUnderFaults();

private:
    static KubeServer &server() { return sharedKubeServer(); }
    [[nodiscard]] nlohmann::json spec() const
    {
        const std::string text = server().lease(m_namespace, "shared");
        return text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text)["spec"];
    }
    [[nodiscard]] std::string holder() const { return spec().value("holderIdentity", std::string()); }
    std::string m_namespace;
};

void TstKubeElection::initTestCase()
{
    const std::string missing = KubeServer::missing();
    if (!missing.empty())
        QSKIP(missing.c_str());
    if (!ClientGoContender::installed())
        QSKIP("no client-go-leader-election beside the kube-apiserver");
}

void TstKubeElection::handsOverBothWays()
{
    ClientGoContender theirs(server(), m_namespace, "shared", "theirs");
    QTRY_COMPARE_WITH_TIMEOUT(holder(), std::string("theirs"), kWaitMs);
    Ours ours(server(), m_namespace, "ours");
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.report().seen.has_value(), kWaitMs);
    QCOMPARE(ours.elector.report().seen->holder.value_or(""), std::string("theirs"));
    QVERIFY(!ours.elector.isLeader());
    theirs.terminate(); // gives it up
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader(), kWaitMs);
    QCOMPARE(holder(), ours.elector.report().term.holder.name());
    QCOMPARE(spec()["leaseTransitions"].get<int>(), 1);
    const std::uint64_t token = ours.elector.report().term.token.value;
    QVERIFY(token > 0);

    ClientGoContender next(server(), m_namespace, "shared", "next");
    QTRY_VERIFY_WITH_TIMEOUT(next.process().bytesAvailable() > 0, kWaitMs); // it sees us lead
    QVERIFY(ours.elector.isLeader());
    QVERIFY(ours.elector.stop());
    QTRY_COMPARE_WITH_TIMEOUT(holder(), std::string("next"), kWaitMs);
    QVERIFY(!ours.elector.isLeader());
    QCOMPARE(spec()["leaseTransitions"].get<int>(), 2);
}

void TstKubeElection::takesOverFromAKilledClientGo()
{
    ClientGoContender theirs(server(), m_namespace, "shared", "theirs");
    QTRY_COMPARE_WITH_TIMEOUT(holder(), std::string("theirs"), kWaitMs);
    Ours ours(server(), m_namespace, "ours");
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.report().seen.has_value(), kWaitMs);
    theirs.kill();
    const std::string renewed = spec()["renewTime"].get<std::string>();
    const Instant killed = BootClock::now();
    QTRY_VERIFY_WITH_TIMEOUT(ours.elector.isLeader(), kWaitMs);
    // Not before its 60 s were over (it renews each 5 s, so at least 50 were left), and not much after.
    QVERIFY(BootClock::now() - killed > 50s);
    QVERIFY(BootClock::now() - killed < 75s);
    QVERIFY(!renewed.empty());
}

void TstKubeElection::standbyTakesOverAtOnceAfterARelease()
{
    Ours first(server(), m_namespace, "first");
    QTRY_VERIFY_WITH_TIMEOUT(first.elector.isLeader(), kWaitMs);
    Ours second(server(), m_namespace, "second");
    QTRY_VERIFY_WITH_TIMEOUT(second.elector.report().seen.has_value(), kWaitMs);
    const Instant asked = BootClock::now();
    first.elector.release();
    QTRY_VERIFY_WITH_TIMEOUT(second.elector.isLeader(), kWaitMs);
    QVERIFY(BootClock::now() - asked < 5s); // the watch told it: no poll period was waited for
    QVERIFY(!first.elector.isLeader());
    QVERIFY(second.elector.report().term.token > first.elector.report().term.token);
}

void TstKubeElection::neverTwoUnderFaults()
{
    const int minutes = qEnvironmentVariableIntValue("TENURE_KUBE_MINUTES");
    const Instant until = BootClock::now() + (minutes > 0 ? Duration(std::chrono::minutes(minutes)) : Duration(25s));
    Random random(QRandomGenerator::global()->generate64());
    std::vector<std::unique_ptr<Ours>> crowd;
    const auto join = [&] {
        static int number = 0;
        crowd.push_back(std::make_unique<Ours>(server(), m_namespace, ("ours-" + std::to_string(++number)).c_str(), 3s));
    };
    auto theirs = std::make_unique<ClientGoContender>(server(), m_namespace, "shared", "theirs");
    for (int i = 0; i < 3; ++i)
        join();
    std::atomic<bool> over = false;
    std::atomic<int> overlaps = 0;
    
    std::mutex mutex; // guards the crowd against the watcher
    std::thread watcher([&] {
        while (!over) {
            {
                const std::lock_guard lock(mutex);
                const auto leaders = std::count_if(crowd.begin(), crowd.end(), [](const auto &o) { return o->elector.isLeader(); });
                overlaps += leaders > 1 ? 1 : 0;

            }
            std::this_thread::sleep_for(1ms);
        }
    });
    int frozen = -1;
    while (BootClock::now() < until) {
        QTest::qWait(500 + static_cast<int>(random.below(1000)));
        const std::size_t who = random.below(crowd.size());
        switch (random.below(5)) {
        case 0: // a pause longer than its lease
            if (frozen < 0) {
                crowd[who]->host.freeze();
                frozen = static_cast<int>(who);
            } else {
                crowd[static_cast<std::size_t>(frozen)]->host.thaw();
                frozen = -1;
            }
            break;
        case 1:
            crowd[who]->elector.release();
            break;
        case 2: // the API server hangs
            server().pause();
            QTest::qWait(static_cast<int>(random.below(2500)));
            server().resume();
            break;
        case 3: { // a crash: nothing is given back
            std::unique_ptr<Ours> gone;
            if (static_cast<int>(who) != frozen) {
                const std::lock_guard lock(mutex);
                std::swap(gone, crowd[who]);
                static int replaced = 0;
                crowd[who] = std::make_unique<Ours>(server(), m_namespace, ("again-" + std::to_string(++replaced)).c_str(), 3s);
            }
            break;
        }
        default: // the foreign contender stops and goes on
            ::kill(static_cast<pid_t>(theirs->pid()), random.chance(0.5) ? SIGSTOP : SIGCONT);
            break;
        }
    }
    ::kill(static_cast<pid_t>(theirs->pid()), SIGCONT);
    over = true;
    watcher.join();
    QCOMPARE(overlaps.load(), 0);
    // While one of ours believes, the record says so, whoever else competes.
    if (frozen >= 0)
        crowd[static_cast<std::size_t>(frozen)]->host.thaw();
    theirs.reset();
    const auto oneLeads = [&] {
        return std::count_if(crowd.begin(), crowd.end(), [](const auto &o) { return o->elector.isLeader(); }) == 1;
    };
    QTRY_VERIFY_WITH_TIMEOUT(oneLeads(), kWaitMs); // also after the killed client-go's minute
}

QTEST_GUILESS_MAIN(TstKubeElection)
#include "tst_kube_election.moc"
