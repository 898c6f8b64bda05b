// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/alerts.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kStaleAfter = 15s;
constexpr std::size_t kKeptResolved = 200;

const std::string kChurn = "churn";
const std::string kLeaderless = "leaderless";
const std::string kTokenRegressed = "token-regressed";
const std::string kStale = "stale";

bool beginsTerm(TransitionKind kind)
{
    return kind == TransitionKind::Acquired || kind == TransitionKind::TakenOver;
}

Duration leaderlessLimit(const LeaseStatus& status, const ChurnThreshold& threshold)
{
    return std::max(2 * status.usualTtl.value_or(Duration::zero()), threshold.leaderlessAtLeast);
}

/// A lease that somebody should lead: not a one-shot lock, nor one that was given back for good
/// before anybody looked.
bool wantsALeader(const LeaseStatus& status)
{
    if (!status.renews() || status.record.hold)
        return false;
    const bool everLed = std::any_of(status.terms.begin(), status.terms.end(),
        [](const TermSeen& term) { return !term.holder.empty(); });
    return everLed || !status.record.candidates.empty() || !status.record.released;
}

/// Led again for good: a renewal came, or the first grant was outlived.
bool leadsAgain(const LeaseStatus& status, Instant now)
{
    if (!status.led())
        return false;
    if (!status.renewals.empty() && status.renewals.back().at > status.holderSince)
        return true;
    return now - status.holderSince > status.usualTtl.value_or(10s);
}

} // namespace

const char* alertStateWord(AlertState state)
{
    switch (state) {
    case AlertState::Firing:
        return "firing";
    case AlertState::Returned:
        return "returned";
    case AlertState::Acknowledged:
        return "acknowledged";
    case AlertState::Snoozed:
        return "snoozed";
    case AlertState::Resolved:
        return "resolved";
    }
    return "";
}

Alert* AlertRules::active(const std::string& rule, const LeaseId& lease)
{
    const auto found = m_active.find({rule, lease});
    return found == m_active.end() ? nullptr : &m_alerts.at(found->second);
}

Alert& AlertRules::raise(const std::string& rule, const LeaseId& lease, Instant now)
{
    if (Alert* known = active(rule, lease)) {
        ++known->count;
        known->lastAt = now;
        return *known;
    }
    Alert alert;
    alert.id = ++m_lastId;
    alert.rule = rule;
    alert.lease = lease;
    alert.firstAt = alert.lastAt = now;
    m_active[{rule, lease}] = alert.id;
    return m_alerts[alert.id] = std::move(alert);
}

void AlertRules::resolve(
    const std::string& rule, const LeaseId& lease, Instant now, std::vector<Alert>& out)
{
    Alert* alert = active(rule, lease);
    if (alert == nullptr)
        return;
    alert->state = AlertState::Resolved;
    alert->snoozedUntil.reset();
    alert->lastAt = now;
    out.push_back(*alert);
    m_active.erase({rule, lease});
    // Ids grow with time, so the first ones that are resolved are the oldest.
    while (m_alerts.size() - m_active.size() > kKeptResolved) {
        const auto oldest = std::find_if(m_alerts.begin(), m_alerts.end(),
            [](const auto& entry) { return entry.second.state == AlertState::Resolved; });
        m_alerts.erase(oldest);
    }
}

std::vector<Alert> AlertRules::onTransition(const Transition& transition, const LeaseStatus& status)
{
    std::vector<Alert> out;
    checkToken(transition, out);
    if (!beginsTerm(transition.kind))
        return out;
    const std::size_t changes = status.transitionsSince(transition.at - m_threshold.window);
    if (changes < m_threshold.transitions && active(kChurn, transition.lease) == nullptr)
        return out;
    Alert& alert = raise(kChurn, transition.lease, transition.at);
    alert.priority = 2;
    alert.text
        = std::to_string(changes) + " changes of leader in " + durationText(m_threshold.window);
    alert.action = "Look at its renewals: raise the ttl, or repair what makes renewals late or "
                   "leaders restart";
    out.push_back(alert);
    return out;
}

