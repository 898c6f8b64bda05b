// SPDX-License-Identifier: GPL-3.0-or-later
// Time and messages. What is counted stands in world_score.cpp, work in world_work.cpp, faults in
// world_faults.cpp.
#include "core/sim/world_node.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kConsolePoll = 1s;

ClientTiming clientTiming(const Setup &setup, Plant plant)
{
    TimingRequest request = setup.lease;
    if (plant == Plant::NoMargin)
        request.maxClockDrift = 0;
    const Result<Timing> timing = Timing::make(request);
    ClientTiming out;
    // A timing that only specimens can have leaves sound clients with what follows from the ttl.
    out.timing = timing ? *timing : Timing::make({.ttl = request.ttl}).value();
    out.ttl = request.ttl;
    out.renewEvery = request.renewEvery.value_or(request.ttl / 3);
    out.deadline = request.renewDeadline.value_or(request.ttl - request.ttl / 5);
    out.retry = setup.retry;
    out.jitter = setup.jitter;
    out.expiry = setup.expiry;
    return out;
}

std::vector<HolderId> holdersOf(const Setup &setup)
{
    std::vector<HolderId> out;
    for (const InstanceSpec &spec : setup.instances) {
        const bool shared = spec.client == ClientKind::SharedId;
        out.push_back(HolderId::parse(shared ? "same" : spec.name).value());
    }
    return out;
}

} // namespace

