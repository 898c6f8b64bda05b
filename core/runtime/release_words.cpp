// SPDX-License-Identifier: GPL-3.0-or-later
// What a release by hand will do, and what it did, in words (UX.md section 9, FORMATS.md).
#include "core/backend/foreign_verbs.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/runtime/operator_gate.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

/// How the holder of a format learns that its lease is gone.
struct Notice {
    std::optional<Duration> within; ///< at the latest; nothing: never by itself
    std::string how;
};

/// A candidate of Tenure in advisory mode: it watches its own session.
bool isOurSession(const LeaseRecord &record)
{
    return record.kind == "advisory"
        && std::any_of(record.facts.begin(), record.facts.end(),
            [](const RecordFact &fact) { return fact.name == "lease"; });
}

Notice noticeOf(const LeaseStatus &status)
{
    const std::string &kind = status.record.kind;
    const Duration ttl = status.usualTtl.value_or(15s);
    const Duration renewal = status.renewInterval.value_or(ttl / 3);
    if (kind == "tenure")
        return {renewal, "is told at its next renewal, within " + durationText(renewal)};
    if (kind == "client-go") // 10 s of 15 by default; cleared, it mostly wins its own lease back
        return {ttl * 2 / 3,
            "is refused its next renewal, usually within " + durationText(renewal)
                + ": a hold makes it step down at its renew deadline, within about "
                + durationText(ttl * 2 / 3)
                + "; a lease that was cleared it usually takes again at once"};
    if (kind == "redisson")
        return {10s,
            "is not told: its watchdog stops silently within 10 s, and it learns of it when it "
            "unlocks"};
    if (kind == "redis-py")
        return {status.renews() ? std::optional(renewal) : std::nullopt,
            "gets LockNotOwnedError when it next extends or releases"};
    if (kind == "shedlock")
        return {{}, "is not told: its job goes on to its end"};
    if (kind == "spring")
        return {500ms, "takes it again with its next heartbeat, within 500 ms, unless it is held"};
    if (kind == "redbeat")
        return {renewal, "ends with LockNotOwnedError when it next extends"};
    if (kind == "resque-scheduler")
        return {renewal, "finds out in its next loop, and may take it again"};
    if (kind == "river")
        return {5s, "finds out at its next re-election, within 5 s, and stops leading"};
    if (kind == "oban")
        return {15s,
            "finds out at its next election, within 15 s; before version 2.23.1 it may go on as if "
            "it led"};
    if (kind == "pglock")
        return {5s, "finds out at its next heartbeat, within 5 s, and its context is cancelled"};
    if (kind == "vault")
        return {5s, "is refused its next renewal, within 5 s, and steps down"};
    if (isOurSession(status.record))
        return {1s, "loses its session, which it watches, and stops leading at once"};
    if (kind == "advisory")
        return {{},
            "loses its session at once, with all that the session does and holds; a client that "
            "asks nothing just then finds out at its next statement"};
    if (status.renews())
        return {renewal,
            "finds out when its next extension is refused, usually within "
                + durationText(renewal)};
    return {{}, "is not told; a client that never extends goes on as if it held the lock"};
}

std::string nameOf(const LeaseStatus &status)
{
    return printable(status.record.holder.value_or(std::string()), 120);
}

std::string tokenSentence(const LeaseStatus &status)
{
    if (isOurSession(status.record))
        return "Its fencing token is known to its holder alone: writers must reject smaller ones than "
               "they have seen";
    if (!status.record.token)
        return "This format has no fencing token: nothing stops late writes of the old holder";
    return "Writers must reject tokens up to " + std::to_string(status.record.token.value);
}

std::string raceSentence(const LeaseStatus &status)
{
    const std::size_t waiting = status.record.candidates.size();
    if (waiting == 0)
        return "No waiting candidate is known; any may take it then, " + nameOf(status)
            + " itself too";
    return std::to_string(waiting) + (waiting == 1 ? " candidate waits" : " candidates wait")
        + "; any of them may win";
}

void tellAsk(const LeaseStatus &status, Milliseconds duration, ReleaseForecast &out)
{
    if (status.record.kind == "river") {
        out.sentences.push_back(nameOf(status)
            + " is asked at once over River's own channel: it resigns, and may be elected again");
        out.sentences.emplace_back(
            "Two never lead at once: it leads until it resigns by itself; a version of River that "
            "does not know the request goes on leading");
        out.overlap = Duration::zero();
        return;
    }
    const Duration renewal = status.renewInterval.value_or(status.usualTtl.value_or(15s) / 3);
    out.sentences.push_back(nameOf(status) + " is asked at its next renewal, within "
        + durationText(renewal) + "; it drains its work, gives the lease back, and stays out for "
        + durationText(duration));
    out.sentences.push_back("Two never lead at once: it leads until it gives back by itself");
    out.sentences.emplace_back("Only holders that understand the request obey; if it hangs, it "
                               "will not answer: then hold or clear");
    out.overlap = Duration::zero();
}

