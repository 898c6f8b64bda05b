// SPDX-License-Identifier: GPL-3.0-or-later
// What each event does. The steps they share are in decider.cpp.
#include "core/election/decider.h"

#include <algorithm>

namespace tenure
{
namespace detail
{

using namespace std::chrono_literals;

Actions Decider::run()
{
    if (isAnswer()) {
        if (m_event.request == 0 || m_event.request != m_state.request)
            return m_actions; // late or foreign: the attempt it belongs to was given up
        measureRoundTrip();
    }
    // Validity first, whatever the event says: after a pause or a sleep nothing that waited in a
    // queue may be believed before the clock was asked.
    checkValidity();
    if (!isAnswer() || m_event.request == m_state.request)
        dispatch();
    act();
    m_state.wakeAt = wakeAt();
    return m_actions;
}

void Decider::dispatch()
{
    switch (m_event.kind) {
    case Event::Kind::Start:
        return onStart();
    case Event::Kind::Timer:
        return onTimer();
    case Event::Kind::Granted:
        return onGranted();
    case Event::Kind::Refused:
        return onRefused();
    case Event::Kind::Vacant:
        return onVacant();
    case Event::Kind::Renewed:
        return onRenewed();
    case Event::Kind::Denied:
        return onDenied();
    case Event::Kind::Released:
        settle();
        return termIsOver();
    case Event::Kind::Fault:
        return onFault(m_event.fault);
    case Event::Kind::PushFree:
        return onPushFree();
    case Event::Kind::PushState:
        return onPushState();
    case Event::Kind::Resumed:
        return onResumed();
    case Event::Kind::HandlersDone:
        return onHandlersDone();
    case Event::Kind::ReleaseAsked:
        return onGiveBackAsked();
    case Event::Kind::StopAsked:
        m_state.stopping = true;
        return onStopOrPause();
    case Event::Kind::Pause:
        m_state.pausing = true;
        return onStopOrPause();
    case Event::Kind::Resume:
        return onResume();
    }
}

void Decider::onStart()
{
    m_state.stopping = false;
    if (m_state.phase != Phase::Idle && m_state.phase != Phase::Stopped)
        return;
    m_state.failures = 0;
    m_state.lostRaces = 0;
    m_state.notBefore = m_event.now;
    m_state.nonce = m_event.fresh;
    waitUntil(m_event.now, false);
}

void Decider::onTimer()
{
    if (m_state.inFlight != Verb::None && m_event.now >= m_state.attemptUntil)
        onFault(FaultClass::Unknown);
    if (m_state.phase == Phase::Draining && m_event.now >= m_state.drainUntil)
        giveBack();
}

void Decider::onGranted()
{
    settle();
    m_state.token = m_event.token;
    m_state.mayHold = true;
    if (m_state.stopping || m_state.pausing) {
        giveBack();
        return;
    }
    // Validity counts from before the request went out (P2); an answer so late that the work would
    // have to stop at once is not worth starting on: the same nonce extends the same term.
    const Instant validUntil = m_event.sentAt + m_timing.ttl() - m_timing.margin();
    if (m_event.now >= validUntil - m_timing.stopWindow()) {
        m_state.token = {};
        ++m_state.failures;
        waitUntil(m_event.now + backoff(), false);
        return;
    }
    m_state.validUntil = validUntil;
    m_state.phase = Phase::Leading;
    m_state.degraded = false;
    m_state.failures = 0;
    m_state.lostRaces = 0;
    m_state.expiryAt.reset();
    m_state.announced = true;
    m_state.nextTryAt = nextRenewal();
    m_actions.add({.kind = Action::Kind::AnnounceGained});
}

void Decider::onRefused()
{
    const bool acquired = m_state.inFlight == Verb::Acquire;
    // What it waited for was not what refused it: the next one comes when that is over.
    const bool mayAwait = !m_state.awaiting && !m_event.epochBarrier;
    settle();
    m_state.failures = 0;
    const bool freshRival = m_event.retryIn && *m_event.retryIn > m_timing.ttl() - m_timing.ttl() / 10;
    if (acquired && m_state.racing && freshRival && !m_event.epochBarrier)
        m_state.lostRaces = std::min(m_state.lostRaces + 1, 16);
    else if (acquired && m_state.lostRaces > 0)
        --m_state.lostRaces;
    m_state.expiryAt.reset();
    if (m_event.retryIn)
        m_state.expiryAt = m_event.now + std::clamp<Duration>(*m_event.retryIn, 0ns, 24h);
    if (m_state.freeHinted) {
        m_state.freeHinted = false;
        raceFrom(m_event.now);
    } else {
        scheduleFollow(mayAwait ? headStart() : 0ns);
    }
}

void Decider::onVacant()
{
    settle();
    m_state.failures = 0;
    m_state.expiryAt = m_event.now;
    waitUntil(m_event.now, false); // each looks at a moment of its own
    m_state.racing = true;
}

void Decider::onRenewed()
{
    settle();
    m_state.degraded = false;
    m_state.failures = 0;
    m_state.validUntil
        = std::max(m_state.validUntil, m_event.sentAt + m_timing.ttl() - m_timing.margin());
    m_state.nextTryAt = std::max(nextRenewal(), m_event.now + 1ms);
    if (m_event.duration && m_state.phase == Phase::Leading)
        startGiveBack(LossReason::SteppedDown, *m_event.duration);
}

void Decider::onDenied()
{
    const bool renewing = m_state.inFlight == Verb::Renew;
    settle();
    if (!renewing) {
        termIsOver();
        return;
    }
    // Somebody took it away and named no successor: as after a release, the others go first.
    // Otherwise who was cleared by hand would often be back before anyone else looked.
    if (!m_event.otherTerm)
        m_state.notBefore = m_event.now + m_timing.renewEvery();
    loseDefinitely(m_event.otherTerm ? LossReason::TakenOver : LossReason::Vanished);
}

void Decider::onFault(FaultClass fault)
{
    const Verb verb = m_state.inFlight;
    settle();
    m_state.awaiting = false;
    if (verb == Verb::Acquire && fault == FaultClass::Unknown)
        m_state.mayHold = true;
    m_state.degraded = m_state.phase == Phase::Leading;
    if (verb == Verb::Release && m_state.failures >= 2) {
        termIsOver(); // tried three times; the rest is the ttl's work
        return;
    }
    retryAfterFault(fault);
    ++m_state.failures;
    if (isCandidate())
        m_state.phase = fault == FaultClass::Permanent ? Phase::Failed : Phase::Waiting;
}

void Decider::onPushFree()
{
    if (m_state.phase == Phase::Attempting)
        m_state.freeHinted = true;
    else if (m_state.phase == Phase::Waiting)
        raceFrom(m_event.now);
    else if (m_state.phase == Phase::Leading && m_state.inFlight == Verb::None)
        m_state.nextTryAt = m_event.now; // ours is said to be free: a renewal tells at once
}

void Decider::onPushState()
{
    m_state.pushAlive = m_event.flag;
    if (m_state.phase != Phase::Waiting || m_state.failures > 0)
        return;
    // What happened while no push came is not known: look again soon, each at a moment of its own.
    const Instant look = m_event.now + drawn(m_event.flag ? 20ms : m_timing.ttl() / 3);
    if (look < m_state.nextTryAt)
        waitUntil(look, true);
}

void Decider::onResumed()
{
    onTimer();
    const bool mayTry = m_state.phase == Phase::Leading || m_state.phase == Phase::Draining
        || m_state.phase == Phase::Waiting;
    if (mayTry && m_state.inFlight == Verb::None) {
        m_state.nextTryAt = m_event.now;
        m_state.awaiting = false;
    }
}

void Decider::onHandlersDone()
{
    m_state.handlersRunning = false;
    if (m_state.phase == Phase::Draining)
        giveBack();
    else if (m_state.phase == Phase::Lost && m_state.mayHold)
        giveBack();
    else if (m_state.phase == Phase::Lost)
        leaveOrWait();
}

void Decider::onGiveBackAsked()
{
    const Duration stayOut = m_event.duration.value_or(m_timing.renewEvery());
    if (m_state.phase == Phase::Leading)
        startGiveBack(LossReason::GivenBack, stayOut);
    else
        m_state.notBefore = std::max(m_state.notBefore, m_event.now + stayOut);
}

void Decider::onStopOrPause()
{
    switch (m_state.phase) {
    case Phase::Leading:
        return startGiveBack(LossReason::GivenBack, 0ns);
    case Phase::Attempting:
        // The acquire under way may be granted after we stopped looking: make sure of it.
        m_state.mayHold = m_state.mayHold || m_state.inFlight == Verb::Acquire;
        settle();
        [[fallthrough]];
    case Phase::Idle:
    case Phase::Waiting:
    case Phase::Failed:
    case Phase::Paused:
        return m_state.mayHold ? giveBack() : leaveOrWait();
    case Phase::Stopped:
        m_state.pausing = false;
        return leaveOrWait();
    case Phase::Draining:
    case Phase::Releasing:
    case Phase::Lost:
        return; // leaves when the term is over and the handlers returned
    }
}

void Decider::onResume()
{
    m_state.pausing = false;
    if (m_state.phase == Phase::Paused)
        waitUntil(m_event.now, false);
}

} // namespace detail

Actions decide(const ElectionRules &rules, ElectionState &state, const Event &event)
{
    return detail::Decider(rules, state, event).run();
}

const char *phaseName(Phase phase)
{
    switch (phase) {
    case Phase::Idle:
        return "idle";
    case Phase::Waiting:
        return "waiting";
    case Phase::Attempting:
        return "attempting";
    case Phase::Leading:
        return "leading";
    case Phase::Draining:
        return "draining";
    case Phase::Releasing:
        return "releasing";
    case Phase::Lost:
        return "lost";
    case Phase::Failed:
        return "failed";
    case Phase::Paused:
        return "paused";
    case Phase::Stopped:
        return "stopped";
    }
    return "?";
}

const char *lossText(LossReason reason)
{
    switch (reason) {
    case LossReason::DeadlinePassed:
        return "no renewal was confirmed before the deadline";
    case LossReason::TakenOver:
        return "another holder stands in the backend";
    case LossReason::Vanished:
        return "the lease is no longer in the backend";
    case LossReason::SteppedDown:
        return "an operator asked to step down";
    case LossReason::GivenBack:
        return "given back";
    }
    return "?";
}

} // namespace tenure
