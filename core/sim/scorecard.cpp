// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/scorecard.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

struct MetricWords {
    Metric metric;
    const char *name;
    const char *title;
    bool time;
};

constexpr std::array<MetricWords, kMetrics> kWords{{
    {Metric::TimeWithoutLeader, "time_without_leader", "Time without leader", true},
    {Metric::LongestGap, "longest_gap", "Longest gap", true},
    {Metric::TimeVacant, "time_vacant", "Store shows no holder", true},
    {Metric::IdleAuthority, "idle_authority", "Held by nobody who knows", true},
    {Metric::BothBelieved, "both_believed", "Both did leader's work", true},
    {Metric::TwoLeaders, "two_leaders", "Two leaders by isLeader()", true},
    {Metric::TakeoverLag, "takeover_lag", "Slowest takeover after the end", true},
    {Metric::UnsafeWrites, "unsafe_writes", "Stale writes accepted", false},
    {Metric::RejectedWrites, "rejected_writes", "Stale writes rejected", false},
    {Metric::Duplicates, "duplicates", "Done twice", false},
    {Metric::Lost, "lost", "Lost", false},
    {Metric::ItemsDone, "items_done", "Items done", false},
    {Metric::Transitions, "transitions", "Transitions", false},
    {Metric::UnneededTransitions, "unneeded_transitions", "Unneeded transitions", false},
    {Metric::Terms, "terms", "Terms", false},
    {Metric::DeadlinesMissed, "deadlines_missed", "Deadlines missed", false},
    {Metric::PeakAttempts, "peak_attempts", "Most calls in 100 ms", false},
    {Metric::TokenRegressions, "token_regressions", "Tokens that did not grow", false},
    {Metric::RefusedReleases, "refused_releases", "Releases refused", false},
    {Metric::WrongReleases, "wrong_releases", "Wrong leases released", false},
    {Metric::StaleConsole, "console_stale", "Console said: stale", true},
    {Metric::MistakenConsole, "console_mistaken", "Console was mistaken", true},
    {Metric::Violations, "violations", "Promises broken", false},
}};

const MetricWords &wordsOf(Metric metric)
{
    return kWords[static_cast<std::size_t>(metric)];
}

} // namespace

const char *metricName(Metric metric) { return wordsOf(metric).name; }
const char *metricTitle(Metric metric) { return wordsOf(metric).title; }
bool isTime(Metric metric) { return wordsOf(metric).time; }

std::optional<Metric> metricNamed(std::string_view name)
{
    const auto found = std::find_if(
        kWords.begin(), kWords.end(), [name](const MetricWords &words) { return name == words.name; });
    if (found == kWords.end())
        return std::nullopt;
    return found->metric;
}

std::string metricText(Metric metric, std::int64_t value)
{
    return isTime(metric) ? durationText(Duration(value)) : std::to_string(value);
}

std::vector<Verdict> judge(std::span<const Expectation> expectations, std::span<const Scorecard> runs)
{
    std::vector<Verdict> out;
    for (const Expectation &expectation : expectations) {
        Verdict verdict{expectation};
        const Metric metric = expectation.metric;
        std::size_t held = 0;
        std::int64_t lowest = INT64_MAX;
        std::int64_t highest = INT64_MIN;
        for (const Scorecard &run : runs) {
            held += expectation.holds(run[metric]) ? 1U : 0U;
            lowest = std::min(lowest, run[metric]);
            highest = std::max(highest, run[metric]);
        }
        if (runs.empty()) {
            verdict.judged = false;
        } else if (!expectation.ofRuns) {
            verdict.passed = held == runs.size();
            verdict.actual = metricText(metric, lowest);
            if (lowest != highest)
                verdict.actual += " to " + metricText(metric, highest);
        } else {
            verdict.judged = runs.size() >= kRunsForShare;
            const auto percent = static_cast<int>(held * 100 / runs.size());
            verdict.passed = !verdict.judged
                || (expectation.ofRuns->first <= percent && percent <= expectation.ofRuns->second);
            verdict.actual = std::to_string(percent) + " % of " + std::to_string(runs.size()) + " runs";
        }
        out.push_back(std::move(verdict));
    }
    return out;
}

} // namespace tenure::sim
