// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/sound_client.h"

#include <algorithm>

namespace tenure::sim
{

SoundClient::SoundClient(const ClientTiming &timing, Plant plant, ClientHost &host)
    : m_rules{.timing = timing.timing, .drainLimit = 2 * Duration(timing.ttl)}, m_plant(plant), m_expiry(timing.expiry), m_host(host)
{
}

void SoundClient::feed(Event event)
{
    event.now = m_host.now();
    event.draw = m_host.random().uniform();
    event.fresh = Nonce(m_host.random().next(), m_host.random().next());
    const Actions actions = decide(m_rules, m_state, event);
    for (const Action &action : actions)
        perform(action);
}

void SoundClient::perform(const Action &action)
{
    switch (action.kind) {
    case Action::Kind::AnnounceGained:
        return m_host.gained();
    case Action::Kind::AnnounceLost:
        return m_host.lost(action.reason);
    case Action::Kind::AnnounceStopped:
        return m_host.stopped();
    case Action::Kind::Send:
        break;
    }
    Ask ask;
    ask.request = action.request;
    ask.nonce = m_state.nonce;
    ask.token = m_state.token;
    ask.ttl = m_rules.timing.ttl();
    ask.version = m_observed.version;
    ask.judgedOver = judgesItself() && m_observed.isOver(m_host.now());
    switch (action.verb) {
    case Verb::Acquire:
        ask.kind = Ask::Kind::Acquire;
        break;
    case Verb::Peek:
        ask.kind = Ask::Kind::Peek;
        break;
    case Verb::Renew:
        ask.kind = m_plant == Plant::RenewByName ? Ask::Kind::RenewByName : Ask::Kind::Renew;
        break;
    case Verb::Release:
        ask.kind = Ask::Kind::Release;
        break;
    case Verb::None:
        return;
    }
    m_host.send(ask);
}

Duration SoundClient::leftOf(const StoreAnswer &answer)
{
    const Instant now = m_host.now();
    if (answer.version != m_observed.version)
        m_observed = {answer.version, now, answer.ttl};
    return std::max(Duration::zero(), m_observed.since + m_observed.ttl - now);
}

void SoundClient::answered(const Ask &ask, const StoreAnswer &answer, Instant sentAt)
{
    Event event{.request = ask.request, .sentAt = sentAt};
    if (m_plant == Plant::ValidityFromReply)
        event.sentAt = m_host.now();
    event.epochBarrier = answer.epochBarrier;
    event.retryIn = answer.retryIn;
    const bool done = answer.outcome == Outcome::Done;
    std::optional<Duration> remaining = answer.remaining;
    bool held = answer.held;
    if (judgesItself()) {
        remaining = leftOf(answer);
        held = held && *remaining > Duration::zero();
        if (!done && !answer.epochBarrier)
            event.retryIn = remaining;
    }
    switch (ask.kind) {
    case Ask::Kind::Acquire:
        event.kind = done ? Event::Kind::Granted : Event::Kind::Refused;
        event.token = answer.token;
        if (done && ask.request == m_state.request)
            m_serial = answer.serial;
        break;
    case Ask::Kind::Peek:
        event.kind = held ? Event::Kind::Refused : Event::Kind::Vacant;
        event.retryIn = remaining;
        break;
    case Ask::Kind::Renew:
    case Ask::Kind::RenewByName:
        event.kind = done || m_plant == Plant::DeafToDenial ? Event::Kind::Renewed : Event::Kind::Denied;
        event.otherTerm = answer.held;
        if (answer.stepDown)
            event.duration = *answer.stepDown;
        break;
    default:
        event.kind = Event::Kind::Released;
        break;
    }
    feed(event);
}

} // namespace tenure::sim