World::World(const Setup &setup, const WorldOptions &options)
    : m_setup(setup), m_options(options), m_network(streamOf(options.seed, 1)),
      m_workRandom(streamOf(options.seed, 2)),
      m_store(std::make_unique<SimStore>(setup.tokens, holdersOf(setup), setup.expiry)),
      m_queue(std::make_unique<WorkQueue>(setup.work, m_score))
{
    Random clocks = streamOf(options.seed, 3);
    // So that a fault at a round moment meets any moment between two renewals.
    const Duration firstStart(static_cast<Duration::rep>(
        clocks.below(static_cast<std::uint64_t>((m_setup.lease.renewEvery.value_or(m_setup.lease.ttl / 3)).count()))));
    for (std::size_t i = 0; i < m_setup.instances.size(); ++i) {
        const InstanceSpec &spec = m_setup.instances[i];
        const int number = static_cast<int>(i);
        NodeClock clock(1h + Duration(static_cast<Duration::rep>(clocks.below(1'000'000'000'000'000))));
        const auto spread = static_cast<std::uint64_t>(2 * m_setup.clockSpread.ppm + 1);
        clock.setRate({}, NodeClock::kTrueRate - m_setup.clockSpread.ppm + static_cast<std::int64_t>(clocks.below(spread)));
        m_allSound = m_allSound && spec.client == ClientKind::Sound;
        m_names.push_back(spec.name);
        m_nodes.push_back(std::make_unique<Node>(*this, number, spec, clock, streamOf(options.seed, 100 + i)));
        const Duration after = m_setup.startWithin > 0ns
            ? Duration(static_cast<Duration::rep>(clocks.below(static_cast<std::uint64_t>(m_setup.startWithin.count()))))
            : delay() * 5;
        later(firstStart + (i == 0 ? 0ns : after), Due::Kind::Start, number);
    }
    for (std::size_t i = 0; i < m_setup.steps.size(); ++i) {
        if (m_setup.steps[i].verb == Step::Verb::FailoverStore)
            m_store->keepHistory();
        later(m_setup.steps[i].at, Due::Kind::Step, -1, i);
    }
    if (m_setup.console != Watcher::None)
        later(0ns, Due::Kind::Console);
    if (options.keepLog)
        m_store->keepHistory(); // a failover may still be asked for by hand
}

World::~World() = default;

void World::later(Duration at, Due::Kind kind, int node, std::uint64_t value)
{
    const int life = node < 0 ? 0 : m_nodes[static_cast<std::size_t>(node)]->life;
    m_due.push({std::max(at, m_now), ++m_numbers, value, node, life, kind});
}

Duration World::nextAt() const
{
    return m_due.empty() ? Duration::max() : m_due.top().at;
}

void World::advanceTo(Duration until)
{
    while (!m_due.empty() && m_due.top().at <= until) {
        const Due due = m_due.top();
        m_due.pop();
        if (due.at > m_now)
            integrate(due.at);
        m_now = due.at;
        ++m_events;
        handle(due);
    }
    if (until > m_now) {
        integrate(until);
        m_now = until;
    }
}

void World::handle(const Due &due)
{
    switch (due.kind) {
    case Due::Kind::AtStore:
        return atStore(due.value);
    case Due::Kind::AtQueue:
        return atQueue(due.value);
    case Due::Kind::Step:
        return apply(m_setup.steps[due.value]);
    case Due::Kind::FaultEnd:
        return end(due.value);
    case Due::Kind::StoreUp:
        m_storeRestarting = false;
        if (std::exchange(m_storeEmptied, false))
            m_store->restartEmpty(m_now);
        return;
    case Due::Kind::Console:
        consoleLooks();
        return later(m_now + kConsolePoll, Due::Kind::Console);
    case Due::Kind::Start: {
        Node &node = *m_nodes[static_cast<std::size_t>(due.node)];
        if (due.life == node.life && !node.up)
            start(node);
        return;
    }
    default:
        return toNode(*m_nodes[static_cast<std::size_t>(due.node)], due);
    }
}

void World::start(Node &node)
{
    node.client = makeClient(node.kind, clientTiming(m_setup, m_options.plant), m_options.plant, node);
    node.up = true;
    node.crashed = false;
    node.leads = node.handlers = false;
    node.lastToken = {};
    node.lastValid = {};
    node.armedFor = Duration::max();
    node.awakeSince = m_now;
    note(LogEvent::Kind::Life, node.index, {}, "starts");
    node.client->start();
    touched(node);
}

/// What only a running instance notices.
void World::toNode(Node &node, const Due &due)
{
    const bool carries = due.kind == Due::Kind::Answer || due.kind == Due::Kind::FromQueue;
    if (!node.up || due.life != node.life) {
        if (carries)
            (void)take(due.value);
        return;
    }
    if (due.kind == Due::Kind::Timer && due.value != node.timer)
        return;
    if (due.kind == Due::Kind::Work && due.value != node.workTimer)
        return;
    if (node.stands() || (node.hung > 0 && due.kind == Due::Kind::FromQueue)) {
        if (due.kind != Due::Kind::Work && due.kind != Due::Kind::Timer)
            node.inbox.push_back(due);
        return;
    }
    switch (due.kind) {
    case Due::Kind::Timer:
        node.armedFor = Duration::max();
        node.client->timer();
        break;
    case Due::Kind::Answer: {
        const Packet packet = take(due.value);
        node.client->answered(packet.ask, packet.answer, packet.sentAt);
        break;
    }
    case Due::Kind::Push:
        node.client->pushedFree();
        break;
    case Due::Kind::HandlersDone:
        node.handlers = false;
        node.client->handlersDone();
        break;
    case Due::Kind::Work:
        workDue(node);
        break;
    case Due::Kind::FromQueue:
        fromQueue(node, take(due.value));
        break;
    default:
        break;
    }
    touched(node);
}

/// After anything that may have changed what a node believes or waits for.
void World::touched(Node &node)
{
    const Instant until = node.client->believesUntil();
    if (!node.up || until == Instant())
        node.claimUntil = {};
    else if (until == Instant::max())
        node.claimUntil = Duration::max();
    else if (until != node.claimLocal || node.claimUntil == Duration())
        node.claimUntil = node.clock.worldAt(until);
    node.claimLocal = until;
    checkNode(node);
    if (!node.active && node.claimUntil > m_now) {
        node.active = true;
        m_active.push_back(&node);
    }
    const bool claims = node.claims();
    if (claims != node.noteClaims) {
        node.noteClaims = claims;
        note(claims ? LogEvent::Kind::Believes : LogEvent::Kind::Doubts, node.index, node.client->token());
    }
    arm(node);
}

void World::arm(Node &node)
{
    if (!node.up || node.stands())
        return;
    const Instant wake = node.client->wakeAt();
    const Duration at = wake == Instant::max() ? Duration::max()
                                               : std::max(node.clock.worldAt(wake), m_now);
    if (at == node.armedFor)
        return;
    node.armedFor = at;
    ++node.timer;
    if (at != Duration::max())
        later(at, Due::Kind::Timer, node.index, node.timer);
}

std::uint64_t World::keep(const Packet &packet)
{
    if (m_freePackets.empty()) {
        m_packets.push_back(packet);
        return m_packets.size() - 1;
    }
    const std::uint64_t place = m_freePackets.back();
    m_freePackets.pop_back();
    m_packets[place] = packet;
    return place;
}

World::Packet World::take(std::uint64_t packet)
{
    m_freePackets.push_back(packet);
    return m_packets[packet];
}

Duration World::delay()
{
    Duration out = m_setup.network.latency.draw(m_network);
    for (const Fault &fault : m_faults) {
        if (fault.step.verb == Step::Verb::Reorder && fault.step.share.happens(m_network))
            out += out * 3 + Duration(static_cast<Duration::rep>(m_network.below(20'000'000)));
    }
    return out;
}

std::pair<Share, Share> World::unrest() const
{
    std::pair out(m_setup.network.drop, m_setup.network.duplicate);
    for (const Fault &fault : m_faults) {
        if (fault.step.verb == Step::Verb::Drop)
            out.first.ppm = std::max(out.first.ppm, fault.step.share.ppm);
        if (fault.step.verb == Step::Verb::Duplicate)
            out.second.ppm = std::max(out.second.ppm, fault.step.share.ppm);
    }
    return out;
}

void World::send(Node &node, const Ask &ask)
{
    const auto [drop, twice] = unrest();
    if (node.cutToStore > 0 || drop.happens(m_network))
        return; // lost on the way
    Packet packet;
    packet.ask = ask;
    packet.node = node.index;
    packet.life = node.life;
    packet.sentAt = node.now();
    later(m_now + delay(), Due::Kind::AtStore, -1, keep(packet));
    if (twice.happens(m_network)) // possibly very late
        later(m_now + delay() * (m_network.below(2) == 0 ? 2 : 400 + 100 * static_cast<int>(m_network.below(16))), Due::Kind::AtStore, -1, keep(packet));
}

void World::atStore(std::uint64_t place)
{
    Packet packet = take(place);
    noteAttempt();
    Node &node = *m_nodes[static_cast<std::size_t>(packet.node)];
    if (m_storeRestarting)
        return;
    for (const Fault &fault : m_faults) { // what hangs answers when it goes on
        if (fault.step.verb == Step::Verb::HangStore)
            return later(fault.until, Due::Kind::AtStore, -1, keep(packet));
    }
    const StoreTruth before = m_store->truth(m_now);
    packet.answer = m_store->apply(packet.node, packet.ask, m_now);
    const StoreTruth after = m_store->truth(m_now);
    checkWrite(node, packet, before, after);
    if (after.serial > before.serial)
        noteGrant(node, before);
    const bool ended = before.holder >= 0 && after.holder < 0;
    if (before.holder < 0 && after.holder >= 0)
        m_endNoted = false; // also when a term goes on that had run out (Expiry::Observed)
    m_truth = after;
    if (ended) {
        noteEnd(m_now);
        note(LogEvent::Kind::Released, before.holder, before.token);
        pushFree();
    } else if (packet.ask.kind != Ask::Kind::Peek && after.serial == before.serial && after.heldUntil > before.heldUntil) {
        note(LogEvent::Kind::Renewed, packet.node, after.token);
    }
    if (node.cutFromStore > 0 || unrest().first.happens(m_network))
        return;
    const Duration at = m_now + serviceTime() + delay();
    m_due.push({at, ++m_numbers, keep(packet), packet.node, packet.life, Due::Kind::Answer});
}

/// How long the store takes to answer, on top of the way.
Duration World::serviceTime()
{
    Duration out{};
    for (const Fault &fault : m_faults) {
        if (fault.step.verb != Step::Verb::Latency)
            continue;
        Spread spread = fault.step.spread;
        if (fault.step.rising) {
            const std::int64_t whole = std::max<std::int64_t>(1, (fault.until - fault.began).count() / 1000);
            const std::int64_t through = (m_now - fault.began).count() / whole;
            const Duration middle = spread.low() + (spread.high() - spread.low()) / 1000 * through;
            spread = Spread::uniform(middle - middle * 3 / 10, middle + middle * 3 / 10);
        }
        out += spread.draw(m_network);
    }
    return out;
}

void World::pushFree()
{
    if (!m_setup.push)
        return;
    for (const auto &node : m_nodes) {
        if (node->cutFromStore == 0)
            later(m_now + delay(), Due::Kind::Push, node->index);
    }
}

RunResult runOnce(const Setup &setup, const WorldOptions &options)
{
    World world(setup, options);
    world.finish();
    return {world.scorecard(), world.violation(), world.events()};
}

} // namespace tenure::sim
