// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_lease.h"
#include "core/net/http_client.h"

#include <map>
#include <mutex>

namespace tenure::kube
{

/// When a request was sent and answered, and what the server's clock said.
struct Heard {
    Instant sentAt; ///< the epoch for a pushed event: it says nothing about when it was asked for
    Instant receivedAt;
    std::optional<WallTime> date;
    static Heard of(const HttpResponse &response)
    {
        return {response.sentAt, response.receivedAt, response.date};
    }
};

/// A server's clock as its Date headers tell it, one second coarse: each answer bounds the offset from
/// both sides, and the bounds of many answers close in. Starts anew when they contradict each other.
class ServerClock
{
public:
    void note(const Heard &heard);
    /// The server's time at a local moment; nothing before the first answer.
    [[nodiscard]] std::optional<WallTime> at(Instant moment) const;
    [[nodiscard]] Duration uncertainty() const; ///< plus or minus

private:
    std::optional<Duration> m_least, m_most; ///< server's time since its epoch minus ours since ours
};

/// What is known of one lease.
struct Seen {
    std::shared_ptr<const LeaseObject> object; ///< nothing: the server has no such Lease
    Instant changedAt; ///< by this local moment it had become what it is
    Instant heardAt; ///< last told, also when nothing had changed
    bool observed = false; ///< the change itself was seen; false: it may be much older
    std::optional<Duration> age; ///< not observed: how old it was at changedAt, by server clocks
    std::optional<WallTime> acquiredAt, renewedAt; ///< by the server's clock, fixed when first seen
    std::optional<WallTime> serverTime; ///< at changedAt
    std::optional<Duration> skew; ///< of the holder's clock against the server's
    /// A state vanished or went back (a deleted Lease, a restored store) whose holder may believe in it
    /// until here: no new term before.
    Instant notBefore;
    FencingToken highest; ///< token ever seen
    std::uint64_t version = 0; ///< of `object`, or of the deletion
    std::vector<std::string> candidates; ///< who stands for election, where the server keeps that

    /// When the holder's time is up, judged by our own clock since the change was seen; nothing when
    /// nobody holds it. A Lease without a duration lasts `fallback`.
    [[nodiscard]] std::optional<Instant> expiry(Duration fallback) const;
};

/// Who stands for election, by the key of the lease.
using CandidateMap = std::map<std::string, std::vector<std::string>>;

/// All that the stores and feeds of one backend have been told of its leases. Changes are recognised by
/// the resourceVersion, never by a time somebody wrote. Any thread.
class View
{
public:
    enum class Change {
        None, ///< told before
        First, ///< never heard of before
        Changed,
        Older, ///< overtaken by what is known already
    };
    Change note(LeaseObject object, const Heard &heard);
    /// The server has no such Lease. `version`: of the deletion, where it is told.
    Change noteAbsent(const std::string &key, const Heard &heard, std::uint64_t version = 0);
    void noteClock(const Heard &heard);
    void setCandidates(CandidateMap candidates); ///< all that there are

    /// Key: "namespace/name".
    [[nodiscard]] std::optional<Seen> find(const std::string &key) const;
    [[nodiscard]] std::optional<WallTime> serverTime(Instant moment) const;
    [[nodiscard]] Duration clockUncertainty() const;

    /// The watch stands, everything is known, and at `at` its connection was proven alive.
    void streamProven(Instant at);
    void streamEnded();
    /// Proven within the last few seconds: what the view tells is as good as asking.
    [[nodiscard]] bool live(Instant now) const;
    /// The keys of all Leases that are there, for finding out what vanished.
    [[nodiscard]] std::vector<std::string> present() const;

private:
    void judgeTimes(Seen &seen, const Seen *before, const Heard &heard) const;

    mutable std::mutex m_mutex; ///< guards everything below
    std::map<std::string, Seen> m_leases; ///< without candidates
    CandidateMap m_candidates;
    ServerClock m_clock;
    std::optional<Instant> m_proven;
};

[[nodiscard]] std::string keyOf(const LeaseObject &object);

enum class Judge {
    ByOurClock, ///< for deciding: a state that was never seen to change counts from when it was seen
    ByAnyClue, ///< for showing: its age by the server's clocks counts as well, and is marked estimated
};

/// The record of `seen` at `now`.
[[nodiscard]] LeaseRecord recordOf(
    const LeaseId &lease, const Seen &seen, Instant now, Judge judge, ReadDepth depth);

} // namespace tenure::kube
