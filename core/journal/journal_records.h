// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/alerts.h"
#include "core/observe/status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenure
{

/// A lease's identity in the journal: one name on two connections is two leases.
struct LeaseKey {
    std::string connection; ///< the connection's stable id
    LeaseId lease;
    auto operator<=>(const LeaseKey&) const = default;
};

/// What the journal knows of a connection.
struct JournalConnection {
    std::string id; ///< stable: a profile's id, or for tenurectl the URL without secrets
    std::string name; ///< what people call it
    std::string url; ///< without secrets
    bool operator==(const JournalConnection&) const = default;
};

// All moments of the journal are read from the clock of the one machine that wrote it, so they can
// be compared with each other; a server's own time stands beside them as it was told and is compared
// with nothing. `id` counts up in the order in which things were learnt.

/// One transition as it was journaled.
struct JournalEvent {
    std::uint64_t id = 0;
    LeaseKey lease;
    WallTime at; ///< when it happened, by the writer's clock
    std::optional<WallTime> serverTime;
    TransitionKind kind = TransitionKind::Appeared;
    std::string oldHolder; ///< empty: nobody
    std::string newHolder; ///< empty: nobody
    FencingToken token;
    std::optional<Duration> gap; ///< time without a leader before it
    bool inBlindSpot = false;
    std::string explanation;
    bool operator==(const JournalEvent&) const = default;
};

/// What an operator did. An intent is written before, its outcome after; `intent` of the outcome is
/// the intent's id. Hash-chained: `hash` covers every field and the hash of the action before.
struct JournalAction {
    std::uint64_t id = 0;
    std::uint64_t intent = 0; ///< 0: this is an intent, or an action without outcome
    WallTime at;
    std::string by;
    LeaseKey lease; ///< no lease: the connection
    std::string verb; ///< "release", "hold", "clear", "operator-on", "acknowledge", ...
    std::string expected; ///< "sched-7f9c/118": what had to be so
    std::string reason;
    std::string outcome; ///< "taken", "refused", ...; empty for an intent
    std::string sentence; ///< of the outcome
    std::string hash;
    bool operator==(const JournalAction&) const = default;
};

/// One step in the life of an alert.
struct AlertStep {
    WallTime at;
    AlertState state = AlertState::Firing;
    std::string by; ///< empty: the rules
    std::string reason; ///< of a shelving
    std::optional<WallTime> until; ///< of a shelving
    bool operator==(const AlertStep&) const = default;
};

/// One alert and what became of it.
struct JournalAlert {
    std::uint64_t id = 0;
    LeaseKey lease; ///< no lease: the connection
    std::string rule;
    int priority = 2;
    AlertState state = AlertState::Firing;
    std::string text, action;
    WallTime firstAt, lastAt;
    std::uint64_t count = 1;
    std::vector<AlertStep> steps; ///< oldest first
};

} // namespace tenure
