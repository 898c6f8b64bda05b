// SPDX-License-Identifier: GPL-3.0-or-later
// 24 hours of five instances with faults (goal: < 1 s), and the catalogue under 1,000 seeds a scenario
// on all cores (goal: < 60 s on two).
#include "core/sim/scenario.h"
#include "core/sim/search.h"
#include "tests/bench/bench_support.h"

#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

int main()
{
    sim::Setup day = sim::chaosSetup(5, 24h);
    day.lease = {.ttl = 15s};
    day.chaosEvery = 60s;
    Instant from = BootClock::now();
    const double cpuAtStart = bench::cpuSeconds();
    const sim::RunResult result = sim::runOnce(sim::withChaos(day, 7), {.seed = 7});
    const double dayTook = bench::seconds(BootClock::now() - from);
    const double dayCpu = bench::cpuSeconds() - cpuAtStart;

    std::uint64_t runs = 0;
    std::uint64_t events = 0;
    std::uint64_t failures = 0;
    from = BootClock::now();
    const double cpuBefore = bench::cpuSeconds();
    for (const sim::CatalogueEntry &entry : sim::catalogue()) {
        for (const sim::Setup &setup : sim::parseScenario(entry.text).scenario.runs) {
            const sim::SearchResult one = sim::search(setup, {.seeds = 1000});
            runs += one.scores.size();
            events += one.events;
            failures += one.failures;
        }
    }
    bench::print({{"bench", "sim"}, {"day_s", dayTook}, {"day_cpu_s", dayCpu}, {"goal_day_s", 1}, {"day_events", result.events},
        {"catalogue_s", bench::seconds(BootClock::now() - from)}, {"goal_catalogue_s", 60},
        {"catalogue_cpu_s", bench::cpuSeconds() - cpuBefore}, {"cores", std::thread::hardware_concurrency()},
        {"catalogue_runs", runs}, {"events", events}, {"failed_runs", failures}});
    return result.violation.empty() && failures == 0 ? 0 : 1;
}
