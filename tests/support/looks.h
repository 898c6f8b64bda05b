// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/fleet.h"

#include <string>

namespace tenure::test
{

using namespace std::chrono_literals;

inline const Instant kStart{std::chrono::hours(100)};
inline const WallTime kServerStart{std::chrono::seconds(1'796'000'000)};
/// The server's clock is an hour and a bit away from ours, to prove that they are never compared.
inline constexpr std::chrono::microseconds kServerAhead = 61min;

/// One look at a lease of ours, written with what matters for the case. `at` counts from kStart.
struct Glance {
    Duration at{};
    std::string holder; ///< empty: nobody
    std::uint64_t token = 0;
    Duration acquired{};
    Duration renewed{};
    Milliseconds ttl{15000};
    bool released = false;
    std::optional<std::uint64_t> transitions = {};
    Duration roundTrip = 2ms;
};

inline WallTime serverAt(Duration sinceStart)
{
    return kServerStart + kServerAhead
        + std::chrono::duration_cast<std::chrono::microseconds>(sinceStart);
}

inline Observation look(const Glance& glance)
{
    Observation out;
    out.receivedAt = kStart + glance.at;
    out.roundTrip = glance.roundTrip;
    const Duration answered = glance.at - glance.roundTrip / 2;
    out.serverTime = serverAt(answered);
    LeaseRecord& record = out.record;
    record.lease = LeaseId::observed("jobs/leader");
    record.token = FencingToken{glance.token};
    record.released = glance.released;
    record.transitions = glance.transitions;
    if (!glance.holder.empty()) {
        record.holder = glance.holder;
        record.ttl = glance.ttl;
        record.remaining = glance.renewed + glance.ttl - answered;
        record.acquiredAt = serverAt(glance.acquired);
        record.renewedAt = serverAt(glance.renewed);
    }
    return out;
}

/// A look at a plain `SET NX PX` lock: no token, no times, only who and how long.
inline Observation foreignLook(
    Duration at, std::string holder, Duration remaining, Duration roundTrip = 2ms)
{
    Observation out;
    out.receivedAt = kStart + at;
    out.roundTrip = roundTrip;
    out.record.lease = LeaseId::observed("lock");
    out.record.kind = "token";
    if (holder.empty()) {
        out.absent = true;
    } else {
        out.record.holder = std::move(holder);
        out.record.remaining = remaining;
    }
    return out;
}

} // namespace tenure::test
