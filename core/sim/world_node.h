// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// The inside of World, shared by its own files only.
#include "core/sim/world.h"

#include <deque>

namespace tenure::sim
{

/// The server's clocks: its boot clock judges leases, and it is the world's own time.
class World::ServerClock final : public Clock
{
public:
    [[nodiscard]] Instant now() const override { return Instant(std::chrono::hours(1)) + m_time; }
    [[nodiscard]] WallTime wall() const override
    {
        return WallTime(std::chrono::seconds(1'750'000'000) + std::chrono::duration_cast<std::chrono::microseconds>(m_time));
    }
    void set(Duration time) { m_time = time; }

private:
    Duration m_time{};
};

struct World::Node {
    std::string name;
    HolderId holder;
    ElectionRules rules;
    ElectionState state;
    double rate = 1; ///< local seconds a world second
    Duration offset{}; ///< where its boot clock stands at time 0
    bool up = true;
    int life = 0; ///< counts restarts; what was meant for an earlier life is void
    std::uint64_t timer = 0; ///< number of the armed timer
    Duration pausedUntil{};
    Duration cutUntil{};
    bool repliesOnly = false; ///< the cut lets requests through
    std::deque<Event> inbox; ///< while paused
    bool leads = false; ///< gained told, lost not yet
    bool handlers = false; ///< onLost running
    FencingToken lastToken;
    Instant lastValid;
};

struct World::Packet {
    Node *from = nullptr;
    int life = 0;
    RequestId request = 0;
    Verb verb = Verb::None;
    Command command;
    Instant sentAt;
};

} // namespace tenure::sim
