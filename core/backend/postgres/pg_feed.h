// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/feed.h"
#include "core/backend/postgres/pg_store.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::postgres
{

/// LISTEN on a session of its own. The session is asked for a sign of life while it is quiet. Where
/// LISTEN cannot work (a pooler that shares sessions, a standby) it stays closed and says why; that
/// is tried again now and then.
class PgFeed final : public LeaseFeed
{
public:
    explicit PgFeed(std::shared_ptr<Shared> shared) : m_shared(std::move(shared)) { }
    ~PgFeed() override { PgFeed::stop(); }
    void start(Sink sink) override;
    void stop() override;

private:
    void run();
    [[nodiscard]] Result<void> watch(); ///< until the session breaks or stop()
    [[nodiscard]] Result<void> listenOn(PgConnection &connection);
    [[nodiscard]] Result<void> proveLife(PgConnection &connection);
    void deliver(const std::string &payload);
    void emit(FeedEvent event);

    const std::shared_ptr<Shared> m_shared;
    Sink m_sink;
    std::thread m_thread;
    std::atomic<bool> m_stopping = false;
    std::mutex m_mutex;
    std::condition_variable m_wake; ///< with m_mutex, when m_stopping
    PgConnection *m_connection = nullptr; ///< guarded by m_mutex, for interrupt()
    bool m_wasOpen = false; ///< feed thread
};

} // namespace tenure::postgres
