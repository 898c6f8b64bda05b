// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/chaos.h"

#include <atomic>
#include <functional>

namespace tenure::sim
{

/// A run that did not do what was expected, and the least that makes it happen.
struct Failure {
    std::uint64_t seed = 0;
    std::string what; ///< "P1: A and B both believe (at ...)", or the expectation and what came of it
    std::vector<Step> steps; ///< shrunk: without any one of them it does not happen
    std::size_t stepsBefore = 0;
};

struct SearchOptions {
    std::uint64_t firstSeed = 1;
    std::uint64_t seeds = 1000;
    unsigned threads = 0; ///< 0: one a core
    Plant plant = Plant::None;
    std::function<void(std::uint64_t)> progress; ///< runs done so far; on any of the threads
    const std::atomic<bool> *cancel = nullptr;
};

/// What many seeds gave.
struct SearchResult {
    std::vector<Scorecard> scores; ///< by seed
    std::uint64_t events = 0;
    std::uint64_t failures = 0; ///< runs in which an expectation that must always hold did not, or a promise broke
    std::optional<Failure> smallest; ///< of the smallest such seed
    bool cancelled = false;

    struct Band {
        std::int64_t least = 0, p5 = 0, p50 = 0, p95 = 0, most = 0;
    };
    [[nodiscard]] Band band(Metric metric) const;
};

/// What is wrong with one run of `setup`; empty when nothing is. A broken promise counts where
/// `setup` expects none (`violations == 0`) or has random faults.
[[nodiscard]] std::string faultOf(const Setup &setup, const RunResult &result);

/// Runs `setup` (with its random faults, if it wants any) under many seeds on all cores. The result
/// does not depend on how many there are.
[[nodiscard]] SearchResult search(const Setup &setup, const SearchOptions &options);

} // namespace tenure::sim
