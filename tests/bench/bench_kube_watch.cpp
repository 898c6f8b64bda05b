// SPDX-License-Identifier: GPL-3.0-or-later
// Watching a cluster of many Leases on an API server of its own: 5,000 elections and 5,000 node
// heartbeats, some of which change all the time; what the observer costs, and how long a change takes
// from the PUT's answer to the monitor's delta. Usage: bench_kube_watch [ELECTIONS] [HEARTBEATS] [SECONDS] [CHANGES/S]
#include "core/backend/backend.h"
#include "core/backend/kubernetes/kube_time.h"
#include "core/runtime/monitor.h"
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

std::string leaseBody(const std::string &name, const char *holder)
{
    const std::string now = kube::microTime(SystemClock::instance().wall());
    return R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":")" + name + R"("},"spec":{"holderIdentity":")"
        + holder + R"(","leaseDurationSeconds":40,"leaseTransitions":0,"acquireTime":")" + now + R"(","renewTime":")" + now + "\"}}";
}

/// An administrator's client with parallel requests.
class Writer
{
public:
    explicit Writer(const KubeServer &server)
    {
        HttpTarget target;
        target.url = "https://127.0.0.1:" + std::to_string(server.port());
        target.tls.caFile = server.path("ca.crt");
        m_client = std::move(*HttpClient::make(target));
    }
    std::vector<Result<HttpResponse>> send(const char *method, const std::vector<std::pair<std::string, std::string>> &all)
    {
        std::vector<HttpRequest> requests;
        for (const auto &[path, body] : all) {
            HttpRequest request;
            request.method = method;
            request.path = path;
            request.body = body;
            const bool patch = std::string_view(method) == "PATCH";
            request.headers = {{"Authorization", "Bearer admin-token"}, {"Content-Type", patch ? "application/merge-patch+json" : "application/json"}};
            requests.push_back(std::move(request));
        }
        return m_client->sendAll(requests, BootClock::now() + 60s);
    }

private:
    std::unique_ptr<HttpClient> m_client;
};

void fill(Writer &writer, const std::string &ns, int count)
{
    const std::string path = "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases";
    for (int i = 0; i < count; i += 50) {
        std::vector<std::pair<std::string, std::string>> batch;
        for (int k = i; k < std::min(count, i + 50); ++k)
            batch.emplace_back(path, leaseBody("l-" + std::to_string(k), "holder"));
        for (const auto &made : writer.send("POST", batch)) {
            if (!made || made->status != 201)
                std::cerr << "not made: " << (made ? made->body : made.error().text()) << "\n";
        }
    }
}

struct Told {
    std::mutex mutex;
    std::size_t leases = 0;
    bool complete = false;
    std::string wanted; ///< a holder that is looked for ...
    Instant found; ///< ... and when it was told
};

} // namespace

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    std::signal(SIGPIPE, SIG_IGN);
    if (const std::string missing = KubeServer::missing(); !missing.empty()) {
        std::cerr << missing << "\n";
        return 1;
    }
    const auto number = [&](int at, int fallback) { return argc > at ? std::atoi(argv[at]) : fallback; };
    const int elections = number(1, 5000);
    const int heartbeats = number(2, 5000);
    const Duration length = std::chrono::seconds(number(3, 20));
    const int rate = number(4, 100);
    KubeServer server;
    const std::string ns = server.makeNamespace();
    server.call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"kube-node-lease"}})");
    Writer writer(server);
    fill(writer, ns, elections);
    fill(writer, "kube-node-lease", heartbeats);

    Told told;
    const auto backend = makeBackend(server.uri({})).value();
    Monitor monitor(backend, {}, SystemClock::instance(), [&](const FleetDelta &delta) {
        const std::lock_guard lock(told.mutex);
        told.complete = delta.complete;
        for (const LeaseStatus &status : delta.changed) {
            if (!told.wanted.empty() && status.record.holder == told.wanted)
                told.found = BootClock::now();
        }
    });
    monitor.start();
    const auto complete = [&] {
        const std::lock_guard lock(told.mutex);
        return told.complete;
    };
    const Instant began = BootClock::now();
    while (!complete() && BootClock::now() < began + 60s)
        std::this_thread::sleep_for(10ms);
    const double listed = bench::seconds(BootClock::now() - began);
    std::this_thread::sleep_for(2s);

    // How long one change takes, with the rest at rest.
    const std::string path = "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases/l-0";
    std::vector<double> latency;
    for (int i = 0; i < 40; ++i) {
        const std::string holder = "probe-" + std::to_string(i);
        {
            const std::lock_guard lock(told.mutex);
            told.wanted = holder;
            told.found = Instant();
        }
        const auto put = writer.send("PATCH", {{path, R"({"spec":{"holderIdentity":")" + holder + "\"}}"}});
        const Instant answered = BootClock::now();
        const auto seen = [&] {
            const std::lock_guard lock(told.mutex);
            return told.found;
        };
        while (seen() == Instant() && BootClock::now() < answered + 5s)
            std::this_thread::sleep_for(200us);
        if (put.front() && seen() != Instant())
            latency.push_back(std::chrono::duration<double, std::milli>(seen() - answered).count());
        std::this_thread::sleep_for(80ms);
    }
    {
        const std::lock_guard lock(told.mutex);
        told.wanted.clear();
    }

    // What watching costs while heartbeats and elections renew; the writer's own share is measured first.
    const auto renewFor = [&](Duration time) {
        const Instant until = BootClock::now() + time;
        int next = 0;
        while (BootClock::now() < until) {
            const Instant second = BootClock::now() + 100ms;
            std::vector<std::pair<std::string, std::string>> batch;
            for (int i = 0; i < rate / 10; ++i, ++next) {
                const std::string where = next % 2 == 0 ? ns : "kube-node-lease";
                const int which = next / 2 % std::max(1, next % 2 == 0 ? elections : heartbeats);
                batch.emplace_back("/apis/coordination.k8s.io/v1/namespaces/" + where + "/leases/l-" + std::to_string(which),
                    R"({"spec":{"renewTime":")" + kube::microTime(SystemClock::instance().wall()) + "\"}}");
            }
            (void)writer.send("PATCH", batch);
            std::this_thread::sleep_until(std::chrono::steady_clock::now() + std::max<Duration>(second - BootClock::now(), 0ns));
        }
        return next;
    };
    double cpu = bench::cpuSeconds();
    const int changes = renewFor(length);
    const double both = bench::cpuSeconds() - cpu;
    monitor.stop();
    cpu = bench::cpuSeconds();
    (void)renewFor(length);
    const double alone = bench::cpuSeconds() - cpu;
    bench::print({{"bench", "kube_watch"}, {"leases", elections + heartbeats}, {"changes_per_s", changes / bench::seconds(length)},
        {"list_s", listed}, {"core_share", (both - alone) / bench::seconds(length)}, {"rss_mb", bench::peakMegabytes()},
        {"told_after_put_p50_ms", bench::quantile(latency, 0.5)}, {"told_after_put_p95_ms", bench::quantile(latency, 0.95)},
        {"goal_core_share", 0.1}, {"goal_rss_mb", 300}, {"goal_p50_ms", 20}});
    return 0;
}
