// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/journal_tap.h"

#include "core/base/random.h"
#include "core/base/text.h"

#include <algorithm>
#include <thread>

namespace tenure
{
namespace
{

constexpr Duration kIntentWait = std::chrono::seconds(1);

const char* verbWord(OperatorVerb verb)
{
    switch (verb) {
    case OperatorVerb::Ask:
        return "ask";
    case OperatorVerb::Hold:
        return "hold";
    case OperatorVerb::Clear:
        return "clear";
    }
    return "";
}

JournalAction actionOf(const AuditEntry& entry, const std::string& connection)
{
    JournalAction action;
    action.at = entry.at;
    action.by = entry.by;
    if (entry.retry) {
        action.lease.connection = connection;
        action.verb = "retry";
        action.expected = printable(retryObject(*entry.retry), 400);
        action.reason = entry.retry->reason;
        if (entry.retried) {
            action.outcome = outcomeWord(*entry.retried);
            action.sentence = retrySentence(*entry.retry, *entry.retried);
        }
        return action;
    }
    action.lease = {connection, entry.plan.lease};
    action.verb = verbWord(entry.plan.verb);
    action.expected = printable(entry.plan.expected.holder) + "/"
        + std::to_string(entry.plan.expected.token.value);
    action.reason = entry.plan.reason;
    if (entry.outcome) {
        action.outcome = outcomeWord(entry.outcome->outcome);
        action.sentence = entry.outcome->sentence;
    }
    return action;
}

/// The intents whose outcome is not told yet. A release tells both on one thread.
struct OpenIntents {
    std::mutex mutex;
    std::map<std::thread::id, std::uint64_t> ids; ///< guarded by mutex
};

} // namespace

JournalTap::JournalTap(std::shared_ptr<Journal> journal, JournalConnection connection)
    : m_journal(std::move(journal)), m_connection(connection.id),
      m_run(systemEntropy() >> 1U) // fits SQLite's signed integers
{
    m_journal->describe(connection);
}

void JournalTap::take(const FleetDelta& delta)
{
    const LinkStatus& link = delta.link;
    if (link.everConnected && link.lastProof != Instant())
        m_journal->observed(m_connection, link.lastProof, std::max(link.staleAfter, link.pollEvery));
    for (const Transition& transition : delta.transitions)
        m_journal->append(m_connection, transition);
    for (const LeaseStatus& status : delta.changed)
        takeRenewals(status);
    for (const Alert& alert : delta.alerts)
        m_journal->append(m_connection, m_run, alert);
    for (const LeaseId& gone : delta.removed)
        m_lastRenewals.erase(gone);
}

void JournalTap::takeRenewals(const LeaseStatus& status)
{
    if (status.renewals.empty())
        return;
    Instant& last = m_lastRenewals[status.record.lease];
    auto fresh = std::find_if(status.renewals.begin(), status.renewals.end(),
        [&](const RenewalSeen& seen) { return seen.at > last; });
    for (; fresh != status.renewals.end(); ++fresh)
        m_journal->append({m_connection, status.record.lease}, *fresh, status.roundTrip);
    last = std::max(last, status.renewals.back().at);
}

OperatorGate::Audit journaledAudit(
    std::shared_ptr<Journal> journal, std::string connection, OperatorGate::Audit then)
{
    auto intents = std::make_shared<OpenIntents>();
    return [journal = std::move(journal), connection = std::move(connection), intents,
               then = std::move(then)](const AuditEntry& entry) {
        JournalAction action = actionOf(entry, connection);
        if (!entry.isIntent()) {
            const std::lock_guard lock(intents->mutex);
            if (const auto known = intents->ids.extract(std::this_thread::get_id()))
                action.intent = known.mapped();
        }
        const auto id = journal->record(std::move(action), kIntentWait);
        if (id && entry.isIntent()) {
            const std::lock_guard lock(intents->mutex);
            intents->ids[std::this_thread::get_id()] = *id;
        }
        if (then)
            then(entry);
    };
}

void journalDeed(Journal& journal, const LeaseKey& lease, const std::string& by,
    const std::string& verb, const std::string& reason)
{
    JournalAction action;
    action.by = by;
    action.lease = lease;
    action.verb = verb;
    action.reason = reason;
    static_cast<void>(journal.record(std::move(action), Duration::zero()));
}

} // namespace tenure
