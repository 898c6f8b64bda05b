// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/store.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenure
{

/// Somebody whose acquire was refused.
struct RowCandidate {
    std::string holder;
    Instant lastTry;
    Milliseconds ttl{}; ///< shown while it tried within twice this
};

/// All that an embedded backend (memory, sqlite) keeps of one lease. Rows are never deleted, so that
/// tokens only grow. Moments are the backend's boot clock; wall times are for display.
struct LeaseRow {
    std::string holder; ///< of the present or the last term; "hold:<by>" after a hold
    Nonce nonce;
    FencingToken token; ///< the last one granted
    Milliseconds ttl{};
    Instant expiresAt; ///< also the moment of a release: held means now < expiresAt
    WallTime acquiredAt;
    WallTime renewedAt;
    std::uint64_t transitions = 0; ///< how often another holder followed
    bool released = false; ///< the last term was given back by its holder
    std::string holdBy;
    Instant holdUntil;
    bool asked = false; ///< the present term was asked to step down ...
    Milliseconds askedFor{}; ///< ... and to stay out this long after its end
    std::string outHolder; ///< asked earlier: refused until `outUntil`
    Instant outUntil;
    std::vector<RowCandidate> candidates; ///< in order of their first try

    [[nodiscard]] bool held(Instant now) const { return now < expiresAt; }
    [[nodiscard]] bool onHold(Instant now) const { return now < holdUntil; }
};

/// The moment at which a command is carried out, read while the row is locked.
struct RowTime {
    Instant now;
    WallTime wall;
};

enum class RowChange {
    None, ///< nothing to store
    Candidates, ///< only who waits
    Changed,
    Released, ///< it is free now
};

struct RowReply {
    Reply reply;
    RowChange change = RowChange::None;
};

/// What makes `command` impossible whatever is stored: an empty name, a duration that is not between
/// 1 ms and the ceiling, a format that is not ours. The rules below rely on it being checked first.
[[nodiscard]] std::optional<Error> problemOf(
    const Command &command, const TimingLimits &limits, const std::string &where);

// The verbs of store.h as pure functions on one row. `tokenFloor`: a new token is larger than this.
[[nodiscard]] RowReply acquireRow(
    LeaseRow &row, const Acquire &command, const RowTime &time, FencingToken tokenFloor = {});
[[nodiscard]] RowReply renewRow(LeaseRow &row, const Renew &command, const RowTime &time);
[[nodiscard]] RowReply releaseRow(LeaseRow &row, const Release &command, const RowTime &time);
[[nodiscard]] Result<RowReply> operateRow(
    LeaseRow &row, const Operate &command, const RowTime &time, FencingToken tokenFloor = {});
[[nodiscard]] LeaseRecord recordOf(
    const LeaseId &lease, const LeaseRow &row, const RowTime &time, ReadDepth depth = ReadDepth::Full);

} // namespace tenure
