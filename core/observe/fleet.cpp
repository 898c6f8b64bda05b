// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/observe/fleet.h"

#include "core/observe/look.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kKeptTerms = 64;
constexpr std::size_t kKeptBlindSpots = 16;
constexpr std::size_t kKeptTransitionTimes = 64;

template <typename T>
void keep(std::deque<T>& items, T item, std::size_t limit)
{
    items.push_back(std::move(item));
    if (items.size() > limit)
        items.pop_front();
}

/// The last holder that was seen to lead, present or past.
std::string lastHolder(const LeaseStatus& status)
{
    for (auto term = status.terms.rbegin(); term != status.terms.rend(); ++term) {
        if (!term->holder.empty())
            return term->holder;
    }
    return {};
}

/// Ends the open term at `at` and begins the next.
void turn(LeaseStatus& status, TermSeen next)
{
    if (!status.terms.empty()) {
        next.from = std::max(next.from, status.terms.back().from);
        status.terms.back().until = next.from;
    }
    status.holderSince = next.from;
    keep(status.terms, std::move(next), kKeptTerms);
}

/// Did nobody look at some time since the last look?
bool wasBlind(const LeaseStatus& status)
{
    return !status.blind.empty() && status.blind.back().until > status.seenAt;
}

/// When the look's holder took the lease, as a local moment between the last look and this one.
Instant acquiredMoment(const LeaseStatus& status, const Look& look)
{
    const Instant earliest = std::min(status.seenAt - status.roundTrip, look.middle());
    const Instant at = look.local(look.record().acquiredAt).value_or(look.middle());
    return std::clamp(at, earliest, look.observation().receivedAt);
}

Transition prepared(const LeaseStatus& status, const Look& look)
{
    Transition t;
    t.lease = status.record.lease;
    t.token = look.record().token;
    t.serverTime = look.observation().serverTime;
    t.at = look.middle();
    t.inBlindSpot = wasBlind(status);
    return t;
}

void beginTerm(LeaseStatus& status, const Look& look, Transition& t)
{
    t.newHolder = *look.record().holder;
    t.at = acquiredMoment(status, look);
    if (look.record().acquiredAt)
        t.serverTime = look.record().acquiredAt;
    status.lastGap = t.gap;
    status.renewals.clear();
    status.renewInterval.reset();
    status.lastRenewalAt = t.at;
    keep(status.transitionTimes, t.at, kKeptTransitionTimes);
    std::sort(status.transitionTimes.begin(), status.transitionTimes.end());
    turn(status, {t.newHolder, look.record().token, t.at, {}, true, false});
    status.holderSinceExact = !t.inBlindSpot || look.local(look.record().acquiredAt).has_value();
}

/// Nobody led, now somebody does.
Transition gained(LeaseStatus& status, const Look& look)
{
    Transition t = prepared(status, look);
    t.kind = TransitionKind::Acquired;
    t.oldHolder
        = lastHolder(status) == *look.record().holder ? *look.record().holder : std::string();
    const Instant at = acquiredMoment(status, look);
    if (!status.terms.empty() && status.terms.back().observedStart)
        t.gap = std::max(at - status.holderSince, Duration::zero());
    t.newHolder = *look.record().holder;
    t.explanation = acquiredText(status, look, t);
    t.oldHolder.clear();
    beginTerm(status, look, t);
    return t;
}

/// Somebody led, and in the next look another term stands there.
Transition takenOver(LeaseStatus& status, const Look& look)
{
    Transition t = prepared(status, look);
    t.oldHolder = *status.record.holder;
    t.newHolder = *look.record().holder;
    t.kind = t.oldHolder == t.newHolder ? TransitionKind::Acquired : TransitionKind::TakenOver;
    t.at = acquiredMoment(status, look);
    const Duration slack = status.uncertainty + look.uncertainty();
    if (status.expiresAt && t.at + slack >= *status.expiresAt)
        t.gap = std::max(t.at - *status.expiresAt, Duration::zero());
    t.explanation = t.kind == TransitionKind::TakenOver ? takenOverText(status, look, t)
                                                        : acquiredText(status, look, t);
    if (t.gap)
        turn(status, {{}, {}, std::min(*status.expiresAt, t.at), {}, true, false});
    beginTerm(status, look, t);
    return t;
}

