// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <map>
#include <string>
#include <vector>

namespace tenure
{

/// The life of an alert (the shape of ISA-18.2). In the order in which they are shown.
enum class AlertState {
    Firing, ///< new: nobody has seen it yet
    Returned, ///< over, and nobody saw it while it lasted
    Acknowledged,
    Snoozed, ///< shelved until a moment, for a reason
    Resolved, ///< cleared
};
[[nodiscard]] const char* alertStateWord(AlertState state);

/// One alert with a life of its own; `rule` and `lease` are its identity: one per cause.
struct Alert {
    std::uint64_t id = 0;
    std::string rule; ///< "churn", "leaderless", "token-regressed", "stale"
    int priority = 2; ///< 1 worst
    LeaseId lease; ///< empty: the connection
    AlertState state = AlertState::Firing;
    std::string text; ///< "9 transitions in 10 min"
    std::string action; ///< what the operator does about it (UX.md R7)
    Instant firstAt, lastAt;
    std::optional<Instant> snoozedUntil;
    std::string by; ///< who acknowledged or shelved it last
    std::string reason; ///< of the shelving
    std::uint64_t count = 1; ///< how often it matched
};

struct ChurnThreshold {
    std::size_t transitions = 5; ///< this many ...
    Duration window
        = std::chrono::minutes(10); ///< ... within this fire; clears below 2 in 15 minutes
    std::size_t clearBelow = 2;
    Duration clearWindow = std::chrono::minutes(15);
    Duration leaderlessAtLeast
        = std::chrono::seconds(10); ///< leaderless: longer than max(2 ttl, this)
};

/// Rules over transitions and time. Pure: the caller gives all time. One owner, one thread. The
/// seam for the full rule set of DESIGN.md section 5: churn, leaderless, token went backwards,
/// stale.
class AlertRules
{
public:
    explicit AlertRules(ChurnThreshold threshold = {}) : m_threshold(threshold) { }
    /// Only for transitions seen live. Returns alerts that are new or changed.
    std::vector<Alert> onTransition(const Transition& transition, const LeaseStatus& status);
    /// Every second or so: raises leaderless and stale, clears what is over. Nothing about a lease
    /// is raised while the link is not fresh.
    std::vector<Alert> tick(
        const std::map<LeaseId, LeaseStatus>& leases, const LinkStatus& link, Instant now);
    std::vector<Alert> acknowledge(std::uint64_t id, Instant now);
    std::vector<Alert> snooze(std::uint64_t id, Instant until, Instant now);
    [[nodiscard]] const std::map<std::uint64_t, Alert>& all() const { return m_alerts; }
    [[nodiscard]] bool isChurning(const LeaseId& lease) const;

private:
    Alert* active(const std::string& rule, const LeaseId& lease);
    Alert& raise(const std::string& rule, const LeaseId& lease, Instant now);
    void resolve(
        const std::string& rule, const LeaseId& lease, Instant now, std::vector<Alert>& out);
    void checkToken(const Transition& transition, std::vector<Alert>& out);
    bool tickLink(const LinkStatus& link, Instant now, std::vector<Alert>& out);
    void tickLeaderless(const LeaseStatus& status, Instant now, std::vector<Alert>& out);

    ChurnThreshold m_threshold;
    std::map<std::uint64_t, Alert> m_alerts;
    std::map<std::pair<std::string, LeaseId>, std::uint64_t> m_active;
    std::map<LeaseId, FencingToken> m_tokens;
    std::uint64_t m_lastId = 0;
};

} // namespace tenure
