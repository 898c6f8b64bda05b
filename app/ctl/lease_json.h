// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/alerts.h"
#include "core/observe/status.h"

#include <string>

#include <nlohmann/json.hpp>

namespace tenure::ctl
{

/// Keys stay in the order of the contract.
using Json = nlohmann::ordered_json;

/// What a lease looks like at a moment; built once for all leases of an answer.
struct JsonContext {
    std::string backend; ///< URL without secrets
    LinkState link = LinkState::Live;
    Instant now; ///< of the same machine as `wall`
    WallTime wall; ///< to turn local moments into times
    /// Server's wall clock minus ours, where the server tells its time.
    std::optional<Duration> serverAhead;
};

/// The lease of DESIGN.md section 8: every key always there, what is absent is null.
[[nodiscard]] Json leaseJson(const JsonContext &context, const LeaseStatus &status);
[[nodiscard]] Json transitionJson(const JsonContext &context, const Transition &transition);
[[nodiscard]] Json alertJson(const JsonContext &context, const Alert &alert);
/// One line, valid UTF-8 whatever was stored.
[[nodiscard]] std::string oneLine(const Json &json);
/// As it is when it is UTF-8, else with the odd bytes as \xNN; null when empty.
[[nodiscard]] Json textJson(const std::string &text);

} // namespace tenure::ctl
