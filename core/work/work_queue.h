// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/lease/identity.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenure
{

/// Largest payload of one item. What is larger belongs elsewhere, with its address in the item.
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxKeyBytes = 255;
inline constexpr std::size_t kMaxBatch = 1000;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{16} << 20U; ///< of all payloads of one enqueue()

/// Work to be done, as it is put in.
struct NewItem {
    std::string payload; ///< any bytes, at most kMaxPayloadBytes
    /// Idempotency: a second item with the same key is not put in, also when the first is completed
    /// by now. Empty: no key.
    std::string key;
    Duration delay{}; ///< not to be claimed sooner, by the store's clock
    int maxAttempts = 5; ///< after so many claims without completion: a dead letter
};

struct Enqueued {
    std::int64_t id = 0; ///< of this item, or of the older one with the same key
    bool isNew = true;
};

/// Who works, and by whose right. `fence` is the leader's fencing token, for work that only a leader
/// may do: once the queue has seen a larger one, everything from a smaller one is refused. 0: work
/// that needs no leader.
struct Worker {
    HolderId name;
    FencingToken fence;
};

/// What proves a claim: all three are compared by every write.
struct ClaimTicket {
    std::int64_t id = 0;
    /// Larger for each later claim of the same item: hand it to every resource that the item changes.
    FencingToken token;
    int attempt = 0; ///< counts from 1
};

/// An item in one worker's hands until `validUntil`, unless a heartbeat extends it.
struct Claim {
    ClaimTicket ticket;
    std::string key, payload;
    Instant validUntil; ///< on this machine's clock, counted from before the request was sent
};

/// What becomes of a claim.
struct Settlement {
    enum class Kind {
        Heartbeat, ///< go on: the claim ends `timeout` from now
        Complete,
        Fail, ///< back to pending after `backoff`, or a dead letter when this was the last attempt
    };
    Kind kind = Kind::Complete;
    ClaimTicket ticket;
    Milliseconds timeout{}; ///< Heartbeat
    Duration backoff{}; ///< Fail
    std::string reason; ///< Fail: for people, cut at 1000 bytes
};

enum class Settled {
    Done, ///< also when the very same was done before: a retry after a lost answer costs nothing
    Dead, ///< failed for the last time: it waits for a person
    Lost, ///< the claim ran out, or another claim of the item was given: nothing was changed
    Stale, ///< a newer leader was seen: nothing was changed
};
[[nodiscard]] const char *settledWord(Settled settled);

enum class ItemState { Pending, Processing, Completed, Dead };
[[nodiscard]] const char *stateWord(ItemState state);
/// How items of a state are listed. Of those that are done one looks for the last; the others wait in line.
[[nodiscard]] constexpr bool newestFirst(ItemState state) { return state == ItemState::Completed; }
/// The id behind which a page of the list begins; `afterId` 0: the first page.
[[nodiscard]] constexpr std::int64_t listedBehind(ItemState state, std::int64_t afterId)
{
    return afterId == 0 && newestFirst(state) ? INT64_MAX : afterId;
}

/// An item as people look at it.
struct ItemView {
    std::int64_t id = 0;
    ItemState state = ItemState::Pending;
    std::string key;
    std::string excerpt; ///< of the payload, at most 200 bytes
    std::size_t bytes = 0; ///< of the whole payload
    int attempts = 0, maxAttempts = 0;
    std::string worker; ///< of the last claim
    FencingToken token, fence; ///< of the last claim
    Duration due{}; ///< Pending: until it may be claimed; Processing: until the claim ends. Negative: since
    Duration age{}; ///< since it was put in
    std::string reason; ///< of the last failure
};

/// For monitoring; one consistent look.
struct QueueCounts {
    std::uint64_t pending = 0; ///< can be claimed now
    std::uint64_t delayed = 0; ///< pending, not before a later moment
    std::uint64_t processing = 0;
    std::uint64_t late = 0; ///< the claim ran out; the next claim takes it
    std::uint64_t completed = 0;
    std::uint64_t dead = 0;
    std::optional<Duration> oldestPending; ///< age of the oldest that can be claimed, or is late
    FencingToken fence; ///< the largest leader's token seen
};

/// Work items in a store: each is completed exactly once, whatever dies when (DESIGN.md section 7).
/// pending -> processing -> completed; a claim that runs out by the store's clock is pending again;
/// a failed one after its backoff; after maxAttempts a dead letter. That the item's *effects* happen
/// once is up to the resource, which must refuse a smaller token than the largest it has seen.
///
/// One owner, one thread at a time; every call blocks at most until its deadline. Errors:
/// OutcomeUnknown: the call may have been carried out; repeat it (enqueue: with keys). Unsupported: the
/// queue was made by a newer Tenure. Conflict: claim() with a stale fence. BadConfig: what can never
/// work (too large, no such batch); then nothing of the batch was done.
class WorkQueue
{
public:
    WorkQueue() = default;
    WorkQueue(const WorkQueue &) = delete;
    WorkQueue &operator=(const WorkQueue &) = delete;
    virtual ~WorkQueue() = default;

    /// Makes what must exist, or with `dryRun` only returns the statements. Safe to repeat.
    [[nodiscard]] virtual Result<std::string> init(bool dryRun, Instant deadline) = 0;
    /// All or nothing, at most kMaxBatch items and kMaxBatchBytes.
    [[nodiscard]] virtual Result<std::vector<Enqueued>> enqueue(
        std::span<const NewItem> items, Instant deadline) = 0;
    /// Takes up to `limit` items, longest due first, for `timeout` each. None is given twice.
    [[nodiscard]] virtual Result<std::vector<Claim>> claim(
        const Worker &worker, std::size_t limit, Milliseconds timeout, Instant deadline) = 0;
    /// One answer a settlement, in order.
    [[nodiscard]] virtual Result<std::vector<Settled>> settle(
        const Worker &worker, std::span<const Settlement> settlements, Instant deadline) = 0;
    /// Dead letters become pending again with fresh attempts; `id` 0: all of them. How many.
    [[nodiscard]] virtual Result<std::uint64_t> retryDead(std::int64_t id, Instant deadline) = 0;
    /// Claims that ran out become pending now, or dead letters; claim() does the same by itself.
    [[nodiscard]] virtual Result<std::uint64_t> reclaim(Instant deadline) = 0;
    [[nodiscard]] virtual Result<QueueCounts> counts(Instant deadline) = 0;
    /// Of one state, in the order of their ids or newest first, behind `afterId` in that list; 0: from its start.
    [[nodiscard]] virtual Result<std::vector<ItemView>> items(
        ItemState state, std::int64_t afterId, std::size_t limit, Instant deadline) = 0;
};

/// The backoff after `attempt`: base * 2^(attempt-1), at most `most`; `draw` in [0, 1) takes off up to
/// half of it, so that failures do not come back in lock-step.
[[nodiscard]] Duration backoffAfter(int attempt, double draw, Duration base = std::chrono::seconds(1),
    Duration most = std::chrono::hours(1));

} // namespace tenure
