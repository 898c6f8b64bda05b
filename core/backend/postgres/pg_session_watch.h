// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/feed.h"
#include "core/backend/postgres/pg_feed.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace tenure::postgres
{

/// The sockets of sessions that hold advisory locks of this process: whose session ended lost its
/// lock at that moment, and is told without being asked for the next renewal. Any thread.
class SessionWatch
{
public:
    SessionWatch() = default;
    ~SessionWatch();
    SessionWatch(const SessionWatch &) = delete;
    SessionWatch &operator=(const SessionWatch &) = delete;

    /// `socket` is duplicated; -1: the lease is free (for us) by now. Returns what forget() takes.
    [[nodiscard]] std::uint64_t add(const LeaseId &lease, int socket);
    void forget(std::uint64_t id);

    struct Watched {
        std::uint64_t id = 0;
        LeaseId lease;
        int socket = -1;
    };
    [[nodiscard]] std::vector<Watched> all() const;
    /// `waker` (an eventfd) is written to when all() changed.
    void attach(int waker);
    void detach(int waker);

private:
    void wakeAll(); ///< m_mutex is held

    mutable std::mutex m_mutex;
    // Guarded by m_mutex:
    std::map<std::uint64_t, Watched> m_watched;
    std::vector<int> m_wakers;
    std::uint64_t m_last = 0;
};

/// PgFeed, and Released for a lease of ours the moment its session ends.
class AdvisoryFeed final : public LeaseFeed
{
public:
    AdvisoryFeed(std::shared_ptr<Shared> shared, std::shared_ptr<SessionWatch> watch);
    ~AdvisoryFeed() override { AdvisoryFeed::stop(); }
    void start(Sink sink) override;
    void stop() override;

private:
    void run();

    PgFeed m_pushed;
    const std::shared_ptr<SessionWatch> m_watch;
    Sink m_sink;
    std::mutex m_oneAtATime; ///< two threads tell
    std::atomic<bool> m_stopping = false;
    int m_waker = -1;
    std::thread m_thread;
};

} // namespace tenure::postgres
