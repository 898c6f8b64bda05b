// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/rules_preview.h"

#include "core/churn/alerts.h"

#include <algorithm>
#include <set>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kStep = 10s;
constexpr std::size_t kMostTerms = 64;

/// The book with everything off that recorded changes say nothing about.
RuleBook judgedByChanges(const RuleBook &book)
{
    std::vector<RuleSetting> settings = book.settings();
    for (const RuleDefinition &rule : ruleCatalogue()) {
        if (!isPreviewable(rule.id)) {
            RuleSetting off;
            off.rule = rule.id;
            off.on = false;
            settings.push_back(off);
        }
    }
    return RuleBook(std::move(settings));
}

/// The past as a fleet: what would have been known of each lease, as far as its changes tell.
class Replay
{
public:
    Replay(const RuleBook &book, TimeWindow window) : m_rules(judgedByChanges(book)), m_window(window)
    {
        m_link.connected = m_link.everConnected = true;
    }

    void until(WallTime when)
    {
        const Instant end = local(std::min(when, m_window.to));
        while (m_now + kStep < end) {
            m_now += kStep;
            tick();
            // Nothing can begin while everybody leads and nothing is raised.
            if (!m_restless && m_now + kStep < end)
                m_now = end - kStep;
        }
        m_now = std::max(m_now, end);
        tick();
    }

    void take(const JournalEvent &event)
    {
        Transition change;
        change.number = event.id;
        change.lease = event.lease.lease;
        change.kind = event.kind;
        change.oldHolder = event.oldHolder;
        change.newHolder = event.newHolder;
        change.token = event.token;
        change.at = m_now;
        change.wall = event.at;
        change.gap = event.gap;
        LeaseStatus &status = m_leases[change.lease];
        status.record.lease = change.lease;
        status.record.holder = event.newHolder.empty() ? std::nullopt : std::optional(event.newHolder);
        status.record.token = event.token;
        status.seenAt = status.holderSince = m_now;
        status.holderSinceExact = true;
        if (event.kind != TransitionKind::Appeared) {
            status.transitionTimes.push_back(m_now);
            ++status.transitionsSeen;
        }
        if (!status.terms.empty())
            status.terms.back().until = m_now;
        status.terms.push_back({event.newHolder, event.token, m_now, std::nullopt, true, event.kind == TransitionKind::Held});
        while (status.terms.size() > kMostTerms)
            status.terms.pop_front();
        while (status.transitionTimes.size() > kMostTerms)
            status.transitionTimes.pop_front();
        if (!event.inBlindSpot)
            count(m_rules.onTransition(change, status));
    }

    [[nodiscard]] const RulesPreview &result() const { return m_result; }

private:
    [[nodiscard]] Instant local(WallTime at) const { return Instant(1h) + Duration(at - m_window.from); }

    void tick()
    {
        m_link.lastProof = m_now;
        count(m_rules.tick(m_leases, m_link, m_now));
        m_restless = !m_open.empty() || std::any_of(m_leases.begin(), m_leases.end(), [](const auto &entry) {
            return !entry.second.record.holder.has_value();
        });
    }

    void count(const std::vector<Alert> &alerts)
    {
        for (const Alert &alert : alerts) {
            const RuleDefinition *rule = ruleNamed(alert.rule);
            if (alert.state == AlertState::Firing) {
                if (m_open.insert(alert.id).second && rule != nullptr && m_counted.insert(alert.id).second)
                    ++m_result.raised[static_cast<std::size_t>(rule->id)];
            } else {
                m_open.erase(alert.id);
            }
        }
    }

    AlertRules m_rules;
    TimeWindow m_window;
    std::map<LeaseId, LeaseStatus> m_leases;
    LinkStatus m_link;
    Instant m_now{1h};
    std::set<std::uint64_t> m_open, m_counted;
    bool m_restless = true;
    RulesPreview m_result;
};

} // namespace

bool isPreviewable(RuleId rule)
{
    return rule == RuleId::Leaderless || rule == RuleId::TokenRegressed || rule == RuleId::Churn
        || rule == RuleId::Flapping || rule == RuleId::UnknownHolder;
}

RulesPreview previewRules(const RuleBook &book, const std::vector<JournalEvent> &events, TimeWindow window)
{
    Replay replay(book, window);
    for (const JournalEvent &event : events) {
        replay.until(event.at);
        replay.take(event);
    }
    replay.until(window.to);
    RulesPreview out = replay.result();
    out.events = events.size();
    return out;
}

} // namespace tenure::ui
