// SPDX-License-Identifier: GPL-3.0-or-later
// Takeover by a waiting standby, on the backend named by a URL: after the leader stops renewing
// (lag over the lease's end by the server's clock) and after a graceful release (from the moment
// release() is called). Usage: bench_takeover URL [ROUNDS]
#include "core/backend/backend.h"
#include "core/runtime/elector.h"
#include "tests/bench/bench_support.h"

#include <condition_variable>
#include <mutex>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

/// One candidate with threads and connections of its own, as another process would have.
class Candidate
{
public:
    Candidate(const std::shared_ptr<const Backend> &backend, const LeaseId &lease, const std::string &name,
        const Timing &timing)
        : m_host(backend), m_elector(m_host, lease, HolderId::unique(name), timing, callbacks())
    {
        m_elector.start();
    }
    /// When it began to lead; the epoch when it did not within `wait`.
    Instant waitGained(Duration wait)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait_for(lock, wait, [this] { return m_gained != Instant(); });
        return std::exchange(m_gained, Instant());
    }
    ElectorHost &host() { return m_host; }
    Elector &elector() { return m_elector; }

private:
    ElectorCallbacks callbacks()
    {
        ElectorCallbacks calls;
        calls.onGained = [this](const Term &) {
            const std::lock_guard lock(m_mutex);
            m_gained = BootClock::now();
            m_changed.notify_all();
        };
        return calls;
    }
    std::mutex m_mutex;
    std::condition_variable m_changed;
    Instant m_gained;
    ElectorHost m_host;
    Elector m_elector;
};

/// Local moment at which the lease runs out by the server's clock, to half of the shortest of a few round
/// trips: a refused acquire is told it more finely than a read.
std::optional<Instant> endOf(LeaseStore &store, const LeaseId &lease)
{
    const Command acquire = Acquire{lease, HolderId::unique("probe"), Nonce::random(), 1s};
    std::optional<Instant> end;
    Duration shortest = Duration::max();
    for (int i = 0; i < 5; ++i) {
        const Instant sent = BootClock::now();
        const auto replies = store.execute(std::span(&acquire, 1), sent + 2s);
        const Duration roundTrip = BootClock::now() - sent;
        if (!replies.front() || replies.front()->outcome != Outcome::Refused || !replies.front()->retryIn)
            return std::nullopt;
        if (roundTrip < shortest)
            end = sent + roundTrip / 2 + *replies.front()->retryIn;
        shortest = std::min(shortest, roundTrip);
    }
    return end;
}

nlohmann::json summary(const std::vector<double> &ms, int rounds)
{
    return {{"n", ms.size()}, {"of", rounds}, {"p50_ms", bench::quantile(ms, 0.5)},
        {"p95_ms", bench::quantile(ms, 0.95)}, {"p99_ms", bench::quantile(ms, 0.99)},
        {"max_ms", bench::quantile(ms, 1)}};
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::cerr << "usage: bench_takeover URL [ROUNDS]\n";
        return 2;
    }
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 50;
    const auto uri = StoreUri::parse(argv[1]);
    const auto backend = uri ? makeBackend(*uri) : tl::unexpected(uri.error());
    if (!backend) {
        std::cerr << backend.error().text() << "\n";
        return 1;
    }
    const Timing timing = Timing::make({.ttl = 1s}).value();
    const auto probe = (*backend)->makeStore();
    std::vector<double> expiry;
    std::vector<double> release;
    Random random(systemEntropy());
    for (int i = 0; i < rounds; ++i) {
        const LeaseId lease = LeaseId::observed("bench/takeover-" + hex64(systemEntropy()));
        auto first = std::make_unique<Candidate>(*backend, lease, "first", timing);
        if (first->waitGained(30s) == Instant()) {
            std::cerr << "no first leader\n";
            return 1;
        }
        auto second = std::make_unique<Candidate>(*backend, lease, "second", timing);
        // A random moment of the renew cycle, after the standby has settled.
        std::this_thread::sleep_for(400ms + Milliseconds(random.below(300)));
        first->host().freeze();
        std::this_thread::sleep_for(50ms);
        const auto end = endOf(*probe, lease);
        const Instant taken = second->waitGained(5s);
        if (end && taken != Instant())
            expiry.push_back(std::chrono::duration<double, std::milli>(taken - *end).count());
        first = std::make_unique<Candidate>(*backend, lease, "third", timing);
        std::this_thread::sleep_for(300ms + Milliseconds(random.below(300)));
        const Instant asked = BootClock::now();
        second->elector().release();
        const Instant handed = first->waitGained(5s);
        if (handed != Instant())
            release.push_back(std::chrono::duration<double, std::milli>(handed - asked).count());
    }
    bench::print({{"bench", "takeover_after_expiry"}, {"backend", (*backend)->traits().scheme},
        {"result", summary(expiry, rounds)}, {"goal_p50_ms", 1.5}, {"goal_p99_ms", 10}});
    bench::print({{"bench", "takeover_after_release"}, {"backend", (*backend)->traits().scheme},
        {"result", summary(release, rounds)}, {"goal_p50_ms", 2}});
    return 0;
}
