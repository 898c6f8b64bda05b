// SPDX-License-Identifier: GPL-3.0-or-later
// What is counted and what is promised. Nothing changes between two events but by the passing of
// time, so that each stretch is added up exactly.
#include "core/sim/world_node.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kConsoleStaleAfter = 3s;
constexpr Duration kAttemptWindow = 100ms;
constexpr Duration kStartIsOver = 1s; ///< after the first grant

} // namespace

void World::note(LogEvent::Kind kind, int node, FencingToken token, std::string detail, int item)
{
    if (m_options.keepLog)
        m_log.push_back({m_now, kind, node, token, item, std::move(detail)});
}

void World::violated(const std::string &what)
{
    if (m_violation.empty()) {
        m_violation = what + " (at " + std::to_string(m_now.count() / 1000) + " us)";
        m_score[Metric::Violations] = 1;
        note(LogEvent::Kind::Violation, -1, {}, what);
    }
}

/// Adds up the stretch from now to `to`, in which nothing happens.
void World::integrate(Duration to)
{
    integrateBeliefs(to);
    if (m_setup.console != Watcher::None)
        integrateConsole(to);
    if (!m_everHeld)
        return;
    const Duration held = std::clamp(m_truth.heldUntil, m_now, to);
    m_score.add(Metric::TimeVacant, to - held);
    Duration leads = m_now;
    if (held > m_now) {
        const Node &holder = *m_nodes[static_cast<std::size_t>(m_truth.holder)];
        const Duration claims = holder.up ? std::clamp(holder.claimUntil, m_now, to) : m_now;
        m_score.add(Metric::IdleAuthority, std::max(0ns, held - claims));
        if (!holder.stands())
            leads = std::min(held, claims);
    }
    m_score.add(Metric::TimeWithoutLeader, to - leads);
    if (leads > m_now && m_quietSince) {
        m_score.atLeast(Metric::LongestGap, (m_now - *m_quietSince).count());
        m_quietSince.reset();
    }
    if (leads < to && !m_quietSince)
        m_quietSince = leads;
    if (!m_endNoted && m_truth.heldUntil <= to) {
        noteEnd(m_truth.heldUntil);
        const Duration now = std::exchange(m_now, m_truth.heldUntil);
        note(LogEvent::Kind::Expired, m_truth.holder, m_truth.token);
        m_now = now;
        m_truth.holder = -1;
    }
}

void World::integrateBeliefs(Duration to)
{
    Duration first = m_now;
    Duration second = m_now;
    Duration firstAwake = m_now;
    Duration secondAwake = m_now;
    int workers = 0;
    const auto rank = [to](Duration until, Duration &most, Duration &next) {
        until = std::min(until, to);
        next = std::max(next, std::min(most, until));
        most = std::max(most, until);
    };
    std::erase_if(m_active, [this](Node *node) {
        node->active = node->works || node->noteClaims || node->claimUntil > m_now;
        return !node->active;
    });
    for (Node *node : m_active) {
        workers += node->works && !node->stands() && node->hung == 0 ? 1 : 0;
        if (!node->up || node->claimUntil <= m_now)
            continue;
        rank(node->claimUntil, first, second);
        if (!node->stands())
            rank(node->claimUntil, firstAwake, secondAwake);
        if (node->claimUntil > to || !node->noteClaims)
            continue;
        const bool told = !node->leads || node->stands() || node->awakeSince + 1ms > node->claimUntil;
        if (m_allSound && !told)
            violated("P5: " + m_names[static_cast<std::size_t>(node->index)] + " was not told before validity ended");
        node->noteClaims = false;
        const Duration now = std::exchange(m_now, node->claimUntil);
        note(LogEvent::Kind::Doubts, node->index);
        m_now = now;
    }
    m_score.add(Metric::TwoLeaders, second - m_now);
    if (m_setup.work.items == 0)
        m_score.add(Metric::BothBelieved, secondAwake - m_now);
    else if (workers > 1)
        m_score.add(Metric::BothBelieved, to - m_now);
    if (second <= m_now || !m_allSound)
        return;
    std::string both;
    for (const auto &node : m_nodes) {
        if (node->claims())
            both += (both.empty() ? "" : " and ") + m_names[static_cast<std::size_t>(node->index)];
    }
    violated("P1: " + both + " both believe");
}

void World::integrateConsole(Duration to)
{
    const Duration stale = std::clamp(m_console.lastProof + kConsoleStaleAfter, m_now, to);
    const bool honest = m_setup.console == Watcher::Honest;
    if (honest)
        m_score.add(Metric::StaleConsole, to - stale);
    const bool shown = m_console.holder >= 0 && (honest || m_console.heldUntil > m_now);
    const int holder = m_truth.heldUntil > m_now ? m_truth.holder : -1;
    if ((shown ? m_console.holder : -1) != holder)
        m_score.add(Metric::MistakenConsole, (honest ? stale : to) - m_now);
}

void World::consoleLooks()
{
    if (m_console.cuts > 0 || m_storeRestarting)
        return;
    m_truth = m_store->truth(m_now);
    m_console.lastProof = m_now;
    m_console.holder = m_truth.holder;
    m_console.token = m_truth.token;
    m_console.heldUntil = m_truth.heldUntil;
}

/// The store's record has ended: run out, released, cleared or lost.
void World::noteEnd(Duration at)
{
    m_endNoted = true;
    m_endedAt = at;
}

