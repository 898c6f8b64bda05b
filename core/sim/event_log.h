// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/lease/identity.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenure::sim
{

/// One thing that happened in a world.
struct LogEvent {
    enum class Kind {
        Held, ///< the store granted the lease to `node`
        Renewed,
        Released,
        Expired,
        Cleared, ///< by an operator
        Lost, ///< the store lost it (restart, failover)
        Believes, ///< `node` would answer isLeader() with yes from now on
        Doubts, ///< ... with no
        Works, ///< `node` does leader's work from now on
        Rests,
        Fault, ///< a fault begins
        Healed, ///< a fault ends
        Life, ///< an instance starts, stops, crashes
        Effect, ///< an item's effect was accepted
        Stale, ///< ... though another leader had followed
        Rejected, ///< an effect or claim was refused by its token
        Operator,
        Violation,
    };
    Duration at{};
    Kind kind = Kind::Fault;
    int node = -1; ///< which instance, -1: none
    FencingToken token;
    int item = -1;
    std::string detail; ///< a sentence, where the kind does not say all
    bool operator==(const LogEvent &) const = default;
};
[[nodiscard]] const char *kindWord(LogEvent::Kind kind);
/// One JSON line in the event record format, without a line end; the same bytes on every machine.
[[nodiscard]] std::string jsonLine(const LogEvent &event, const std::vector<std::string> &names);
/// For people: "12.4 s  A  gained, token 7".
[[nodiscard]] std::string logText(const LogEvent &event, const std::vector<std::string> &names);
/// FNV-1a over all lines, each with its line end.
[[nodiscard]] std::uint64_t logHash(
    const std::vector<LogEvent> &log, const std::vector<std::string> &names);

} // namespace tenure::sim
