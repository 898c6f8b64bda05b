// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/election/election.h"

#include <algorithm>

namespace tenure::test
{

using namespace std::chrono_literals;

inline constexpr Instant kStart{1000s};

/// One elector driven by hand: keeps the clock, remembers what was sent and told.
struct Driver {
    ElectionRules rules{Timing::make({.ttl = 15s}).value(), 30s};
    ElectionState state;
    Instant now = kStart;
    Actions last;
    double draw = 0.5;
    std::uint64_t nonces = 0;

    Actions &feed(Event event)
    {
        event.now = now;
        event.draw = draw;
        event.fresh = Nonce(7, ++nonces);
        last = decide(rules, state, event);
        return last;
    }
    Actions &tick(Duration by)
    {
        now += by;
        return feed({.kind = Event::Kind::Timer});
    }
    /// Lets time pass to the next wake-up.
    Actions &wake()
    {
        now = std::max(now, state.wakeAt);
        return feed({.kind = Event::Kind::Timer});
    }
    Actions &fault(FaultClass fault)
    {
        return feed({.kind = Event::Kind::Fault, .request = state.request, .fault = fault});
    }
    void lead()
    {
        feed({.kind = Event::Kind::Start});
        const Instant sent = now;
        now += 10ms;
        feed({.kind = Event::Kind::Granted, .request = state.request, .sentAt = sent, .token = {41}});
    }
    Actions &renewed(Duration roundTrip = 10ms)
    {
        const Instant sent = now;
        now += roundTrip;
        return feed({.kind = Event::Kind::Renewed, .request = state.request, .sentAt = sent});
    }
    Actions &refused(std::optional<Duration> retryIn, bool epoch = false)
    {
        const Instant sent = now;
        now += 1ms;
        return feed({.kind = Event::Kind::Refused,
            .request = state.request,
            .sentAt = sent,
            .epochBarrier = epoch,
            .retryIn = retryIn});
    }
    [[nodiscard]] Verb sent() const
    {
        for (const Action &action : last) {
            if (action.kind == Action::Kind::Send)
                return action.verb;
        }
        return Verb::None;
    }
    [[nodiscard]] bool told(Action::Kind kind) const
    {
        return std::any_of(last.begin(), last.end(), [kind](const Action &a) { return a.kind == kind; });
    }
    [[nodiscard]] std::optional<LossReason> loss() const
    {
        for (const Action &action : last) {
            if (action.kind == Action::Kind::AnnounceLost)
                return action.reason;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool isLeader() const { return now < state.validUntil; }
};

} // namespace tenure::test
