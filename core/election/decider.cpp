// SPDX-License-Identifier: GPL-3.0-or-later
// The steps that the events share: validity, sending, waiting, giving back.
#include "core/election/decider.h"

#include <algorithm>
#include <utility>

namespace tenure::detail
{

using namespace std::chrono_literals;

bool Decider::isAnswer() const
{
    switch (m_event.kind) {
    case Event::Kind::Granted:
    case Event::Kind::Refused:
    case Event::Kind::Vacant:
    case Event::Kind::Renewed:
    case Event::Kind::Denied:
    case Event::Kind::Released:
    case Event::Kind::Fault:
        return true;
    default:
        return false;
    }
}

bool Decider::isCandidate() const
{
    return m_state.phase == Phase::Waiting || m_state.phase == Phase::Attempting
        || m_state.phase == Phase::Failed;
}

bool Decider::holdsTerm() const
{
    return m_state.phase == Phase::Leading || m_state.phase == Phase::Draining;
}

void Decider::measureRoundTrip()
{
    if (m_event.kind == Event::Kind::Fault || m_event.sentAt == Instant() || m_state.awaiting)
        return;
    const Duration sample = std::clamp<Duration>(m_event.now - m_event.sentAt - m_event.settingUp, 0ns, 1h);
    // Down at once, up slowly: the first answer on a connection is slow and says little about the next.
    const bool better = m_state.roundTrip == 0ns || sample < m_state.roundTrip;
    m_state.roundTrip = better ? sample : (sample + 3 * m_state.roundTrip) / 4;
}

/// P5 and the hard end: what the clock alone says about the present term.
void Decider::checkValidity()
{
    if (m_state.phase == Phase::Leading && m_event.now >= deadline()) {
        settle(); // an answer that comes now comes too late
        announceLost(LossReason::DeadlinePassed);
        m_state.phase = Phase::Lost;
    } else if (m_state.phase == Phase::Draining && m_event.now >= m_state.validUntil) {
        settle();
        m_state.phase = Phase::Lost;
        if (!m_state.handlersRunning)
            giveBack();
    }
}

/// Does what is due now.
void Decider::act()
{
    if (m_state.inFlight != Verb::None)
        return;
    const bool due = m_event.now >= m_state.nextTryAt;
    if (holdsTerm() && due)
        send(Verb::Renew);
    else if (m_state.phase == Phase::Releasing && due)
        send(Verb::Release);
    else if (isCandidate() && due && m_event.now >= m_state.notBefore) {
        const bool runOut = m_state.expiryAt && m_event.now >= *m_state.expiryAt;
        m_state.racing = m_state.racing || runOut;
        m_state.phase = Phase::Attempting;
        send(m_state.nextIsPeek && !runOut ? Verb::Peek : Verb::Acquire);
    }
}

/// A new connection takes up to three round trips with TLS, and an acquire may take two more: over a slow
/// line an attempt that had to connect would else be given up, connection and all, just before its answer.
Duration Decider::attemptTimeout() const
{
    const Duration toConnectAndAsk = std::min<Duration>(5 * m_state.roundTrip, m_timing.ttl() / 3);
    return std::max(m_timing.attemptTimeout(), toConnectAndAsk);
}

void Decider::send(Verb verb)
{
    Duration timeout = attemptTimeout();
    if (verb == Verb::Renew) // room for another try before validity ends
        timeout = std::max<Duration>(1ms, std::min((m_state.validUntil - m_event.now) / 2, timeout));
    m_state.inFlight = verb;
    m_state.request = ++m_state.lastRequest;
    m_state.attemptUntil = m_event.now + timeout;
    m_state.awaiting = m_state.awaiting && verb == Verb::Acquire;
    m_actions.add({.kind = Action::Kind::Send, .verb = verb, .request = m_state.request, .timeout = timeout,
        .awaitEnd = m_state.awaiting ? m_rules.awaitsEnd : 0ns});
}

/// Nothing is in flight any more; an answer that still comes is foreign.
void Decider::settle()
{
    m_state.inFlight = Verb::None;
    m_state.request = 0;
}

void Decider::retryAfterFault(FaultClass fault)
{
    const bool first = m_state.failures == 0;
    Duration delay = backoff();
    if (fault == FaultClass::Benign && first)
        delay = 0ns;
    else if (fault == FaultClass::Busy)
        delay = drawn(std::min<Duration>(20ms, m_timing.attemptTimeout()));
    else if (fault == FaultClass::Connection && first)
        delay = drawn(2ms);
    else if (fault == FaultClass::Permanent && !holdsTerm())
        delay = std::max<Duration>(m_timing.ttl(), 2s);
    if (m_event.kind == Event::Kind::Fault && m_event.retryAfter)
        delay = std::max<Duration>(delay, std::min<Duration>(*m_event.retryAfter, 24h));
    m_state.nextTryAt = m_event.now + delay;
}

/// A refused candidate waits for the holder's end. It peeks (the cheapest call) shortly before, so
/// that a healthy leader costs one peek a term length, and acquires only when the end really comes.
void Decider::scheduleFollow(Duration early)
{
    const Duration poll = m_state.pushAlive ? Duration(m_timing.ttl()) : Duration(m_timing.ttl()) / 3;
    if (!m_state.expiryAt)
        return waitUntil(m_event.now + poll / 2 + drawn(poll / 2), true);
    const Duration leadIn = std::max<Duration>(m_timing.ttl() / 10, 3 * m_state.roundTrip);
    Instant peekAt = std::min(*m_state.expiryAt - leadIn, m_event.now + poll);
    if (m_event.settingUp > 0ns) // one look more tells how long a round trip really takes here
        peekAt = std::min<Instant>(peekAt, m_event.now + 10ms + drawn(40ms));
    if (!m_event.epochBarrier && peekAt > m_event.now)
        waitUntil(peekAt, true);
    else
        raceFrom(*m_state.expiryAt, early);
}

void Decider::announceLost(LossReason reason)
{
    if (!m_state.announced)
        return;
    m_state.announced = false;
    m_state.handlersRunning = true;
    m_actions.add({.kind = Action::Kind::AnnounceLost, .reason = reason});
}

/// The backend said so: not the leader from this very moment.
void Decider::loseDefinitely(LossReason reason)
{
    m_state.validUntil = std::min(m_state.validUntil, m_event.now);
    m_state.token = {};
    m_state.mayHold = false;
    m_state.nonce = m_event.fresh;
    announceLost(reason);
    m_state.phase = Phase::Lost;
    if (!m_state.handlersRunning)
        leaveOrWait();
}

/// By our own wish: the work is told to stop, and renewing goes on until it did.
void Decider::startGiveBack(LossReason reason, Duration stayOut)
{
    m_state.stayOut = std::clamp<Duration>(stayOut, 0ns, 24h);
    m_state.drainUntil = m_event.now + m_rules.drainLimit;
    announceLost(reason);
    m_state.phase = Phase::Draining;
}

void Decider::giveBack()
{
    settle();
    m_state.validUntil = std::min(m_state.validUntil, m_event.now);
    m_state.failures = 0;
    m_state.phase = Phase::Releasing;
    m_state.nextTryAt = m_event.now;
}

void Decider::termIsOver()
{
    m_state.token = {};
    m_state.mayHold = false;
    m_state.nonce = m_event.fresh;
    m_state.failures = 0;
    // From here and not from the wish: a long drain must not use up the others' chance.
    m_state.notBefore = m_event.now + std::exchange(m_state.stayOut, 0ns);
    if (m_state.handlersRunning)
        m_state.phase = Phase::Lost;
    else
        leaveOrWait();
}

void Decider::leaveOrWait()
{
    if (m_state.stopping) {
        m_state.phase = Phase::Stopped;
        m_actions.add({.kind = Action::Kind::AnnounceStopped});
    } else if (m_state.pausing) {
        m_state.phase = Phase::Paused;
    } else {
        m_state.expiryAt.reset();
        waitUntil(m_event.now, false);
    }
}

void Decider::waitUntil(Instant when, bool peek)
{
    m_state.phase = Phase::Waiting;
    m_state.nextTryAt = when;
    m_state.nextIsPeek = peek;
    m_state.racing = false;
    m_state.awaiting = false;
}

/// Acquires what is free from then on, for all that wait; so much `early`, it waits there.
void Decider::raceFrom(Instant free, Duration early)
{
    waitUntil(free - early + drawn(raceWindow()), false);
    m_state.racing = true;
    m_state.awaiting = early > 0ns;
}

/// Aims at the middle of the time that the backend lets it wait, and leaves the attempt time to answer.
/// Many rivals spread their tries instead: waiting there, all of them would wake at the same moment.
Duration Decider::headStart() const
{
    if (m_state.lostRaces > 1)
        return 0ns;
    return std::min<Duration>(m_rules.awaitsEnd / 2, m_timing.attemptTimeout() / 4);
}

/// How far tries of several candidates are spread: a round trip for each rival inferred. Nobody waits
/// for rivals that never showed: the first race of many costs each a refusal, and spreads them.
Duration Decider::raceWindow() const
{
    const Duration cap = std::min<Duration>(1s, m_timing.ttl() / 10);
    return std::min(m_state.roundTrip * m_state.lostRaces, cap);
}

/// Exponential with full jitter (AWS architecture blog, "Exponential backoff and jitter").
Duration Decider::backoff() const
{
    const Duration cap = m_timing.renewEvery() / 2;
    const Duration first = std::min<Duration>(100ms, m_timing.ttl() / 50);
    const Duration grown = first * (1LL << std::min(m_state.failures, 10));
    return drawn(std::min(grown, cap));
}

Duration Decider::drawn(Duration window) const
{
    return Duration(static_cast<Duration::rep>(static_cast<double>(window.count()) * m_event.draw));
}

Instant Decider::nextRenewal() const
{
    const Duration every = m_timing.renewEvery();
    return m_event.sentAt + every - every / 10 + drawn(every / 5);
}

Instant Decider::wakeAt() const
{
    Instant wake = Instant::max();
    if (m_state.inFlight != Verb::None)
        wake = m_state.attemptUntil;
    else if (isCandidate())
        wake = std::max(m_state.nextTryAt, m_state.notBefore);
    else if (holdsTerm() || m_state.phase == Phase::Releasing)
        wake = m_state.nextTryAt;
    if (m_state.phase == Phase::Leading)
        wake = std::min(wake, deadline());
    if (m_state.phase == Phase::Draining)
        wake = std::min({wake, m_state.validUntil, m_state.drainUntil});
    return wake;
}

} // namespace tenure::detail
