// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/memory/memory_backend.h"
#include "core/election/election.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace tenure::sim
{

/// Wrong electors on purpose, to prove that the invariants find them.
enum class Plant {
    None,
    ValidityFromReply, ///< counts validity from the answer instead of the request
    NoMargin, ///< no allowance for clock drift
    DeafToDenial, ///< takes a definite denial for a renewal
};

/// A seeded world: how many electors, and which faults befall them.
struct WorldOptions {
    std::uint64_t seed = 1;
    int electors = 4;
    TimingRequest timing{.ttl = std::chrono::seconds(3)};
    Duration length = std::chrono::seconds(90);
    bool faults = true;
    double clockSpread = 0.009; ///< clock rates are 1 plus or minus at most this
    Plant plant = Plant::None;
};

/// What came of a run; `violation` empty when every promise held.
struct WorldReport {
    std::string violation; ///< "P1 at 12.345 s: a and b both believe"
    std::uint64_t steps = 0;
    std::uint64_t grants = 0;
    std::uint64_t faultsInjected = 0;
    Duration led{}; ///< time with a believer
    Duration length{};
    std::vector<std::string> log; ///< last lines before the end, for a failing seed
};

/// Electors made of the very decide(), a memory server, a network that delays, loses, duplicates and
/// reorders, clocks of different rates, pauses, crashes and a server that restarts empty, all in
/// virtual time: a run is a pure function of its options. P1 to P6 are checked after every step.
class World
{
public:
    explicit World(const WorldOptions &options);
    ~World();
    World(const World &) = delete;
    World &operator=(const World &) = delete;
    [[nodiscard]] WorldReport run();

private:
    struct Node;
    struct Packet;
    class ServerClock;
    struct Later {
        Duration at;
        std::uint64_t number;
        std::function<void()> job;
        bool operator>(const Later &other) const
        {
            return at != other.at ? at > other.at : number > other.number;
        }
    };

    void later(Duration at, std::function<void()> job);
    void feed(Node &node, Event event);
    void perform(Node &node, const Action &action);
    void send(Node &node, const Action &action);
    void arrive(const std::shared_ptr<Packet> &packet);
    void answer(const std::shared_ptr<Packet> &packet, const Result<Reply> &reply);
    void armTimer(Node &node);
    void checkStep();
    void checkWrite(const Packet &packet, const LeaseRecord &before, const LeaseRecord &after);
    void noteGrant(Node &node);
    void injectFault();
    void scheduleFault();
    void crash(Node &node);
    void violated(const std::string &what);
    void note(const std::string &line);
    [[nodiscard]] Instant localNow(const Node &node) const;
    [[nodiscard]] bool believes(const Node &node) const;
    [[nodiscard]] LeaseRecord truth() const;
    [[nodiscard]] Duration networkDelay();

    WorldOptions m_options;
    Random m_random;
    std::unique_ptr<ServerClock> m_serverClock;
    std::unique_ptr<MemoryServer> m_server;
    LeaseId m_lease;
    std::vector<std::unique_ptr<Node>> m_nodes;
    std::priority_queue<Later, std::vector<Later>, std::greater<>> m_queue;
    Duration m_now{};
    std::uint64_t m_jobs = 0;
    Duration m_slowUntil{}; ///< the network is slow until then
    Duration m_downUntil{}; ///< the server answers nothing until then
    bool m_faultsOver = false;
    FencingToken m_highest;
    WorldReport m_report;
};

} // namespace tenure::sim
