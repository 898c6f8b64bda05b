// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/memory/memory_backend.h"

#include "core/backend/lease_row.h"
#include "core/backend/memory/memory_feed.h"
#include "core/base/text.h"

#include <map>
#include <mutex>
#include <utility>

namespace tenure
{
namespace
{

using Subscriber = std::pair<std::uint64_t, LeaseFeed::Sink>;
using Subscribers = std::vector<Subscriber>;

const TimingLimits kLimits;

} // namespace

struct MemoryServer::State {
    explicit State(const Clock &c) : clock(c), startedAt(c.now()), subscribers(std::make_shared<Subscribers>()) { }

    const Clock &clock;
    mutable std::mutex mutex;
    // Guarded by mutex:
    std::map<std::string, LeaseRow, std::less<>> rows; ///< ordered, for paging
    std::uint64_t restarts = 0;
    Instant startedAt;
    Instant barrierUntil; ///< nobody acquires before, see restartEmpty()
    Milliseconds longestTtl{}; ///< ever granted
    FencingToken largest; ///< ever granted
    FencingToken floor; ///< of all tokens before the last restart
    std::shared_ptr<const Subscribers> subscribers; ///< replaced, never changed
    std::uint64_t lastSubscriber = 0;

    [[nodiscard]] RowTime time() const { return {clock.now(), clock.wall()}; }

    /// Runs `rule` on the row of `lease`; a row comes into being only when something is to be kept.
    template <typename Rule>
    auto onRow(const LeaseId &lease, Rule &&rule)
    {
        const auto found = rows.find(lease.name());
        if (found != rows.end())
            return rule(found->second);
        LeaseRow fresh;
        auto result = rule(fresh);
        if (fresh.token)
            rows.emplace(lease.name(), std::move(fresh));
        return result;
    }

