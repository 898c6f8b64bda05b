// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/rule_preview.h"

#include "core/journal/journal_export.h"
#include "core/journal/rule_replay.h"

#include <algorithm>

namespace tenure
{
namespace
{

constexpr std::size_t kMostEvents = 200'000;
constexpr std::size_t kMostLeases = 5'000;

constexpr const char* kByTheMinute
    = "Judged by the minute: the journal keeps the renewals of a minute as least, most and mean, so it may count a "
      "little more or less than was so.";

/// The same rules with those off that the journal says nothing about.
RuleBook replayed(const RuleBook& rules)
{
    std::vector<RuleSetting> settings = rules.settings();
    for (const RuleDefinition& rule : ruleCatalogue()) {
        if (rule.id == RuleId::Stale || replayability(rule.id).how != Replayable::No)
            continue;
        RuleSetting off;
        off.rule = rule.id;
        off.on = false;
        settings.push_back(std::move(off));
    }
    return RuleBook(std::move(settings));
}

Result<void> replay(const RuleBook& book, JournalQuery& query, const JournalFilter& filter, TimeWindow window,
    std::vector<TimeWindow> blind, RulePreview& out)
{
    RuleReplay one(book, query, filter.connection, window, std::move(blind), out);
    const auto leases = query.leases(filter);
    if (!leases)
        return fail(leases.error());
    out.complete = out.complete && leases->size() <= kMostLeases;
    for (std::size_t i = 0; i < std::min(leases->size(), kMostLeases); ++i) {
        if (const auto known = one.begin((*leases)[i].lease); !known)
            return known;
    }
    Result<void> went;
    const auto told = eachEvent(query, filter, [&](const JournalEvent& event) {
        if (out.events >= kMostEvents)
            out.complete = false;
        else
            went = one.take(event);
        return out.complete && went.has_value();
    });
    if (!told || !went)
        return told ? went : told;
    return one.finish();
}

} // namespace

Replayability replayability(RuleId rule)
{
    switch (rule) {
    case RuleId::Leaderless:
    case RuleId::TokenRegressed:
    case RuleId::Churn:
    case RuleId::Flapping:
    case RuleId::UnknownHolder:
        return {Replayable::Exactly, ""};
    case RuleId::Late:
    case RuleId::Headroom:
    case RuleId::RenewDelay:
    case RuleId::ShortTtl:
    case RuleId::UnsafeTiming:
        return {Replayable::ByTheMinute, kByTheMinute};
    case RuleId::SplitBrain:
        return {Replayable::No,
            "Cannot be previewed: it needs the time that the old grant had left at the very moment of the "
            "takeover, which is not journaled."};
    case RuleId::ClockJump:
        return {Replayable::No,
            "Cannot be previewed: the journal knows the server's clock only at changes, too seldom to tell a "
            "jump from drift."};
    case RuleId::Stale:
        return {Replayable::No,
            "Cannot be previewed: the journal does not tell a broken connection from a console that was not "
            "running. It inhibits the other rules here as it does live."};
    }
    return {};
}

std::uint64_t RulePreview::countOf(RuleId rule) const
{
    return static_cast<std::uint64_t>(
        std::count_if(raised.begin(), raised.end(), [rule](const Raised& one) { return one.rule == rule; }));
}

void RulePreview::add(RulePreview other)
{
    raised.insert(raised.end(), other.raised.begin(), other.raised.end());
    std::stable_sort(
        raised.begin(), raised.end(), [](const auto& a, const auto& b) { return a.firstAt < b.firstAt; });
    events += other.events;
    renewals += other.renewals;
    complete = complete && other.complete;
}

Result<RulePreview> whatWouldHaveFired(
    const RuleBook& rules, JournalQuery& query, const JournalFilter& filter, TimeWindow window)
{
    RulePreview out;
    const RuleBook book = replayed(rules);
    const auto connections = query.connections();
    if (!connections)
        return fail(connections.error());
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
        RulePreview mine;
        if (const auto went = replay(book, query, within, window, *blind, mine); !went)
            return fail(went.error());
        out.add(std::move(mine));
    }
    return out;
}

} // namespace tenure
