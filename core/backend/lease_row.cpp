// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/lease_row.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure
{
namespace
{

constexpr std::size_t kMaxCandidates = 64;

FencingToken nextToken(const LeaseRow &row, const RowTime &time, FencingToken floor)
{
    const auto wall = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, time.wall.time_since_epoch().count()));
    return {std::max({row.token.value + 1, floor.value + 1, wall})};
}

/// The record as it stands, with what a caller needs to go on.
RowReply answer(Outcome outcome, const LeaseId &lease, const LeaseRow &row, const RowTime &time)
{
    RowReply out;
    out.reply.outcome = outcome;
    out.reply.record = recordOf(lease, row, time);
    out.reply.serverTime = time.wall;
    return out;
}

/// A term that was asked to step down and is over: its holder stays out for the time asked.
void settleAsk(LeaseRow &row, Instant now)
{
    if (!row.asked || row.held(now))
        return;
    row.asked = false;
    row.outHolder = row.holder;
    row.outUntil = row.expiresAt + row.askedFor;
}

/// When `holder` can have the lease, as far as the row tells; nothing: now.
std::optional<Instant> refusedUntil(const LeaseRow &row, const std::string &holder, Instant now)
{
    if (row.onHold(now))
        return row.holdUntil;
    if (row.held(now))
        return row.expiresAt;
    if (now < row.outUntil && row.outHolder == holder)
        return row.outUntil;
    return std::nullopt;
}

/// Remembers who waits. A change worth storing is a new candidate or one not written for half a ttl.
RowChange noteCandidate(LeaseRow &row, const Acquire &command, Instant now)
{
    auto &all = row.candidates;
    const auto stale = [now](const RowCandidate &c) { return now - c.lastTry > 2 * c.ttl; };
    all.erase(std::remove_if(all.begin(), all.end(), stale), all.end());
    const auto known = std::find_if(all.begin(), all.end(),
        [&](const RowCandidate &c) { return c.holder == command.holder.name(); });
    if (known != all.end()) {
        if (now - known->lastTry < command.ttl / 2)
            return RowChange::None;
        known->lastTry = now;
        known->ttl = command.ttl;
        return RowChange::Candidates;
    }
    if (all.size() >= kMaxCandidates)
        return RowChange::None;
    all.push_back({command.holder.name(), now, command.ttl});
    return RowChange::Candidates;
}

void beginTerm(LeaseRow &row, std::string holder, Nonce nonce, FencingToken token, const RowTime &time)
{
    if (!row.holder.empty() && row.holder != holder)
        ++row.transitions;
    row.holder = std::move(holder);
    row.nonce = nonce;
    row.token = token;
    row.acquiredAt = row.renewedAt = time.wall;
    row.released = false;
    row.asked = false;
}

bool isTerm(const LeaseRow &row, const Term &term, Instant now)
{
    return row.held(now) && row.nonce == term.nonce && row.holder == term.holder.name()
        && (!term.token || row.token == term.token);
}

RowReply hold(LeaseRow &row, const Operate &command, const RowTime &time, FencingToken floor)
{
    const Instant ends = std::max(row.held(time.now) ? row.expiresAt : Instant(),
        std::max(row.onHold(time.now) ? row.holdUntil : Instant(), time.now + command.duration));
    row.expiresAt = std::min(row.expiresAt, time.now);
    settleAsk(row, time.now);
    beginTerm(row, "hold:" + command.by, Nonce(), nextToken(row, time, floor), time);
    row.holdBy = command.by;
    row.holdUntil = ends;
    RowReply out = answer(Outcome::Done, command.lease, row, time);
    out.change = RowChange::Changed;
    return out;
}

RowReply clear(LeaseRow &row, const Operate &command, const RowTime &time)
{
    row.expiresAt = std::min(row.expiresAt, time.now);
    row.holdUntil = std::min(row.holdUntil, time.now);
    settleAsk(row, time.now);
    RowReply out = answer(Outcome::Done, command.lease, row, time);
    out.change = RowChange::Released;
    return out;
}

std::optional<Error> durationProblem(
    Milliseconds value, const char *name, const TimingLimits &limits, const std::string &where)
{
    if (value > Milliseconds::zero() && value <= limits.ceiling)
        return std::nullopt;
    return fail(ErrorKind::BadConfig,
        std::string(name) + " of " + std::to_string(value.count()) + " ms is not possible", where,
        "Ask for 1 ms to " + durationText(limits.ceiling))
        .value();
}

} // namespace

