// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold after every step, and the faults that try to break it.
#include "core/sim/world_node.h"

#include <algorithm>

namespace tenure::sim
{

using namespace std::chrono_literals;

void World::checkStep()
{
    std::string believers;
    for (const auto &node : m_nodes) {
        ElectionState &state = node->state;
        if (believes(*node)) {
            believers += believers.empty() ? node->name : " and " + node->name;
            if (!state.token)
                violated("P2: " + node->name + " believes without a token");
        }
        // P2: within one term validity only grows, but for giving up at once.
        const bool sameTerm = state.token == node->lastToken && state.token;
        const bool gaveUp = state.validUntil <= localNow(*node);
        if (node->up && sameTerm && state.validUntil < node->lastValid && !gaveUp)
            violated("P2: validity of " + node->name + " shrank");
        node->lastToken = state.token;
        node->lastValid = state.validUntil;
        // P5: an awake elector has told the loss before its validity ends.
        const bool awake = m_now >= node->pausedUntil + 1ms;
        if (node->up && awake && node->leads && localNow(*node) >= state.validUntil)
            violated("P5: " + node->name + " was not told before validity ended");
    }
    if (believers.find(" and ") != std::string::npos)
        violated("P1: " + believers + " both believe");
}

/// P4: a write touches only the very term it means.
void World::checkWrite(const Packet &packet, const LeaseRecord &before, const LeaseRecord &after)
{
    const bool held = before.holder.has_value();
    const bool sameTerm = held && after.holder && before.token == after.token;
    if (packet.verb == Verb::Renew) {
        const Term &term = std::get<Renew>(packet.command).term;
        const bool own = held && before.nonce == term.nonce && before.token == term.token;
        if (!own && (after.holder != before.holder || after.token != before.token))
            violated("P4: a renewal changed a term that is not its own");
    }
    if (packet.verb == Verb::Release && held && !sameTerm
        && before.nonce != std::get<Release>(packet.command).term.nonce)
        violated("P4: a release ended a term that is not its own");
    if (packet.verb == Verb::Acquire && held && !sameTerm)
        violated("P4: an acquire ended a term that had not run out");
}

void World::scheduleFault()
{
    const Duration gap = 200ms + Duration(static_cast<Duration::rep>(m_random.uniform() * 4e9));
    later(m_now + gap, [this] {
        if (m_now > m_options.length)
            return;
        injectFault();
        scheduleFault();
    });
}

void World::injectFault()
{
    ++m_report.faultsInjected;
    Node &node = *m_nodes[m_random.below(m_nodes.size())];
    const Duration ttl = node.rules.timing.ttl();
    const Duration howLong = std::min(Duration(static_cast<Duration::rep>(
                                          m_random.uniform() * 2.5 * static_cast<double>(ttl.count()))),
        m_options.length - m_now);
    switch (m_random.below(9)) {
    case 0:
        note(node.name + " crashes");
        return crash(node);
    case 1:
    case 2:
        note(node.name + " pauses");
        node.pausedUntil = m_now + howLong;
        later(node.pausedUntil, [this, n = &node, life = node.life] {
            if (n->life != life || m_now < n->pausedUntil)
                return;
            std::deque<Event> waiting;
            waiting.swap(n->inbox);
            for (const Event &event : waiting)
                feed(*n, event);
            feed(*n, {.kind = Event::Kind::Timer});
        });
        return;
    case 3:
    case 4:
        note(node.name + " is cut off");
        node.cutUntil = m_now + howLong;
        node.repliesOnly = m_random.chance(0.4);
        return;
    case 5:
        note("slow network");
        m_slowUntil = m_now + howLong;
        return;
    case 6:
        note("server restarts empty");
        m_downUntil = m_now + howLong / 4;
        later(m_downUntil, [this] { m_server->restartEmpty(); });
        return;
    case 7:
        return feed(node, {.kind = Event::Kind::ReleaseAsked});
    default:
        return feed(node, {.kind = Event::Kind::StopAsked});
    }
}

void World::crash(Node &node)
{
    node.up = false;
    ++node.life;
    node.inbox.clear();
    node.leads = false;
    node.handlers = false;
    node.pausedUntil = {};
    node.state = {};
    node.lastToken = {};
    const Duration away = Duration(static_cast<Duration::rep>(m_random.uniform() * 2e9));
    later(m_now + 200ms + away, [this, n = &node] {
        n->up = true;
        feed(*n, {.kind = Event::Kind::Start});
    });
}

} // namespace tenure::sim
