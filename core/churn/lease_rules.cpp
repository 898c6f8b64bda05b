// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/churn/alerts.h"
#include "core/churn/quantile.h"

#include <algorithm>
#include <cmath>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kLeastSamples = 5; ///< fewer say nothing
constexpr std::size_t kRecentRenewals = 10;
constexpr int kGoodRenewals = 3;
/// A term that lasts less than this many ttls is short.
constexpr int kShortTerm = 3;
constexpr std::size_t kTermsJudged = 5;
constexpr double kDeadlineShare = 0.8; ///< of the ttl: the usual renew deadline

double seconds(Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

std::string percent(double share)
{
    return std::to_string(std::lround(share * 100)) + " %";
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

/// Middle length of the last terms that were seen to end within `window`; nothing for too few.
std::optional<Duration> medianTerm(const LeaseStatus& status, Instant since)
{
    std::vector<Duration> lengths;
    for (auto term = status.terms.rbegin(); term != status.terms.rend() && lengths.size() < kTermsJudged;
         ++term) {
        if (term->holder.empty() || !term->until || !term->observedStart)
            continue;
        if (*term->until < since)
            break;
        lengths.push_back(*term->until - term->from);
    }
    if (lengths.size() < kTermsJudged)
        return std::nullopt;
    std::nth_element(lengths.begin(), lengths.begin() + kTermsJudged / 2, lengths.end());
    return lengths[kTermsJudged / 2];
}

} // namespace

/// Raises once, clears when it is over; a rule that is off is over.
void AlertRules::judge(const Subject& subject, RuleId rule, Verdict verdict, const std::string& text)
{
    const LeaseId& lease = subject.status.record.lease;
    const bool is = active(rule, lease) != nullptr;
    if (!subject.of(rule).on || verdict == Verdict::Clear) {
        if (is)
            clear(rule, lease, subject.now);
    } else if (verdict == Verdict::Raise && !is) {
        raise(rule, lease, subject.of(rule).priority, text, subject.now);
    }
}

void AlertRules::tickLease(const Subject& subject)
{
    leaderless(subject);
    late(subject);
    headroom(subject);
    renewDelay(subject);
    shortTtl(subject);
    unsafeTiming(subject);
    unknownHolder(subject);
    quietAgain(subject);
    subject.memory.expiresAt = subject.status.led() ? subject.status.expiresAt : std::nullopt;
}

void AlertRules::leaderless(const Subject& subject)
{
    const LeaseStatus& status = subject.status;
    if (leadsAgain(status, subject.now) || status.record.hold) {
        judge(subject, RuleId::Leaderless, Verdict::Clear, {});
        return;
    }
    if (status.led() || !wantsALeader(status))
        return;
    const double ttls = subject.threshold(RuleId::Leaderless, 1);
    const auto byTtl = std::chrono::duration_cast<Duration>(
        ttls * std::chrono::duration<double>(status.usualTtl.value_or(Duration::zero())));
    const Duration limit = std::max(byTtl, subject.time(RuleId::Leaderless, 0));
    if (subject.now - status.holderSince <= limit)
        return;
    std::string text = "Nobody leads for more than " + durationText(limit);
    if (const std::size_t waiting = status.record.candidates.size(); waiting > 0)
        text += "; " + std::to_string(waiting) + " candidates wait and do not take it";
    judge(subject, RuleId::Leaderless, Verdict::Raise, text);
}

void AlertRules::late(const Subject& subject)
{
    const LeaseStatus& status = subject.status;
    Memory& memory = subject.memory;
    for (auto seen = status.renewals.rbegin(); seen != status.renewals.rend() && seen->at > memory.judged;
         ++seen) {
        if (seen->late)
            memory.late.push_back(seen->at);
    }
    if (!status.renewals.empty())
        memory.judged = std::max(memory.judged, status.renewals.back().at);
    while (!memory.late.empty() && memory.late.front() < subject.now - subject.time(RuleId::Late, 2))
        memory.late.pop_front();
    if (!status.led() || !status.renews() || !status.record.ttl) {
        judge(subject, RuleId::Late, Verdict::Clear, {});
        return;
    }
    // By the last look, not by now: what was not looked at is not late.
    const Duration silent = status.seenAt - status.lastRenewalAt;
    const Duration ttl = *status.record.ttl;
    const Duration patience = std::min(ttl / 2
            + std::chrono::duration_cast<Duration>(subject.threshold(RuleId::Late, 0)
                * std::chrono::duration<double>(status.renewInterval.value_or(ttl / 3))),
        ttl * 4 / 5);
    const auto times = static_cast<std::size_t>(subject.threshold(RuleId::Late, 1));
    if (status.renewInterval && silent > patience) {
        judge(subject, RuleId::Late, Verdict::Raise,
            "No renewal of " + printable(status.record.holder.value_or(std::string()), 80) + " for "
                + durationText(silent) + ", usually every " + durationText(*status.renewInterval));
        return;
    }
    int good = 0;
    for (auto seen = status.renewals.rbegin(); seen != status.renewals.rend() && !seen->late; ++seen)
        ++good;
    if (active(RuleId::Late, status.record.lease) != nullptr) {
        if (good < kGoodRenewals)
            return;
        memory.late.clear();
        judge(subject, RuleId::Late, Verdict::Clear, {});
    } else if (times > 0 && memory.late.size() >= times) {
        judge(subject, RuleId::Late, Verdict::Raise,
            std::to_string(memory.late.size()) + " late renewals within "
                + durationText(subject.time(RuleId::Late, 2)));
    }
}

void AlertRules::churn(const Subject& subject)
{
    const LeaseStatus& status = subject.status;
    const Duration window = subject.time(RuleId::Churn, 1);
    if (!subject.of(RuleId::Churn).on || active(RuleId::Flapping, status.record.lease) != nullptr)
        return;
    const std::size_t changes = status.transitionsSince(subject.now - window);
    const auto median = medianTerm(status, subject.now - window);
    const bool shortTerms
        = median && status.usualTtl && *median < kShortTerm * *status.usualTtl;
    if (changes < static_cast<std::size_t>(subject.threshold(RuleId::Churn, 0)) && !shortTerms)
        return;
    std::string text = std::to_string(changes) + " changes of leader in " + durationText(window);
    if (median)
        text += ", terms last " + durationText(*median) + " in the middle";
    raise(RuleId::Churn, status.record.lease, subject.of(RuleId::Churn).priority, text, subject.now);
}

void AlertRules::noteLeader(const Subject& subject, const Transition& transition)
{
    auto& leaders = subject.memory.leaders;
    if (transition.newHolder.empty())
        return;
    if (leaders.empty() || leaders.back().first != transition.newHolder)
        leaders.emplace_back(transition.newHolder, transition.at);
    if (leaders.size() > 32)
        leaders.pop_front();
}

void AlertRules::flapping(const Subject& subject)
{
    const LeaseId& lease = subject.status.record.lease;
    if (!subject.of(RuleId::Flapping).on || active(RuleId::Churn, lease) != nullptr)
        return;
    auto& leaders = subject.memory.leaders;
    while (!leaders.empty() && leaders.front().second < subject.now - subject.time(RuleId::Flapping, 2))
        leaders.pop_front();
    std::size_t alternations = 0;
    for (std::size_t i = leaders.size(); i-- > 2 && leaders[i].first == leaders[i - 2].first;)
        ++alternations;
    if (alternations < std::max<std::size_t>(1, static_cast<std::size_t>(subject.threshold(RuleId::Flapping, 0))))
        return;
    raise(RuleId::Flapping, lease, subject.of(RuleId::Flapping).priority,
        printable(leaders.back().first, 60) + " and " + printable(leaders[leaders.size() - 2].first, 60)
            + " take turns: " + std::to_string(alternations) + " times",
        subject.now);
}

/// What clears by quiet: churn, flapping, two live claims.
void AlertRules::quietAgain(const Subject& subject)
{
    const LeaseStatus& status = subject.status;
    const LeaseId& lease = status.record.lease;
    if (active(RuleId::Churn, lease) != nullptr) {
        const std::size_t changes
            = status.transitionsSince(subject.now - subject.time(RuleId::Churn, 3));
        const bool quiet = changes < static_cast<std::size_t>(subject.threshold(RuleId::Churn, 2));
        judge(subject, RuleId::Churn, quiet ? Verdict::Clear : Verdict::Keep, {});
    }
    for (const RuleId rule : {RuleId::Flapping, RuleId::SplitBrain}) {
        const Alert* alert = active(rule, lease);
        if (alert == nullptr)
            continue;
        const Duration quiet = subject.time(rule, 1);
        const bool over = status.transitionsSince(subject.now - quiet) == 0
            && subject.now - alert->lastAt > quiet;
        judge(subject, rule, over ? Verdict::Clear : Verdict::Keep, {});
    }
}

void AlertRules::headroom(const Subject& subject)
{
    const auto& renewals = subject.status.renewals;
    const double share = subject.threshold(RuleId::Headroom, 0);
    const std::size_t recent = std::min(renewals.size(), kRecentRenewals);
    std::size_t few = 0;
    double least = 1;
    for (std::size_t i = renewals.size() - recent; i < renewals.size(); ++i) {
        few += renewals[i].headroom < share ? 1 : 0;
        least = std::min(least, renewals[i].headroom);
    }
    const auto times = static_cast<std::size_t>(subject.threshold(RuleId::Headroom, 1));
    if (!subject.status.record.ttl || least >= 1.5 * share)
        judge(subject, RuleId::Headroom, Verdict::Clear, {});
    else if (few >= std::max<std::size_t>(1, times))
        judge(subject, RuleId::Headroom, Verdict::Raise,
            std::to_string(few) + " of the last " + std::to_string(recent) + " renewals came with less than "
                + percent(share) + " of the ttl left, the least " + percent(least));
}

void AlertRules::renewDelay(const Subject& subject)
{
    const LeaseStatus& status = subject.status;
    Memory& memory = subject.memory;
    if (!status.led() || !status.record.ttl || !status.renewInterval || status.renewals.size() < kLeastSamples) {
        memory.delayedSince.reset();
        return;
    }
    std::vector<double> delays;
    delays.reserve(status.renewals.size());
    for (const RenewalSeen& seen : status.renewals)
        delays.push_back(std::max(0.0, seconds(seen.interval - *status.renewInterval)));
    const double share
        = quantile(std::move(delays), 0.95) / (kDeadlineShare * seconds(*status.record.ttl));
    const Duration lasting = subject.time(RuleId::RenewDelay, 1);
    const auto since = [&](std::optional<Instant>& start, bool is) {
        if (!is)
            start.reset();
        else if (!start)
            start = subject.now;
        return is && subject.now - *start >= lasting;
    };
    if (since(memory.delayedSince, share > subject.threshold(RuleId::RenewDelay, 0)))
        judge(subject, RuleId::RenewDelay, Verdict::Raise,
            "Renewals are delayed by " + percent(share) + " of the renew deadline (p95 of "
                + std::to_string(status.renewals.size()) + ")");
    if (since(memory.calmSince, share < subject.threshold(RuleId::RenewDelay, 2)))
        judge(subject, RuleId::RenewDelay, Verdict::Clear, {});
}

void AlertRules::shortTtl(const Subject& subject)
{
    const LeaseStatus& status = subject.status;
    if (!status.record.ttl || !status.led())
        return;
    const double trips = subject.threshold(RuleId::ShortTtl, 0);
    const double ttl = seconds(*status.record.ttl);
    const bool tooShort = ttl < trips * seconds(status.roundTrip);
    if (!tooShort)
        subject.memory.shortSince.reset();
    else if (!subject.memory.shortSince)
        subject.memory.shortSince = subject.now;
    if (ttl > trips * 4 / 3 * seconds(status.roundTrip))
        judge(subject, RuleId::ShortTtl, Verdict::Clear, {});
    else if (tooShort && subject.now - *subject.memory.shortSince >= subject.time(RuleId::ShortTtl, 1))
        judge(subject, RuleId::ShortTtl, Verdict::Raise,
            "The ttl of " + durationText(*status.record.ttl) + " is less than "
                + std::to_string(std::lround(trips)) + " round trips of " + durationText(status.roundTrip));
}

void AlertRules::unsafeTiming(const Subject& subject)
{
    const LeaseStatus& status = subject.status;
    if (!status.record.ttl || !status.renewInterval || status.renewals.size() < kLeastSamples)
        return;
    const double share = seconds(*status.renewInterval) / seconds(*status.record.ttl);
    const double limit = subject.threshold(RuleId::UnsafeTiming, 0);
    if (share < 0.9 * limit)
        judge(subject, RuleId::UnsafeTiming, Verdict::Clear, {});
    else if (share > limit)
        judge(subject, RuleId::UnsafeTiming, Verdict::Raise,
            "It is renewed every " + durationText(*status.renewInterval) + " with a ttl of "
                + durationText(*status.record.ttl) + ": one lost renewal loses it");
}

void AlertRules::unknownHolder(const Subject& subject)
{
    const auto& known = subject.of(RuleId::UnknownHolder).knownHolders;
    const std::string holder = subject.status.record.holder.value_or(std::string());
    const bool stranger = subject.status.led() && !known.empty()
        && std::none_of(known.begin(), known.end(),
            [&](const std::string& glob) { return globMatch(glob, holder); });
    judge(subject, RuleId::UnknownHolder, stranger ? Verdict::Raise : Verdict::Clear,
        printable(holder, 120) + " leads and is none of the known holders");
}

/// Tokens of a lease only grow; one that went back means that the store lost data.
void AlertRules::checkToken(const Subject& subject, const Transition& transition)
{
    if (!transition.token || transition.newHolder.empty() || !subject.of(RuleId::TokenRegressed).on)
        return;
    FencingToken& largest = m_tokens[transition.lease];
    if (transition.token < largest) {
        Alert& alert = raise(RuleId::TokenRegressed, transition.lease,
            subject.of(RuleId::TokenRegressed).priority,
            "The fencing token went back from " + std::to_string(largest.value) + " to "
                + std::to_string(transition.token.value),
            transition.at);
        alert.action = std::string(definitionOf(RuleId::TokenRegressed).action) + " than "
            + std::to_string(largest.value);
        m_told.back() = alert;
        return;
    }
    largest = transition.token;
    const Alert* alert = active(RuleId::TokenRegressed, transition.lease);
    if (alert != nullptr && alert->state == AlertState::Acknowledged)
        clear(RuleId::TokenRegressed, transition.lease, transition.at);
}

void AlertRules::checkSplitBrain(const Subject& subject, const Transition& transition)
{
    const auto& expires = subject.memory.expiresAt;
    if (!subject.of(RuleId::SplitBrain).on || transition.kind != TransitionKind::TakenOver
        || transition.gap || transition.inBlindSpot || !expires)
        return;
    const Duration left = *expires - transition.at;
    if (left <= subject.time(RuleId::SplitBrain, 0))
        return;
    raise(RuleId::SplitBrain, transition.lease, subject.of(RuleId::SplitBrain).priority,
        printable(transition.newHolder, 80) + " took it while " + printable(transition.oldHolder, 80)
            + " had a grant for " + durationText(left) + " more: both may believe that they lead",
        transition.at);
}

} // namespace tenure
