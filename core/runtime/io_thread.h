// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/store.h"
#include "core/election/election.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tenure
{

/// The one thread that talks to a store. Whatever is queued when it becomes free travels as ONE batch;
/// nothing ever waits for more to come. A request whose time ran out before it was sent is dropped: its
/// asker has given it up, and sending it would only make the next one late.
class IoThread
{
public:
    struct Request {
        std::uint64_t elector = 0;
        Verb verb = Verb::None;
        RequestId request = 0;
        Instant deadline; ///< no answer by then is Unknown
        Command command;
        Instant pushedAt; ///< set by push()
    };
    struct Answer {
        std::uint64_t elector = 0;
        Verb verb = Verb::None;
        RequestId request = 0;
        Instant sentAt; ///< read before the request was serialised (P2)
        Result<Reply> reply;
    };
    /// Called on this thread, once a batch.
    using Sink = std::function<void(std::vector<Answer>)>;

    IoThread(std::unique_ptr<LeaseStore> store, const Clock &clock, Sink sink);
    ~IoThread(); ///< stops
    IoThread(const IoThread &) = delete;
    IoThread &operator=(const IoThread &) = delete;

    void start();
    /// Joins: waits for a call under way (bounded by its deadline), drops what was not sent.
    void stop();
    /// Any thread.
    void push(std::vector<Request> requests);
    /// Nothing is sent until thaw(); a call under way goes on. Any thread.
    void freeze();
    void thaw();

private:
    void run(const std::stop_token &stop);
    void send(std::vector<Request> &batch);
    void refuseStale(std::vector<Request> &batch, Instant now);
    [[nodiscard]] bool nothingWaits();

    const std::unique_ptr<LeaseStore> m_store; ///< used on the thread only
    const Clock &m_clock;
    const Sink m_sink;
    std::vector<Command> m_commands; ///< the thread only
    bool m_afterIdle = false; ///< the store made itself ready since the last batch; the thread only

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::vector<Request> m_queue; ///< guarded by m_mutex
    bool m_frozen = false; ///< guarded by m_mutex
    std::atomic<bool> m_stopping = false;
    std::jthread m_thread;
};

} // namespace tenure
