// SPDX-License-Identifier: GPL-3.0-or-later
// decide() on the renew path: events a second on one core, and allocations (goal: 10 M, none).
#include "core/election/election.h"
#include "tests/bench/bench_support.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace
{
std::atomic<std::uint64_t> allocations = 0;
}

void *operator new(std::size_t size)
{
    ++allocations;
    if (void *p = std::malloc(size))
        return p;
    throw std::bad_alloc();
}
void operator delete(void *p) noexcept
{
    std::free(p);
}
void operator delete(void *p, std::size_t) noexcept
{
    std::free(p);
}

using namespace tenure;
using namespace std::chrono_literals;

int main()
{
    const ElectionRules rules{Timing::make({.ttl = 15s}).value(), 30s};
    ElectionState state;
    Instant now(1000s);
    const auto feed = [&](Event event) {
        event.now = now;
        event.fresh = Nonce(1, 2);
        return decide(rules, state, event);
    };
    (void)feed({.kind = Event::Kind::Start});
    (void)feed({.kind = Event::Kind::Granted, .request = state.request, .sentAt = now, .token = {1}});
    constexpr int kRounds = 5'000'000;
    const std::uint64_t before = allocations;
    const Instant from = BootClock::now();
    for (int i = 0; i < kRounds; ++i) {
        now = state.wakeAt;
        (void)feed({.kind = Event::Kind::Timer}); // sends the renewal
        now += 1ms;
        (void)feed({.kind = Event::Kind::Renewed, .request = state.request, .sentAt = now - 1ms});
    }
    const double took = bench::seconds(BootClock::now() - from);
    const std::uint64_t allocated = allocations - before;
    const bool stillLeading = state.phase == Phase::Leading;
    bench::print({{"bench", "decide"}, {"events_per_s", 2.0 * kRounds / took},
        {"allocations", allocated}, {"goal_events_per_s", 1e7}, {"still_leading", stillLeading}});
    return stillLeading ? 0 : 1;
}
