// SPDX-License-Identifier: GPL-3.0-or-later
// Leader's work: claim an item, work on it, have its effect, acknowledge it. The work asks whether it
// still leads when it begins an item and then every `check`, as real work does; what it does in
// between it does on trust.
#include "core/sim/world_node.h"

#include <algorithm>

namespace tenure::sim
{

using namespace std::chrono_literals;

void World::setWorks(Node &node, bool works)
{
    if (node.works == works)
        return;
    node.works = works;
    note(works ? LogEvent::Kind::Works : LogEvent::Kind::Rests, node.index, node.workToken);
    if (works && !node.active) {
        node.active = true;
        m_active.push_back(&node);
    }
    if (!works) {
        node.stage = Node::Stage::Idle;
        node.item = -1;
        ++node.workTimer;
        node.workDueAt = Duration::max();
        node.frozenWork = Duration::max();
    }
}

void World::beginWork(Node &node)
{
    if (m_setup.work.items == 0)
        return;
    node.workToken = node.client->token();
    node.workSerial = node.client->serial();
    node.stage = Node::Stage::Idle;
    node.item = -1;
    setWorks(node, true);
    workAfter(node, 0ns);
}

void World::workAfter(Node &node, Duration wait)
{
    if (node.stands() || node.hung > 0) {
        node.frozenWork = wait;
        return;
    }
    node.workDueAt = m_now + wait;
    later(node.workDueAt, Due::Kind::Work, node.index, ++node.workTimer);
}

/// The work's own clock struck: a slice of an item is over, or an answer did not come.
void World::workDue(Node &node)
{
    if (!node.works)
        return;
    if (node.stage == Node::Stage::Working && node.itemLeft == 0ns) {
        node.stage = Node::Stage::Effecting;
        toQueue(node, static_cast<std::uint8_t>(Packet::Work::Effect));
        return workAfter(node, m_setup.work.check);
    }
    const bool still = node.kind == ClientKind::IgnoresLoss || (node.leads && node.claims());
    if (!still)
        return setWorks(node, false);
    switch (node.stage) {
    case Node::Stage::Idle:
    case Node::Stage::Claiming:
        node.stage = Node::Stage::Claiming;
        toQueue(node, static_cast<std::uint8_t>(Packet::Work::Claim));
        return workAfter(node, m_setup.work.check);
    case Node::Stage::Working: {
        const Duration slice = std::min(node.itemLeft, m_setup.work.check);
        node.itemLeft -= slice;
        return workAfter(node, slice);
    }
    case Node::Stage::Effecting:
    case Node::Stage::Acknowledging: // no answer: again
        toQueue(node, static_cast<std::uint8_t>(node.stage == Node::Stage::Effecting
                    ? Packet::Work::Effect : Packet::Work::Acknowledge));
        return workAfter(node, m_setup.work.check);
    }
}

void World::toQueue(Node &node, std::uint8_t kind)
{
    if (node.cutToQueue > 0)
        return;
    Packet packet;
    packet.work = static_cast<Packet::Work>(kind);
    packet.node = node.index;
    packet.life = node.life;
    packet.token = node.workToken;
    packet.serial = node.workSerial;
    packet.item = node.item;
    later(m_now + m_setup.network.latency.draw(m_workRandom), Due::Kind::AtQueue, -1, keep(packet));
}

void World::atQueue(std::uint64_t place)
{
    Packet packet = take(place);
    const bool claim = packet.work == Packet::Work::Claim;
    if (claim) {
        const bool elected = m_nodes[static_cast<std::size_t>(packet.node)]->kind != ClientKind::NoElection;
        packet.workAnswer = elected ? m_queue->claim(packet.node, packet.token, packet.serial, packet.item)
                                    : m_queue->next(packet.node, packet.item);
    } else if (packet.work == Packet::Work::Effect) {
        const std::int64_t stale = m_score[Metric::UnsafeWrites];
        packet.workAnswer = m_queue->effect(packet.node, packet.token, packet.serial, packet.item);
        if (packet.workAnswer == WorkQueue::Answer::Done) {
            const bool wasStale = m_score[Metric::UnsafeWrites] > stale;
            note(wasStale ? LogEvent::Kind::Stale : LogEvent::Kind::Effect, packet.node, packet.token, {}, packet.item);
        }
    } else {
        packet.workAnswer = m_queue->acknowledge(packet.token, packet.serial, packet.item);
    }
    if (packet.workAnswer == WorkQueue::Answer::Refused)
        note(LogEvent::Kind::Rejected, packet.node, packet.token, claim ? "claim" : "", packet.item);
    Node &node = *m_nodes[static_cast<std::size_t>(packet.node)];
    if (node.cutFromQueue > 0)
        return;
    const Duration at = m_now + m_setup.network.latency.draw(m_workRandom);
    m_due.push({at, ++m_numbers, keep(packet), packet.node, packet.life, Due::Kind::FromQueue});
}

void World::fromQueue(Node &node, const Packet &packet)
{
    if (!node.works || packet.serial != node.workSerial)
        return;
    const bool done = packet.workAnswer == WorkQueue::Answer::Done;
    if (packet.workAnswer == WorkQueue::Answer::Refused)
        return setWorks(node, false); // fenced off: another leads
    if (packet.work == Packet::Work::Claim && node.stage == Node::Stage::Claiming) {
        node.stage = done ? Node::Stage::Working : Node::Stage::Idle;
        if (!done && node.kind == ClientKind::NoElection) { // the job is over
            setWorks(node, false);
            return node.client->giveBack();
        }
        if (!done) {
            workAfter(node, m_setup.work.check);
            return node.client->workDone(); // who locks for one item has none to lock for
        }
        node.item = packet.item;
        node.itemLeft = std::max<Duration>(1us, m_setup.work.time.draw(m_workRandom));
        const Duration slice = std::min(node.itemLeft, m_setup.work.check);
        node.itemLeft -= slice;
        return workAfter(node, slice);
    }
    if (packet.item != node.item)
        return;
    if (packet.work == Packet::Work::Effect && node.stage == Node::Stage::Effecting) {
        if (node.crashMidItem)
            return crash(node, node.crashAway);
        node.stage = Node::Stage::Acknowledging;
        toQueue(node, static_cast<std::uint8_t>(Packet::Work::Acknowledge));
        return workAfter(node, m_setup.work.check);
    }
    if (packet.work == Packet::Work::Acknowledge && node.stage == Node::Stage::Acknowledging) {
        node.stage = Node::Stage::Idle;
        node.item = -1;
        workAfter(node, 0ns);
        node.client->workDone();
        if (!node.leads && node.kind != ClientKind::IgnoresLoss)
            setWorks(node, false);
    }
}

} // namespace tenure::sim
