// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/sim_store.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kServerStart = 1h; ///< what the server's boot clock shows when the world begins

} // namespace

SimStore::SimStore(Tokens tokens, std::vector<HolderId> holders, Expiry expiry)
    : m_lease(LeaseId::observed("sim")), m_tokens(tokens), m_holders(std::move(holders)), m_expiry(expiry)
{
}

RowTime SimStore::timeAt(Duration now) const
{
    // A wall clock that stands at zero makes the rules count tokens one by one.
    const auto wall = m_tokens == Tokens::Time
        ? 1'750'000'000'000'000us + std::chrono::duration_cast<std::chrono::microseconds>(now)
        : 0us;
    return {Instant(kServerStart + now), WallTime(wall)};
}

void SimStore::judge(const Ask &ask, const RowTime &time)
{
    const bool own = m_row.nonce == ask.nonce;
    if (isFree() || ask.kind == Ask::Kind::Peek)
        return;
    if (ask.kind == Ask::Kind::Acquire && !own && ask.judgedOver && ask.version == m_version)
        m_row.expiresAt = std::min(m_row.expiresAt, time.now);
    else if (ask.kind == Ask::Kind::Acquire || own) // a term goes on as long as nobody took it over
        m_row.expiresAt = std::max(m_row.expiresAt, time.now + 1ns);
}

StoreAnswer SimStore::apply(int who, const Ask &ask, Duration now)
{
    const RowTime time = timeAt(now);
    const HolderId &holder = m_holders[static_cast<std::size_t>(who)];
    const Instant before = m_row.expiresAt;
    if (m_expiry == Expiry::Observed)
        judge(ask, time);
    StoreAnswer answer;
    switch (ask.kind) {
    case Ask::Kind::Acquire:
        answer = acquire(who, ask, time);
        break;
    case Ask::Kind::Peek:
        answer.remaining = m_row.held(time.now) ? std::optional(m_row.expiresAt - time.now) : std::nullopt;
        answer.held = m_row.held(time.now);
        answer.token = m_row.token;
        answer.writerWall = m_writerWall;
        if (m_expiry == Expiry::Observed)
            answer.held = !isFree();
        answer.version = m_version;
        answer.ttl = m_row.ttl;
        return answer;
    case Ask::Kind::Renew:
        answer = told(renewRow(m_row, Renew{m_lease, {holder, ask.nonce, ask.token}, ask.ttl}, time).reply);
        m_longestTtl = std::max(m_longestTtl, ask.ttl);
        break;
    case Ask::Kind::Release:
        answer = told(releaseRow(m_row, Release{m_lease, {holder, ask.nonce, ask.token}}, time).reply);
        break;
    case Ask::Kind::AcquireByName:
    case Ask::Kind::RenewByName:
        answer = byName(who, ask, time);
        break;
    case Ask::Kind::DeleteAny:
        m_row.expiresAt = std::min(m_row.expiresAt, time.now);
        m_row.released = true;
        break;
    case Ask::Kind::Overwrite:
        answer = overwrite(who, ask, time);
        break;
    }
    if (m_expiry == Expiry::Observed && answer.outcome != Outcome::Done)
        m_row.expiresAt = before; // a refusal changes nothing
    else
        ++m_version;
    if (answer.outcome == Outcome::Done)
        m_free = ask.kind == Ask::Kind::Release || ask.kind == Ask::Kind::DeleteAny;
    answer.held = m_expiry == Expiry::Observed ? !isFree() : m_row.held(time.now);
    answer.version = m_version;
    answer.ttl = m_row.ttl;
    remember(now);
    return answer;
}

StoreAnswer SimStore::told(const Reply &reply) const
{
    StoreAnswer answer;
    answer.outcome = reply.outcome;
    answer.token = m_row.token;
    answer.retryIn = reply.retryIn;
    answer.remaining = reply.record.remaining;
    answer.stepDown = reply.stepDown;
    answer.writerWall = m_writerWall;
    return answer;
}

