// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/rules.h"
#include "core/observe/status.h"

#include <deque>
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
    std::string rule; ///< RuleDefinition::name
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

/// What is put aside for a while, for a reason. Ends at `until`, when somebody ends it, or by itself
/// once nothing has matched for half an hour.
struct Shelf {
    std::uint64_t id = 0;
    std::string rule;
    std::string glob; ///< lease names; exactly one name for the shelving of one alert
    Instant until;
    Instant lastMatch;
    std::string by;
    std::string reason;
    std::uint64_t matched = 0;
};
constexpr Duration kLongestShelving = std::chrono::hours(8);

/// Rules over transitions and time. Pure: the caller gives all time. One owner, one thread. Nothing
/// but "stale" is ever raised while the link is not fresh, nor until it has been for some seconds
/// after it was stale (inhibition). One cause raises one alert: what flaps does not churn as well.
class AlertRules
{
public:
    explicit AlertRules(RuleBook rules = {});
    /// What the new rules no longer say is over at the next tick.
    void setRules(RuleBook rules);

    /// Only for transitions seen live. Returns alerts that are new or changed.
    std::vector<Alert> onTransition(const Transition& transition, const LeaseStatus& status);
    /// Every second or so: raises what lasts too long, clears what is over.
    std::vector<Alert> tick(
        const std::map<LeaseId, LeaseStatus>& leases, const LinkStatus& link, Instant now);
    /// Seen by `by`. A returned one is then over.
    std::vector<Alert> acknowledge(std::uint64_t id, Instant now, const std::string& by = {});
    /// Puts the alert, and those of its rule and lease to come, aside until `until`, eight hours at
    /// most. A reason is needed: nothing happens without one.
    std::vector<Alert> shelve(std::uint64_t id, Instant until, Instant now, const std::string& by,
        const std::string& reason);
    /// The same for all leases that match.
    std::vector<Alert> shelve(Shelf shelf, Instant now);
    std::vector<Alert> unshelve(std::uint64_t shelf, Instant now);

    [[nodiscard]] const std::map<std::uint64_t, Alert>& all() const { return m_alerts; }
    [[nodiscard]] const std::vector<Shelf>& shelves() const { return m_shelves; }
    [[nodiscard]] bool isChurning(const LeaseId& lease) const;

private:
    /// What of a lease has to be remembered beyond its status.
    struct Memory {
        std::deque<Instant> late; ///< late renewals
        Instant judged; ///< renewals up to here were looked at
        std::optional<Instant> delayedSince, calmSince, shortSince;
        std::deque<std::pair<std::string, Instant>> leaders;
        std::optional<Instant> expiresAt; ///< of the holder at the last tick
    };
    /// What one lease is judged by.
    struct Subject {
        const LeaseStatus& status;
        const RuleValues& values;
        Memory& memory;
        Instant now;
        [[nodiscard]] const RuleValue& of(RuleId id) const { return values[static_cast<std::size_t>(id)]; }
        [[nodiscard]] double threshold(RuleId id, std::size_t index) const { return of(id).thresholds[index]; }
        [[nodiscard]] Duration time(RuleId id, std::size_t index) const;
    };
    using Cause = std::pair<RuleId, LeaseId>;
    enum class Verdict { Raise, Clear, Keep };

    [[nodiscard]] Alert* active(RuleId rule, const LeaseId& lease);
    Alert& raise(RuleId rule, const LeaseId& lease, int priority, std::string text, Instant now);
    void clear(RuleId rule, const LeaseId& lease, Instant now);
    void tell(const Alert& alert) { m_told.push_back(alert); }
    void forgetOld();
    [[nodiscard]] Shelf* shelfFor(const std::string& rule, const LeaseId& lease, Instant now);
    [[nodiscard]] const RuleValues& valuesOf(const LeaseId& lease);
    void judge(const Subject& subject, RuleId rule, Verdict verdict, const std::string& text);

    void tickLink(const LinkStatus& link, Instant now);
    void tickClock(const LinkStatus& link, Instant now);
    void tickLease(const Subject& subject);
    void tickShelves(Instant now);
    void checkToken(const Subject& subject, const Transition& transition);
    void checkSplitBrain(const Subject& subject, const Transition& transition);
    void noteLeader(const Subject& subject, const Transition& transition);

    // One rule each (lease_rules.cpp).
    void leaderless(const Subject& subject);
    void late(const Subject& subject);
    void churn(const Subject& subject);
    void flapping(const Subject& subject);
    void headroom(const Subject& subject);
    void renewDelay(const Subject& subject);
    void shortTtl(const Subject& subject);
    void unsafeTiming(const Subject& subject);
    void unknownHolder(const Subject& subject);
    void quietAgain(const Subject& subject);

    RuleBook m_book;
    RuleValues m_general; ///< for leases that no setting means in particular
    std::map<LeaseId, RuleValues> m_particular;
    std::map<std::uint64_t, Alert> m_alerts;
    std::map<Cause, std::uint64_t> m_active; ///< what is so now
    std::map<Cause, std::uint64_t> m_returned; ///< what was so and nobody saw
    std::vector<Shelf> m_shelves;
    std::map<LeaseId, FencingToken> m_tokens;
    std::map<LeaseId, Memory> m_memories;
    std::vector<Alert> m_told;
    std::optional<Instant> m_freshSince;
    std::optional<Duration> m_skew;
    bool m_inhibited = false; ///< nothing may be said about leases
    std::uint64_t m_lastId = 0, m_lastShelf = 0;
};

} // namespace tenure
