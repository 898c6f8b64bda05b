// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/feed.h"
#include "core/backend/redis/redis_settings.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::redis
{

/// Our channel, and keyspace events where the server has them on already (it is never told to).
class RedisFeed final : public LeaseFeed
{
public:
    explicit RedisFeed(std::shared_ptr<const Settings> settings) : m_settings(std::move(settings))
    {
    }
    ~RedisFeed() override { RedisFeed::stop(); }
    void start(Sink sink) override;
    void stop() override;

private:
    void run();
    [[nodiscard]] Result<void> listen(); ///< until the connection breaks or stop()
    [[nodiscard]] Result<bool> subscribe(RespConnection &connection); ///< true: renewals are told
    void deliver(const RespValue &message);
    void emit(FeedEvent event);
    void opened(bool keyspace, bool renewals);

    const std::shared_ptr<const Settings> m_settings;
    Sink m_sink;
    std::thread m_thread;
    std::atomic<bool> m_stopping = false;
    std::mutex m_mutex;
    std::condition_variable m_wake; ///< with m_mutex, when m_stopping
    RespConnection *m_connection = nullptr; ///< guarded by m_mutex, for interrupt()
    bool m_sawKeyspace = false; ///< feed thread
    bool m_wasOpen = false; ///< feed thread
};

} // namespace tenure::redis
