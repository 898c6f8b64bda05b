// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/output.h"
#include "core/sim/scenario.h"
#include "core/sim/search.h"

#include <string>
#include <vector>

namespace tenure::ctl
{

/// One variant, run once.
struct SingleRun {
    std::string variant;
    sim::Scorecard score;
    std::string violation;
    std::uint64_t logHash = 0;
    std::vector<sim::Verdict> verdicts;
};

/// One variant, run under many seeds.
struct ManyRuns {
    std::string variant;
    sim::SearchResult result;
    std::vector<sim::Verdict> verdicts;
};

[[nodiscard]] bool allPassed(const std::vector<SingleRun> &runs);
[[nodiscard]] bool allPassed(const std::vector<ManyRuns> &runs);

// Whole answers with their line ends: raw numbers first, then what was expected of them.
[[nodiscard]] std::string scenarioLine(const sim::Scenario &scenario);
[[nodiscard]] std::string scenarioJson(const sim::Scenario &scenario);
[[nodiscard]] std::string singleText(const sim::Scenario &scenario, std::uint64_t seed,
    const std::vector<SingleRun> &runs, const Output &output);
[[nodiscard]] std::string singleJson(
    const sim::Scenario &scenario, std::uint64_t seed, const std::vector<SingleRun> &runs);
[[nodiscard]] std::string manyText(const sim::Scenario &scenario, std::uint64_t firstSeed,
    const std::vector<ManyRuns> &runs, const Output &output);
[[nodiscard]] std::string manyJson(
    const sim::Scenario &scenario, std::uint64_t firstSeed, const std::vector<ManyRuns> &runs);

} // namespace tenure::ctl
