// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/lease/identity.h"

#include <optional>
#include <string>
#include <vector>

namespace tenure
{

/// What an operator saw of a lease, and what every write by hand is conditional on (P11).
struct Seen {
    std::string holder; ///< as the backend stores it, empty when nobody held it
    FencingToken token; ///< none for formats without one
    std::string version; ///< the backend's own evidence: the raw value, a revision, a nonce
    bool operator==(const Seen &) const = default;
};

/// An operator's hold: nobody may lead until it ends (DESIGN.md section 4).
struct OperatorHold {
    std::string by;
    Milliseconds remaining{0};
    bool operator==(const OperatorHold &) const = default;
};

/// Something about a lease that only its backend knows: {"session", "pid 4711, since 10:02:11"}.
struct RecordFact {
    std::string name; ///< one lower-case word or two
    std::string value; ///< raw bytes; display through printable()
    bool operator==(const RecordFact &) const = default;
};

/// One lease as its backend reported it in one answer. Absent means the format does not know it.
struct LeaseRecord {
    LeaseId lease;
    std::string kind = "tenure"; ///< "tenure", or whose format it is: "token", "redisson", "shedlock", ...
    std::optional<std::string> holder; ///< nothing: nobody holds it. Raw bytes; display through printable()
    Nonce nonce; ///< ours only
    FencingToken token;
    std::optional<Milliseconds> ttl; ///< granted duration
    /// Time left when the server answered, by the server's clock; negative never (expired is no
    /// holder); nothing while held means it never expires (a leaked lock) or cannot be known.
    std::optional<Duration> remaining;
    std::optional<WallTime> acquiredAt; ///< server time
    std::optional<WallTime> renewedAt; ///< server time
    std::optional<std::uint64_t> transitions;
    std::optional<OperatorHold> hold;
    bool stepDownAsked = false; ///< an operator asked this very term to step down
    bool released = false; ///< vacant because its holder gave it back, not because it ran out
    std::vector<std::string> candidates; ///< waiting, in order, where the format shows them
    std::string version; ///< goes into Seen::version
    std::string raw; ///< the stored value(s), for the raw view; capped by the backend
    std::string note; ///< what is odd about it ("no expiry: a leaked lock"), one sentence
    std::vector<RecordFact> facts; ///< its place in the backend, in the order to be shown

    [[nodiscard]] Seen seen() const { return {holder.value_or(std::string()), token, version}; }
    bool operator==(const LeaseRecord &) const = default;
};

} // namespace tenure
