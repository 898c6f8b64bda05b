// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/memory/memory_feed.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace tenure
{
namespace
{

/// What the changing threads hand to the feed's thread. Outlives the feed, because a change that was
/// under way when the feed unsubscribed may still be told.
struct Queue {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<FeedEvent> events; ///< guarded by mutex
    bool stopping = false; ///< guarded by mutex

    void push(const FeedEvent &event)
    {
        {
            const std::lock_guard lock(mutex);
            if (stopping)
                return;
            events.push_back(event);
        }
        wake.notify_one();
    }

    /// The next event, Alive after a quiet second, nothing when stopping.
    std::optional<FeedEvent> pop()
    {
        std::unique_lock lock(mutex);
        wake.wait_for(lock, std::chrono::seconds(1), [this] { return stopping || !events.empty(); });
        if (stopping)
            return std::nullopt;
        FeedEvent event;
        if (events.empty()) {
            event.kind = FeedEvent::Kind::Alive;
            event.at = BootClock::now();
            return event;
        }
        event = std::move(events.front());
        events.pop_front();
        return event;
    }

    void stop()
    {
        {
            const std::lock_guard lock(mutex);
            stopping = true;
        }
        wake.notify_one();
    }
};

class MemoryFeed final : public LeaseFeed
{
public:
    explicit MemoryFeed(std::shared_ptr<MemoryServer> server) : m_server(std::move(server)) { }
    ~MemoryFeed() override { MemoryFeed::stop(); }

    void start(Sink sink) override
    {
        stop();
        m_queue = std::make_shared<Queue>();
        FeedEvent opened;
        opened.kind = FeedEvent::Kind::Opened;
        opened.detail = "in-process";
        opened.renewals = true;
        opened.at = BootClock::now();
        m_queue->push(opened);
        m_subscription = m_server->subscribe(
            [queue = m_queue](const FeedEvent &event) { queue->push(event); });
        m_thread = std::thread([queue = m_queue, sink = std::move(sink)] {
            while (const auto event = queue->pop())
                sink(*event);
        });
    }

    void stop() override
    {
        if (!m_thread.joinable())
            return;
        m_server->unsubscribe(m_subscription);
        m_queue->stop();
        m_thread.join();
    }

private:
    const std::shared_ptr<MemoryServer> m_server;
    std::shared_ptr<Queue> m_queue;
    std::uint64_t m_subscription = 0;
    std::thread m_thread;
};

} // namespace

std::unique_ptr<LeaseFeed> makeMemoryFeed(std::shared_ptr<MemoryServer> server)
{
    return std::make_unique<MemoryFeed>(std::move(server));
}

} // namespace tenure
