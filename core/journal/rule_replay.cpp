// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/rule_replay.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr std::int64_t kMostTicks = 20'000;
constexpr Duration kTick = 5s; ///< while something is wrong
constexpr Duration kQuietTick = 60s;
constexpr Duration kReadAtOnce = 2h;
constexpr std::size_t kKept = 64;
constexpr std::size_t kRenewalsKept = 60;

/// Any fixed local moment will do for the beginning of the replay.
constexpr Instant kOrigin{std::chrono::hours(24 * 365)};

template <typename T>
void keepLast(std::deque<T>& all, std::size_t most)
{
    while (all.size() > most)
        all.pop_front();
}

/// The ttl is not journaled. The latest renewal of a minute tells it: so long after the one before,
/// so much of the ttl was left.
std::optional<Duration> likelyTtl(const std::vector<RenewalBucket>& buckets)
{
    std::vector<Duration> guesses;
    for (const RenewalBucket& bucket : buckets) {
        const double used = 1 - bucket.headroomLeast;
        if (used > 0.01 && bucket.intervalMost > Duration::zero())
            guesses.push_back(std::chrono::duration_cast<Duration>(
                std::chrono::duration<double>(bucket.intervalMost) / std::min(used, 1.0)));
    }
    if (guesses.empty())
        return std::nullopt;
    const auto middle = guesses.begin() + static_cast<std::ptrdiff_t>(guesses.size() / 2);
    std::nth_element(guesses.begin(), middle, guesses.end());
    return *middle;
}

} // namespace

RuleReplay::RuleReplay(const RuleBook& rules, JournalQuery& query, std::string connection, TimeWindow window,
    std::vector<TimeWindow> blind, RulePreview& out)
    : m_rules(rules), m_query(query), m_connection(std::move(connection)), m_window(window), m_blind(std::move(blind)),
      m_out(out), m_tick(std::max<Duration>(kTick, window.length() / kMostTicks)), m_read(kOrigin), m_now(kOrigin)
{
    m_link.connected = m_link.everConnected = m_link.pushOpen = true;
}

Instant RuleReplay::instant(WallTime at) const
{
    return kOrigin + (at - m_window.from);
}

WallTime RuleReplay::wall(Instant at) const
{
    return m_window.from + std::chrono::floor<std::chrono::microseconds>(at - kOrigin);
}

bool RuleReplay::blindAt(WallTime at) const
{
    return std::any_of(m_blind.begin(), m_blind.end(),
        [at](const TimeWindow& one) { return at >= one.from && at < one.to; });
}

Result<void> RuleReplay::begin(const LeaseId& lease)
{
    m_renewals[lease];
    const auto lane = m_query.terms({m_connection, lease}, {m_window.from, m_window.from + 1ms}, 1);
    if (!lane)
        return fail(lane.error());
    if (lane->segments.empty() || lane->segments.front().kind != TermKind::Led)
        return {}; // whoever leads next is told by a change
    const TermSegment& led = lane->segments.front();
    LeaseStatus& status = m_leases[lease];
    status.record.lease = lease;
    status.record.holder = led.holder;
    status.record.token = led.token;
    status.seenAt = status.firstSeenAt = status.holderSince = status.lastRenewalAt = kOrigin;
    status.terms.push_back({led.holder, led.token, kOrigin, std::nullopt, false, false});
    return {};
}

Result<void> RuleReplay::take(const JournalEvent& event)
{
    if (const auto passed = passTime(instant(event.at)); !passed)
        return passed;
    ++m_out.events;
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
    return {};
}

Result<void> RuleReplay::finish()
{
    const Instant end = instant(m_window.to);
    if (const auto passed = passTime(end); !passed)
        return passed;
    return m_now < end ? step(end) : Result<void>();
}

bool RuleReplay::restless() const
{
    const auto& alerts = m_rules.all();
    return std::any_of(alerts.begin(), alerts.end(),
               [](const auto& entry) {
                   return entry.second.state != AlertState::Resolved && entry.second.state != AlertState::Returned;
               })
        || std::any_of(m_leases.begin(), m_leases.end(), [](const auto& entry) { return !entry.second.led(); });
}

Result<void> RuleReplay::passTime(Instant until)
{
    while (true) {
        const Instant at = m_now + (restless() ? m_tick : std::max(m_tick, kQuietTick));
        if (at > until)
            return {};
        if (const auto went = step(at); !went)
            return went;
    }
}

Result<void> RuleReplay::step(Instant at)
{
    if (at > m_read) {
        if (const auto read = readRenewals(m_read); !read)
            return read;
    }
    const bool blind = blindAt(wall(at));
    m_link.connected = !blind;
    if (!blind)
        m_link.lastProof = at;
    for (auto& [lease, status] : m_leases) {
        status.seenAt = m_link.lastProof;
        pour(status, m_renewals[lease], at);
    }
    note(m_rules.tick(m_leases, m_link, at));
    m_now = at;
    return {};
}

