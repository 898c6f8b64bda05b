// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/event_log.h"
#include "core/sim/setup.h"
#include "core/sim/sim_store.h"

#include <deque>
#include <memory>
#include <optional>
#include <queue>

namespace tenure::sim
{

/// How a world is run, beyond what happens in it.
struct WorldOptions {
    std::uint64_t seed = 1;
    Plant plant = Plant::None;
    bool keepLog = false; ///< a search needs only the scorecard
};

/// One instance as it is now, for people. A copy.
struct NodeView {
    std::string name;
    ClientKind client = ClientKind::Sound;
    enum class Life { Running, Paused, Hung, Stopped, Crashed } life = Life::Running;
    bool claims = false; ///< isLeader(), asked now
    bool works = false; ///< does leader's work, because it believed at its last look
    bool toStoreCut = false;
    bool fromStoreCut = false;
    bool queueCut = false;
    FencingToken token;
    Duration validFor{}; ///< while it claims; Duration::max(): it does not look at the time
    Duration wallSkew{};
    std::int64_t ratePpm = NodeClock::kTrueRate;
    std::string phase;
    int item = -1; ///< it works on
    std::uint64_t terms = 0;
};

/// The store as it is now.
struct StoreView {
    int holder = -1; ///< number of the instance, -1: nobody
    FencingToken token;
    Duration remaining{};
    bool down = false;
    bool slow = false;
};

/// What a console with a connection of its own would show.
struct ConsoleView {
    bool on = false;
    bool stale = false;
    Duration age{}; ///< of the last proof of life
    int holder = -1; ///< as last seen; -1: nobody
    FencingToken token;
};

/// A fault that has not ended yet.
struct FaultView {
    std::uint64_t id = 0;
    std::string text;
    Duration left{};
};

class WorkQueue;

/// Instances made of the very decide() (or of specimens of wrong clients), a store by the rules of the
/// embedded backends, a network that delays, loses, duplicates and reorders, clocks of different rates,
/// and faults, all in virtual time: a run is a pure function of setup, options and what is applied by
/// hand at which moment. The promises P1 to P6 are checked after every event. One owner, one thread.
class World
{
public:
    World(const Setup &setup, const WorldOptions &options);
    ~World();
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    /// Lives through everything due until then.
    void advanceTo(Duration until);
    /// To the end of the setup; a world of random faults must have healed by then.
    void finish();
    /// The moment of the next event; nothing happens in between.
    [[nodiscard]] Duration nextAt() const;
    /// Does something now, by hand. What is not possible (an unknown name) does nothing.
    void apply(const Step &step);
    void lift(std::uint64_t fault);

    [[nodiscard]] const Setup &setup() const { return m_setup; }
    [[nodiscard]] Duration now() const { return m_now; }
    [[nodiscard]] std::uint64_t events() const { return m_events; }
    [[nodiscard]] Scorecard scorecard() const; ///< as of now
    [[nodiscard]] const std::string &violation() const { return m_violation; }
    [[nodiscard]] const std::vector<LogEvent> &log() const { return m_log; }
    [[nodiscard]] const std::vector<std::string> &names() const { return m_names; }
    [[nodiscard]] std::vector<NodeView> nodes() const;
    [[nodiscard]] StoreView store() const;
    [[nodiscard]] ConsoleView console() const;
    [[nodiscard]] std::vector<FaultView> faults() const;
    [[nodiscard]] const WorkQueue &queue() const { return *m_queue; }

private:
    class Node;
    struct Packet;
    struct Fault;
    struct Due {
        enum class Kind : std::uint8_t {
            Start, Timer, AtStore, Answer, Push, HandlersDone, Work, AtQueue, FromQueue, Step, FaultEnd,
            StoreUp, Console
        };
        Duration at;
        std::uint64_t number;
        std::uint64_t value; ///< packet, fault, step or generation
        std::int32_t node;
        std::int32_t life;
        Kind kind;
        bool operator>(const Due &other) const
        {
            return at != other.at ? at > other.at : number > other.number;
        }
    };

