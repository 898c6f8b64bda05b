// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/rules.h"

#include <algorithm>

namespace tenure
{
namespace
{

using enum ThresholdUnit;

const std::vector<RuleDefinition>& catalogue()
{
    static const std::vector<RuleDefinition> kAll = {
        {RuleId::Leaderless, "leaderless", "Vacant", 1, true,
            "nobody holds the lease for longer than a time and a number of ttls",
            "a holder has renewed once", "Find out why no candidate takes it: is any instance running?",
            {{"at-least", Seconds, 10, "longer than"}, {"ttls", Count, 2, "and longer than this many ttls"}}},
        {RuleId::TokenRegressed, "token-regressed", "Token regressed", 1, true,
            "a fencing token is smaller than one before it", "acknowledged, and tokens grow again",
            "The store lost data: stop the writers that this lease guards, then make sure that they "
            "refuse smaller tokens",
            {}},
        {RuleId::SplitBrain, "split-brain", "Two live claims", 1, false,
            "a lease was taken over while the old grant still had time left",
            "the old grant has run out and the lease is quiet for a time",
            "Make sure that the old holder has stopped its work; look for a release by hand or a second "
            "process under the same identity",
            {{"at-least", Seconds, 1, "time left of the old grant"}, {"quiet", Seconds, 900, "quiet for"}}},
        {RuleId::Churn, "churn", "Churn", 2, true,
            "many changes of leader in a window, or terms that last only some ttls",
            "few changes in a longer window",
            "Look at its renewals: raise the ttl, or repair what makes renewals late or leaders restart",
            {{"transitions", Count, 5, "changes of leader"}, {"window", Seconds, 600, "within"},
                {"clear-below", Count, 2, "clears below this many"},
                {"clear-window", Seconds, 900, "in this time"}}},
        {RuleId::Flapping, "flapping", "Ping-pong", 2, true, "the same two holders alternate",
            "no change for a time",
            "Check the network and the clocks between these two instances and the store",
            {{"alternations", Count, 3, "times in a row"}, {"quiet", Seconds, 900, "quiet for"},
                {"window", Seconds, 3600, "within"}}},
        {RuleId::ClockJump, "clock-jump", "Clock jumped", 2, true,
            "the server's clock moved against this machine's", "no jump for a time",
            "Check time synchronisation on the server: a store that expires by its wall clock ends leases "
            "early or late",
            {{"jump", Seconds, 1, "by more than"}, {"quiet", Seconds, 900, "quiet for"}}},
        {RuleId::Late, "late", "Late", 3, true,
            "renewals stay out for some renew periods, or come late again and again",
            "three renewals in time", "Look at the holder and at the way from it to the store",
            {{"periods", Count, 2, "late for this many renew periods"},
                {"times", Count, 3, "or late this many times"}, {"window", Seconds, 600, "within"}}},
        {RuleId::Headroom, "headroom", "Little headroom", 3, true,
            "renewals come with little of the ttl left", "the last ten had half as much again",
            "Raise the ttl or renew more often, before a hiccup costs the lease",
            {{"share", Share, 0.2, "share of the ttl left"}, {"times", Count, 2, "of the last ten renewals"}}},
        {RuleId::RenewDelay, "renew-delay", "Renew latency", 3, true,
            "renewals are delayed by much of what the lease can bear, for a time",
            "the delay is small for as long", "The store or the way to it is slow: look at its load",
            {{"share", Share, 0.5, "p95 of the delay, as a share of the renew deadline"},
                {"lasting", Seconds, 300, "for"}, {"clear-share", Share, 0.3, "clears below"}}},
        {RuleId::ShortTtl, "short-ttl", "Ttl too short", 3, true,
            "the ttl is only a few round trips to the store", "the ttl is a third longer than that",
            "Raise the ttl, or bring the candidates closer to the store",
            {{"round-trips", Count, 3, "ttl shorter than this many round trips"},
                {"lasting", Seconds, 30, "for"}}},
        {RuleId::UnsafeTiming, "unsafe-timing", "Unsafe timing", 3, true,
            "the holder renews so seldom that one lost renewal loses the lease",
            "it renews often enough", "Renew every third of the ttl or more often",
            {{"share", Share, 0.5, "renew interval, as a share of the ttl"}}},
        {RuleId::UnknownHolder, "unknown-holder", "Holder unknown", 3, false,
            "somebody leads whose name is none of those that are known",
            "a known holder leads, or nobody",
            "Find out who this is: another installation may be using the same name", {}},
        {RuleId::Stale, "stale", "Data stale", 3, true, "no answer from the store for a time",
            "answers came for a time",
            "Repair the connection; a problem of the link, not of leadership. Nothing is raised about its "
            "leases meanwhile",
            {{"after", Seconds, 15, "no answer for"}, {"clear-after", Seconds, 10, "live for"}}},
    };
    return kAll;
}

} // namespace

std::span<const RuleDefinition> ruleCatalogue()
{
    return catalogue();
}

const RuleDefinition& definitionOf(RuleId id)
{
    return catalogue()[static_cast<std::size_t>(id)];
}

const RuleDefinition* ruleNamed(std::string_view name)
{
    const auto& all = catalogue();
    const auto found = std::find_if(
        all.begin(), all.end(), [name](const RuleDefinition& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
}

} // namespace tenure
