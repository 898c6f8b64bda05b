// SPDX-License-Identifier: GPL-3.0-or-later
// Faults: each has an end of its own, or is lifted, and both undo it completely.
#include "core/sim/world_node.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::sim
{

using namespace std::chrono_literals;
using Verb = Step::Verb;

World::Node *World::resolve(const std::string &name)
{
    int index = -1;
    if (name == "leader")
        index = m_truth.heldUntil > m_now ? m_truth.holder : m_lastHolder;
    if (name == "follower") { // the first that could take over
        const Node *leader = resolve("leader");
        for (const auto &node : m_nodes) {
            if (node.get() != leader && node->up && !node->stands())
                return node.get();
        }
        return nullptr;
    }
    for (std::size_t i = 0; i < m_names.size() && index < 0; ++i)
        index = m_names[i] == name ? static_cast<int>(i) : -1;
    return index < 0 ? nullptr : m_nodes[static_cast<std::size_t>(index)].get();
}

void World::apply(const Step &step)
{
    switch (step.verb) {
    case Verb::Pause:
    case Verb::Hang:
    case Verb::Crash:
    case Verb::Restart:
    case Verb::Stop:
    case Verb::HandOver:
    case Verb::Skew:
    case Verb::Drift:
        if (Node *node = resolve(step.target))
            applyToNode(step, *node);
        return;
    case Verb::Cut: {
        Node *node = resolve(step.target);
        if (!node && step.target != "console")
            return;
        setLinks(step, node, 1);
        (void)begin(step, node);
        return;
    }
    case Verb::Latency:
    case Verb::Drop:
    case Verb::Duplicate:
    case Verb::Reorder:
    case Verb::HangStore:
        (void)begin(step, nullptr);
        return;
    case Verb::RestartStore:
    case Verb::FailoverStore:
        return applyToStore(step);
    case Verb::OperatorLook:
    case Verb::OperatorClear:
        return operate(step);
    case Verb::Clear:
        while (!m_faults.empty())
            end(m_faults.back().id);
        return;
    }
}

/// The fault stands from now on; `end` undoes it.
std::uint64_t World::begin(const Step &step, Node *node)
{
    Fault fault{++m_lastFault, step, node ? node->index : -1, node ? node->life : 0, m_now,
        step.span > 0ns ? m_now + step.span : Duration::max()};
    if (node)
        node->excused = true;
    note(LogEvent::Kind::Fault, fault.node, {}, step.text);
    if (step.span > 0ns)
        later(fault.until, Due::Kind::FaultEnd, -1, fault.id);
    m_faults.push_back(std::move(fault));
    return m_lastFault;
}

void World::applyToNode(const Step &step, Node &node)
{
    switch (step.verb) {
    case Verb::Pause:
    case Verb::Hang: {
        if (!node.up)
            return;
        const bool wasFrozen = node.stands() || node.hung > 0;
        if (!wasFrozen && node.workDueAt != Duration::max()) {
            node.frozenWork = std::max<Duration>(0ns, node.workDueAt - m_now);
            ++node.workTimer;
        }
        (step.verb == Verb::Pause ? node.paused : node.hung) += 1;
        if (node.stands())
            node.armedFor = Duration::max();
        (void)begin(step, &node);
        return;
    }
    case Verb::Crash:
        node.excused = true;
        if (step.midItem) {
            node.crashMidItem = true;
            node.crashAway = step.span;
            note(LogEvent::Kind::Fault, node.index, {}, step.text);
            return;
        }
        if (node.up)
            crash(node, step.span);
        return;
    case Verb::Restart:
        if (node.up)
            crash(node, 0ns);
        ++node.life; // a restart that was due anyway is not needed any more
        return start(node);
    case Verb::Stop:
    case Verb::HandOver:
        node.excused = true;
        note(LogEvent::Kind::Operator, node.index, {}, step.text);
        if (node.up && step.verb == Verb::Stop)
            node.client->stop();
        else if (node.up)
            node.client->giveBack();
        if (node.up)
            touched(node);
        else
            node.claimUntil = {};
        return;
    case Verb::Skew:
        node.wallSkew += step.amount;
        (void)begin(step, &node);
        return;
    default: // Drift
        node.clock.setRate(m_now, step.ratePpm);
        node.claimLocal = {};
        node.armedFor = Duration::max();
        (void)begin(step, &node);
        if (node.up)
            touched(node);
        return;
    }
}

void World::applyToStore(const Step &step)
{
    const StoreTruth before = m_store->truth(m_now);
    if (m_lastHolder >= 0)
        m_nodes[static_cast<std::size_t>(m_lastHolder)]->excused = true;
    note(LogEvent::Kind::Fault, -1, {}, step.text);
    if (step.span > 0ns) {
        m_storeRestarting = true;
        later(m_now + step.span, Due::Kind::StoreUp);
    }
    if (step.verb == Verb::FailoverStore)
        m_store->failover(step.amount, m_now);
    else if (step.empty && step.span > 0ns)
        m_storeEmptied = true;
    else if (step.empty)
        m_store->restartEmpty(m_now);
    m_truth = m_store->truth(m_now);
    if (before.holder >= 0 && (m_truth.holder != before.holder || m_truth.token != before.token)) {
        note(LogEvent::Kind::Lost, before.holder, before.token);
        noteEnd(m_now);
    }
    m_endNoted = m_truth.holder < 0;
}

void World::operate(const Step &step)
{
    const StoreTruth before = m_store->truth(m_now);
    if (step.verb == Verb::OperatorLook) {
        m_looked = before.token;
        note(LogEvent::Kind::Operator, before.holder, before.token, step.text);
        return;
    }
    const FencingToken meant = m_looked ? m_looked : before.token;
    if (!m_store->clear(step.guarded ? meant : FencingToken(), m_now)) {
        ++m_score[Metric::RefusedReleases];
        note(LogEvent::Kind::Operator, before.holder, meant, step.text + ": refused, it is not what was seen");
        return;
    }
    if (before.token != meant)
        ++m_score[Metric::WrongReleases];
    m_truth = m_store->truth(m_now);
    note(LogEvent::Kind::Cleared, before.holder, before.token, step.text);
    if (before.holder >= 0)
        m_nodes[static_cast<std::size_t>(before.holder)]->excused = true;
    noteEnd(m_now);
    pushFree();
}

void World::setLinks(const Step &step, Node *node, int by)
{
    if (!node) {
        m_console.cuts += by;
        return;
    }
    const bool queue = step.peer == "queue";
    if (step.way != Step::Way::From)
        (queue ? node->cutToQueue : node->cutToStore) += by;
    if (step.way != Step::Way::To)
        (queue ? node->cutFromQueue : node->cutFromStore) += by;
}

void World::end(std::uint64_t id)
{
    const auto found = std::find_if(m_faults.begin(), m_faults.end(), [id](const Fault &f) { return f.id == id; });
    if (found == m_faults.end())
        return;
    const Fault fault = *found;
    m_faults.erase(found);
    note(LogEvent::Kind::Healed, fault.node, {}, fault.step.text);
    if (fault.step.verb == Verb::Cut)
        return setLinks(fault.step, fault.node < 0 ? nullptr : m_nodes[static_cast<std::size_t>(fault.node)].get(), -1);
    if (fault.node < 0)
        return;
    Node &node = *m_nodes[static_cast<std::size_t>(fault.node)];
    switch (fault.step.verb) {
    case Verb::Pause:
        if (node.life == fault.life && --node.paused == 0)
            wake(node);
        return;
    case Verb::Hang:
        if (node.life == fault.life && --node.hung == 0)
            wake(node);
        return;
    case Verb::Skew:
        node.wallSkew -= fault.step.amount;
        return;
    case Verb::Drift:
        node.clock.setRate(m_now, NodeClock::kTrueRate);
        node.claimLocal = {};
        node.armedFor = Duration::max();
        if (node.up)
            touched(node);
        return;
    default:
        return;
    }
}

/// What waited is handled now, in order; then the clock is asked; work goes on where it stood.
void World::wake(Node &node)
{
    if (!node.up || node.stands())
        return;
    node.awakeSince = m_now;
    std::deque<Due> waiting;
    waiting.swap(node.inbox);
    for (const Due &due : waiting)
        toNode(node, due);
    if (node.up && !node.stands()) {
        node.client->timer();
        touched(node);
    }
    if (node.hung == 0 && node.frozenWork != Duration::max())
        workAfter(node, std::exchange(node.frozenWork, Duration::max()));
}

/// As SIGKILL: nothing is given back. It comes again after `away`, if that is not 0.
void World::crash(Node &node, Duration away)
{
    node.up = false;
    node.crashed = true;
    node.crashMidItem = false;
    ++node.life;
    for (const Due &due : node.inbox) {
        if (due.kind == Due::Kind::Answer || due.kind == Due::Kind::FromQueue)
            (void)take(due.value);
    }
    node.inbox.clear();
    node.paused = node.hung = 0;
    std::erase_if(m_faults, [&node](const Fault &f) {
        return f.node == node.index && (f.step.verb == Verb::Pause || f.step.verb == Verb::Hang);
    });
    node.leads = node.handlers = false;
    node.claimUntil = {};
    setWorks(node, false);
    if (std::exchange(node.noteClaims, false))
        note(LogEvent::Kind::Doubts, node.index);
    note(LogEvent::Kind::Life, node.index, {}, "crashed");
    if (away > 0ns)
        later(m_now + away, Due::Kind::Start, node.index);
}

void World::lift(std::uint64_t fault) { end(fault); }

std::vector<FaultView> World::faults() const
{
    std::vector<FaultView> out;
    for (const Fault &fault : m_faults)
        out.push_back({fault.id, fault.step.text, fault.until == Duration::max() ? Duration::max() : fault.until - m_now});
    return out;
}

} // namespace tenure::sim
