// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/fleet.h"
#include "core/runtime/operator_gate.h"

#include <condition_variable>

namespace tenure
{

/// "changed to b (token 9) while you read": why nothing was written.
[[nodiscard]] std::string changedText(const LeaseRecord& now);
/// Does `now` show that the write of `plan`, whose answer was lost, took place?
[[nodiscard]] bool wasCarriedOut(const ReleasePlan& plan, const LeaseRecord& now);
/// What a write of this kind leads to first, when it is accepted.
[[nodiscard]] ReleaseOutcome expectedOutcome(OperatorVerb verb);

/// What became of a release that was carried out: a reducer from looks to a report. Pure.
class ReleaseWatch
{
public:
    ReleaseWatch(const ReleasePlan& plan, Instant written);
    /// True when the report says something new.
    bool take(const LeaseRecord& now, Instant at);
    bool takeError(const Error& error, Instant at);
    /// Nothing more is to be expected.
    [[nodiscard]] bool decided() const { return m_decided; }
    /// The last word so far; not final.
    [[nodiscard]] const ReleaseReport& report() const { return m_report; }

private:
    void tell(ReleaseOutcome outcome, const std::string& what);

    const ReleasePlan& m_plan;
    Instant m_written;
    ReleaseReport m_report;
    bool m_decided = false;
};

/// Lets one thread wait until another says that something happened, or a time is over.
class Wakeup
{
public:
    void notify()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_happened = true;
        }
        m_condition.notify_one();
    }
    void wait(Duration longest)
    {
        std::unique_lock lock(m_mutex);
        m_condition.wait_for(lock, longest, [this] { return m_happened; });
        m_happened = false;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_condition;
    bool m_happened = false; ///< guarded by m_mutex
};

} // namespace tenure
