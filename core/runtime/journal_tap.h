// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal.h"
#include "core/runtime/monitor.h"
#include "core/runtime/operator_gate.h"

#include <map>
#include <memory>

namespace tenure
{

/// What of a Monitor's deltas is kept for good: transitions, renewals, alerts, and when it was
/// observed at all. Put it into the monitor's sink, before anything that drops or holds back deltas.
/// One owner, one thread at a time (the monitor's); never blocks.
class JournalTap
{
public:
    JournalTap(std::shared_ptr<Journal> journal, JournalConnection connection);
    void take(const FleetDelta& delta);

private:
    void takeRenewals(const LeaseStatus& status);

    const std::shared_ptr<Journal> m_journal;
    const std::string m_connection;
    const std::uint64_t m_run; ///< tells this monitor's alerts from those of others
    std::map<LeaseId, Instant> m_lastRenewals;
};

/// An audit that first writes to the journal, and waits (a second at most) until it is on the disk:
/// an intent is there before anything is sent. A journal that cannot be written holds nothing up; its
/// status says so. `then` (may be empty) comes after. Any thread.
[[nodiscard]] OperatorGate::Audit journaledAudit(
    std::shared_ptr<Journal> journal, std::string connection, OperatorGate::Audit then);

/// Something that an operator did to a connection or an alert: "operator-on", "shelve".
void journalDeed(Journal& journal, const LeaseKey& lease, const std::string& by,
    const std::string& verb, const std::string& reason);

} // namespace tenure
