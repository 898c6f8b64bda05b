// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_advisory_view.h"
#include "core/backend/postgres/pg_session_watch.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::postgres
{

/// Stands in the server's own queue for an advisory lock, on a session and thread of its own, so
/// that the end of its holder is known at once and `pg_locks` shows who waits. What it wins it
/// keeps for the candidate, who is told through SessionWatch; a candidate who does not come for it
/// soon, or did not ask or look for two and a half ttl, has it given up. The server ends each wait after
/// a few seconds, so that a waiter whose machine is gone does not stand there for ever.
class LockWait
{
public:
    LockWait(std::shared_ptr<Shared> shared, std::shared_ptr<SessionWatch> watch, LeaseId lease,
        const AdvisoryKey &key, const HolderId &holder, Milliseconds ttl);
    ~LockWait();
    LockWait(const LockWait &) = delete;
    LockWait &operator=(const LockWait &) = delete;

    /// The candidate still wants it. False: this wait is over, for want of a session or of
    /// interest.
    [[nodiscard]] bool keep();
    /// The same, from the queue's end.
    [[nodiscard]] std::unique_ptr<LockWait> again() const;
    /// The session that has the lock, once; null while it waits.
    [[nodiscard]] std::unique_ptr<PgConnection> take();

private:
    enum class State { Waiting, Won, Over };
    void run();
    [[nodiscard]] bool standInLine();
    [[nodiscard]] bool wanted() const { return BootClock::now() < m_wantedAt + m_ttl * 5 / 2; }
    void end();

    const std::shared_ptr<Shared> m_shared;
    const std::shared_ptr<SessionWatch> m_watch;
    const LeaseId m_lease;
    const AdvisoryKey m_key;
    const HolderId m_holder;
    const Milliseconds m_ttl;
    std::atomic<bool> m_ending = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    // Guarded by m_mutex:
    State m_state = State::Waiting;
    Instant m_wantedAt;
    std::unique_ptr<PgConnection> m_session; ///< its own thread uses it without the lock while Waiting
    std::uint64_t m_told = 0;
    std::thread m_thread;
};

} // namespace tenure::postgres