void SimStore::granted(int who, const Ask &ask, StoreAnswer &answer)
{
    m_holder = who;
    m_writerWall = ask.writerWall;
    m_longestTtl = std::max(m_longestTtl, ask.ttl);
    m_largest = std::max(m_largest, m_row.token);
    answer.outcome = Outcome::Done;
    answer.token = m_row.token;
    answer.serial = m_serial;
}

StoreAnswer SimStore::acquire(int who, const Ask &ask, const RowTime &time)
{
    if (time.now < m_barrierUntil) {
        StoreAnswer answer;
        answer.outcome = Outcome::Refused;
        answer.epochBarrier = true;
        answer.retryIn = m_barrierUntil - time.now;
        return answer;
    }
    const Nonce before = m_row.nonce;
    const bool wasHeld = m_row.held(time.now);
    const HolderId &holder = m_holders[static_cast<std::size_t>(who)];
    StoreAnswer answer = told(acquireRow(m_row, Acquire{m_lease, holder, ask.nonce, ask.ttl}, time, m_floor).reply);
    if (answer.outcome == Outcome::Done) {
        const bool again = wasHeld && before == ask.nonce; // a retry of a grant that was not heard
        m_serial += again ? 0 : 1;
        granted(who, ask, answer);
    }
    return answer;
}

StoreAnswer SimStore::byName(int who, const Ask &ask, const RowTime &time)
{
    const HolderId &holder = m_holders[static_cast<std::size_t>(who)];
    if (m_row.held(time.now) && m_row.holder == holder.name()) {
        m_row.expiresAt = time.now + ask.ttl;
        StoreAnswer answer;
        granted(m_holder, ask, answer);
        return answer;
    }
    if (ask.kind == Ask::Kind::AcquireByName)
        return acquire(who, ask, time);
    StoreAnswer answer;
    answer.outcome = Outcome::Lost;
    return answer;
}

StoreAnswer SimStore::overwrite(int who, const Ask &ask, const RowTime &time)
{
    StoreAnswer answer;
    if (ask.token != m_row.token) {
        answer.outcome = Outcome::Lost;
        return answer;
    }
    const bool own = m_row.held(time.now) && m_holder == who;
    if (!own) {
        m_row.expiresAt = std::min(m_row.expiresAt, time.now);
        return acquire(who, ask, time);
    }
    m_row.expiresAt = time.now + ask.ttl;
    granted(who, ask, answer);
    return answer;
}

bool SimStore::clear(FencingToken expected, Duration now)
{
    const RowTime time = timeAt(now);
    if (!m_row.held(time.now) || (expected && m_row.token != expected))
        return false;
    Operate command;
    command.verb = OperatorVerb::Clear;
    command.lease = m_lease;
    command.by = "operator";
    command.expected = recordOf(m_lease, m_row, time).seen();
    const bool done = operateRow(m_row, command, time, m_floor).has_value();
    m_free = m_free || done;
    ++m_version;
    remember(now);
    return done;
}

void SimStore::restartEmpty(Duration now)
{
    m_row = {};
    ++m_version;
    m_floor = m_largest;
    m_barrierUntil = timeAt(now).now + m_longestTtl;
    m_history.clear();
}

void SimStore::remember(Duration now)
{
    if (!m_keepsHistory)
        return;
    m_history.push_back({now, m_row, m_holder, m_writerWall, m_free});
    while (m_history.size() > 1 && m_history[1].at < now - kLongestLag)
        m_history.pop_front();
}

void SimStore::failover(Duration lag, Duration now)
{
    while (!m_history.empty() && m_history.back().at > now - lag)
        m_history.pop_back();
    ++m_version;
    if (m_history.empty()) {
        m_row = {};
        return;
    }
    m_free = m_history.back().free;
    m_row = m_history.back().row;
    m_holder = m_history.back().holder;
    m_writerWall = m_history.back().writerWall;
}

StoreTruth SimStore::truth(Duration now) const
{
    StoreTruth truth;
    truth.token = m_row.token;
    truth.nonce = m_row.nonce;
    truth.serial = m_serial;
    truth.heldUntil = m_row.expiresAt.time_since_epoch() - kServerStart;
    truth.holder = truth.heldUntil > now ? m_holder : -1;
    return truth;
}

} // namespace tenure::sim
