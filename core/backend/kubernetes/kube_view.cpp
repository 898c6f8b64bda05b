// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_view.h"

#include "core/backend/kubernetes/kube_time.h"

#include <algorithm>

namespace tenure::kube
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kLiveFor = 4s; ///< longer than the feed's pause between two proofs
/// Beyond this a time is somebody's nonsense and says nothing of a clock.
constexpr std::chrono::microseconds kBelievable = std::chrono::hours(24);
constexpr std::chrono::microseconds kGrain = 1s; ///< of Date and of managedFields
/// A change found by looking is no older than the look before; then it dates the holder's clock.
constexpr Duration kPrompt = 1s;

/// Somebody's nonsense says nothing of a clock. In microseconds, which reach from the year 1 to 9999.
std::optional<Duration> believable(std::chrono::microseconds skew)
{
    return skew < kBelievable && skew > -kBelievable ? std::optional<Duration>(skew) : std::nullopt;
}

/// A state whose change was not seen: how old it is, by what the server noted of the write. Some
/// servers keep the moment of a manager's first write there, so it counts only as "not before".
void judgeFirstSight(Seen &seen, WallTime now, std::optional<WallTime> renewed)
{
    std::optional<WallTime> written = seen.object->writtenAt;
    if (!written)
        return;
    *written = std::min(*written + std::chrono::microseconds(500'000), now); // the middle of its second
    if (renewed && *renewed > now + kGrain) {
        seen.skew = believable(*renewed - now); // at least so much ahead
        const auto duration = seen.object->duration();
        if (duration && now - *written > *duration)
            return; // dead, or alive with an old stamp: not to be told apart
    } else if (renewed && *renewed >= *written - kGrain) {
        written = std::min(*renewed, now);
    } else if (renewed) {
        seen.skew = believable(*renewed - *written);
    }
    seen.age = now - *written;
    seen.renewedAt = written;
}

/// Answers and events overtake each other. What is older than what is known is believed only when it
/// was asked for afterwards: then the server itself went back.
bool mayGoBack(const Seen &known, const Heard &heard)
{
    return heard.sentAt != Instant() && heard.sentAt > known.heardAt;
}

} // namespace

std::string keyOf(const LeaseObject &object)
{
    return object.nameSpace + "/" + object.name;
}

void ServerClock::note(const Heard &heard)
{
    if (!heard.date || heard.sentAt == Instant())
        return;
    // At some moment between sent and received the server's clock was within [date, date + 1 s).
    const Duration date = heard.date->time_since_epoch();
    const Duration least = date - heard.receivedAt.time_since_epoch();
    const Duration most = date + kGrain - heard.sentAt.time_since_epoch();
    m_least = m_least ? std::max(*m_least, least) : least;
    m_most = m_most ? std::min(*m_most, most) : most;
    if (*m_least > *m_most) { // a clock was set
        m_least = least;
        m_most = most;
    }
}

std::optional<WallTime> ServerClock::at(Instant moment) const
{
    if (!m_least)
        return std::nullopt;
    const Duration middle = *m_least + (*m_most - *m_least) / 2;
    return WallTime(std::chrono::duration_cast<std::chrono::microseconds>(
        moment.time_since_epoch() + middle));
}

Duration ServerClock::uncertainty() const
{
    return m_least ? (*m_most - *m_least) / 2 : kGrain;
}

std::optional<Instant> Seen::expiry(Duration fallback) const
{
    if (!object || !object->held())
        return std::nullopt;
    return changedAt + object->duration().value_or(fallback);
}

/// What the clocks tell of a state that is new to us.
void View::judgeTimes(Seen &seen, const Seen *before, const Heard &heard) const
{
    const LeaseObject &object = *seen.object;
    const auto now = m_clock.at(heard.receivedAt);
    const auto renewed = parseTime(object.renewTime);
    seen.serverTime = now;
    if (seen.observed) {
        seen.renewedAt = now;
        const bool atOnce = heard.sentAt == Instant() || heard.receivedAt - before->heardAt < kPrompt;
        if (atOnce && now && renewed)
            seen.skew = believable(*renewed - *now);
        else if (before->object && before->object->holder == object.holder)
            seen.skew = before->skew;
    } else if (now) {
        judgeFirstSight(seen, *now, renewed);
    }
    const auto acquired = parseTime(object.acquireTime);
    const bool sameTerm = before != nullptr && before->object && before->acquiredAt
        && before->object->acquireTime == object.acquireTime && before->object->holder == object.holder;
    if (sameTerm)
        seen.acquiredAt = before->acquiredAt;
    else if (seen.observed && object.acquireTime == object.renewTime)
        seen.acquiredAt = now;
    else if (acquired && renewed && seen.renewedAt && *acquired <= *renewed)
        seen.acquiredAt = *seen.renewedAt - (*renewed - *acquired); // both by the holder's clock
    if (seen.acquiredAt && seen.renewedAt)
        seen.acquiredAt = std::min(*seen.acquiredAt, *seen.renewedAt);
}

View::Change View::note(LeaseObject object, const Heard &heard)
{
    const std::string key = keyOf(object);
    const std::lock_guard lock(m_mutex);
    m_clock.note(heard);
    const auto found = m_leases.find(key);
    Seen *known = found != m_leases.end() ? &found->second : nullptr;
    const bool same = known != nullptr && known->object && known->object->uid == object.uid;
    if (same && known->object->resourceVersion == object.resourceVersion) {
        known->heardAt = std::max(known->heardAt, heard.receivedAt);
        return Change::None;
    }
    const bool back = known != nullptr && object.version < known->version;
    if (back && !mayGoBack(*known, heard))
        return Change::Older;
    Seen next;
    next.changedAt = next.heardAt = heard.receivedAt;
    next.observed = known != nullptr;
    next.highest = std::max(known != nullptr ? known->highest : FencingToken(), object.token);
    if (known != nullptr) {
        next.notBefore = known->notBefore;
        if (const auto expiry = known->expiry(Duration::zero()); expiry && (back || !same))
            next.notBefore = std::max(next.notBefore, *expiry);
    }
    next.version = object.version;
    next.object = std::make_shared<const LeaseObject>(std::move(object));
    judgeTimes(next, known, heard);
    const Change change = known != nullptr ? Change::Changed : Change::First;
    m_leases.insert_or_assign(key, std::move(next));
    return change;
}

View::Change View::noteAbsent(const std::string &key, const Heard &heard, std::uint64_t version)
{
    const std::lock_guard lock(m_mutex);
    m_clock.note(heard);
    const auto found = m_leases.find(key);
    if (found == m_leases.end()) {
        Seen nothing;
        nothing.changedAt = nothing.heardAt = heard.receivedAt;
        m_leases.emplace(key, std::move(nothing));
        return Change::First;
    }
    Seen &known = found->second;
    if (!known.object) {
        known.heardAt = std::max(known.heardAt, heard.receivedAt);
        return Change::None;
    }
    if (version < known.version && !mayGoBack(known, heard))
        return Change::Older;
    if (const auto expiry = known.expiry(Duration::zero()))
        known.notBefore = std::max(known.notBefore, *expiry);
    known.object.reset();
    known.version = std::max(known.version, version);
    known.changedAt = known.heardAt = heard.receivedAt;
    known.observed = true;
    known.acquiredAt = known.renewedAt = std::nullopt;
    return Change::Changed;
}

void View::noteClock(const Heard &heard)
{
    const std::lock_guard lock(m_mutex);
    m_clock.note(heard);
}

std::optional<Seen> View::find(const std::string &key) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_leases.find(key);
    if (found == m_leases.end())
        return std::nullopt;
    Seen seen = found->second;
    if (const auto standing = m_candidates.find(key); standing != m_candidates.end())
        seen.candidates = standing->second;
    return seen;
}

void View::setCandidates(CandidateMap candidates)
{
    const std::lock_guard lock(m_mutex);
    m_candidates = std::move(candidates);
}

std::optional<WallTime> View::serverTime(Instant moment) const
{
    const std::lock_guard lock(m_mutex);
    return m_clock.at(moment);
}

Duration View::clockUncertainty() const
{
    const std::lock_guard lock(m_mutex);
    return m_clock.uncertainty();
}

void View::streamProven(Instant at)
{
    const std::lock_guard lock(m_mutex);
    m_proven = m_proven ? std::max(*m_proven, at) : at;
}

void View::streamEnded()
{
    const std::lock_guard lock(m_mutex);
    m_proven.reset();
}

bool View::live(Instant now) const
{
    const std::lock_guard lock(m_mutex);
    return m_proven && now - *m_proven < kLiveFor;
}

std::vector<std::string> View::present() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::string> keys;
    for (const auto &[key, seen] : m_leases) {
        if (seen.object)
            keys.push_back(key);
    }
    return keys;
}

} // namespace tenure::kube
