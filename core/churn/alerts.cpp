// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/alerts.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kKeptOver = 200;
constexpr Duration kQuietShelf = 30min;

Duration toDuration(double seconds)
{
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
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

Duration AlertRules::Subject::time(RuleId id, std::size_t index) const
{
    return toDuration(threshold(id, index));
}

AlertRules::AlertRules(RuleBook rules)
{
    setRules(std::move(rules));
}

void AlertRules::setRules(RuleBook rules)
{
    m_book = std::move(rules);
    m_particular.clear();
    // A name that only the glob "*" can be meant to match.
    m_general = m_book.valuesFor(std::string());
}

const RuleValues& AlertRules::valuesOf(const LeaseId& lease)
{
    if (!m_book.differsByLease())
        return m_general;
    const auto known = m_particular.find(lease);
    return known != m_particular.end()
        ? known->second
        : m_particular.emplace(lease, m_book.valuesFor(lease.name())).first->second;
}

// ---- Life -------------------------------------------------------------------------------------

Alert* AlertRules::active(RuleId rule, const LeaseId& lease)
{
    const auto found = m_active.find({rule, lease});
    return found == m_active.end() ? nullptr : &m_alerts.at(found->second);
}

/// A new alert, the one that came and went unseen, or one more match of the one that is there.
Alert& AlertRules::raise(RuleId rule, const LeaseId& lease, int priority, std::string text, Instant now)
{
    Alert* alert = active(rule, lease);
    if (alert == nullptr) {
        const auto unseen = m_returned.find({rule, lease});
        if (unseen != m_returned.end()) {
            alert = &m_alerts.at(unseen->second);
            m_returned.erase(unseen);
            alert->state = AlertState::Firing;
        }
    }
    if (alert != nullptr) {
        ++alert->count;
    } else {
        Alert fresh;
        fresh.id = ++m_lastId;
        fresh.rule = definitionOf(rule).name;
        fresh.lease = lease;
        fresh.action = definitionOf(rule).action;
        fresh.firstAt = now;
        alert = &(m_alerts[fresh.id] = std::move(fresh));
    }
    m_active[{rule, lease}] = alert->id;
    alert->priority = priority;
    alert->text = std::move(text);
    alert->lastAt = now;
    Shelf* shelf = shelfFor(alert->rule, lease, now);
    if (shelf != nullptr && alert->state == AlertState::Firing) {
        ++shelf->matched;
        shelf->lastMatch = now;
        alert->state = AlertState::Snoozed;
        alert->snoozedUntil = shelf->until;
        alert->by = shelf->by;
        alert->reason = shelf->reason;
    }
    tell(*alert);
    return *alert;
}

void AlertRules::clear(RuleId rule, const LeaseId& lease, Instant now)
{
    Alert* alert = active(rule, lease);
    if (alert == nullptr)
        return;
    const bool unseen = alert->state == AlertState::Firing;
    alert->state = unseen ? AlertState::Returned : AlertState::Resolved;
    alert->snoozedUntil.reset();
    alert->lastAt = now;
    tell(*alert);
    if (unseen)
        m_returned[{rule, lease}] = alert->id;
    m_active.erase({rule, lease});
    forgetOld();
}

/// What is over does not pile up, seen or not. Ids grow with time: the first are the oldest.
void AlertRules::forgetOld()
{
    while (m_alerts.size() - m_active.size() > kKeptOver) {
        const auto oldest = std::find_if(m_alerts.begin(), m_alerts.end(), [](const auto& entry) {
            return entry.second.state == AlertState::Resolved || entry.second.state == AlertState::Returned;
        });
        if (oldest == m_alerts.end())
            return;
        std::erase_if(m_returned, [&](const auto& entry) { return entry.second == oldest->first; });
        m_alerts.erase(oldest);
    }
}

std::vector<Alert> AlertRules::acknowledge(std::uint64_t id, Instant now, const std::string& by)
{
    const auto found = m_alerts.find(id);
    if (found == m_alerts.end() || found->second.state == AlertState::Resolved)
        return {};
    Alert& alert = found->second;
    const bool over = alert.state == AlertState::Returned;
    alert.state = over ? AlertState::Resolved : AlertState::Acknowledged;
    alert.snoozedUntil.reset();
    alert.by = by;
    alert.lastAt = now;
    if (over)
        std::erase_if(m_returned, [id](const auto& entry) { return entry.second == id; });
    return {alert};
}

// ---- Shelves ----------------------------------------------------------------------------------

Shelf* AlertRules::shelfFor(const std::string& rule, const LeaseId& lease, Instant now)
{
    const auto found = std::find_if(m_shelves.begin(), m_shelves.end(), [&](const Shelf& shelf) {
        return shelf.rule == rule && now < shelf.until
            && (shelf.glob == lease.name() || globMatch(shelf.glob, lease.name()));
    });
    return found == m_shelves.end() ? nullptr : &*found;
}

std::vector<Alert> AlertRules::shelve(std::uint64_t id, Instant until, Instant now,
    const std::string& by, const std::string& reason)
{
    const auto found = m_alerts.find(id);
    if (found == m_alerts.end() || found->second.state == AlertState::Resolved)
        return {};
    Shelf shelf;
    shelf.rule = found->second.rule;
    shelf.glob = found->second.lease.name();
    shelf.until = until;
    shelf.by = by;
    shelf.reason = reason;
    return shelve(std::move(shelf), now);
}

std::vector<Alert> AlertRules::shelve(Shelf shelf, Instant now)
{
    if (shelf.reason.find_first_not_of(" \t\r\n") == std::string::npos || shelf.until <= now)
        return {};
    shelf.until = std::min(shelf.until, now + kLongestShelving);
    shelf.lastMatch = now;
    std::erase_if(m_shelves,
        [&](const Shelf& one) { return one.rule == shelf.rule && one.glob == shelf.glob; });
    shelf.id = ++m_lastShelf;
    m_shelves.push_back(shelf);
    for (auto& [id, alert] : m_alerts) {
        if (alert.state == AlertState::Resolved || shelfFor(alert.rule, alert.lease, now) != &m_shelves.back())
            continue;
        ++m_shelves.back().matched;
        const bool over = alert.state == AlertState::Returned;
        alert.state = over ? AlertState::Resolved : AlertState::Snoozed;
        alert.snoozedUntil = over ? std::nullopt : std::optional(shelf.until);
        alert.by = shelf.by;
        alert.reason = shelf.reason;
        alert.lastAt = now;
        if (over)
            std::erase_if(m_returned, [id = id](const auto& entry) { return entry.second == id; });
        tell(alert);
    }
    return std::exchange(m_told, {});
}

std::vector<Alert> AlertRules::unshelve(std::uint64_t shelf, Instant now)
{
    for (Shelf& one : m_shelves) {
        if (one.id == shelf)
            one.until = now;
    }
    tickShelves(now);
    return std::exchange(m_told, {});
}

void AlertRules::tickShelves(Instant now)
{
    for (Shelf& shelf : m_shelves) {
        const bool matches = std::any_of(m_active.begin(), m_active.end(), [&](const auto& entry) {
            const Alert& alert = m_alerts.at(entry.second);
            return alert.rule == shelf.rule && alert.state == AlertState::Snoozed
                && (shelf.glob == alert.lease.name() || globMatch(shelf.glob, alert.lease.name()));
        });
        if (matches)
            shelf.lastMatch = now;
        else if (now - shelf.lastMatch > kQuietShelf)
            shelf.until = std::min(shelf.until, now);
    }
    std::erase_if(m_shelves, [now](const Shelf& shelf) { return now >= shelf.until; });
    for (const auto& [cause, id] : m_active) {
        Alert& alert = m_alerts.at(id);
        if (alert.state != AlertState::Snoozed || shelfFor(alert.rule, alert.lease, now) != nullptr)
            continue;
        alert.state = AlertState::Firing;
        alert.snoozedUntil.reset();
        alert.lastAt = now;
        tell(alert);
    }
}

// ---- The link ---------------------------------------------------------------------------------

/// Raises or clears "stale"; decides whether anything may be said about leases.
void AlertRules::tickLink(const LinkStatus& link, Instant now)
{
    const RuleValue& rule = m_general[static_cast<std::size_t>(RuleId::Stale)];
    const LinkState state = linkStateAt(link, now);
    const bool fresh = isFresh(state);
    if (!fresh)
        m_freshSince.reset();
    else if (!m_freshSince)
        m_freshSince = now;
    const bool stale = active(RuleId::Stale, {}) != nullptr;
    m_inhibited = !fresh || stale;
    if (state == LinkState::Paused)
        return;
    if (!rule.on) {
        clear(RuleId::Stale, {}, now);
        m_inhibited = !fresh;
        return;
    }
    if (fresh) {
        if (stale && now - *m_freshSince >= toDuration(rule.thresholds[1])) {
            clear(RuleId::Stale, {}, now);
            m_inhibited = false;
        }
        return;
    }
    const Duration limit = toDuration(rule.thresholds[0]);
    const Duration age = now - (link.everConnected ? link.lastProof : link.since);
    if (age <= limit || stale)
        return;
    raise(RuleId::Stale, {}, rule.priority,
        "No answer for more than " + durationText(limit)
            + (link.error ? ": " + link.error->text() : std::string()),
        now);
}

void AlertRules::tickClock(const LinkStatus& link, Instant now)
{
    const RuleValue& rule = m_general[static_cast<std::size_t>(RuleId::ClockJump)];
    const std::optional<Duration> before = std::exchange(m_skew, link.skew);
    const Alert* alert = active(RuleId::ClockJump, {});
    if (rule.on && before && link.skew) {
        const Duration moved = *link.skew - *before;
        if (std::chrono::abs(moved) > toDuration(rule.thresholds[0])) {
            raise(RuleId::ClockJump, {}, rule.priority,
                "The server's clock moved by " + durationText(moved) + " against this machine's", now);
            return;
        }
    }
    if (alert != nullptr && (!rule.on || now - alert->lastAt > toDuration(rule.thresholds[1])))
        clear(RuleId::ClockJump, {}, now);
}

// ---- All together -----------------------------------------------------------------------------

std::vector<Alert> AlertRules::onTransition(const Transition& transition, const LeaseStatus& status)
{
    const Subject subject{status, valuesOf(transition.lease), m_memories[transition.lease], transition.at};
    noteLeader(subject, transition);
    if (m_inhibited)
        return std::exchange(m_told, {});
    checkToken(subject, transition);
    checkSplitBrain(subject, transition);
    if (!transition.newHolder.empty() && transition.kind != TransitionKind::Appeared) {
        flapping(subject);
        churn(subject);
    }
    return std::exchange(m_told, {});
}

std::vector<Alert> AlertRules::tick(
    const std::map<LeaseId, LeaseStatus>& leases, const LinkStatus& link, Instant now)
{
    tickLink(link, now);
    if (!m_inhibited) {
        tickClock(link, now);
        for (const auto& [lease, status] : leases)
            tickLease({status, valuesOf(lease), m_memories[lease], now});
        std::vector<Cause> gone;
        for (const auto& [cause, id] : m_active) {
            if (cause.second != LeaseId() && leases.count(cause.second) == 0)
                gone.push_back(cause);
        }
        for (const Cause& cause : gone)
            clear(cause.first, cause.second, now);
        if (m_memories.size() > 2 * leases.size() + 64) {
            const auto unknown = [&](const auto& entry) { return leases.count(entry.first) == 0; };
            std::erase_if(m_memories, unknown);
            std::erase_if(m_tokens, unknown);
            std::erase_if(m_particular, unknown);
        }
    }
    tickShelves(now);
    return std::exchange(m_told, {});
}

bool AlertRules::isChurning(const LeaseId& lease) const
{
    return m_active.count({RuleId::Churn, lease}) > 0 || m_active.count({RuleId::Flapping, lease}) > 0;
}

} // namespace tenure
