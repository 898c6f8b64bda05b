// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/world_node.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::sim
{

using namespace std::chrono_literals;

World::World(const WorldOptions &options)
    : m_options(options), m_random(options.seed), m_serverClock(std::make_unique<ServerClock>()),
      m_server(std::make_unique<MemoryServer>(*m_serverClock)), m_lease(LeaseId::observed("sim/lease"))
{
    TimingRequest request = options.timing;
    if (options.plant == Plant::NoMargin)
        request.maxClockDrift = 0;
    const Timing timing = Timing::make(request).value();
    for (int i = 0; i < options.electors; ++i) {
        auto node = std::make_unique<Node>();
        node->name = std::string(1, static_cast<char>('a' + i));
        node->holder = HolderId::parse(node->name).value();
        node->rules = ElectionRules{.timing = timing, .drainLimit = 2 * timing.ttl()};
        node->rate = 1 + options.clockSpread * (2 * m_random.uniform() - 1);
        node->offset = Duration(static_cast<Duration::rep>(m_random.uniform() * 1e15)) + 1h;
        m_nodes.push_back(std::move(node));
    }
}

World::~World() = default;

WorldReport World::run()
{
    for (const auto &node : m_nodes) {
        later(networkDelay() * 5, [this, n = node.get()] { feed(*n, {.kind = Event::Kind::Start}); });
    }
    if (m_options.faults)
        scheduleFault();
    const Duration ttl = m_nodes.front()->rules.timing.ttl();
    // Faults end here; after that a healed world must have a leader within a bounded time.
    const Duration healBy = m_options.length + 8 * ttl;
    while (!m_queue.empty() && m_report.violation.empty()) {
        Later next = m_queue.top();
        if (next.at > healBy)
            break;
        m_queue.pop();
        m_faultsOver = next.at > m_options.length;
        if (std::any_of(m_nodes.begin(), m_nodes.end(), [this](const auto &n) { return believes(*n); }))
            m_report.led += next.at - m_now;
        m_now = next.at;
        m_serverClock->set(m_now);
        next.job();
        ++m_report.steps;
        checkStep();
    }
    m_report.length = m_now;
    const auto leaders = std::count_if(
        m_nodes.begin(), m_nodes.end(), [this](const auto &n) { return believes(*n); });
    if (m_report.violation.empty() && leaders != 1)
        violated("liveness: " + std::to_string(leaders) + " leaders in a healed world");
    return std::move(m_report);
}

void World::later(Duration at, std::function<void()> job)
{
    m_queue.push({std::max(at, m_now), ++m_jobs, std::move(job)});
}

Instant World::localNow(const Node &node) const
{
    const double local = static_cast<double>(m_now.count()) * node.rate;
    return Instant(node.offset + Duration(static_cast<Duration::rep>(local)));
}

bool World::believes(const Node &node) const
{
    return node.up && localNow(node) < node.state.validUntil;
}

void World::feed(Node &node, Event event)
{
    if (!node.up)
        return;
    if (m_now < node.pausedUntil) {
        node.inbox.push_back(event);
        return;
    }
    event.now = localNow(node);
    event.draw = m_random.uniform();
    event.fresh = Nonce(m_random.next(), m_random.next());
    const Actions actions = decide(node.rules, node.state, event);
    for (const Action &action : actions)
        perform(node, action);
    armTimer(node);
}

void World::armTimer(Node &node)
{
    const std::uint64_t number = ++node.timer;
    if (node.state.wakeAt == Instant::max())
        return;
    const double local = static_cast<double>((node.state.wakeAt - Instant(node.offset)).count());
    const Duration at = Duration(static_cast<Duration::rep>(local / node.rate)) + 20us;
    later(at, [this, n = &node, number, life = node.life] {
        if (n->timer == number && n->life == life)
            feed(*n, {.kind = Event::Kind::Timer});
    });
}

void World::perform(Node &node, const Action &action)
{
    switch (action.kind) {
    case Action::Kind::Send:
        return send(node, action);
    case Action::Kind::AnnounceGained:
        note(node.name + " gained " + std::to_string(node.state.token.value));
        return noteGrant(node);
    case Action::Kind::AnnounceLost: {
        note(node.name + " lost: " + lossText(action.reason));
        if (!node.leads)
            violated("P6: " + node.name + " lost without having gained");
        node.leads = false;
        node.handlers = true;
        const Duration busy = m_random.chance(0.1) ? 2 * node.rules.timing.ttl() : networkDelay() * 3;
        later(m_now + busy, [this, n = &node, life = node.life] {
            if (n->life != life)
                return;
            n->handlers = false;
            feed(*n, {.kind = Event::Kind::HandlersDone});
        });
        return;
    }
    case Action::Kind::AnnounceStopped:
        later(m_now + 1s, [this, n = &node] { feed(*n, {.kind = Event::Kind::Start}); });
        return;
    }
}

void World::noteGrant(Node &node)
{
    ++m_report.grants;
    if (node.leads || node.handlers)
        violated("P6: " + node.name + " gained again before its loss was handled");
    node.leads = true;
    if (node.state.token <= m_highest)
        violated("P3: token " + std::to_string(node.state.token.value) + " was not above the last");
    m_highest = std::max(m_highest, node.state.token);
}

void World::send(Node &node, const Action &action)
{
    auto packet = std::make_shared<Packet>();
    packet->from = &node;
    packet->life = node.life;
    packet->request = action.request;
    packet->verb = action.verb;
    packet->sentAt = localNow(node);
    const Term term{node.holder, node.state.nonce, node.state.token};
    const Milliseconds ttl = node.rules.timing.ttl();
    switch (action.verb) {
    case Verb::Acquire:
        packet->command = Acquire{m_lease, node.holder, node.state.nonce, ttl};
        break;
    case Verb::Peek:
        packet->command = Read{m_lease, ReadDepth::Remaining};
        break;
    case Verb::Renew:
        packet->command = Renew{m_lease, term, ttl};
        break;
    case Verb::Release:
        packet->command = Release{m_lease, term};
        break;
    case Verb::None:
        return;
    }
    const bool cut = m_now < node.cutUntil && !node.repliesOnly;
    if (cut || (m_options.faults && !m_faultsOver && m_random.chance(0.02)))
        return; // lost on the way
    later(m_now + networkDelay(), [this, packet] { arrive(packet); });
    if (m_options.faults && m_random.chance(0.01)) // a duplicate, possibly very late
        later(m_now + networkDelay() * (m_random.chance(0.5) ? 2 : 400), [this, packet] { arrive(packet); });
}

LeaseRecord World::truth() const
{
    return m_server->apply(Read{m_lease, ReadDepth::Full})->record;
}

void World::arrive(const std::shared_ptr<Packet> &packet)
{
    if (m_now < m_downUntil)
        return;
    const LeaseRecord before = truth();
    const Result<Reply> reply = m_server->apply(packet->command);
    checkWrite(*packet, before, truth());
    Node &node = *packet->from;
    const bool lost = m_now < node.cutUntil
        || (m_options.faults && !m_faultsOver && m_random.chance(0.02));
    if (!lost)
        later(m_now + networkDelay(), [this, packet, reply] { answer(packet, reply); });
}

void World::answer(const std::shared_ptr<Packet> &packet, const Result<Reply> &reply)
{
    Node &node = *packet->from;
    if (node.life != packet->life)
        return;
    Event event{.request = packet->request, .sentAt = packet->sentAt};
    if (m_options.plant == Plant::ValidityFromReply)
        event.sentAt = localNow(node);
    if (!reply) {
        event.kind = Event::Kind::Fault;
        event.fault = FaultClass::Transient;
        return feed(node, event);
    }
    const LeaseRecord &record = reply->record;
    event.epochBarrier = reply->epochBarrier;
    event.retryIn = reply->retryIn;
    switch (packet->verb) {
    case Verb::Acquire:
        event.kind = reply->outcome == Outcome::Done ? Event::Kind::Granted : Event::Kind::Refused;
        event.token = record.token;
        break;
    case Verb::Peek:
        event.kind = record.holder || record.hold ? Event::Kind::Refused : Event::Kind::Vacant;
        event.retryIn = record.remaining;
        break;
    case Verb::Renew:
        event.kind = reply->outcome == Outcome::Done || m_options.plant == Plant::DeafToDenial
            ? Event::Kind::Renewed
            : Event::Kind::Denied;
        event.otherTerm = record.holder.has_value();
        if (reply->stepDown)
            event.duration = *reply->stepDown;
        break;
    default:
        event.kind = Event::Kind::Released;
        break;
    }
    feed(node, event);
}

Duration World::networkDelay()
{
    const double spread = m_random.uniform();
    const Duration usual = 200us + Duration(static_cast<Duration::rep>(spread * 2e6));
    if (m_now >= m_slowUntil)
        return usual;
    return usual + Duration(static_cast<Duration::rep>(m_random.uniform() * 1.5e9));
}

void World::note(const std::string &line)
{
    if (m_report.log.size() >= 60)
        m_report.log.erase(m_report.log.begin());
    m_report.log.push_back(durationText(m_now) + " " + line);
}

void World::violated(const std::string &what)
{
    if (m_report.violation.empty())
        m_report.violation = what + " (at " + std::to_string(m_now.count() / 1000) + " us)";
    note("VIOLATION " + what);
}

} // namespace tenure::sim