void tellHold(const LeaseStatus &status, Milliseconds duration, Instant now, ReleaseForecast &out)
{
    const Duration left
        = status.expiresAt ? std::max(*status.expiresAt - now, Duration::zero()) : Duration::zero();
    out.sentences.push_back("Nobody leads for " + durationText(std::max<Duration>(duration, left))
        + ": the lease is held in your name, then candidates race for it");
    const Notice notice = noticeOf(status);
    const bool retakes = status.record.kind == "spring"; // but not from somebody else
    if (status.led())
        out.sentences.push_back(nameOf(status) + " "
            + (retakes ? "finds out at its next heartbeat, within 500 ms" : notice.how));
    if (status.led() && status.renews())
        out.sentences.push_back("Two never lead at once: the hold outlasts what " + nameOf(status)
            + " may still believe");
    if (!status.led() || notice.within)
        out.overlap = Duration::zero(); // else it works on for as long as its work lasts
}

/// What else ends with the session of an advisory lock.
void tellSession(const LeaseRecord &record, ReleaseForecast &out)
{
    if (record.kind != "advisory")
        return;
    for (const RecordFact &fact : record.facts) {
        if (fact.name == "also holds")
            out.sentences.push_back(
                "That session also holds " + printable(fact.value, 300) + ": they end with it");
        else if (fact.name == "transaction")
            out.sentences.push_back(
                "Its transaction, " + printable(fact.value, 80) + ", is rolled back");
    }
}

void tellClear(const LeaseStatus &status, Instant now, ReleaseForecast &out)
{
    if (!status.led()) {
        out.sentences.emplace_back(
            "The operator hold ends at once and candidates race for the lease");
        out.overlap = Duration::zero();
        return;
    }
    const Notice notice = noticeOf(status);
    out.sentences.push_back("The lease is free at once");
    out.sentences.push_back(nameOf(status) + " " + notice.how);
    tellSession(status.record, out);
    std::optional<Duration> overlap = notice.within;
    if (overlap && status.expiresAt)
        overlap = std::min(
            *overlap, std::max(*status.expiresAt + status.uncertainty - now, Duration::zero()));
    out.overlap = overlap;
    out.sentences.push_back(overlap
            ? "Two may lead at once for up to " + durationText(*overlap)
            : std::string("Two may lead at once for as long as its work lasts"));
}

/// What has to be so before any sentence makes sense.
std::string obstacle(const StoreTraits &traits, const LeaseStatus &status, OperatorVerb verb)
{
    const bool can = verb == OperatorVerb::Ask ? traits.canAsk
        : verb == OperatorVerb::Hold           ? traits.canHold
                                               : traits.canClear;
    std::string why = whyNotReleased(status.record, verb);
    if (!can)
        return why.empty() ? "This backend cannot do that" : why;
    if (verb == OperatorVerb::Ask && !status.led())
        return "Nobody leads: there is nobody to ask";
    if (!why.empty())
        return why;
    if (verb == OperatorVerb::Clear && !status.led() && !status.record.hold)
        return "Nobody holds it: there is nothing to clear";
    return {};
}

} // namespace

const char *outcomeWord(ReleaseOutcome outcome)
{
    switch (outcome) {
    case ReleaseOutcome::Taken:
        return "taken";
    case ReleaseOutcome::Vacant:
        return "vacant";
    case ReleaseOutcome::Reacquired:
        return "re-acquired";
    case ReleaseOutcome::Held:
        return "held";
    case ReleaseOutcome::Asked:
        return "asked";
    case ReleaseOutcome::Refused:
        return "refused";
    case ReleaseOutcome::Denied:
        return "denied";
    case ReleaseOutcome::Unknown:
        return "unknown";
    case ReleaseOutcome::Failed:
        return "failed";
    }
    return "";
}

ReleaseForecast forecastRelease(const StoreTraits &traits, const LeaseStatus &status,
    OperatorVerb verb, Milliseconds duration, Instant now)
{
    ReleaseForecast out;
    out.why = obstacle(traits, status, verb);
    out.possible = out.why.empty();
    if (!out.possible)
        return out;
    switch (verb) {
    case OperatorVerb::Ask:
        tellAsk(status, duration, out);
        break;
    case OperatorVerb::Hold:
        tellHold(status, duration, now, out);
        break;
    case OperatorVerb::Clear:
        tellClear(status, now, out);
        break;
    }
    if (status.led()) {
        out.sentences.push_back(raceSentence(status));
        out.sentences.push_back(tokenSentence(status));
    }
    if (status.lastGap)
        out.sentences.push_back(
            "The last change left it without a leader for " + durationText(*status.lastGap));
    if (!traits.linearizable && status.record.kind != "advisory")
        out.sentences.emplace_back("This store may lose acknowledged writes at a failover");
    return out;
}

} // namespace tenure
