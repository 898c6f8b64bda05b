// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::sim
{

/// What a run is judged by. Times are in nanoseconds, the others count.
enum class Metric {
    TimeWithoutLeader, ///< sum, since the first grant: nobody runs, believes to lead and stands in the store
    LongestGap, ///< the longest such stretch
    TimeVacant, ///< the store shows no holder
    IdleAuthority, ///< the store shows a holder that does not believe to lead
    BothBelieved, ///< two do leader's work at once: the work asks only now and then
    TwoLeaders, ///< two would answer isLeader() with yes at once: promise P1
    TakeoverLag, ///< the longest time from a lease's end to the next grant
    UnsafeWrites, ///< effects of a leader that another had followed, accepted
    RejectedWrites, ///< the same, refused by their token
    Duplicates, ///< effects beyond the first of an item
    Lost, ///< items acknowledged without an effect
    ItemsDone,
    Transitions, ///< another holder followed
    UnneededTransitions, ///< ... though nothing was wrong with the one before
    Terms, ///< grants
    DeadlinesMissed, ///< terms given up because no renewal was confirmed in time
    PeakAttempts, ///< most calls at the store within 100 ms, once the start is over
    TokenRegressions, ///< grants whose token was not above all before
    RefusedReleases, ///< an operator's guarded release met another term
    WrongReleases, ///< an operator's release ended a term that was not meant
    StaleConsole, ///< the console knew that it did not know
    MistakenConsole, ///< the console called data live and showed another holder than the store
    Violations, ///< 1 when a promise was broken
    Count_
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::Count_);

[[nodiscard]] const char *metricName(Metric metric); ///< as in scripts: "time_without_leader"
[[nodiscard]] const char *metricTitle(Metric metric); ///< for people: "Time without leader"
[[nodiscard]] std::optional<Metric> metricNamed(std::string_view name);
[[nodiscard]] bool isTime(Metric metric);
[[nodiscard]] std::string metricText(Metric metric, std::int64_t value); ///< "5.3 s", "3"

/// The raw numbers of one run.
struct Scorecard {
    std::array<std::int64_t, kMetrics> values{};
    [[nodiscard]] std::int64_t &operator[](Metric metric) { return values[static_cast<std::size_t>(metric)]; }
    [[nodiscard]] std::int64_t operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
    void add(Metric metric, Duration time) { (*this)[metric] += time.count(); }
    void atLeast(Metric metric, std::int64_t value)
    {
        if ((*this)[metric] < value)
            (*this)[metric] = value;
    }
    bool operator==(const Scorecard &) const = default;
};

/// One line of `expect`: a metric within bounds, in every run, or in a share of many.
struct Expectation {
    Metric metric = Metric::Transitions;
    std::int64_t low = 0; ///< both ends belong to it
    std::int64_t high = 0;
    /// In how many of many runs, in percent; nothing: in each.
    std::optional<std::pair<int, int>> ofRuns;
    std::string text; ///< as it was written
    [[nodiscard]] bool holds(std::int64_t value) const { return low <= value && value <= high; }
};

/// Few runs say nothing about a share.
inline constexpr std::size_t kRunsForShare = 50;

struct Verdict {
    Expectation expectation;
    bool passed = true;
    bool judged = true; ///< false: a share, and there were too few runs
    std::string actual; ///< "5.3 s", or "34 % of 1000 runs"
};
/// Judges one run, or many: a plain expectation must hold in every one.
[[nodiscard]] std::vector<Verdict> judge(
    std::span<const Expectation> expectations, std::span<const Scorecard> runs);

} // namespace tenure::sim