    Result<RowReply> run(const Acquire &command);
    Result<RowReply> run(const Renew &command);
    Result<RowReply> run(const Release &command);
    Result<RowReply> run(const Read &command);
    Result<RowReply> run(const List &command);
    Result<RowReply> run(const Operate &command);
};

Result<RowReply> MemoryServer::State::run(const Acquire &command)
{
    const RowTime at = time();
    if (at.now < barrierUntil) {
        RowReply out;
        out.reply.outcome = Outcome::Refused;
        out.reply.record.lease = command.lease;
        out.reply.epochBarrier = true;
        out.reply.retryIn = barrierUntil - at.now;
        out.reply.serverTime = at.wall;
        return out;
    }
    RowReply out = onRow(
        command.lease, [&](LeaseRow &row) { return acquireRow(row, command, at, floor); });
    if (out.reply.outcome == Outcome::Done) {
        longestTtl = std::max(longestTtl, command.ttl);
        largest = std::max(largest, out.reply.record.token);
    }
    return out;
}

Result<RowReply> MemoryServer::State::run(const Renew &command)
{
    const RowTime at = time();
    RowReply out = onRow(command.lease, [&](LeaseRow &row) { return renewRow(row, command, at); });
    if (out.reply.outcome == Outcome::Done)
        longestTtl = std::max(longestTtl, command.ttl);
    return out;
}

Result<RowReply> MemoryServer::State::run(const Release &command)
{
    const RowTime at = time();
    return onRow(command.lease, [&](LeaseRow &row) { return releaseRow(row, command, at); });
}

Result<RowReply> MemoryServer::State::run(const Read &command)
{
    const RowTime at = time();
    RowReply out;
    out.reply.serverTime = at.wall;
    out.reply.record = onRow(command.lease,
        [&](LeaseRow &row) { return recordOf(command.lease, row, at, command.depth); });
    return out;
}

Result<RowReply> MemoryServer::State::run(const List &command)
{
    const RowTime at = time();
    RowReply out;
    out.reply.serverTime = at.wall;
    const std::size_t page = std::max<std::size_t>(1, command.pageSize);
    auto it = command.cursor.empty() ? rows.begin() : rows.upper_bound(command.cursor);
    for (; it != rows.end(); ++it) {
        if (!globMatch(command.glob, it->first))
            continue;
        if (out.reply.records.size() == page) {
            out.reply.cursor = out.reply.records.back().lease.name();
            break;
        }
        out.reply.records.push_back(recordOf(LeaseId::observed(it->first), it->second, at));
    }
    return out;
}

Result<RowReply> MemoryServer::State::run(const Operate &command)
{
    const RowTime at = time();
    Result<RowReply> out = onRow(
        command.lease, [&](LeaseRow &row) { return operateRow(row, command, at, floor); });
    if (out && out->reply.outcome == Outcome::Done)
        largest = std::max(largest, out->reply.record.token);
    return out;
}

MemoryServer::MemoryServer(const Clock &clock) : m_state(std::make_unique<State>(clock)) { }

MemoryServer::~MemoryServer() = default;

Result<Reply> MemoryServer::apply(const Command &command)
{
    if (auto problem = problemOf(command, kLimits, {}))
        return fail(*std::move(problem));
    std::unique_lock lock(m_state->mutex);
    Result<RowReply> done
        = std::visit([this](const auto &c) { return m_state->run(c); }, command);
    if (!done)
        return fail(std::move(done.error()));
    if (done->change == RowChange::None || m_state->subscribers->empty())
        return std::move(done->reply);
    const std::shared_ptr<const Subscribers> subscribers = m_state->subscribers;
    lock.unlock();
    FeedEvent event;
    event.kind = done->change == RowChange::Released ? FeedEvent::Kind::Released
                                                     : FeedEvent::Kind::Changed;
    event.lease = *leaseOf(command);
    event.at = m_state->clock.now();
    for (const Subscriber &subscriber : *subscribers)
        subscriber.second(event);
    return std::move(done->reply);
}

void MemoryServer::restartEmpty()
{
    std::unique_lock lock(m_state->mutex);
    m_state->rows.clear();
    ++m_state->restarts;
    m_state->startedAt = m_state->clock.now();
    m_state->barrierUntil = m_state->startedAt + m_state->longestTtl;
    m_state->floor = m_state->largest;
    const std::shared_ptr<const Subscribers> subscribers = m_state->subscribers;
    lock.unlock();
    FeedEvent event; // with no lease: everything may have changed
    event.kind = FeedEvent::Kind::Changed;
    event.at = m_state->clock.now();
    for (const Subscriber &subscriber : *subscribers)
        subscriber.second(event);
}

std::uint64_t MemoryServer::subscribe(LeaseFeed::Sink sink)
{
    const std::lock_guard lock(m_state->mutex);
    auto next = std::make_shared<Subscribers>(*m_state->subscribers);
    next->emplace_back(++m_state->lastSubscriber, std::move(sink));
    m_state->subscribers = std::move(next);
    return m_state->lastSubscriber;
}

void MemoryServer::unsubscribe(std::uint64_t id)
{
    const std::lock_guard lock(m_state->mutex);
    auto next = std::make_shared<Subscribers>(*m_state->subscribers);
    std::erase_if(*next, [id](const Subscriber &subscriber) { return subscriber.first == id; });
    m_state->subscribers = std::move(next);
}

std::string MemoryServer::epoch() const
{
    const std::lock_guard lock(m_state->mutex);
    return "memory-" + std::to_string(m_state->restarts + 1);
}

WallTime MemoryServer::now() const
{
    return m_state->clock.wall();
}

namespace
{

class MemoryStore final : public LeaseStore
{
public:
    MemoryStore(std::shared_ptr<MemoryServer> server, StoreTraits traits)
        : m_server(std::move(server)), m_traits(std::move(traits))
    {
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }

    [[nodiscard]] std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant /*deadline*/) override
    {
        std::vector<Result<Reply>> out;
        out.reserve(commands.size());
        for (const Command &command : commands) {
            out.push_back(m_server->apply(command));
            if (!out.back() && out.back().error().where.empty())
                out.back().error().where = m_traits.display;
        }
        return out;
    }

    [[nodiscard]] Result<StoreFacts> probe(Instant /*deadline*/) override
    {
        StoreFacts facts;
        const Instant began = BootClock::now();
        facts.server = "in this process";
        facts.epoch = m_server->epoch();
        facts.serverTime = m_server->now();
        facts.roundTrip = BootClock::now() - began;
        facts.notes.emplace_back("Its leases are gone when this process ends.");
        return facts;
    }

    [[nodiscard]] Result<std::string> init(bool /*dryRun*/, Instant /*deadline*/) override
    {
        return "Nothing needs to be made.";
    }

private:
    const std::shared_ptr<MemoryServer> m_server;
    const StoreTraits m_traits;
};

class MemoryBackend final : public Backend
{
public:
    MemoryBackend(std::shared_ptr<MemoryServer> server, std::string display)
        : m_server(std::move(server))
    {
        m_traits.scheme = "memory";
        m_traits.display = std::move(display);
        m_traits.limits = kLimits;
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<MemoryStore>(m_server, m_traits);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override
    {
        return makeMemoryFeed(m_server);
    }

private:
    const std::shared_ptr<MemoryServer> m_server;
    StoreTraits m_traits;
};

} // namespace

std::shared_ptr<const Backend> makeMemoryBackend(
    std::shared_ptr<MemoryServer> server, std::string display)
{
    return std::make_shared<MemoryBackend>(std::move(server), std::move(display));
}

} // namespace tenure
