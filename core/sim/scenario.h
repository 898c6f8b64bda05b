// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/sim/setup.h"

#include <span>
#include <string_view>

namespace tenure::sim
{

/// What is wrong with a scenario, and where. Lines and columns count from 1.
struct Problem {
    int line = 0;
    int column = 0;
    std::string what; ///< a sentence
    [[nodiscard]] std::string text() const
    {
        return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what;
    }
};

struct ParsedScenario {
    Scenario scenario; ///< of use only without problems
    std::vector<Problem> problems; ///< all that were found, in the order of the file
};

/// Reads a scenario: a YAML file, or the drill script's plain lines (one verb a line). Anything not
/// understood is a problem with its place, never passed over.
[[nodiscard]] ParsedScenario parseScenario(std::string_view text);
/// One line of `steps:`, for what is typed by hand. `at` may be left out. Problems have line 1.
[[nodiscard]] Result<Step> parseStep(std::string_view line, const Setup &setup);
/// From a file. BadConfig: all problems, a line each.
[[nodiscard]] Result<Scenario> loadScenario(const std::string &path);

/// A scenario that is compiled in.
struct CatalogueEntry {
    std::string_view file; ///< "d03-gc-pause"
    std::string_view text; ///< YAML
};
[[nodiscard]] std::span<const CatalogueEntry> catalogue();
/// By code ("D3", any case) or name ("gc-pause"). NotFound lists what there is.
[[nodiscard]] Result<Scenario> scenarioNamed(std::string_view name);

} // namespace tenure::sim
