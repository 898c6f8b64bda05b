// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/work_rules.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Milliseconds kLongest = std::chrono::hours(24 * 365);

std::optional<Error> bad(std::string what, const std::string &where, std::string remedy = {})
{
    return fail(ErrorKind::BadConfig, std::move(what), where, std::move(remedy)).value();
}

bool isPlain(const std::string &text)
{
    return isUtf8(text) && text.find('\0') == std::string::npos;
}

std::optional<Error> problemOf(const NewItem &item, const std::string &where)
{
    if (item.payload.size() > kMaxPayloadBytes) {
        return bad("An item of " + std::to_string(item.payload.size()) + " bytes is larger than the limit of "
                + std::to_string(kMaxPayloadBytes),
            where, "Keep the data elsewhere and put its address into the item");
    }
    if (item.key.size() > kMaxKeyBytes || !isPlain(item.key))
        return bad("An item's key must be UTF-8 of at most " + std::to_string(kMaxKeyBytes) + " bytes", where);
    if (item.delay < 0ns || item.delay > kLongest)
        return bad("A delay of " + durationText(item.delay) + " is not possible", where);
    if (item.maxAttempts < 1 || item.maxAttempts > 1'000'000)
        return bad("An item needs 1 to 1000000 attempts", where);
    return std::nullopt;
}

} // namespace

std::optional<Error> problemOf(std::span<const NewItem> items, const std::string &where)
{
    if (items.size() > kMaxBatch)
        return bad("A batch has at most " + std::to_string(kMaxBatch) + " items", where, "Split it");
    std::size_t bytes = 0;
    for (const NewItem &item : items) {
        if (auto problem = problemOf(item, where))
            return problem;
        bytes += item.payload.size();
    }
    if (bytes > kMaxBatchBytes)
        return bad("A batch has at most " + std::to_string(kMaxBatchBytes) + " bytes", where, "Split it");
    return std::nullopt;
}

std::optional<Error> claimProblem(std::size_t limit, Milliseconds timeout, const std::string &where)
{
    if (limit == 0 || limit > kMaxBatch)
        return bad("A claim takes 1 to " + std::to_string(kMaxBatch) + " items", where);
    if (timeout < 1ms || timeout > kLongest)
        return bad("A claim cannot last " + durationText(timeout), where);
    return std::nullopt;
}

std::optional<Error> problemOf(std::span<const Settlement> settlements, const std::string &where)
{
    if (settlements.size() > kMaxBatch)
        return bad("A batch has at most " + std::to_string(kMaxBatch) + " items", where, "Split it");
    for (const Settlement &one : settlements) {
        if (one.kind == Settlement::Kind::Heartbeat && (one.timeout < 1ms || one.timeout > kLongest))
            return bad("A claim cannot last " + durationText(one.timeout), where);
        if (one.kind == Settlement::Kind::Fail && (one.backoff < 0ns || one.backoff > kLongest))
            return bad("A backoff of " + durationText(one.backoff) + " is not possible", where);
    }
    return std::nullopt;
}

std::optional<Error> queueNameProblem(const std::string &name, const std::string &where)
{
    if (!name.empty() && name.size() <= kMaxKeyBytes && isPlain(name))
        return std::nullopt;
    return bad("A queue's name must be UTF-8 of 1 to " + std::to_string(kMaxKeyBytes) + " bytes", where);
}

std::optional<Error> versionProblem(int version, const std::string &where)
{
    if (version <= kQueueVersion)
        return std::nullopt;
    return fail(ErrorKind::Unsupported,
        "The queue has layout " + std::to_string(version) + ", made by a newer Tenure; this one knows "
            + std::to_string(kQueueVersion),
        where, "Use the newer Tenure; nothing was changed")
        .value();
}

Error staleFence(FencingToken seen, FencingToken given, const std::string &where)
{
    return fail(ErrorKind::Conflict,
        "The token " + std::to_string(given.value) + " is older than " + std::to_string(seen.value)
            + ", which the queue has seen: somebody else leads by now",
        where, "Stop; go on only when leading again")
        .value();
}

Duration backoffAfter(int attempt, double draw, Duration base, Duration most)
{
    Duration backoff = std::min(base, most);
    for (int i = 1; i < attempt && backoff < most; ++i)
        backoff = std::min(backoff * 2, most);
    return backoff - Duration(static_cast<Duration::rep>(static_cast<double>(backoff.count()) * draw / 2));
}

const char *settledWord(Settled settled)
{
    switch (settled) {
    case Settled::Done:
        return "done";
    case Settled::Dead:
        return "dead";
    case Settled::Lost:
        return "lost";
    case Settled::Stale:
        return "stale";
    }
    return "";
}

const char *stateWord(ItemState state)
{
    switch (state) {
    case ItemState::Pending:
        return "pending";
    case ItemState::Processing:
        return "processing";
    case ItemState::Completed:
        return "completed";
    case ItemState::Dead:
        return "dead";
    }
    return "";
}

} // namespace tenure