std::optional<Error> problemOf(
    const Command &command, const TimingLimits &limits, const std::string &where)
{
    const LeaseId *lease = leaseOf(command);
    if (lease != nullptr && lease->name().empty())
        return fail(ErrorKind::BadConfig, "The lease name is empty", where).value();
    if (const auto *acquire = std::get_if<Acquire>(&command))
        return durationProblem(acquire->ttl, "A ttl", limits, where);
    if (const auto *renew = std::get_if<Renew>(&command))
        return durationProblem(renew->ttl, "A ttl", limits, where);
    if (const auto *operate = std::get_if<Operate>(&command)) {
        if (operate->kind != "tenure") {
            return fail(ErrorKind::Unsupported,
                "This backend keeps no leases of the kind " + operate->kind, where)
                .value();
        }
        return durationProblem(operate->duration, "A duration", limits, where);
    }
    return std::nullopt;
}

RowReply acquireRow(
    LeaseRow &row, const Acquire &command, const RowTime &time, FencingToken tokenFloor)
{
    settleAsk(row, time.now);
    const Term same{command.holder, command.nonce, {}};
    if (isTerm(row, same, time.now)) {
        row.expiresAt = time.now + command.ttl;
        row.ttl = command.ttl;
        row.renewedAt = time.wall;
        RowReply out = answer(Outcome::Done, command.lease, row, time);
        out.change = RowChange::Changed;
        return out;
    }
    if (const auto until = refusedUntil(row, command.holder.name(), time.now)) {
        const RowChange change = noteCandidate(row, command, time.now);
        RowReply out = answer(Outcome::Refused, command.lease, row, time);
        out.reply.retryIn = *until - time.now;
        out.change = change;
        return out;
    }
    beginTerm(row, command.holder.name(), command.nonce, nextToken(row, time, tokenFloor), time);
    row.ttl = command.ttl;
    row.expiresAt = time.now + command.ttl;
    std::erase_if(row.candidates,
        [&](const RowCandidate &c) { return c.holder == command.holder.name(); });
    RowReply out = answer(Outcome::Done, command.lease, row, time);
    out.change = RowChange::Changed;
    return out;
}

RowReply renewRow(LeaseRow &row, const Renew &command, const RowTime &time)
{
    if (!command.term.token || !isTerm(row, command.term, time.now))
        return answer(Outcome::Lost, command.lease, row, time);
    row.expiresAt = time.now + command.ttl;
    row.ttl = command.ttl;
    row.renewedAt = time.wall;
    RowReply out;
    out.reply.record = recordOf(command.lease, row, time, ReadDepth::Remaining);
    out.reply.serverTime = time.wall;
    if (row.asked)
        out.reply.stepDown = row.askedFor;
    out.change = RowChange::Changed;
    return out;
}

RowReply releaseRow(LeaseRow &row, const Release &command, const RowTime &time)
{
    if (!isTerm(row, command.term, time.now))
        return answer(Outcome::Lost, command.lease, row, time);
    row.expiresAt = time.now;
    row.released = true;
    settleAsk(row, time.now);
    RowReply out = answer(Outcome::Done, command.lease, row, time);
    out.change = RowChange::Released;
    return out;
}

Result<RowReply> operateRow(
    LeaseRow &row, const Operate &command, const RowTime &time, FencingToken tokenFloor)
{
    const LeaseRecord now = recordOf(command.lease, row, time);
    if (now.seen() != command.expected)
        return answer(Outcome::Conflict, command.lease, row, time);
    switch (command.verb) {
    case OperatorVerb::Hold:
        return hold(row, command, time, tokenFloor);
    case OperatorVerb::Clear:
        if (!now.holder && !now.hold)
            break;
        return clear(row, command, time);
    case OperatorVerb::Ask:
        if (!now.holder)
            break;
        row.asked = true;
        row.askedFor = command.duration;
        RowReply out = answer(Outcome::Done, command.lease, row, time);
        out.change = RowChange::Changed;
        return out;
    }
    return fail(ErrorKind::NotFound, "Nobody holds this lease", {}, "There is nothing to give back");
}

LeaseRecord recordOf(
    const LeaseId &lease, const LeaseRow &row, const RowTime &time, ReadDepth depth)
{
    LeaseRecord record;
    record.lease = lease;
    record.token = row.token;
    record.transitions = row.transitions;
    if (row.onHold(time.now)) {
        record.hold = OperatorHold{
            row.holdBy, std::chrono::ceil<Milliseconds>(row.holdUntil - time.now)};
        record.version = "hold:" + row.holdBy;
    } else if (row.held(time.now)) {
        record.holder = row.holder;
        record.nonce = row.nonce;
        record.ttl = row.ttl;
        record.remaining = row.expiresAt - time.now;
        record.acquiredAt = row.acquiredAt;
        record.renewedAt = row.renewedAt;
        record.stepDownAsked = row.asked;
        if (depth == ReadDepth::Full)
            record.version = row.nonce.hex();
    } else {
        record.released = row.released;
    }
    if (depth == ReadDepth::Full) {
        for (const RowCandidate &candidate : row.candidates) {
            if (time.now - candidate.lastTry <= 2 * candidate.ttl)
                record.candidates.push_back(candidate.holder);
        }
    }
    return record;
}

} // namespace tenure
