// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/observe/look.h"

#include <algorithm>

namespace tenure
{
namespace
{

std::string nameText(const std::string& holder)
{
    return printable(holder, 120);
}

/// "14:23:45.1" of a server's clock.
std::string momentText(WallTime time)
{
    return rfc3339(time).substr(11, 10);
}

std::string tokenText(FencingToken token)
{
    return token ? " (token " + std::to_string(token.value) + ")" : std::string();
}

/// "stopped renewing at 14:23:45.1, expired 15.0 s later": as far as the looks prove it.
std::string silenceText(const LeaseStatus& status)
{
    const auto ttl
        = status.record.ttl ? std::optional<Duration>(*status.record.ttl) : status.usualTtl;
    if (!status.renews() || !ttl)
        return "ran out unrenewed";
    std::string when;
    if (status.record.renewedAt)
        when = " at " + momentText(*status.record.renewedAt);
    // Only a look after a renewal was due proves that it stopped; else it may have renewed once
    // more.
    const Duration usual = status.renewInterval.value_or(*ttl / 3);
    const bool proven = status.seenAt - status.lastRenewalAt > usual + usual / 4;
    std::string out = (proven ? "stopped renewing" : "was last seen renewing") + when;
    const Duration life = status.expiresAt ? *status.expiresAt - status.lastRenewalAt : *ttl;
    return out + ", expired " + durationText(std::max(life, Duration::zero())) + " later";
}

/// Changes of the holder that happened between two looks without being seen, by the backend's
/// count.
std::uint64_t unseenChanges(const LeaseStatus& status, const Look& look, const Transition& t)
{
    const auto before = status.record.transitions;
    const auto now = look.record().transitions;
    if (!before || !now || *now <= *before)
        return 0;
    const std::uint64_t counted = *now - *before;
    const std::uint64_t expected = t.oldHolder == t.newHolder ? 0 : 1;
    return counted > expected ? counted - expected : 0;
}

std::string unseenText(const LeaseStatus& status, const Look& look, const Transition& t)
{
    const std::uint64_t n = unseenChanges(status, look, t);
    if (n == 0)
        return {};
    return "; at least " + std::to_string(n) + (n == 1 ? " change" : " changes")
        + " more happened between two looks";
}

std::string leftText(const LeaseStatus& status, Instant at)
{
    if (!status.expiresAt)
        return {};
    const Duration left = *status.expiresAt - at;
    return left > Duration::zero() ? " with " + durationText(left) + " left" : std::string();
}

} // namespace

std::string appearedText(const Look& look)
{
    const LeaseRecord& now = look.record();
    if (look.onHold())
        return "first seen, held by operator " + nameText(now.hold->by);
    if (!look.held())
        return "first seen, nobody leads";
    std::string out = "first seen, held by " + nameText(*now.holder) + tokenText(now.token);
    if (now.acquiredAt)
        out += " since " + momentText(*now.acquiredAt);
    return out
        + (now.remaining ? ", " + durationText(*now.remaining) + " left" : ", no expiry is known");
}

std::string acquiredText(const LeaseStatus& status, const Look& look, const Transition& t)
{
    std::string out;
    if (status.led() || (t.oldHolder == t.newHolder && !t.oldHolder.empty())) {
        out = nameText(t.newHolder) + " began a new term" + tokenText(t.token);
    } else {
        out = "taken by " + nameText(t.newHolder) + tokenText(t.token);
    }
    if (t.gap)
        out += " after " + durationText(*t.gap) + " without a leader";
    return out + unseenText(status, look, t);
}

std::string takenOverText(const LeaseStatus& status, const Look& look, const Transition& t)
{
    const std::string taken = ", taken over by " + nameText(t.newHolder) + tokenText(t.token);
    std::string out = nameText(t.oldHolder) + " ";
    if (t.gap)
        return out + silenceText(status) + taken + " after " + durationText(*t.gap)
            + unseenText(status, look, t);
    const std::string asked = status.record.stepDownAsked ? " as an operator had asked" : "";
    return out + "gave it back or was cleared" + asked + leftText(status, t.at) + taken
        + unseenText(status, look, t);
}

std::string endedText(const LeaseStatus& status, const Look& look, const Transition& t)
{
    const std::string who = nameText(t.oldHolder);
    switch (t.kind) {
    case TransitionKind::Released:
        if (!look.record().released)
            return who + " is gone" + leftText(status, t.at)
                + ": given back or deleted, the format does not tell";
        return who + " gave it back" + leftText(status, t.at)
            + (status.record.stepDownAsked ? ", as an operator had asked" : "");
    case TransitionKind::ForcedRelease:
        return who + " was cleared by hand" + leftText(status, t.at);
    case TransitionKind::Deleted:
        return "the backend no longer knows this lease, last held by " + who
            + leftText(status, t.at) + ": deleted, or its server lost its data";
    default:
        return expiredText(status);
    }
}

std::string expiredText(const LeaseStatus& status)
{
    return nameText(status.record.holder.value_or(std::string())) + " " + silenceText(status);
}

std::string heldText(const LeaseStatus& status, const Look& look)
{
    const OperatorHold& hold = *look.record().hold;
    std::string out = "held by operator " + nameText(hold.by) + " for "
        + durationText(hold.remaining) + ": nobody may lead meanwhile";
    if (status.led())
        out += "; " + nameText(*status.record.holder) + " must step down";
    return out;
}

} // namespace tenure
