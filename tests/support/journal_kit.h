// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal.h"
#include "core/journal/journal_query.h"

#include <string>

namespace tenure::test
{

using namespace std::chrono_literals;

/// What happens to a lease, written with what matters; `at` counts from the clock's start.
struct Scripted {
    Duration at{};
    TransitionKind kind = TransitionKind::Acquired;
    std::string oldHolder, newHolder;
    std::uint64_t token = 0;
    std::optional<Duration> gap = {};
    std::string lease = "jobs/leader";
};

inline Transition transition(const Scripted& what, Instant start)
{
    Transition t;
    t.lease = LeaseId::observed(what.lease);
    t.kind = what.kind;
    t.oldHolder = what.oldHolder;
    t.newHolder = what.newHolder;
    t.token = FencingToken{what.token};
    t.at = start + what.at;
    t.gap = what.gap;
    t.explanation = "because";
    return t;
}

/// A journal on a clock that moves by hand.
struct JournalKit {
    explicit JournalKit(const std::string& path)
    {
        Journal::Options options;
        options.path = path;
        journal = std::make_unique<Journal>(options, clock);
        start = clock.now();
        wallStart = clock.wall();
        journal->describe({connection, "prod-eu", "redis://h:6379"});
    }
    /// Observed without a break from `from` to `to`.
    void watched(Duration from, Duration to)
    {
        goTo(to);
        journal->observed(connection, start + from, 5s);
        journal->observed(connection, start + to, to - from + 1s);
    }
    void tell(const Scripted& what)
    {
        goTo(std::max(what.at, clock.now() - start));
        journal->append(connection, transition(what, start));
    }
    void goTo(Duration at)
    {
        if (clock.now() < start + at)
            clock.advance(start + at - clock.now());
    }
    [[nodiscard]] WallTime wall(Duration at) const
    {
        return wallStart + std::chrono::duration_cast<std::chrono::microseconds>(at);
    }
    [[nodiscard]] TimeWindow window(Duration from, Duration to) const { return {wall(from), wall(to)}; }

    ManualClock clock;
    Instant start;
    WallTime wallStart;
    std::string connection = "c1";
    std::unique_ptr<Journal> journal;
};

} // namespace tenure::test
