// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/record.h"
#include "core/observe/link.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tenure
{

/// One look at one lease.
struct Observation {
    LeaseRecord record;
    bool absent = false; ///< the backend knows no such lease (any more)
    std::optional<WallTime> serverTime;
    Duration roundTrip{}; ///< of the call that brought it
    Instant receivedAt; ///< `sentAt` is receivedAt - roundTrip
};

/// UX.md section 1. Late: no renewal for more than half the ttl; Overdue: past the usual renew
/// deadline (4/5 ttl); Expired: seen unchanged past its ttl while the link was fresh.
enum class LeaseState { Held, Late, Overdue, Expired, Vacant, OperatorHold, Unknown };

[[nodiscard]] const char* stateWord(LeaseState state); ///< "HELD" ... "HOLD" "UNKNOWN"
[[nodiscard]] const char* stateGlyph(LeaseState state); ///< UTF-8, one per state, different shapes
[[nodiscard]] const char* stateJson(LeaseState state); ///< "held" ... "operator-hold" "unknown"
[[nodiscard]] int severity(LeaseState state); ///< larger is worse; Held is 0

/// A renewal that was seen.
struct RenewalSeen {
    Instant at; ///< local moment
    Duration interval{}; ///< since the one before; zero for the first of a term
    double headroom = 1; ///< share of the ttl that was left when it came
    bool late = false;
};

/// One reign as far as it was observed, for the terms swimlane.
struct TermSeen {
    std::string holder; ///< empty: nobody led
    FencingToken token;
    Instant from;
    std::optional<Instant> until; ///< open: still so
    bool observedStart = true; ///< false: it was so when we first looked
    bool operatorHold = false;
};

/// A stretch of time in which nobody looked.
struct BlindSpot {
    Instant from, until;
};

/// All that is known of one lease. A value; ages only through the functions below.
struct LeaseStatus {
    LeaseRecord record;
    Instant seenAt; ///< last observation
    Duration roundTrip{};
    Instant firstSeenAt;
    /// Local moment at which it runs out, as the middle of the uncertainty; nothing when it never
    /// does or cannot be known.
    std::optional<Instant> expiresAt;
    Duration uncertainty{}; ///< plus or minus: half a round trip
    Instant lastRenewalAt; ///< local moment of the last change seen, or by the server's renewedAt
    Instant holderSince; ///< local moment since which holder (or nobody) is so
    bool holderSinceExact = false; ///< by server time or seen happening; false: at least since then
    std::optional<Duration> lastGap; ///< time without a leader before the present term
    std::optional<Duration> renewInterval; ///< usual, median of those seen
    std::uint64_t renewalsSeen = 0;
    std::uint64_t missedRenewals = 0;
    std::deque<RenewalSeen> renewals; ///< last 60
    std::deque<TermSeen> terms; ///< last 64
    std::deque<BlindSpot> blind; ///< last 16
    std::deque<Instant> transitionTimes; ///< of holder changes, last 64
    std::uint64_t transitionsSeen = 0; ///< in this session
    bool churning = false; ///< marked by the churn rule
    bool absent = false; ///< the backend knows no such lease any more
    /// Usual life of a grant: the record's ttl, or for formats without one the longest time left
    /// that was seen at a renewal. Outlives the term, so that a vacancy can be measured against it.
    std::optional<Duration> usualTtl;

    /// Somebody leads as far as is known: a holder that was not seen to run out.
    [[nodiscard]] bool led() const;
    /// Does this holder renew at all? A one-shot lock of somebody else's is never late.
    [[nodiscard]] bool renews() const;

    [[nodiscard]] std::size_t transitionsSince(Instant when) const;
    /// Least headroom of the renewals kept; 1 when none.
    [[nodiscard]] double leastHeadroom() const;
};

[[nodiscard]] LeaseState stateAt(const LeaseStatus& status, LinkState link, Instant now);
/// Time left, never negative; nothing when unknown, vacant or the link is not fresh.
[[nodiscard]] std::optional<Duration> remainingAt(
    const LeaseStatus& status, LinkState link, Instant now);
/// The present state in a sentence from the evidence: "LATE: 7.9 s since the last renewal, usually
/// 5.0 s; expires in 4.1 s".
[[nodiscard]] std::string explainState(const LeaseStatus& status, LinkState link, Instant now);

enum class TransitionKind {
    Appeared,
    Acquired,
    Released,
    Expired,
    TakenOver,
    ForcedRelease,
    Held,
    Deleted
};
[[nodiscard]] const char* transitionWord(
    TransitionKind kind); ///< "appeared", "taken-over", "forced-release" ...

/// One change of a lease's leadership.
struct Transition {
    std::uint64_t number = 0; ///< counts up in one Fleet
    LeaseId lease;
    TransitionKind kind = TransitionKind::Appeared;
    std::string oldHolder; ///< empty: nobody
    std::string newHolder; ///< empty: nobody
    FencingToken token; ///< of the new term, or of the one that ended
    std::optional<WallTime> serverTime;
    Instant at; ///< local moment, as good as it is known
    WallTime wall; ///< this machine's wall clock, for display where the server gave no time
    std::optional<Duration> gap; ///< time without a leader before it
    bool inBlindSpot = false; ///< happened while nobody looked: order and count are not certain
    std::string explanation; ///< a sentence from the evidence
};

} // namespace tenure
