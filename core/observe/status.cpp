// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/observe/status.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure
{
namespace
{

/// What each state is called, in the order of the enum.
struct StateNames {
    const char* word;
    const char* glyph;
    const char* json;
    int severity;
};

StateNames namesOf(LeaseState state)
{
    switch (state) {
    case LeaseState::Held:
        return {"HELD", "\u25CF", "held", 0};
    case LeaseState::OperatorHold:
        return {"HOLD", "\u25A0", "operator-hold", 1};
    case LeaseState::Unknown:
        return {"UNKNOWN", "\u25CC", "unknown", 2};
    case LeaseState::Late:
        return {"LATE", "\u25D0", "late", 3};
    case LeaseState::Overdue:
        return {"OVERDUE", "\u25D4", "overdue", 4};
    case LeaseState::Vacant:
        return {"VACANT", "\u25B2", "vacant", 5};
    case LeaseState::Expired:
        return {"EXPIRED", "\u25BD", "expired", 6};
    }
    return {"", "", "", 0};
}

/// Seen unchanged past its end: the fleet told so, or the last look itself came later.
bool seenToRunOut(const LeaseStatus& status, Instant now)
{
    if (!status.record.holder)
        return false;
    if (!status.led())
        return true;
    return status.expiresAt && now > *status.expiresAt + status.uncertainty
        && status.seenAt > *status.expiresAt + status.uncertainty;
}

std::string holderText(const LeaseStatus& status)
{
    return printable(status.record.holder.value_or(std::string()), 120);
}

std::string explainHeld(const LeaseStatus& status, Instant now)
{
    std::string out = " by " + holderText(status) + " for "
        + (status.holderSinceExact ? "" : "at least ") + durationText(now - status.holderSince);
    if (status.renews())
        out += "; renewed " + durationText(now - status.lastRenewalAt) + " ago";
    if (status.expiresAt)
        out += "; expires in " + durationText(std::max(*status.expiresAt - now, Duration::zero()));
    else
        out += "; no expiry is known";
    return out;
}

std::string explainLate(const LeaseStatus& status, Instant now)
{
    std::string out = ": " + durationText(now - status.lastRenewalAt)
        + " since the last renewal of " + holderText(status);
    if (status.renewInterval)
        out += ", usually " + durationText(*status.renewInterval);
    const Duration left = *status.expiresAt - now;
    if (left > Duration::zero())
        return out + "; expires in " + durationText(left);
    return out + "; should have run out " + durationText(-left) + " ago, not yet confirmed";
}

std::string explainVacant(const LeaseStatus& status, Instant now)
{
    std::string out = ": nobody leads for "
        + std::string(status.holderSinceExact ? "" : "at least ")
        + durationText(now - status.holderSince);
    const auto last = std::find_if(status.terms.rbegin(), status.terms.rend(),
        [](const TermSeen& term) { return !term.holder.empty(); });
    if (last != status.terms.rend())
        out += "; the last leader seen was " + printable(last->holder, 120);
    if (status.record.released)
        out += "; it gave the lease back";
    const std::size_t waiting = status.record.candidates.size();
    if (waiting > 0)
        out += "; " + std::to_string(waiting)
            + (waiting == 1 ? " candidate waits" : " candidates wait");
    return out;
}

} // namespace

const char* stateWord(LeaseState state)
{
    return namesOf(state).word;
}

const char* stateGlyph(LeaseState state)
{
    return namesOf(state).glyph;
}

const char* stateJson(LeaseState state)
{
    return namesOf(state).json;
}

int severity(LeaseState state)
{
    return namesOf(state).severity;
}

bool LeaseStatus::led() const
{
    return record.holder.has_value() && (terms.empty() || !terms.back().holder.empty());
}

bool LeaseStatus::renews() const
{
    return record.kind == "tenure" || renewalsSeen > 0;
}

std::size_t LeaseStatus::transitionsSince(Instant when) const
{
    const auto first = std::lower_bound(transitionTimes.begin(), transitionTimes.end(), when);
    return static_cast<std::size_t>(transitionTimes.end() - first);
}

double LeaseStatus::leastHeadroom() const
{
    double least = 1;
    for (const RenewalSeen& renewal : renewals)
        least = std::min(least, renewal.headroom);
    return least;
}

LeaseState stateAt(const LeaseStatus& status, LinkState link, Instant now)
{
    if (!isFresh(link))
        return LeaseState::Unknown;
    if (!status.record.holder)
        return status.record.hold ? LeaseState::OperatorHold : LeaseState::Vacant;
    if (seenToRunOut(status, now))
        return LeaseState::Expired;
    if (!status.expiresAt)
        return LeaseState::Held;
    const Duration safe = *status.expiresAt - status.uncertainty - now;
    if (safe <= Duration::zero())
        return LeaseState::Overdue;
    const auto ttl
        = status.record.ttl ? std::optional<Duration>(*status.record.ttl) : status.usualTtl;
    if (!ttl || !status.renews())
        return LeaseState::Held;
    if (safe < *ttl / 5)
        return LeaseState::Overdue;
    return safe < *ttl / 2 ? LeaseState::Late : LeaseState::Held;
}

std::optional<Duration> remainingAt(const LeaseStatus& status, LinkState link, Instant now)
{
    if (!isFresh(link) || !status.expiresAt)
        return std::nullopt;
    return std::max(*status.expiresAt - now, Duration::zero());
}

std::string explainState(const LeaseStatus& status, LinkState link, Instant now)
{
    const LeaseState state = stateAt(status, link, now);
    const std::string word = stateWord(state);
    switch (state) {
    case LeaseState::Unknown:
        return word + ": the connection is " + linkWord(link) + ", last seen "
            + durationText(now - status.seenAt) + " ago"
            + (status.record.holder ? ", then held by " + holderText(status)
                                    : ", then held by nobody");
    case LeaseState::Held:
        return word + explainHeld(status, now)
            + (status.record.stepDownAsked ? "; an operator asked it to step down" : "");
    case LeaseState::Late:
    case LeaseState::Overdue:
        return word + explainLate(status, now);
    case LeaseState::Expired:
        return word + ": " + holderText(status) + " did not renew and ran out "
            + durationText(status.expiresAt ? now - *status.expiresAt : Duration::zero()) + " ago";
    case LeaseState::OperatorHold:
        return word + ": nobody may lead, held by operator "
            + printable(status.record.hold->by, 120)
            + (status.expiresAt
                    ? " for " + durationText(std::max(*status.expiresAt - now, Duration::zero()))
                    : std::string());
    case LeaseState::Vacant:
        return word + explainVacant(status, now);
    }
    return word;
}

const char* transitionWord(TransitionKind kind)
{
    switch (kind) {
    case TransitionKind::Appeared:
        return "appeared";
    case TransitionKind::Acquired:
        return "acquired";
    case TransitionKind::Released:
        return "released";
    case TransitionKind::Expired:
        return "expired";
    case TransitionKind::TakenOver:
        return "taken-over";
    case TransitionKind::ForcedRelease:
        return "forced-release";
    case TransitionKind::Held:
        return "held";
    case TransitionKind::Deleted:
        return "deleted";
    }
    return "";
}

} // namespace tenure
