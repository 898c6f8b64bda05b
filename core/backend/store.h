// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lease_aside.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/lease/identity.h"
#include "core/lease/record.h"
#include "core/lease/timing.h"

#include <cstdint>
#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tenure
{

// ---- What can be asked ------------------------------------------------------------------------

/// Take the lease if nobody holds it. Idempotent per nonce: repeating an acquire that was granted
/// extends the same term and returns its token, so a lost answer costs nothing.
struct Acquire {
    LeaseId lease;
    HolderId holder;
    Nonce nonce;
    Milliseconds ttl{};
    /// How long it may wait in the backend for the present holder's end (StoreTraits::awaitsEnd).
    Milliseconds awaitEnd{};
    /// The asker has reason to think that it is free, or will be once that end has come: a store may first
    /// try a quicker way that works only then. Never changes what is granted.
    bool thoughtFree = false;
};

/// Extend this very term (holder, nonce and token compared); never re-creates a lost one.
struct Renew {
    LeaseId lease;
    Term term;
    Milliseconds ttl{};
};

/// Give this very term back. Also used to make sure of an acquire whose answer never came: then
/// `term.token` is 0 and holder and nonce alone are compared.
struct Release {
    LeaseId lease;
    Term term;
};

enum class ReadDepth {
    Remaining, ///< only who-or-nobody and how long: the cheapest call a waiting candidate can make
    Full,
};

struct Read {
    LeaseId lease;
    ReadDepth depth = ReadDepth::Full;
};

/// One page of leases whose names match `glob` (over the whole name; "*" for all).
struct List {
    std::string glob = "*";
    std::string cursor; ///< empty: from the start; else the last reply's `cursor`
    std::size_t pageSize = 1000; ///< a hint
};

enum class OperatorVerb {
    Ask, ///< ask the holder to drain and release; it stays out for `duration`
    Hold, ///< guarded take-over for `duration`: nobody leads meanwhile
    Clear, ///< compare-and-clear, at once
};

/// A write by hand. Only core/runtime's OperatorGate makes these. Refused with Conflict when the
/// lease is no longer what the operator saw; the reply's record is then what it is now.
struct Operate {
    OperatorVerb verb = OperatorVerb::Ask;
    LeaseId lease;
    std::string kind = "tenure"; ///< LeaseRecord::kind, tells the backend which format to write
    Seen expected;
    std::string by; ///< operator's name
    Milliseconds duration{15000};
};

using Command = std::variant<Acquire, Renew, Release, Read, List, Operate>;

[[nodiscard]] const LeaseId *leaseOf(const Command &command); ///< nothing for List

// ---- What is answered -------------------------------------------------------------------------

enum class Outcome {
    Done, ///< granted, renewed, released, read, listed, operated
    Refused, ///< acquire: somebody else holds it (or a hold or the epoch rule stands), see `record`
    Lost, ///< renew, release: this term no longer exists, see `record`
    Conflict, ///< operate: it changed since it was seen, see `record`
};

struct Reply {
    Outcome outcome = Outcome::Done;
    /// State of the lease after the command, by the same answer. For List see `records`.
    LeaseRecord record;
    /// Refused only: when the next try can succeed, counted from the server's answer.
    std::optional<Duration> retryIn;
    /// Refused because the server restarted and may have forgotten a lease (epoch rule).
    bool epochBarrier = false;
    /// Renew: an operator asks this term to step down and to stay out this long.
    std::optional<Milliseconds> stepDown;
    std::optional<WallTime> serverTime;
    /// Of the time until this answer: what went into connecting, which the next command will not need.
    Duration settingUp{};
    std::vector<LeaseRecord> records; ///< List
    std::string cursor; ///< List: empty when this was the last page
};

/// What a backend is and can do.
struct StoreTraits {
    std::string scheme; ///< "redis"
    std::string display; ///< URL without secrets
    TimingLimits limits;
    bool linearizable = true; ///< false: Redis may lose acknowledged writes at a failover
    bool canAsk = true;
    bool canHold = true;
    bool canClear = true;
    std::size_t maxNameBytes = LeaseId::kMaxBytes;
    /// The longest that an acquire can wait in the backend, by its clock, for a holder's lease to run out,
    /// so that request and wake-ups are over by then; what comes next on this store waits as long. 0: it is
    /// judged as it comes.
    Milliseconds awaitsEnd{};
    /// Why what is read here may be forged ("the server's certificate is not checked"); shown in red.
    std::string danger;
};

/// How a connection is, for doctor and the connection page.
struct StoreFacts {
    std::string server; ///< "Redis 7.0.15, standalone"
    std::string epoch; ///< run id, boot id: changes when the server may have forgotten things
    std::optional<Duration> uptime;
    std::optional<Duration> roundTrip; ///< of a probe just made
    std::optional<WallTime> serverTime;
    std::vector<std::string> notes; ///< what would be refused or is unwise, one sentence each
};

/// A place where leases are kept. One owner, one thread at a time (its IoThread); blocking, but never
/// past the deadline. Any connection error makes the implementation drop its connection and open a
/// fresh one at the next call. Nothing is ever written but what a command says (P8).
class LeaseStore
{
public:
    LeaseStore() = default;
    LeaseStore(const LeaseStore &) = delete;
    LeaseStore &operator=(const LeaseStore &) = delete;
    virtual ~LeaseStore() = default;

    [[nodiscard]] virtual const StoreTraits &traits() const = 0;
    /// Carries out the commands as one batch, in order; one result a command. A command whose answer
    /// did not arrive by `deadline` is OutcomeUnknown if it may have been sent (reads: Unavailable).
    [[nodiscard]] virtual std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant deadline) = 0;
    /// Connects if needed and says what is there. Same errors as execute.
    [[nodiscard]] virtual Result<StoreFacts> probe(Instant deadline) = 0;
    /// Makes what must exist first (a table), or with `dryRun` only returns what it would do.
    [[nodiscard]] virtual Result<std::string> init(bool dryRun, Instant deadline) = 0;
    /// Nothing waits just now, after a batch: time for one step towards what a candidate's next command
    /// will need (a connection, also one that takes longer than an attempt may; a plan). True: there
    /// is another step. Ends by `deadline` or soon after `cancelled`; nothing is told, and nobody's
    /// lease is touched.
    virtual bool idle(Instant /*deadline*/, const std::atomic<bool> & /*cancelled*/) { return false; }
    /// Looks up what belongs to a lease beside its record; nothing where the backend knows no more.
    /// Changes nothing. Same errors as execute.
    [[nodiscard]] virtual Result<LeaseAside> aside(const LeaseId & /*lease*/, Instant /*deadline*/)
    {
        return LeaseAside();
    }
};

} // namespace tenure
