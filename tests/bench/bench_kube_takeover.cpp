// SPDX-License-Identifier: GPL-3.0-or-later
// Takeover on a Kubernetes Lease at client-go's usual timing (15/10/2), on an API server of its own:
// lag over the lease's end after a crash, and after a graceful release. Every candidate has a backend,
// threads and connections of its own, as another process would. With --client-go its example contender
// (60/15/5) is measured beside, which takes minutes. Usage: bench_kube_takeover [PAIRS] [ROUNDS] [--client-go]
#include "core/backend/backend.h"
#include "core/backend/kubernetes/kube_time.h"
#include "core/runtime/elector.h"
#include "kube_server.h"
#include "tests/bench/bench_support.h"

#include <QCoreApplication>

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

class Candidate
{
public:
    Candidate(const StoreUri &uri, const LeaseId &lease, const char *name, const Timing &timing)
        : m_backend(makeBackend(uri).value()), m_host(m_backend),
          m_elector(m_host, lease, HolderId::unique(name), timing, callbacks())
    {
        m_elector.start();
    }
    /// The wall clock's moment when it began to lead; the epoch while it does not.
    WallTime gained()
    {
        const std::lock_guard lock(m_mutex);
        return m_gained;
    }
    ElectorHost &host() { return m_host; }
    Elector &elector() { return m_elector; }

private:
    ElectorCallbacks callbacks()
    {
        ElectorCallbacks calls;
        calls.onGained = [this](const Term &) {
            const std::lock_guard lock(m_mutex);
            m_gained = SystemClock::instance().wall();
        };
        return calls;
    }
    std::mutex m_mutex;
    WallTime m_gained;
    std::shared_ptr<const Backend> m_backend;
    ElectorHost m_host;
    Elector m_elector;
};

/// renewTime plus duration: every process here has one wall clock.
WallTime endOf(KubeServer &server, const std::string &nameSpace, const std::string &lease)
{
    const auto root = nlohmann::json::parse(server.lease(nameSpace, lease));
    const auto renewed = kube::parseTime(root["spec"]["renewTime"].get<std::string>());
    return *renewed + std::chrono::seconds(root["spec"]["leaseDurationSeconds"].get<int>());
}

template <typename Done>
bool waitFor(Duration limit, Done done)
{
    const Instant until = BootClock::now() + limit;
    while (!done()) {
        if (BootClock::now() > until)
            return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

double ms(WallTime later, WallTime earlier)
{
    return std::chrono::duration<double, std::milli>(later - earlier).count();
}

nlohmann::json summary(const std::vector<double> &all, std::size_t of)
{
    return {{"n", all.size()}, {"of", of}, {"p50_ms", bench::quantile(all, 0.5)},
        {"p95_ms", bench::quantile(all, 0.95)}, {"least_ms", bench::quantile(all, 0)}, {"max_ms", bench::quantile(all, 1)}};
}

struct Lags {
    std::vector<double> crash, release;
};

void round(KubeServer &server, const Timing &timing, std::size_t pairs, Lags &lags)
{
    const std::string nameSpace = server.makeNamespace();
    const StoreUri uri = server.uri(nameSpace);
    std::vector<std::unique_ptr<Candidate>> leaders;
    std::vector<std::unique_ptr<Candidate>> standbys;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pairs; ++i) {
        names.push_back("lease-" + std::to_string(i));
        leaders.push_back(std::make_unique<Candidate>(uri, LeaseId::observed(names[i]), "first", timing));
        (void)waitFor(20s, [&] { return leaders[i]->gained() != WallTime(); });
        standbys.push_back(std::make_unique<Candidate>(uri, LeaseId::observed(names[i]), "second", timing));
        std::this_thread::sleep_for(137ms); // spread over the renew cycle
    }
    std::this_thread::sleep_for(timing.renewEvery() * 2);
    for (const auto &leader : leaders)
        leader->host().freeze(); // as if it were killed: nothing is said, nothing given back
    std::this_thread::sleep_for(200ms);
    std::vector<WallTime> ends;
    for (const std::string &name : names)
        ends.push_back(endOf(server, nameSpace, name));
    for (std::size_t i = 0; i < pairs; ++i) {
        if (waitFor(30s, [&] { return standbys[i]->gained() != WallTime(); }))
            lags.crash.push_back(ms(standbys[i]->gained(), ends[i]));
    }
    for (std::size_t i = 0; i < pairs; ++i)
        leaders[i] = std::make_unique<Candidate>(uri, LeaseId::observed(names[i]), "third", timing);
    std::this_thread::sleep_for(2s);
    for (std::size_t i = 0; i < pairs; ++i) {
        const WallTime asked = SystemClock::instance().wall();
        standbys[i]->elector().release();
        if (waitFor(30s, [&] { return leaders[i]->gained() != WallTime(); }))
            lags.release.push_back(ms(leaders[i]->gained(), asked));
        standbys[i].reset();
    }
}

/// client-go's example with its own timing; when another leads, the record says so.
nlohmann::json clientGo(KubeServer &server)
{
    const std::string nameSpace = server.makeNamespace();
    const auto holder = [&] {
        const std::string text = server.lease(nameSpace, "theirs");
        return text.empty() ? std::string() : nlohmann::json::parse(text)["spec"].value("holderIdentity", std::string());
    };
    ClientGoContender first(server, nameSpace, "theirs", "first");
    (void)waitFor(30s, [&] { return holder() == "first"; });
    ClientGoContender second(server, nameSpace, "theirs", "second");
    std::this_thread::sleep_for(8s);
    first.kill();
    first.process().waitForFinished();
    const WallTime end = endOf(server, nameSpace, "theirs");
    const bool crashed = waitFor(120s, [&] { return holder() == "second"; });
    const double crash = ms(SystemClock::instance().wall(), end);
    ClientGoContender third(server, nameSpace, "theirs", "third");
    std::this_thread::sleep_for(8s);
    second.terminate();
    const WallTime asked = SystemClock::instance().wall();
    const bool released = waitFor(60s, [&] { return holder() == "third"; });
    const double release = ms(SystemClock::instance().wall(), asked);
    return {{"timing", "60/15/5"}, {"crash_ms", crashed ? crash : -1}, {"release_ms", released ? release : -1}};
}

} // namespace

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    std::signal(SIGPIPE, SIG_IGN);
    if (const std::string missing = KubeServer::missing(); !missing.empty()) {
        std::cerr << missing << "\n";
        return 1;
    }
    std::vector<int> numbers;
    bool theirs = false;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--client-go")
            theirs = true;
        else
            numbers.push_back(std::atoi(argv[i]));
    }
    const auto pairs = static_cast<std::size_t>(!numbers.empty() ? numbers[0] : 10);
    const int rounds = numbers.size() > 1 ? numbers[1] : 2;
    const Timing timing = Timing::make({.ttl = 15s, .renewEvery = 2s, .renewDeadline = 10s}).value();
    KubeServer server;
    Lags lags;
    for (int i = 0; i < rounds; ++i)
        round(server, timing, pairs, lags);
    const std::size_t of = pairs * static_cast<std::size_t>(rounds);
    bench::print({{"bench", "kube_takeover_after_crash"}, {"timing", "15/10/2"}, {"result", summary(lags.crash, of)}, {"goal_p50_ms", 30}});
    bench::print({{"bench", "kube_takeover_after_release"}, {"timing", "15/10/2"}, {"result", summary(lags.release, of)}, {"goal_p50_ms", 15}});
    if (theirs)
        bench::print({{"bench", "kube_takeover_client_go"}, {"result", clientGo(server)}});
    return 0;
}