Result<void> RuleReplay::readRenewals(Instant from)
{
    m_read = from + kReadAtOnce;
    const TimeWindow stretch{wall(from), std::min(wall(m_read), m_window.to)};
    for (auto& [lease, renewals] : m_renewals) {
        auto buckets = m_query.renewals(
            {m_connection, lease}, stretch, static_cast<int>(kReadAtOnce / kQuietTick));
        if (!buckets)
            return fail(buckets.error());
        renewals = {std::move(*buckets), 0, 0};
        LeaseStatus* status = m_leases.contains(lease) ? &m_leases[lease] : nullptr;
        if (const auto ttl = likelyTtl(renewals.buckets); ttl && status != nullptr) {
            status->usualTtl = ttl;
            status->record.ttl = std::chrono::ceil<Milliseconds>(*ttl);
        }
    }
    return {};
}

/// As many renewals as there were, evenly spread over their minute; the late ones last, each as late
/// as the latest of them.
void RuleReplay::pour(LeaseStatus& status, Renewals& renewals, Instant until)
{
    for (; renewals.at < renewals.buckets.size(); ++renewals.at, renewals.poured = 0) {
        const RenewalBucket& bucket = renewals.buckets[renewals.at];
        const auto count = static_cast<Duration::rep>(std::max<std::uint64_t>(1, bucket.count));
        while (renewals.poured < bucket.count) {
            const auto next = static_cast<Duration::rep>(renewals.poured + 1);
            RenewalSeen seen;
            seen.at = instant(bucket.from) + bucket.width / count * next;
            if (seen.at > until)
                return;
            ++renewals.poured;
            ++m_out.renewals;
            seen.late = renewals.poured + bucket.late > bucket.count;
            const bool slow = seen.late || renewals.poured == bucket.count;
            seen.interval = slow ? bucket.intervalMost : bucket.intervalMean;
            const double ttl = status.record.ttl ? std::chrono::duration<double>(*status.record.ttl).count() : 0;
            seen.headroom = slow ? bucket.headroomLeast
                : ttl > 0 ? std::max(0.0, 1 - std::chrono::duration<double>(seen.interval).count() / ttl) : 1;
            status.renewals.push_back(seen);
            keepLast(status.renewals, kRenewalsKept);
            ++status.renewalsSeen;
            status.lastRenewalAt = std::max(status.lastRenewalAt, seen.at);
            status.renewInterval = bucket.intervalMean;
            status.roundTrip = bucket.roundTripMean;
        }
    }
}

/// The lease after the event, as far as its changes tell it.
void RuleReplay::follow(LeaseStatus& status, const JournalEvent& event)
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
    if (!status.usualTtl) {
        status.usualTtl = likelyTtl(m_renewals[record.lease].buckets).value_or(15s);
        record.ttl = std::chrono::ceil<Milliseconds>(*status.usualTtl);
    }
    status.seenAt = status.lastRenewalAt = at;
    if (!status.terms.empty())
        status.terms.back().until = at;
    status.holderSince = at;
    status.terms.push_back({event.newHolder, event.token, at, std::nullopt,
        event.kind != TransitionKind::Appeared, event.kind == TransitionKind::Held});
    keepLast(status.terms, kKept);
    if (event.newHolder.empty())
        return;
    status.renewals.clear();
    status.renewInterval.reset();
    if (event.kind != TransitionKind::Appeared)
        status.transitionTimes.push_back(at);
    keepLast(status.transitionTimes, kKept);
}

void RuleReplay::note(const std::vector<Alert>& alerts)
{
    for (const Alert& alert : alerts) {
        const RuleDefinition* rule = ruleNamed(alert.rule);
        // "Stale" is how the rules inhibit themselves here; it is not told.
        if (rule == nullptr || replayability(rule->id).how == Replayable::No)
            continue;
        const auto known = m_places.find(alert.id);
        const bool over = alert.state == AlertState::Returned || alert.state == AlertState::Resolved;
        if (known == m_places.end()) {
            m_places[alert.id] = m_out.raised.size();
            m_out.raised.push_back({{m_connection, alert.lease}, rule->id, alert.priority, alert.text,
                wall(alert.firstAt), {}, alert.count});
            continue;
        }
        RulePreview::Raised& raised = m_out.raised[known->second];
        raised.text = alert.text;
        raised.count = alert.count;
        raised.clearedAt = over ? std::optional(wall(alert.lastAt)) : std::nullopt;
    }
}

} // namespace tenure
