// SPDX-License-Identifier: GPL-3.0-or-later
// Tenure as one candidate of a side-by-side benchmark of lock libraries. It reads PEER_LOCK, PEER_ID,
// PEER_PORT and PEER_LEASE_MS, competes for ever, gives back on SIGTERM, and prints "ready", "lead",
// "lost", "flag1", "flag0" and "renew" lines stamped with CLOCK_MONOTONIC nanoseconds.
#include "core/backend/backend.h"
#include "core/runtime/elector.h"
#include "tests/bench/bench_support.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <unistd.h>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

std::string environment(const char *name, const std::string &fallback)
{
    const char *value = std::getenv(name);
    return value != nullptr ? value : fallback;
}

void say(const std::string &line)
{
    const std::string out = line + "\n";
    if (write(STDOUT_FILENO, out.data(), out.size()) < 0)
        std::_Exit(1);
}

std::string stamp(const char *word, std::int64_t at)
{
    return std::string(word) + " " + std::to_string(at);
}

template <typename T>
T orDie(Result<T> result)
{
    if (!result) {
        std::cerr << result.error().text() << "\n";
        std::exit(2);
    }
    return std::move(*result);
}

/// What the arguments name, on the server of PEER_PORT.
std::string urlOf(std::string_view option)
{
    const std::string port = environment("PEER_PORT", "5432");
    if (option == "--kubernetes") // by KUBECONFIG
        return "kubernetes:///default";
    if (option == "--postgresql")
        return "postgresql://postgres@127.0.0.1:" + port + "/postgres";
    if (option == "--advisory")
        return "postgresql://postgres@127.0.0.1:" + port + "/postgres?mode=advisory";
    return "redis://127.0.0.1:" + environment("PEER_PORT", "6379");
}

/// The table, where one is needed; another candidate may be making it at the same time.
void makeTable(const Backend &backend)
{
    for (int i = 0; i < 3; ++i) {
        if (backend.makeStore()->init(false, BootClock::now() + 10s))
            return;
    }
}

/// Prints when isLeader() turns, asked each millisecond; the stamp is taken before the question.
void poll(const Elector &elector, const std::atomic<bool> &stop)
{
    bool was = false;
    std::int64_t last = 0;
    while (!stop) {
        const std::int64_t at = bench::monotonicNs();
        const bool leads = elector.isLeader();
        if (leads)
            last = at;
        if (leads != was)
            say(leads ? stamp("flag1", at) : stamp("flag0", at) + " " + std::to_string(last));
        was = leads;
        std::this_thread::sleep_for(1ms);
    }
}

struct Rate {
    double perSecond = 0;
    double cpu = 0;
};

/// Renews `terms` round and round for `length`, `batch` at a time; exits on a lost term.
Rate renewFor(LeaseStore &store, const std::vector<Command> &renewals, std::size_t batch, Duration length)
{
    const Instant from = BootClock::now();
    const double cpu = bench::cpuSeconds();
    std::size_t done = 0;
    while (BootClock::now() < from + length) {
        const std::size_t first = done % renewals.size();
        const std::size_t count = std::min(batch, renewals.size() - first);
        for (const auto &reply : store.execute(std::span(renewals).subspan(first, count), BootClock::now() + 5s)) {
            if (!reply || reply->outcome != Outcome::Done) {
                std::cerr << "a renewal failed: " << (reply ? "lost" : reply.error().text()) << "\n";
                std::exit(3);
            }
        }
        done += count;
    }
    const double took = bench::seconds(BootClock::now() - from);
    return {static_cast<double>(done) / took, (bench::cpuSeconds() - cpu) / took};
}

int capacity(const Backend &backend, const std::string &lock)
{
    const auto count = static_cast<std::size_t>(std::atoi(environment("PEER_RENEW_N", "1000").c_str()));
    const auto store = backend.makeStore();
    const HolderId holder = HolderId::parse("capacity").value();
    std::vector<Command> acquires;
    for (std::size_t i = 0; i < count; ++i) {
        acquires.emplace_back(
            Acquire{LeaseId::observed(lock + "-" + std::to_string(i)), holder, Nonce::random(), 60s});
    }
    std::vector<Command> renewals;
    const auto replies = store->execute(acquires, BootClock::now() + 10s);
    for (std::size_t i = 0; i < count; ++i) {
        const auto &acquire = std::get<Acquire>(acquires[i]);
        const Reply reply = orDie(replies[i]);
        renewals.emplace_back(Renew{acquire.lease, {holder, acquire.nonce, reply.record.token}, 60s});
    }
    say(stamp("ready", bench::monotonicNs()));
    const Rate one = renewFor(*store, renewals, 1, 5s);
    const Rate many = renewFor(*store, renewals, 64, 5s);
    const nlohmann::json line{{"seq_per_s", one.perSecond}, {"seq_cpu", one.cpu},
        {"par64_per_s", many.perSecond}, {"par64_cpu", many.cpu}, {"rss_mb", bench::peakMegabytes()},
        {"done", (one.perSecond + many.perSecond) * 5}};
    say(stamp("renew", bench::monotonicNs()) + " " + line.dump());
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string_view option = argc > 1 ? argv[1] : "";
    const bool kubernetes = option == "--kubernetes";
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, nullptr); // before any thread: all inherit it

    const auto backend
        = orDie(makeBackend(orDie(StoreUri::parse(environment("PEER_URL", urlOf(option))))));
    if (option == "--postgresql")
        makeTable(*backend);
    const std::string lock = environment("PEER_LOCK", "peer");
    if (std::getenv("PEER_RENEW_N") != nullptr)
        return capacity(*backend, lock);

    const Duration ttl = Milliseconds(std::atoi(environment("PEER_LEASE_MS", "5000").c_str()));
    TimingRequest request{.ttl = ttl};
    const auto clientGo = nlohmann::json::parse(environment("PEER_K8S", "[]"), nullptr, false);
    if (kubernetes && clientGo.is_array() && clientGo.size() == 2) { // its renew deadline and retry period
        request.renewDeadline = std::chrono::seconds(clientGo[0].get<int>());
        request.renewEvery = std::chrono::seconds(clientGo[1].get<int>());
    }
    const Timing timing = orDie(Timing::make(request, backend->traits().limits));
    ElectorHost host(backend);
    ElectorCallbacks callbacks;
    callbacks.onGained = [](const Term &) { say(stamp("lead", bench::monotonicNs())); };
    callbacks.onLost = [](const Term &, LossReason) { say(stamp("lost", bench::monotonicNs())); };
    Elector elector(host, orDie(LeaseId::parse(lock)),
        orDie(HolderId::parse(environment("PEER_ID", "tenure"))), timing, callbacks);
    elector.start();
    say(stamp("ready", bench::monotonicNs()));

    std::atomic<bool> over = false;
    std::thread poller;
    if (environment("PEER_POLL", "") == "1")
        poller = std::thread([&] { poll(elector, over); });
    int signal = 0;
    sigwait(&set, &signal);
    const bool givenBack = elector.stop();
    over = true;
    if (poller.joinable())
        poller.join();
    return givenBack ? 0 : 1;
}
