// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/world.h"

#include <memory>
#include <optional>

namespace tenure::sim
{

/// Plays one world forwards and back. Going back is living again from the start: the world is a pure
/// function of setup, seed and what was done by hand, and an hour of it takes milliseconds. What was
/// done by hand later than now stays, until something else is done now: that forks the run, and the
/// old future is gone. One owner, one thread.
class Player
{
public:
    Player(Setup setup, std::uint64_t seed);

    [[nodiscard]] const World &world() const { return *m_world; }
    [[nodiscard]] std::uint64_t seed() const { return m_seed; }
    [[nodiscard]] Duration now() const { return m_world->now(); }
    [[nodiscard]] Duration end() const { return m_setup.length; }
    [[nodiscard]] bool atEnd() const { return now() >= end(); }

    /// Forwards or back, within the run.
    void seek(Duration to);
    void stepForward(); ///< to the next thing that is worth a line in the log
    void stepBack(); ///< to just before the last one
    void apply(const Step &step); ///< now, by hand
    void lift(std::uint64_t fault);
    void clearFaults();
    /// Forgets what was done by hand after now.
    void fork();
    /// Something was done by hand later than now, and will be done again.
    [[nodiscard]] bool hasFuture() const;

private:
    struct Deed {
        Duration at;
        std::optional<Step> step;
        std::uint64_t lift = 0; ///< when there is no step
    };
    void restart();
    void perform(const Deed &deed);
    void record(Deed deed);

    Setup m_setup;
    std::uint64_t m_seed;
    std::unique_ptr<World> m_world;
    std::vector<Deed> m_deeds; ///< by time
    std::size_t m_done = 0; ///< of m_deeds, in this life of the world
};

} // namespace tenure::sim