void World::noteGrant(Node &node, const StoreTruth &before)
{
    const StoreTruth after = m_store->truth(m_now);
    ++m_score[Metric::Terms];
    if (m_everHeld && before.holder < 0)
        m_score.atLeast(Metric::TakeoverLag, (m_now - m_endedAt).count());
    if (m_lastHolder >= 0 && m_lastHolder != node.index) {
        ++m_score[Metric::Transitions];
        if (!m_nodes[static_cast<std::size_t>(m_lastHolder)]->excused)
            ++m_score[Metric::UnneededTransitions];
    }
    if (after.token <= m_largest) {
        ++m_score[Metric::TokenRegressions];
        if (m_allSound)
            violated("P3: token " + std::to_string(after.token.value) + " was not above the last");
    }
    m_largest = std::max(m_largest, after.token);
    m_lastHolder = node.index;
    m_everHeld = true;
    m_endNoted = false;
    node.excused = false;
    ++node.terms;
    note(LogEvent::Kind::Held, node.index, after.token);
}

void World::noteAttempt()
{
    if (!m_everHeld || m_now < kStartIsOver)
        return;
    m_attempts.push_back(m_now);
    while (m_attempts.front() < m_now - kAttemptWindow)
        m_attempts.pop_front();
    m_score.atLeast(Metric::PeakAttempts, static_cast<std::int64_t>(m_attempts.size()));
}

/// P4: a write touches only the very term it means.
void World::checkWrite(
    const Node &node, const Packet &packet, const StoreTruth &before, const StoreTruth &after)
{
    const bool ended = before.holder >= 0 && after.holder < 0;
    if (ended && before.holder == node.index)
        m_nodes[static_cast<std::size_t>(node.index)]->excused = true; // its own wish
    if (node.kind != ClientKind::Sound)
        return;
    // Where nobody's clock rules, a term goes on until another takes it over.
    const bool stands = before.holder >= 0 || m_setup.expiry == Expiry::Observed;
    const bool own = stands && before.nonce == packet.ask.nonce;
    switch (packet.ask.kind) {
    case Ask::Kind::Renew:
    case Ask::Kind::RenewByName:
        if ((!own || before.token != packet.ask.token) && after.heldUntil != before.heldUntil)
            violated("P4: a renewal of " + m_names[static_cast<std::size_t>(node.index)] + " changed a term that is not its own");
        return;
    case Ask::Kind::Release:
        if (ended && !own)
            violated("P4: a release ended a term that is not its own");
        return;
    case Ask::Kind::Acquire:
        // By their own clocks candidates may be early; the leader's margin is there for it.
        if (m_setup.expiry == Expiry::Server && after.serial > before.serial && before.holder >= 0)
            violated("P4: an acquire ended a term that had not run out");
        return;
    default:
        return;
    }
}

/// P2 within one event: validity only grows, but for giving up at once, and never without a token.
void World::checkNode(Node &node)
{
    if (node.kind != ClientKind::Sound)
        return;
    const std::string &name = m_names[static_cast<std::size_t>(node.index)];
    const FencingToken token = node.client->token();
    const Instant valid = node.client->believesUntil();
    const Instant local = node.now();
    if (node.up && local < valid && !token)
        violated("P2: " + name + " believes without a token");
    if (node.up && token && token == node.lastToken && valid < node.lastValid && valid > local)
        violated("P2: validity of " + name + " shrank");
    node.lastToken = token;
    node.lastValid = valid;
}

void World::Node::gained()
{
    const std::string &name = m_world.m_names[static_cast<std::size_t>(index)];
    if (leads || handlers)
        m_world.violated("P6: " + name + " gained again before its loss was handled");
    leads = true;
    m_world.beginWork(*this);
}

void World::Node::lost(LossReason reason)
{
    if (!leads)
        m_world.violated("P6: " + m_world.m_names[static_cast<std::size_t>(index)] + " lost without having gained");
    leads = false;
    if (reason == LossReason::DeadlinePassed)
        ++m_world.m_score[Metric::DeadlinesMissed];
    handlers = true;
    // The handler waits for the work to notice; a chaotic world has handlers that take long.
    Duration busy = m_world.m_setup.work.items > 0 ? m_world.m_setup.work.check : 2ms;
    if (m_world.m_setup.chaosEvery > 0ns && m_random.chance(0.1))
        busy = 2 * m_world.m_setup.lease.ttl;
    m_world.later(m_world.m_now + busy, Due::Kind::HandlersDone, index);
}

void World::Node::stopped()
{
    up = false;
    ++life; // what is still under way is for nobody
    m_world.note(LogEvent::Kind::Life, index, {}, "stopped");
    if (m_world.m_setup.chaosEvery > 0ns) // what was stopped at random begins again
        m_world.later(m_world.m_now + 1s, Due::Kind::Start, index);
}

void World::finish()
{
    advanceTo(m_setup.length);
    if (m_setup.chaosEvery == 0ns || !m_allSound)
        return;
    const auto leaders = std::count_if(m_nodes.begin(), m_nodes.end(), [](const auto &n) { return n->claims(); });
    if (leaders != 1)
        violated("liveness: " + std::to_string(leaders) + " leaders in a healed world");
}

Scorecard World::scorecard() const
{
    Scorecard score = m_score;
    if (m_quietSince)
        score.atLeast(Metric::LongestGap, (m_now - *m_quietSince).count());
    return score;
}

} // namespace tenure::sim
