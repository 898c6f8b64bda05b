// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// The inside of World, shared by its own files only.
#include "core/sim/client.h"
#include "core/sim/work_queue.h"
#include "core/sim/world.h"

#include <deque>

namespace tenure::sim
{

/// A message under way: to the store or the queue, or back.
struct World::Packet {
    Ask ask;
    StoreAnswer answer;
    Instant sentAt; ///< the sender's clock
    std::int32_t node = -1;
    std::int32_t life = 0;
    // To the queue:
    enum class Work : std::uint8_t { Claim, Effect, Acknowledge };
    Work work = Work::Claim;
    WorkQueue::Answer workAnswer = WorkQueue::Answer::Done;
    FencingToken token;
    std::uint64_t serial = 0;
    int item = -1;
};

struct World::Fault {
    std::uint64_t id = 0;
    Step step;
    int node = -1;
    int life = 0;
    Duration began{};
    Duration until{};
};

class World::Node final : public ClientHost
{
public:
    Node(World &world, int number, const InstanceSpec &spec, NodeClock ownClock, Random random)
        : index(number), kind(spec.client), clock(ownClock), m_world(world), m_random(random)
    {
    }
    [[nodiscard]] Instant now() const override { return clock.at(m_world.m_now); }
    [[nodiscard]] Duration wall() const override { return m_world.m_now + wallSkew; }
    [[nodiscard]] Random &random() override { return m_random; }
    void send(const Ask &ask) override { m_world.send(*this, ask); }
    void gained() override;
    void lost(LossReason reason) override;
    void stopped() override;

    [[nodiscard]] bool claims() const { return up && claimUntil > m_world.m_now; }
    [[nodiscard]] bool stands() const { return paused > 0; }

    const int index;
    const ClientKind kind;
    NodeClock clock;
    Duration wallSkew{};
    std::unique_ptr<Client> client;
    bool up = false;
    bool crashed = false;
    int life = 0; ///< counts restarts; what was meant for an earlier life is void
    std::uint64_t timer = 0; ///< generation of the armed timer
    Duration armedFor{Duration::max()};
    int paused = 0; ///< active pauses
    int hung = 0;
    Duration pausedAt{};
    Duration hungAt{};
    Duration awakeSince{};
    std::deque<Due> inbox; ///< while paused
    int cutToStore = 0, cutFromStore = 0, cutToQueue = 0, cutFromQueue = 0;
    // What it believes
    Duration claimUntil{}; ///< world time
    Instant claimLocal; ///< the same by its own clock, as last asked
    bool noteClaims = false; ///< as the log says
    bool leads = false; ///< gained told, lost not yet
    bool handlers = false; ///< onLost running
    std::uint64_t terms = 0;
    FencingToken lastToken;
    Instant lastValid;
    bool active = false; ///< stands in m_active
    // Its work
    bool works = false;
    std::uint64_t workTimer = 0;
    Duration workDueAt{Duration::max()};
    Duration frozenWork{Duration::max()}; ///< how much of the wait was left when it was frozen
    enum class Stage : std::uint8_t { Idle, Claiming, Working, Effecting, Acknowledging } stage = Stage::Idle;
    int item = -1;
    Duration itemLeft{};
    FencingToken workToken;
    std::uint64_t workSerial = 0;
    bool crashMidItem = false;
    Duration crashAway{};
    // Why its next loss of leadership is nobody's fault but a fault's
    bool excused = false;

private:
    World &m_world;
    Random m_random;
};

} // namespace tenure::sim
