// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tenure::ui
{

/// What a filter looks at. Text is folded (foldForFilter) by whoever keeps the row.
struct FilterFacts {
    std::string_view name;
    std::string_view holder;
    std::string_view connection;
    std::string_view environment; ///< "prod", "stage", "dev", "sim"
    LeaseState state = LeaseState::Unknown;
    LinkState link = LinkState::Connecting;
    const LeaseStatus *status = nullptr;
    Instant now;
};

struct FilterError {
    std::string token; ///< the word that cannot be understood, as it was typed
    std::string sentence;
};

/// The filter line of the fleet (UX.md section 4), parsed: words that must all match.
/// `state:late|vacant env:prod holder:~idx ttl<5s churn>3/10m term>100 data:stale`, plain words are
/// looked for in name and holder, `-` in front turns a word round. Pure and without Qt, so that the
/// terminal twin can share it.
class LeaseFilter
{
public:
    LeaseFilter() = default;
    [[nodiscard]] static tl::expected<LeaseFilter, FilterError> parse(std::string_view line);
    [[nodiscard]] bool matches(const FilterFacts &facts) const;
    [[nodiscard]] bool isEmpty() const { return m_terms.empty(); }
    /// True when a row can begin or cease to match by the mere passing of time.
    [[nodiscard]] bool dependsOnTime() const;

private:
    enum class Field { Text, Name, Holder, Connection, Environment, State, Data, Ttl, Churn, Term };
    enum class Compare { Less, LessEqual, Equal, GreaterEqual, Greater };
    struct Clause {
        Field field = Field::Text;
        bool negated = false;
        std::vector<std::string> values; ///< any of them
        Compare compare = Compare::Equal;
        std::uint64_t number = 0;
        Duration duration{};
    };
    struct Parser;
    [[nodiscard]] static bool holds(const Clause &clause, const FilterFacts &facts);
    std::vector<Clause> m_terms;
};

/// Lower case for ASCII, other bytes as they are; the same for rows and words.
[[nodiscard]] std::string foldForFilter(std::string_view text);
/// All characters of `word` in `text` in order ("bsch" in "billing/scheduler"); at least 3 of them.
[[nodiscard]] bool fuzzyMatch(std::string_view word, std::string_view text);

} // namespace tenure::ui
