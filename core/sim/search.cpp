// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/search.h"

#include <algorithm>
#include <mutex>
#include <thread>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

/// Takes out whatever can go without the failure going, first in large pieces, then one by one.
std::vector<Step> shrunk(const Setup &setup, const WorldOptions &options)
{
    Setup now = setup;
    for (std::size_t piece = std::max<std::size_t>(1, now.steps.size() / 2); piece > 0;) {
        bool removed = false;
        for (std::size_t at = 0; at < now.steps.size();) {
            Setup less = now;
            const auto from = less.steps.begin() + static_cast<std::ptrdiff_t>(at);
            const auto count = std::min(piece, less.steps.size() - at);
            less.steps.erase(from, from + static_cast<std::ptrdiff_t>(count));
            if (faultOf(less, runOnce(less, options)).empty()) {
                at += piece;
            } else {
                now = std::move(less);
                removed = true;
            }
        }
        if (!removed || piece > 1)
            piece = piece == 1 ? 0 : piece / 2;
    }
    return now.steps;
}

Failure explain(const Setup &setup, std::uint64_t seed, Plant plant)
{
    Failure failure;
    const WorldOptions options{.seed = seed, .plant = plant};
    Setup whole = withChaos(setup, seed);
    failure.seed = seed;
    const RunResult result = runOnce(whole, options);
    failure.what = faultOf(whole, result);
    failure.stepsBefore = whole.steps.size();
    // What is missing (a duplicate that was expected) is missing without any step at all.
    failure.steps = result.violation.empty() ? whole.steps : shrunk(whole, options);
    return failure;
}

} // namespace

std::string faultOf(const Setup &setup, const RunResult &result)
{
    for (const Expectation &expectation : setup.expect) {
        const std::int64_t value = result.score[expectation.metric];
        if (expectation.ofRuns || expectation.holds(value))
            continue;
        if (expectation.metric == Metric::Violations)
            return result.violation;
        return expectation.text + ", but it was " + metricText(expectation.metric, value);
    }
    return setup.chaosEvery > 0ns ? result.violation : std::string();
}

SearchResult::Band SearchResult::band(Metric metric) const
{
    Band band;
    if (scores.empty())
        return band;
    std::vector<std::int64_t> values;
    values.reserve(scores.size());
    for (const Scorecard &score : scores)
        values.push_back(score[metric]);
    std::sort(values.begin(), values.end());
    const auto at = [&values](std::size_t percent) { return values[(values.size() - 1) * percent / 100]; };
    return {values.front(), at(5), at(50), at(95), values.back()};
}

SearchResult search(const Setup &setup, const SearchOptions &options)
{
    SearchResult out;
    out.scores.resize(options.seeds);
    std::atomic<std::uint64_t> next = 0;
    std::atomic<std::uint64_t> done = 0;
    std::mutex mutex;
    std::uint64_t smallest = UINT64_MAX;
    const auto work = [&] {
        std::uint64_t events = 0;
        std::uint64_t failures = 0;
        std::uint64_t worst = UINT64_MAX;
        for (std::uint64_t i = next++; i < options.seeds; i = next++) {
            if (options.cancel && *options.cancel)
                break;
            const std::uint64_t seed = options.firstSeed + i;
            const Setup whole = withChaos(setup, seed);
            const RunResult result = runOnce(whole, {.seed = seed, .plant = options.plant});
            out.scores[i] = result.score;
            events += result.events;
            if (!faultOf(whole, result).empty()) {
                ++failures;
                worst = std::min(worst, seed);
            }
            const std::uint64_t sofar = ++done;
            if (options.progress)
                options.progress(sofar);
        }
        const std::lock_guard lock(mutex);
        out.events += events;
        out.failures += failures;
        smallest = std::min(smallest, worst);
    };
    const unsigned cores = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 1; i < cores && i < options.seeds; ++i)
            threads.emplace_back(work);
        work();
    }
    out.cancelled = done < options.seeds;
    if (out.cancelled)
        out.scores.resize(done); // those that are there may have holes: of no use but for a message
    if (smallest != UINT64_MAX)
        out.smallest = explain(setup, smallest, options.plant);
    return out;
}

} // namespace tenure::sim
