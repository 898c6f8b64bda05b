// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lease_row.h"
#include "core/election/election.h"
#include "core/sim/setup.h"

#include <deque>

namespace tenure::sim
{

/// What a client asks of the store: the verbs of store.h, and what wrong clients do instead.
struct Ask {
    enum class Kind : std::uint8_t {
        Acquire,
        Peek,
        Renew,
        Release,
        AcquireByName, ///< granted again to whoever has the holder's name
        RenewByName,
        DeleteAny, ///< DEL without looking whose it is
        Overwrite, ///< takes the lease over if its token is still `token`, whether it ran out or not
    };
    Kind kind = Kind::Peek;
    RequestId request = 0;
    Nonce nonce;
    FencingToken token;
    Milliseconds ttl{};
    Duration writerWall{}; ///< Overwrite, Acquire: the writer's own wall clock, kept with the record
    // Expiry::Observed, Acquire: this version of the record has stood for its ttl, by the asker's clock.
    std::uint64_t version = 0;
    bool judgedOver = false;
};

/// What the store answers.
struct StoreAnswer {
    Outcome outcome = Outcome::Done;
    bool held = false; ///< somebody holds it after the call
    FencingToken token; ///< of the term that stands there
    std::optional<Duration> retryIn;
    std::optional<Duration> remaining;
    bool epochBarrier = false;
    std::optional<Milliseconds> stepDown;
    Duration writerWall{};
    std::uint64_t version = 0; ///< of the record; another one with each change
    Milliseconds ttl{}; ///< as the record has it
    std::uint64_t serial = 0; ///< Acquire: which grant of this world, for the judges only
};

/// What the world's judges see of the record.
struct StoreTruth {
    int holder = -1; ///< number of the instance, -1: nobody
    FencingToken token;
    Nonce nonce;
    std::uint64_t serial = 0; ///< grants so far, lost ones included
    Duration heldUntil{}; ///< world time; past: nobody holds it
};

/// One lease in a store, by the very rules of the embedded backends (lease_row.h), in virtual time,
/// with the disasters that a server can suffer. One owner.
class SimStore
{
public:
    static constexpr Duration kLongestLag = std::chrono::seconds(30);
    SimStore(Tokens tokens, std::vector<HolderId> holders, Expiry expiry = Expiry::Server);

    [[nodiscard]] StoreAnswer apply(int who, const Ask &ask, Duration now);
    /// An operator's compare-and-clear; an `expected` of 0 clears whatever stands there. True: done.
    [[nodiscard]] bool clear(FencingToken expected, Duration now);
    void restartEmpty(Duration now);
    /// A replica takes over that had not yet received the writes of the last `lag`.
    void failover(Duration lag, Duration now);
    void keepHistory() { m_keepsHistory = true; }
    [[nodiscard]] StoreTruth truth(Duration now) const;
    [[nodiscard]] const LeaseRow &row() const { return m_row; }

private:
    struct Moment {
        Duration at;
        LeaseRow row;
        int holder;
        Duration writerWall;
        bool free;
    };
    [[nodiscard]] RowTime timeAt(Duration now) const;
    /// Expiry::Observed: makes time say of the row what the asker's clock, or nobody's, says.
    void judge(const Ask &ask, const RowTime &time);
    [[nodiscard]] bool isFree() const { return m_row.holder.empty() || m_free; }
    [[nodiscard]] StoreAnswer acquire(int who, const Ask &ask, const RowTime &time);
    [[nodiscard]] StoreAnswer byName(int who, const Ask &ask, const RowTime &time);
    [[nodiscard]] StoreAnswer overwrite(int who, const Ask &ask, const RowTime &time);
    [[nodiscard]] StoreAnswer told(const Reply &reply) const;
    void granted(int who, const Ask &ask, StoreAnswer &answer);
    void remember(Duration now);

    const LeaseId m_lease;
    const Tokens m_tokens;
    const std::vector<HolderId> m_holders;
    const Expiry m_expiry;
    std::uint64_t m_version = 0;
    bool m_free = false; ///< the last term was given back or cleared
    LeaseRow m_row;
    int m_holder = -1; ///< of the last term
    Duration m_writerWall{};
    std::uint64_t m_serial = 0;
    FencingToken m_floor; ///< of all tokens before the last restart
    FencingToken m_largest;
    Instant m_barrierUntil;
    Milliseconds m_longestTtl{};
    bool m_keepsHistory = false;
    std::deque<Moment> m_history; ///< oldest first
};

} // namespace tenure::sim