TransitionKind endingOf(const LeaseStatus& status, const Look& look)
{
    const LeaseRecord& now = look.record();
    if (now.released && !look.observation().absent)
        return TransitionKind::Released;
    const Duration slack = status.uncertainty + look.uncertainty();
    if (status.expiresAt && look.middle() + slack >= *status.expiresAt)
        return TransitionKind::Expired;
    if (status.record.kind != "tenure")
        return TransitionKind::Released;
    return look.observation().absent || !now.token ? TransitionKind::Deleted
                                                   : TransitionKind::ForcedRelease;
}

/// Somebody led, now nobody does.
Transition ended(LeaseStatus& status, const Look& look)
{
    Transition t = prepared(status, look);
    t.kind = endingOf(status, look);
    t.oldHolder = *status.record.holder;
    t.token = status.record.token;
    if (t.kind == TransitionKind::Expired)
        t.at = std::min(look.middle(), *status.expiresAt);
    t.explanation = endedText(status, look, t);
    turn(status, {{}, {}, t.at, {}, true, false});
    status.holderSinceExact = !t.inBlindSpot;
    return t;
}

Transition heldByOperator(LeaseStatus& status, const Look& look)
{
    Transition t = prepared(status, look);
    t.kind = TransitionKind::Held;
    if (status.led())
        t.oldHolder = *status.record.holder;
    t.explanation = heldText(status, look);
    turn(status, {{}, look.record().token, t.at, {}, true, true});
    status.holderSinceExact = !t.inBlindSpot;
    return t;
}

Transition appeared(LeaseStatus& status, const Look& look)
{
    Transition t = prepared(status, look);
    t.kind = TransitionKind::Appeared;
    t.explanation = appearedText(look);
    TermSeen term;
    term.from = look.middle();
    term.operatorHold = look.onHold();
    term.observedStart = false;
    term.token = look.record().token;
    status.lastRenewalAt = look.middle();
    if (look.held()) {
        t.newHolder = *look.record().holder;
        term.holder = t.newHolder;
        if (const auto since = look.local(look.record().acquiredAt)) {
            term.from = *since;
            term.observedStart = true;
            status.holderSinceExact = true;
        }
        if (const auto renewed = look.local(look.record().renewedAt))
            status.lastRenewalAt = *renewed;
        else if (look.record().ttl && look.record().remaining)
            status.lastRenewalAt = look.middle() + *look.record().remaining - *look.record().ttl;
    }
    turn(status, std::move(term));
    return t;
}

/// What the look says against what was known; nothing when nobody's leadership changed.
std::optional<Transition> judged(LeaseStatus& status, const Look& look)
{
    const LeaseRecord& before = status.record;
    const LeaseRecord& now = look.record();
    if (look.onHold() && (!before.hold || before.token != now.token))
        return heldByOperator(status, look);
    if (look.held()) {
        if (!status.led())
            return gained(status, look);
        if (!isSameTerm(status, look))
            return takenOver(status, look);
        noteRenewal(status, look);
        return std::nullopt;
    }
    if (status.led())
        return ended(status, look);
    if (before.hold && !look.onHold()) {
        turn(status, {{}, {}, look.middle(), {}, true, false});
        status.holderSinceExact = !wasBlind(status);
        return std::nullopt;
    }
    if (look.observation().absent && !status.absent && before.kind == "tenure" && before.token) {
        Transition t = prepared(status, look);
        t.kind = TransitionKind::Deleted;
        t.explanation = "the backend no longer knows this lease; nobody led it";
        return t;
    }
    return std::nullopt;
}

} // namespace

