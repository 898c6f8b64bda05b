// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/election_calls.h"

#include <algorithm>

namespace tenure
{
namespace
{

Event fault(FaultClass fault)
{
    Event event;
    event.kind = Event::Kind::Fault;
    event.fault = fault;
    return event;
}

Event refused(const Reply &reply)
{
    Event event;
    event.kind = Event::Kind::Refused;
    event.epochBarrier = reply.epochBarrier;
    event.retryIn = reply.retryIn ? reply.retryIn : reply.record.remaining;
    if (reply.record.hold)
        event.retryIn = std::max<Duration>(event.retryIn.value_or(Duration::zero()), reply.record.hold->remaining);
    return event;
}

Event acquired(const Reply &reply)
{
    if (reply.outcome == Outcome::Refused)
        return refused(reply);
    if (reply.outcome != Outcome::Done)
        return fault(FaultClass::Benign);
    Event event;
    event.kind = Event::Kind::Granted;
    event.token = reply.record.token;
    return event;
}

/// A read with ReadDepth::Remaining may fill in no more than `remaining` and a placeholder for the
/// holder: any of holder, hold or time left means "taken", and only the absence of all means vacant.
Event peeked(const Reply &reply)
{
    const LeaseRecord &record = reply.record;
    if (record.holder || record.hold || record.remaining)
        return refused(reply);
    Event event;
    event.kind = Event::Kind::Vacant;
    return event;
}

Event renewed(const Reply &reply, const HolderId &holder)
{
    Event event;
    if (reply.outcome == Outcome::Done) {
        event.kind = Event::Kind::Renewed;
        if (reply.stepDown)
            event.duration = *reply.stepDown;
        return event;
    }
    if (reply.outcome != Outcome::Lost)
        return fault(FaultClass::Benign);
    event.kind = Event::Kind::Denied;
    event.otherTerm = reply.record.hold.has_value()
        || (reply.record.holder && *reply.record.holder != holder.name());
    return event;
}

} // namespace

Command commandFor(Verb verb, const Candidacy &who, const ElectionState &state, Duration awaitEnd)
{
    const Milliseconds ttl = who.rules.timing.ttl();
    const Term term{who.holder, state.nonce, state.token};
    switch (verb) {
    case Verb::Acquire:
        return Acquire{who.lease, who.holder, state.nonce, ttl, std::chrono::floor<Milliseconds>(awaitEnd),
            state.racing};
    case Verb::Renew:
        return Renew{who.lease, term, ttl};
    case Verb::Release:
        return Release{who.lease, term};
    case Verb::Peek:
    case Verb::None:
        break;
    }
    return Read{who.lease, ReadDepth::Remaining};
}

FaultClass faultOf(const Error &error, Verb verb)
{
    switch (error.kind) {
    case ErrorKind::OutcomeUnknown: // a look that was not answered left nothing behind
        return verb == Verb::Peek ? FaultClass::Transient : FaultClass::Unknown;
    case ErrorKind::Unavailable:
        switch (error.recovery) {
        case Recovery::AtOnce:
            return FaultClass::Busy;
        case Recovery::Reconnect:
            return FaultClass::Connection;
        case Recovery::Backoff:
            return FaultClass::Transient;
        }
        return FaultClass::Transient;
    case ErrorKind::Rejected:
        return FaultClass::Auth;
    case ErrorKind::Conflict:
        return FaultClass::Benign;
    case ErrorKind::Denied:
    case ErrorKind::BadConfig:
    case ErrorKind::Corrupt:
    case ErrorKind::Unsupported:
    case ErrorKind::NotFound:
        return FaultClass::Permanent;
    }
    return FaultClass::Transient;
}

Event eventFor(Verb verb, const Candidacy &who, const Result<Reply> &reply)
{
    if (!reply) {
        Event event = fault(faultOf(reply.error(), verb));
        if (reply.error().retryAfter)
            event.retryAfter = *reply.error().retryAfter;
        return event;
    }
    switch (verb) {
    case Verb::Acquire:
        return acquired(*reply);
    case Verb::Renew:
        return renewed(*reply, who.holder);
    case Verb::Release: { // Done or Lost: this term stands no more, which is all that was wanted
        Event event;
        event.kind = Event::Kind::Released;
        return event;
    }
    case Verb::Peek:
    case Verb::None:
        break;
    }
    return peeked(*reply);
}

} // namespace tenure
