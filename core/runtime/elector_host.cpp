// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/elector_core.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

/// How long work may wait for a busy dispatcher before it gets one more thread.
constexpr Duration kReliefAfter = 2ms;

} // namespace

ElectorHost::Core::Core(const Backend &backend, const Clock &clockUsed)
    : clock(clockUsed)
    , awaitsEnd(backend.traits().awaitsEnd)
    , timers(clockUsed,
          {[this](Duration by) { jumped(by); },
              [this] {
                  if (!outbox.empty())
                      io.push(std::exchange(outbox, {}));
              }})
    , io(backend.makeStore(), clockUsed,
          [this](std::vector<IoThread::Answer> answers) {
              timers.post([this, batch = std::move(answers)]() mutable { take(batch); });
          })
    , feed(backend.makeFeed())
{
    relief.fire = [this] {
        if (dispatcher.relieve())
            timers.arm(relief, clock.now() + kReliefAfter);
    };
    io.start();
    timers.start();
    if (feed)
        feed->start([this](const FeedEvent &event) { onFeed(event); });
}

ElectorHost::Core::~Core()
{
    // Sources first, so that nothing arrives at what is already gone.
    if (feed)
        feed->stop();
    timers.stop();
    io.stop();
}

void ElectorHost::Core::add(const std::shared_ptr<Elector::Core> &elector)
{
    electors.emplace(elector->id, elector);
    byLease[elector->who.lease.name()].push_back(elector.get());
    elector->state.pushAlive = pushAlive;
    if (elector->callbacks.onGained)
        dispatcher.prepare();
}

void ElectorHost::Core::remove(std::uint64_t id)
{
    const auto found = electors.find(id);
    if (found == electors.end())
        return;
    Elector::Core &elector = *found->second;
    timers.disarm(elector.timer);
    const auto same = byLease.find(elector.who.lease.name());
    std::erase(same->second, &elector);
    if (same->second.empty())
        byLease.erase(same);
    electors.erase(found);
}

void ElectorHost::Core::dispatch(const std::shared_ptr<Dispatcher::Strand> &strand, Dispatcher::Job job)
{
    dispatcher.post(strand, std::move(job));
    if (!relief.due)
        timers.arm(relief, clock.now() + kReliefAfter);
}

void ElectorHost::Core::take(std::vector<IoThread::Answer> &answers)
{
    for (IoThread::Answer &answer : answers) {
        const auto found = electors.find(answer.elector);
        if (found != electors.end())
            found->second->take(answer);
    }
}

void ElectorHost::Core::jumped(Duration by)
{
    for (const auto &[id, elector] : electors) {
        if (by > std::max<Duration>(1s, elector->who.rules.timing.ttl() / 4)) {
            Event event;
            event.kind = Event::Kind::Resumed;
            elector->handle(event);
        }
    }
}

/// On the feed's thread. Renewals of others, the bulk of what a feed tells, end here.
void ElectorHost::Core::onFeed(const FeedEvent &event)
{
    const bool any = event.lease.name().empty();
    switch (event.kind) {
    case FeedEvent::Kind::Opened:
        return timers.post([this] { pushState(true); });
    case FeedEvent::Kind::Closed:
        return timers.post([this] { pushState(false); });
    case FeedEvent::Kind::Changed:
        return any ? timers.post([this] { pushState(true); }) : void();
    case FeedEvent::Kind::Released:
        if (any)
            return timers.post([this] { pushState(true); });
        return timers.post([this, lease = event.lease] { pushFree(lease); });
    case FeedEvent::Kind::Alive:
        return;
    }
}

void ElectorHost::Core::pushFree(const LeaseId &lease)
{
    const auto found = byLease.find(lease.name());
    if (found == byLease.end())
        return;
    for (Elector::Core *elector : found->second) {
        Event event;
        event.kind = Event::Kind::PushFree;
        elector->handle(event);
    }
}

void ElectorHost::Core::pushState(bool alive)
{
    pushAlive = alive;
    for (const auto &[id, elector] : electors) {
        Event event;
        event.kind = Event::Kind::PushState;
        event.flag = alive;
        elector->handle(event);
    }
}

ElectorHost::ElectorHost(std::shared_ptr<const Backend> backend, const Clock &clock)
    : m_core(std::make_unique<Core>(*backend, clock))
{
}

ElectorHost::~ElectorHost() = default;

void ElectorHost::freeze()
{
    m_core->io.freeze();
    m_core->timers.freeze();
}

void ElectorHost::thaw()
{
    m_core->io.thaw();
    m_core->timers.thaw();
}

} // namespace tenure