std::vector<Transition> Fleet::apply(const Observation& observation, WallTime wall)
{
    const LeaseId& lease = observation.record.lease;
    const auto found = m_leases.find(lease);
    if (found == m_leases.end() && observation.absent)
        return {};
    const Look look(observation);
    std::optional<Transition> transition;
    LeaseStatus& status = found == m_leases.end() ? m_leases[lease] : found->second;
    if (found == m_leases.end()) {
        status.record.lease = lease;
        transition = appeared(status, look);
        takeIn(status, look);
        status.firstSeenAt = observation.receivedAt;
    } else {
        if (observation.receivedAt < status.seenAt)
            return {}; // an answer that was overtaken by a later look says nothing new
        transition = judged(status, look);
        takeIn(status, look);
    }
    schedule(status);
    m_touched.insert(lease);
    if (!transition)
        return {};
    transition->number = ++m_transitions;
    transition->wall = wall;
    if (transition->kind != TransitionKind::Appeared)
        ++status.transitionsSeen;
    return {std::move(*transition)};
}

std::vector<Transition> Fleet::tick(Instant now, WallTime wall, bool linkFresh)
{
    std::vector<Transition> out;
    while (linkFresh && !m_expiries.empty() && m_expiries.begin()->first <= now) {
        const LeaseId lease = m_expiries.begin()->second;
        unschedule(lease);
        LeaseStatus& status = m_leases.at(lease);
        if (!status.led() || !status.expiresAt)
            continue;
        if (now < *status.expiresAt + status.uncertainty) {
            schedule(status);
            continue;
        }
        Transition t;
        t.number = ++m_transitions;
        t.lease = lease;
        t.kind = TransitionKind::Expired;
        t.oldHolder = *status.record.holder;
        t.token = status.record.token;
        t.at = *status.expiresAt;
        t.wall = wall;
        t.inBlindSpot = wasBlind(status);
        t.explanation = expiredText(status);
        turn(status, {{}, {}, t.at, {}, true, false});
        status.holderSinceExact = !t.inBlindSpot;
        ++status.transitionsSeen;
        m_touched.insert(lease);
        out.push_back(std::move(t));
    }
    return out;
}

void Fleet::noteBlindSpot(Instant from, Instant until)
{
    for (auto& [lease, status] : m_leases) {
        keep(status.blind, {from, until}, kKeptBlindSpots);
        m_touched.insert(lease);
    }
}

void Fleet::setChurning(const LeaseId& lease, bool churning)
{
    const auto found = m_leases.find(lease);
    if (found == m_leases.end() || found->second.churning == churning)
        return;
    found->second.churning = churning;
    m_touched.insert(lease);
}

void Fleet::forget(const LeaseId& lease)
{
    unschedule(lease);
    m_touched.erase(lease);
    m_leases.erase(lease);
}

const LeaseStatus* Fleet::find(const LeaseId& lease) const
{
    const auto found = m_leases.find(lease);
    return found == m_leases.end() ? nullptr : &found->second;
}

std::vector<LeaseId> Fleet::takeTouched()
{
    std::vector<LeaseId> out(m_touched.begin(), m_touched.end());
    m_touched.clear();
    return out;
}

std::optional<Instant> Fleet::nextExpiry() const
{
    return m_expiries.empty() ? std::nullopt : std::optional(m_expiries.begin()->first);
}

void Fleet::schedule(const LeaseStatus& status)
{
    if (!status.led() || !status.expiresAt)
        return;
    // A renewal only moves the expiry away; the entry is then put right when its old time comes.
    const LeaseId& lease = status.record.lease;
    const Instant due = *status.expiresAt + status.uncertainty;
    const auto known = m_scheduled.find(lease);
    if (known != m_scheduled.end() && known->second <= due)
        return;
    unschedule(lease);
    m_scheduled.emplace(lease, due);
    m_expiries.emplace(due, lease);
}

void Fleet::unschedule(const LeaseId& lease)
{
    const auto known = m_scheduled.find(lease);
    if (known == m_scheduled.end())
        return;
    m_expiries.erase({known->second, lease});
    m_scheduled.erase(known);
}

} // namespace tenure