    // world.cpp: time and messages
    void later(Duration at, Due::Kind kind, int node = -1, std::uint64_t value = 0);
    void handle(const Due &due);
    void toNode(Node &node, const Due &due);
    void send(Node &node, const Ask &ask);
    void atStore(std::uint64_t packet);
    void pushFree();
    void arm(Node &node);
    void touched(Node &node);
    [[nodiscard]] std::uint64_t keep(const Packet &packet);
    [[nodiscard]] Packet take(std::uint64_t packet);
    [[nodiscard]] Duration delay();
    [[nodiscard]] Duration serviceTime();

    // world_score.cpp: what is counted and promised
    void integrate(Duration to);
    void integrateBeliefs(Duration to);
    void integrateConsole(Duration to);
    void noteGrant(Node &node, const StoreTruth &before);
    void noteEnd(Duration at);
    void noteAttempt();
    void checkWrite(const Node &node, const Packet &packet, const StoreTruth &before, const StoreTruth &after);
    void checkNode(Node &node);
    void consoleLooks();
    void violated(const std::string &what);
    [[nodiscard]] std::pair<Share, Share> unrest() const; ///< dropped, sent twice
    void note(LogEvent::Kind kind, int node = -1, FencingToken token = {}, std::string detail = {}, int item = -1);

    // world_work.cpp: leader's work
    void beginWork(Node &node);
    void workDue(Node &node);
    void toQueue(Node &node, std::uint8_t kind);
    void atQueue(std::uint64_t packet);
    void fromQueue(Node &node, const Packet &packet);
    void workAfter(Node &node, Duration wait);
    void setWorks(Node &node, bool works);

    // world_faults.cpp
    [[nodiscard]] Node *resolve(const std::string &name);
    [[nodiscard]] std::uint64_t begin(const Step &step, Node *node);
    void applyToNode(const Step &step, Node &node);
    void applyToStore(const Step &step);
    void operate(const Step &step);
    void end(std::uint64_t fault);
    void setLinks(const Step &step, Node *node, int by);
    void wake(Node &node);
    void crash(Node &node, Duration away);
    void start(Node &node);

    const Setup m_setup;
    const WorldOptions m_options;
    Random m_network; ///< what travels and how long
    Random m_workRandom;
    std::vector<std::string> m_names;
    std::unique_ptr<SimStore> m_store;
    std::unique_ptr<WorkQueue> m_queue;
    std::vector<std::unique_ptr<Node>> m_nodes;
    std::vector<Node *> m_active; ///< those that may believe something or work
    std::priority_queue<Due, std::vector<Due>, std::greater<>> m_due;
    std::vector<Packet> m_packets;
    std::vector<std::uint64_t> m_freePackets;
    std::vector<Fault> m_faults; ///< active
    std::uint64_t m_lastFault = 0;
    Duration m_now{};
    std::uint64_t m_numbers = 0;
    std::uint64_t m_events = 0;
    std::vector<std::uint64_t> m_storeDown; ///< ids of faults that keep it from answering
    bool m_storeRestarting = false;
    bool m_storeEmptied = false;

    Scorecard m_score;
    StoreTruth m_truth;
    bool m_allSound = true;
    bool m_everHeld = false;
    bool m_endNoted = true; ///< of the present term
    Duration m_endedAt{}; ///< the last term, in the store
    std::optional<Duration> m_quietSince; ///< nobody leads
    int m_lastHolder = -1;
    FencingToken m_largest;
    std::deque<Duration> m_attempts; ///< calls of the last 100 ms
    struct Console {
        Duration lastProof{};
        int holder = -1;
        FencingToken token;
        Duration heldUntil{}; ///< as far as it knows
        int cuts = 0;
    } m_console;
    FencingToken m_looked; ///< what the operator saw when looking
    std::string m_violation;
    std::vector<LogEvent> m_log;
};

/// What came of one run.
struct RunResult {
    Scorecard score;
    std::string violation;
    std::uint64_t events = 0;
};
/// Runs `setup` to its end.
[[nodiscard]] RunResult runOnce(const Setup &setup, const WorldOptions &options);

} // namespace tenure::sim
