// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/rule_preview.h"

#include "core/churn/alerts.h"
#include "core/journal/journal_export.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kMostEvents = 200'000;
constexpr std::int64_t kMostTicks = 20'000;
constexpr Duration kTick = 5s;

/// Any fixed local moment will do for the beginning of the replay.
constexpr Instant kOrigin{std::chrono::hours(24 * 365)};

/// One connection as it was, put together again from its changes.
class Replay
{
public:
    Replay(const RuleBook& rules, JournalQuery& query, std::string connection, TimeWindow window,
        const std::vector<TimeWindow>& blind, RulePreview& out)
        : m_rules(rules), m_query(query), m_connection(std::move(connection)), m_window(window), m_blind(blind),
          m_out(out),
          m_tick(std::max<Duration>(kTick, window.length() / kMostTicks))
    {
        m_link.connected = m_link.everConnected = m_link.pushOpen = true;
    }

    void take(const JournalEvent& event)
    {
        passTime(instant(event.at));
        LeaseStatus& status = m_leases[event.lease.lease];
        follow(status, event);
        Transition t;
        t.lease = event.lease.lease;
        t.kind = event.kind;
        t.oldHolder = event.oldHolder;
        t.newHolder = event.newHolder;
        t.token = event.token;
        t.at = instant(event.at);
        t.gap = event.gap;
        t.inBlindSpot = event.inBlindSpot;
        note(m_rules.onTransition(t, status));
    }

    void finish() { passTime(instant(m_window.to)); }

private:
    [[nodiscard]] Instant instant(WallTime at) const { return kOrigin + (at - m_window.from); }
    [[nodiscard]] WallTime wall(Instant at) const
    {
        return m_window.from + std::chrono::floor<std::chrono::microseconds>(at - kOrigin);
    }

    [[nodiscard]] bool blindAt(WallTime at) const
    {
        return std::any_of(m_blind.begin(), m_blind.end(),
            [at](const TimeWindow& one) { return at >= one.from && at < one.to; });
    }

    void passTime(Instant until)
    {
        for (Instant at = m_now + m_tick; at <= until; at += m_tick) {
            const bool blind = blindAt(wall(at));
            m_link.connected = !blind;
            if (!blind)
                m_link.lastProof = at;
            for (auto& [lease, status] : m_leases)
                status.seenAt = m_link.lastProof;
            note(m_rules.tick(m_leases, m_link, at));
            m_now = at;
        }
    }

    /// The lease after the event, as far as its changes tell it.
    static void turn(LeaseStatus& status, TermSeen next)
    {
        if (!status.terms.empty())
            status.terms.back().until = next.from;
        status.holderSince = next.from;
        status.terms.push_back(std::move(next));
        if (status.terms.size() > 64)
            status.terms.pop_front();
    }

    void follow(LeaseStatus& status, const JournalEvent& event)
    {
        const Instant at = instant(event.at);
        LeaseRecord& record = status.record;
        record.lease = event.lease.lease;
        record.token = event.token;
        record.released = event.kind == TransitionKind::Released;
        record.hold = event.kind == TransitionKind::Held ? std::optional(OperatorHold{}) : std::nullopt;
        status.absent = event.kind == TransitionKind::Deleted;
        if (event.newHolder.empty())
            record.holder.reset();
        else
            record.holder = event.newHolder;
        if (!status.usualTtl)
            status.usualTtl = likelyTtl(event.lease).value_or(15s);
        record.ttl = std::chrono::ceil<Milliseconds>(*status.usualTtl);
        status.seenAt = status.lastRenewalAt = at;
        TermSeen term;
        term.holder = event.newHolder;
        term.token = event.token;
        term.from = at;
        term.observedStart = event.kind != TransitionKind::Appeared;
        term.operatorHold = event.kind == TransitionKind::Held;
        turn(status, std::move(term));
        if (!event.newHolder.empty() && event.kind != TransitionKind::Appeared) {
            status.transitionTimes.push_back(at);
            if (status.transitionTimes.size() > 64)
                status.transitionTimes.pop_front();
        }
    }