/// Tokens of a lease only grow; one that went back means that the store lost data.
void AlertRules::checkToken(const Transition& transition, std::vector<Alert>& out)
{
    if (!transition.token || transition.newHolder.empty())
        return;
    FencingToken& largest = m_tokens[transition.lease];
    if (transition.token < largest) {
        Alert& alert = raise(kTokenRegressed, transition.lease, transition.at);
        alert.priority = 1;
        alert.text = "The fencing token went back from " + std::to_string(largest.value) + " to "
            + std::to_string(transition.token.value);
        alert.action
            = "The store lost data: stop the writers that this lease guards, then make sure "
              "that they refuse tokens smaller than "
            + std::to_string(largest.value);
        out.push_back(alert);
        return;
    }
    largest = transition.token;
    const Alert* alert = active(kTokenRegressed, transition.lease);
    if (alert != nullptr && alert->state == AlertState::Acknowledged)
        resolve(kTokenRegressed, transition.lease, transition.at, out);
}

std::vector<Alert> AlertRules::tick(
    const std::map<LeaseId, LeaseStatus>& leases, const LinkStatus& link, Instant now)
{
    std::vector<Alert> out;
    if (!tickLink(link, now, out))
        return out;
    for (const auto& [lease, status] : leases)
        tickLeaderless(status, now, out);
    const auto ids = m_active; // resolving changes it
    for (const auto& [cause, id] : ids) {
        const auto& [rule, lease] = cause;
        const auto found = leases.find(lease);
        const bool connection = lease == LeaseId();
        if (!connection && found == leases.end()) {
            resolve(rule, lease, now, out);
        } else if (rule == kChurn
            && found->second.transitionsSince(now - m_threshold.clearWindow)
                < m_threshold.clearBelow) {
            resolve(rule, lease, now, out);
        } else if (Alert& alert = m_alerts.at(id); alert.state == AlertState::Snoozed
                   && alert.snoozedUntil && now >= *alert.snoozedUntil) {
            alert.state = AlertState::Firing;
            alert.snoozedUntil.reset();
            out.push_back(alert);
        }
    }
    return out;
}

/// Raises or clears "stale"; false while nothing may be said about leases.
bool AlertRules::tickLink(const LinkStatus& link, Instant now, std::vector<Alert>& out)
{
    const LinkState state = linkStateAt(link, now);
    if (state == LinkState::Paused)
        return false;
    if (isFresh(state)) {
        resolve(kStale, {}, now, out);
        return true;
    }
    const Duration age = now - (link.everConnected ? link.lastProof : link.since);
    if (age <= kStaleAfter || active(kStale, {}) != nullptr)
        return false;
    Alert& alert = raise(kStale, {}, now);
    alert.priority = 3;
    alert.text = "No answer for more than " + durationText(kStaleAfter)
        + (link.error ? ": " + link.error->text() : std::string());
    alert.action
        = "Repair the connection; a problem of the link, not of leadership. Nothing is raised "
          "about its leases meanwhile";
    out.push_back(alert);
    return false;
}

void AlertRules::tickLeaderless(const LeaseStatus& status, Instant now, std::vector<Alert>& out)
{
    const LeaseId& lease = status.record.lease;
    if (active(kLeaderless, lease) != nullptr) {
        if (leadsAgain(status, now) || status.record.hold)
            resolve(kLeaderless, lease, now, out);
        return;
    }
    if (status.led() || !wantsALeader(status))
        return;
    const Duration limit = leaderlessLimit(status, m_threshold);
    if (now - status.holderSince <= limit)
        return;
    Alert& alert = raise(kLeaderless, lease, now);
    alert.priority = 1;
    alert.text = "Nobody leads for more than " + durationText(limit);
    const std::size_t waiting = status.record.candidates.size();
    alert.action = waiting == 0 ? "Find out why no candidate takes it: is any instance running?"
                                : "Find out why its waiting candidates do not take it";
    out.push_back(alert);
}

std::vector<Alert> AlertRules::acknowledge(std::uint64_t id, Instant now)
{
    const auto found = m_alerts.find(id);
    if (found == m_alerts.end() || found->second.state == AlertState::Resolved)
        return {};
    found->second.state = AlertState::Acknowledged;
    found->second.snoozedUntil.reset();
    found->second.lastAt = now;
    return {found->second};
}

std::vector<Alert> AlertRules::snooze(std::uint64_t id, Instant until, Instant now)
{
    const auto found = m_alerts.find(id);
    if (found == m_alerts.end() || found->second.state == AlertState::Resolved)
        return {};
    found->second.state = AlertState::Snoozed;
    found->second.snoozedUntil = until;
    found->second.lastAt = now;
    return {found->second};
}

bool AlertRules::isChurning(const LeaseId& lease) const
{
    return m_active.count({kChurn, lease}) > 0;
}

} // namespace tenure
