// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenure
{

/// Every rule there is (DESIGN.md section 5, UX.md section 6).
enum class RuleId {
    Leaderless,
    TokenRegressed,
    SplitBrain,
    Churn,
    Flapping,
    ClockJump,
    Late,
    Headroom,
    RenewDelay,
    ShortTtl,
    UnsafeTiming,
    UnknownHolder,
    Stale,
};
constexpr std::size_t kRuleCount = 13;
constexpr std::size_t kMostThresholds = 4;

enum class ThresholdUnit { Count, Seconds, Share };

/// One number of a rule, for a file and for an editor.
struct ThresholdDefinition {
    const char* key; ///< "transitions"
    ThresholdUnit unit;
    double standard; ///< counts, seconds, or a share from 0 to 1
    const char* meaning; ///< "changes of leader"
};

/// A rule as it ships.
struct RuleDefinition {
    RuleId id;
    const char* name; ///< "churn": in files, alerts and metrics
    const char* title; ///< "Churn"
    int priority; ///< 1 worst
    bool on;
    const char* fires; ///< when, in a sentence
    const char* clears; ///< when it is over, in a sentence
    const char* action; ///< the one thing that the operator does about it
    std::vector<ThresholdDefinition> thresholds; ///< kMostThresholds at most
};
[[nodiscard]] std::span<const RuleDefinition> ruleCatalogue();
[[nodiscard]] const RuleDefinition& definitionOf(RuleId id);
[[nodiscard]] const RuleDefinition* ruleNamed(std::string_view name); ///< nothing: no such rule

/// One change to the shipped rules, for the leases that match.
struct RuleSetting {
    RuleId rule = RuleId::Leaderless;
    std::string glob = "*";
    std::optional<bool> on;
    std::optional<int> priority;
    std::map<std::string, double> thresholds; ///< by key; the others stay
    std::vector<std::string> knownHolders; ///< globs, for UnknownHolder
    bool operator==(const RuleSetting&) const = default;
};

/// A rule's values for one lease.
struct RuleValue {
    bool on = true;
    int priority = 2;
    std::array<double, kMostThresholds> thresholds{};
    std::vector<std::string> knownHolders;
};
using RuleValues = std::array<RuleValue, kRuleCount>;

/// The rules of a user: the shipped ones and a list of changes to them, where a later one that
/// matches wins. Immutable.
class RuleBook
{
public:
    RuleBook() = default;
    explicit RuleBook(std::vector<RuleSetting> settings) : m_settings(std::move(settings)) { }

    /// From JSON: {"version": 1, "rules": [{"rule": "churn", "lease": "mail/*", "on": true,
    /// "priority": 2, "transitions": 8, "window": "10m"}]}. BadConfig names every problem with its
    /// place: an unknown rule or key, a value out of range.
    [[nodiscard]] static Result<RuleBook> parse(const std::string& json);
    [[nodiscard]] std::string json() const;
    /// `$XDG_CONFIG_HOME/tenure/rules.json`, else `~/.config/tenure/rules.json`.
    [[nodiscard]] static std::string defaultPath();
    /// The shipped rules when there is no such file.
    [[nodiscard]] static Result<RuleBook> load(const std::string& path);
    /// Whole or not at all.
    [[nodiscard]] Result<void> save(const std::string& path) const;

    [[nodiscard]] const std::vector<RuleSetting>& settings() const { return m_settings; }
    [[nodiscard]] RuleValues valuesFor(const std::string& lease) const;
    /// Does any setting mean some leases only?
    [[nodiscard]] bool differsByLease() const;
    bool operator==(const RuleBook&) const = default;

private:
    std::vector<RuleSetting> m_settings;
};

} // namespace tenure