    void note(const std::vector<Alert>& alerts)
    {
        for (const Alert& alert : alerts) {
            const auto known = m_places.find(alert.id);
            const bool over = alert.state == AlertState::Returned || alert.state == AlertState::Resolved;
            if (known == m_places.end()) {
                m_places[alert.id] = m_out.raised.size();
                m_out.raised.push_back({{m_connection, alert.lease}, alert.rule, alert.priority, alert.text,
                    wall(alert.firstAt), {}, alert.count});
                continue;
            }
            RulePreview::Raised& raised = m_out.raised[known->second];
            raised.text = alert.text;
            raised.count = alert.count;
            raised.clearedAt = over ? std::optional(wall(alert.lastAt)) : std::nullopt;
        }
    }

    /// The ttl is not journaled; three renewals within it are the custom.
    [[nodiscard]] std::optional<Duration> likelyTtl(const LeaseKey& lease)
    {
        const auto renewals = m_query.renewals(lease, m_window, 1);
        return renewals && !renewals->empty() ? std::optional(3 * renewals->front().intervalMean) : std::nullopt;
    }

    AlertRules m_rules;
    JournalQuery& m_query;
    const std::string m_connection;
    const TimeWindow m_window;
    const std::vector<TimeWindow>& m_blind;
    RulePreview& m_out;
    const Duration m_tick;
    LinkStatus m_link;
    std::map<LeaseId, LeaseStatus> m_leases;
    std::map<std::uint64_t, std::size_t> m_places; ///< of alerts in m_out
    Instant m_now = kOrigin;
};

/// Rules that can be judged by changes alone. A stretch that nobody observed is not told from one in
/// which nobody ran, so "stale" is none of them; it inhibits all the same.
bool isReplayed(RuleId rule)
{
    return rule == RuleId::Leaderless || rule == RuleId::TokenRegressed || rule == RuleId::Churn
        || rule == RuleId::Flapping || rule == RuleId::UnknownHolder;
}

/// The same rules with the others off.
RuleBook replayed(const RuleBook& rules, std::vector<std::string>& left)
{
    std::vector<RuleSetting> settings = rules.settings();
    for (const RuleDefinition& rule : ruleCatalogue()) {
        if (isReplayed(rule.id))
            continue;
        left.emplace_back(rule.name);
        RuleSetting off;
        off.rule = rule.id;
        off.on = false;
        settings.push_back(std::move(off));
    }
    return RuleBook(std::move(settings));
}

} // namespace

Result<RulePreview> whatWouldHaveFired(
    const RuleBook& rules, JournalQuery& query, const JournalFilter& filter, TimeWindow window)
{
    RulePreview out;
    const RuleBook book = replayed(rules, out.notReplayed);
    const auto connections = query.connections();
    if (!connections)
        return fail(connections.error());
    std::size_t events = 0;
    for (const JournalConnection& one : *connections) {
        if (!filter.connection.empty() && filter.connection != one.id)
            continue;
        const auto blind = query.notObserved(one.id, window);
        if (!blind)
            return fail(blind.error());
        const bool never = blind->size() == 1 && blind->front().from == window.from
            && blind->front().to == window.to;
        if (never) // nobody watched: nothing would have been said
            continue;
        JournalFilter within = filter;
        within.connection = one.id;
        within.from = window.from;
        within.to = window.to;
        Replay replay(book, query, one.id, window, *blind, out);
        const auto told = eachEvent(query, within, [&](const JournalEvent& event) {
            if (++events > kMostEvents)
                out.complete = false;
            else
                replay.take(event);
            return out.complete;
        });
        if (!told)
            return fail(told.error());
        replay.finish();
    }
    std::stable_sort(out.raised.begin(), out.raised.end(),
        [](const auto& a, const auto& b) { return a.firstAt < b.firstAt; });
    return out;
}

} // namespace tenure
