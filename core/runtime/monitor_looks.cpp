// SPDX-License-Identifier: GPL-3.0-or-later
// How the monitor looks at leases: listing, reading, and what comes of an answer.
#include "core/base/text.h"
#include "core/runtime/monitor_core.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kBatch = 1000;
/// A large keyspace is walked at full speed for so many pages, then with pauses.
constexpr std::uint64_t kQuickPages = 50;
constexpr Duration kPagePause = 20ms;
constexpr std::size_t kSmallBatch = 16; ///< whose duration is a round trip and little else
constexpr Duration kForgetAfter = 10min;

/// The server understood the question: the connection is fine, whatever it says of this one lease.
bool isAnswer(const Result<Reply>& result)
{
    return result || result.error().kind == ErrorKind::NotFound
        || result.error().kind == ErrorKind::Corrupt || result.error().kind == ErrorKind::Conflict;
}

/// A record without any trace of a lease. Some formats keep the row of a lease that is free.
bool isAbsent(const LeaseRecord& record)
{
    return !record.holder && !record.token && !record.hold && !record.released
        && record.transitions.value_or(0) == 0 && record.raw.empty();
}

} // namespace

std::optional<std::vector<Result<Reply>>> Monitor::Core::call(const std::vector<Command>& commands)
{
    const Instant sent = clock.now();
    m_lastCall = sent;
    std::vector<Result<Reply>> results = m_store->execute(commands, sent + options.callTimeout);
    const Instant received = clock.now();
    if (std::none_of(results.begin(), results.end(), isAnswer)) {
        Error error;
        error.what = "The backend gave no answer";
        failed(results.empty() ? error : results.front().error());
        return std::nullopt;
    }
    answered(sent, received);
    if (commands.size() <= kSmallBatch) {
        const Duration took = received - sent;
        m_link.roundTrip
            = m_link.roundTrip ? *m_link.roundTrip + (took - *m_link.roundTrip) / 8 : took;
    }
    return results;
}

void Monitor::Core::listPage()
{
    List page;
    page.glob = options.glob;
    page.cursor = m_cursor;
    const auto results = call({Command(page)});
    if (!results)
        return;
    if (!results->front()) {
        failed(results->front().error());
        return;
    }
    const Reply& reply = *results->front();
    if (m_pages++ == 0)
        m_delta.scanned = 0;
    m_delta.scanned += reply.records.size();
    for (const LeaseRecord& record : reply.records)
        take(record, reply.serverTime, false);
    m_cursor = reply.cursor;
    m_nextPage = clock.now() + (m_pages > kQuickPages ? kPagePause : Duration::zero());
    if (m_cursor.empty())
        listEnded();
}

/// What the listing did not show is read by name: it may be gone.
void Monitor::Core::listEnded()
{
    m_listing = false;
    for (const auto& [lease, status] : m_fleet.all()) {
        if (status.seenAt < m_listStarted) {
            m_unverified.insert(lease);
            m_schedule.hasten(lease, m_listStarted);
        }
    }
    m_urgent = true;
}

void Monitor::Core::readDue()
{
    const Instant now = clock.now();
    const std::vector<LeaseId> due = m_schedule.take(now, kBatch);
    if (!due.empty()) {
        std::vector<Command> reads;
        reads.reserve(due.size());
        for (const LeaseId& lease : due)
            reads.emplace_back(Read{lease, ReadDepth::Full});
        const auto results = call(reads);
        for (std::size_t i = 0; i < due.size(); ++i) {
            if (!results || i >= results->size() || !isAnswer((*results)[i])) {
                m_schedule.set(due[i], now + options.probeEvery);
                continue;
            }
            m_unverified.erase(due[i]);
            if (const Result<Reply>& result = (*results)[i]) {
                take(result->record, result->serverTime, isAbsent(result->record));
                continue;
            }
            takeRefusal(due[i], (*results)[i].error());
        }
        if (!results)
            return;
        m_proofSent = now;
    } else if (m_received != Instant()) {
        m_proofSent = std::max(m_proofSent, m_sent);
    }
    if (m_listing || !m_unverified.empty())
        return;
    if (!m_delta.complete || m_delta.refreshes != m_refreshAsked)
        m_urgent = true;
    m_delta.complete = true;
    m_delta.refreshes = m_refreshAsked;
}

/// The server answered, but with no record: gone, or not to be understood. What cannot be
/// understood does not overwrite what was known; it only becomes a row of its own.
void Monitor::Core::takeRefusal(const LeaseId& lease, const Error& error)
{
    LeaseRecord nothing;
    nothing.lease = lease;
    if (error.kind == ErrorKind::NotFound) {
        take(std::move(nothing), {}, true);
    } else if (m_fleet.find(lease) == nullptr) {
        nothing.note = error.text();
        take(std::move(nothing), {}, false);
    } else {
        m_schedule.set(lease, m_received + options.probeEvery);
    }
}

void Monitor::Core::take(LeaseRecord record, const std::optional<WallTime>& serverTime, bool absent)
{
    const LeaseId lease = record.lease;
    if (m_fleet.find(lease) == nullptr && m_fleet.all().size() >= options.limit) {
        m_delta.capped = true;
        return;
    }
    Observation seen;
    seen.record = std::move(record);
    seen.absent = absent;
    seen.serverTime = serverTime;
    seen.receivedAt = m_received;
    seen.roundTrip = m_received - m_sent;
    if (serverTime)
        m_link.skew
            = *serverTime - (clock.wall() - (clock.now() - m_received) - seen.roundTrip / 2);
    for (const Transition& transition : m_fleet.apply(seen, clock.wall()))
        take(transition);
    m_looked = true;
    const bool focused = m_focus == lease;
    if (const LeaseStatus* status = m_fleet.find(lease))
        m_schedule.set(lease, nextLook(rules(), *status, focused));
    else if (focused || !options.only.empty())
        m_schedule.set(lease, m_received + options.probeEvery);
}

void Monitor::Core::take(const Transition& transition)
{
    const LeaseStatus& status = *m_fleet.find(transition.lease);
    for (Alert& alert : m_alerts.onTransition(transition, status))
        m_delta.alerts.push_back(std::move(alert));
    m_fleet.setChurning(transition.lease, m_alerts.isChurning(transition.lease));
    m_delta.transitions.push_back(transition);
}

/// Names that are gone for good (one-shot locks with ever new names) do not pile up.
void Monitor::Core::forgetTheGone()
{
    if (!options.only.empty())
        return;
    const Instant before = clock.now() - kForgetAfter;
    std::vector<LeaseId> gone;
    for (const auto& [lease, status] : m_fleet.all()) {
        if (status.absent && status.holderSince < before)
            gone.push_back(lease);
    }
    for (const LeaseId& lease : gone) {
        m_fleet.forget(lease);
        m_schedule.remove(lease);
        m_delta.removed.push_back(lease);
    }
}

LookRules Monitor::Core::rules() const
{
    LookRules rules;
    rules.minimumPoll = options.minimumPoll;
    rules.probeEvery = options.probeEvery;
    rules.pushed = m_link.pushOpen;
    rules.renewalsPushed = m_renewalsPushed && m_link.pushOpen;
    rules.leases = m_fleet.all().size();
    return rules;
}

bool Monitor::Core::wanted(const LeaseId& lease) const
{
    if (!options.only.empty())
        return std::find(options.only.begin(), options.only.end(), lease) != options.only.end();
    return globMatch(options.glob, lease.name());
}

} // namespace tenure
