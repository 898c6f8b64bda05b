// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/release_watch.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

namespace tenure
{
namespace
{

std::string termText(const LeaseRecord& record)
{
    std::string out = printable(record.holder.value_or(std::string()), 120);
    if (record.token)
        out += " (token " + std::to_string(record.token.value) + ")";
    return out;
}

/// The very term that was released still stands.
bool isExpectedTerm(const ReleasePlan& plan, const LeaseRecord& now)
{
    return now.holder && *now.holder == plan.expected.holder && now.token == plan.expected.token
        && now.version == plan.expected.version;
}

const char* doneWord(OperatorVerb verb)
{
    switch (verb) {
    case OperatorVerb::Ask:
        return "Asked to step down";
    case OperatorVerb::Hold:
        return "Held";
    case OperatorVerb::Clear:
        return "Released";
    }
    return "";
}

} // namespace

std::string changedText(const LeaseRecord& now)
{
    const std::string nothing = ". Nothing was changed";
    if (now.holder)
        return "Refused: it changed since you looked, now held by " + termText(now) + nothing;
    if (now.hold)
        return "Refused: it changed since you looked, now held by operator "
            + printable(now.hold->by, 120) + nothing;
    return "Refused: it changed since you looked, now nobody holds it" + nothing;
}

bool wasCarriedOut(const ReleasePlan& plan, const LeaseRecord& now)
{
    switch (plan.verb) {
    case OperatorVerb::Ask:
        return !isExpectedTerm(plan, now) || now.stepDownAsked;
    case OperatorVerb::Hold:
        return now.hold && now.hold->by == plan.by
            && (now.token != plan.expected.token || now.version != plan.expected.version);
    case OperatorVerb::Clear:
        return plan.expected.holder.empty() ? !now.hold : !isExpectedTerm(plan, now);
    }
    return false;
}

ReleaseOutcome expectedOutcome(OperatorVerb verb)
{
    switch (verb) {
    case OperatorVerb::Ask:
        return ReleaseOutcome::Asked;
    case OperatorVerb::Hold:
        return ReleaseOutcome::Held;
    case OperatorVerb::Clear:
        return ReleaseOutcome::Vacant;
    }
    return ReleaseOutcome::Unknown;
}

ReleaseWatch::ReleaseWatch(const ReleasePlan& plan, Instant written)
    : m_plan(plan), m_written(written)
{
    m_report.outcome = ReleaseOutcome::Unknown;
    m_report.sentence = std::string(doneWord(plan.verb)) + ", not looked at yet";
    m_report.final = false;
}

bool ReleaseWatch::take(const LeaseRecord& now, Instant at)
{
    const ReleaseReport before = m_report;
    m_report.record = now;
    m_report.error.reset();
    m_report.after = at - m_written;
    const std::string after = " after " + durationText(m_report.after);
    const std::string by = printable(m_plan.expected.holder, 120);
    if (now.hold) {
        m_decided = m_plan.verb == OperatorVerb::Hold;
        tell(ReleaseOutcome::Held,
            "the hold of " + printable(now.hold->by, 120) + " stands for "
                + durationText(now.hold->remaining));
    } else if (!now.holder) {
        tell(ReleaseOutcome::Vacant,
            m_plan.verb == OperatorVerb::Ask ? by + " gave it back, still vacant" : "still vacant");
    } else if (isExpectedTerm(m_plan, now)) {
        tell(m_plan.verb == OperatorVerb::Ask ? ReleaseOutcome::Asked : ReleaseOutcome::Unknown,
            by + " still leads");
    } else if (*now.holder == m_plan.expected.holder) {
        m_decided = true;
        tell(ReleaseOutcome::Reacquired,
            "re-acquired by " + termText(now) + after
                + "; it is healthy enough to renew: stop it, then release");
    } else {
        m_decided = true;
        tell(ReleaseOutcome::Taken, "taken by " + termText(now) + after);
    }
    return m_decided || m_report.outcome != before.outcome || before.error.has_value();
}

bool ReleaseWatch::takeError(const Error& error, Instant at)
{
    const bool fresh = !m_report.error;
    m_report.after = at - m_written;
    m_report.error = error;
    m_report.sentence
        = std::string(doneWord(m_plan.verb)) + "; what came of it is not known: " + error.text();
    m_report.outcome = ReleaseOutcome::Unknown;
    return fresh;
}

void ReleaseWatch::tell(ReleaseOutcome outcome, const std::string& what)
{
    m_report.outcome = outcome;
    m_report.sentence = std::string(doneWord(m_plan.verb)) + ", " + what;
}

} // namespace tenure
