// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_advisory_view.h"
#include "core/backend/postgres/pg_lock_wait.h"
#include "core/backend/postgres/pg_session_watch.h"
#include "core/backend/postgres/pg_store.h"

#include <map>

namespace tenure::postgres
{

/// LeaseStore on session locks: each lease that is held has a session of its own, lives as long as
/// that session, and is lost the moment it ends. A renewal proves that the session still has its
/// lock; the ttl only says how long its holder believes without such a proof. For a few leases a
/// process. What differs from a table: a killed session frees its lock at once, while its holder
/// learns of it a moment later; fencing tokens (timeline and transaction number) order the two.
/// Behind a proxy that pools transactions a lock would belong to somebody else: refused.
class AdvisoryStore final : public LeaseStore
{
public:
    AdvisoryStore(
        std::shared_ptr<Shared> shared, std::shared_ptr<SessionWatch> watch, StoreTraits traits);
    ~AdvisoryStore() override;

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant deadline) override;
    [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override;
    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override;
    /// Connects what the next try will need, which over a slow line takes longer than a try may. Not
    /// while something is held: its renewals must not wait.
    bool idle(Instant deadline, const std::atomic<bool> &cancelled) override;

private:
    struct Held {
        Term term;
        std::unique_ptr<PgConnection> session;
        std::uint64_t watched = 0;
    };
    using Place = std::map<LeaseId, Held>::iterator;

    [[nodiscard]] Result<void> prepareSession(
        Instant deadline, const std::atomic<bool> *cancelled = nullptr);
    [[nodiscard]] Result<Reply> acquire(const Acquire &command, Instant deadline);
    [[nodiscard]] Result<Reply> renew(const Renew &command, Instant deadline);
    [[nodiscard]] Result<Reply> release(const Release &command, Instant deadline);
    [[nodiscard]] Result<Reply> peek(const LeaseId &lease, Instant deadline);
    [[nodiscard]] Result<Reply> read(const LeaseId &lease, Instant deadline);
    [[nodiscard]] Result<Reply> look(const Command &command, Instant deadline);
    [[nodiscard]] Result<bool> stillLocked(Held &held, const LeaseId &lease, Instant deadline);
    [[nodiscard]] Result<Reply> tryLock(const Acquire &command, Instant deadline);
    [[nodiscard]] Result<Reply> refused(const LeaseId &lease, Instant deadline);
    [[nodiscard]] Reply lost(const LeaseId &lease) const;
    void drop(Place place);

    const std::shared_ptr<Shared> m_shared;
    const std::shared_ptr<SessionWatch> m_watch;
    const StoreTraits m_traits;
    PgStore m_looks; ///< everything that only looks, and releases by hand
    std::unique_ptr<PgConnection> m_spare; ///< on which the next lock is tried
    bool m_competes = false; ///< this store is a candidate's
    std::map<LeaseId, Held> m_held;
    std::map<LeaseId, std::unique_ptr<LockWait>> m_waits; ///< for those that were refused
};

} // namespace tenure::postgres
