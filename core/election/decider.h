// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/election/election.h"

namespace tenure::detail
{

/// One call of decide(): the rules, the state being changed and the actions gathered. Inside
/// core/election only.
class Decider
{
public:
    Decider(const ElectionRules &rules, ElectionState &state, const Event &event)
        : m_rules(rules), m_timing(rules.timing), m_state(state), m_event(event)
    {
    }
    Actions run();

private:
    // Events
    void onStart();
    void onTimer();
    void onGranted();
    void onRefused();
    void onVacant();
    void onRenewed();
    void onDenied();
    void onFault(FaultClass fault);
    void onPushFree();
    void onPushState();
    void onResumed();
    void onHandlersDone();
    void onGiveBackAsked();
    void onStopOrPause();
    void onResume();

    // Steps
    void dispatch();
    void checkValidity();
    void act();
    void send(Verb verb);
    void settle();
    void retryAfterFault(FaultClass fault);
    void scheduleFollow(Duration early);
    void announceLost(LossReason reason);
    void loseDefinitely(LossReason reason);
    void startGiveBack(LossReason reason, Duration stayOut);
    void giveBack();
    void termIsOver();
    void leaveOrWait();
    void waitUntil(Instant when, bool peek);
    void raceFrom(Instant free, Duration early = {});
    void measureRoundTrip();
    [[nodiscard]] bool isAnswer() const;
    [[nodiscard]] bool isCandidate() const;
    [[nodiscard]] bool holdsTerm() const;
    [[nodiscard]] Instant deadline() const { return m_state.validUntil - m_timing.stopWindow(); }
    [[nodiscard]] Duration attemptTimeout() const;
    [[nodiscard]] Duration raceWindow() const;
    [[nodiscard]] Duration headStart() const;
    [[nodiscard]] Duration backoff() const;
    [[nodiscard]] Duration drawn(Duration window) const;
    [[nodiscard]] Instant nextRenewal() const;
    [[nodiscard]] Instant wakeAt() const;

    const ElectionRules &m_rules;
    const Timing &m_timing;
    ElectionState &m_state;
    const Event &m_event;
    Actions m_actions;
};

} // namespace tenure::detail
