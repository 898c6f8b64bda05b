// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Inside core/runtime only: what a host and its electors share.

#include "core/runtime/dispatcher.h"
#include "core/runtime/election_calls.h"
#include "core/runtime/elector.h"
#include "core/runtime/io_thread.h"
#include "core/runtime/timer_thread.h"

#include <atomic>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenure
{

struct ElectorHost::Core {
    Core(const Backend &backend, const Clock &clockUsed);
    ~Core();
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;

    // Timer thread only.
    void add(const std::shared_ptr<Elector::Core> &elector);
    void remove(std::uint64_t id);
    void send(IoThread::Request request) { outbox.push_back(std::move(request)); }
    void dispatch(const std::shared_ptr<Dispatcher::Strand> &strand, Dispatcher::Job job);

    const Clock &clock;
    const Duration awaitsEnd; ///< of the store
    std::atomic<std::uint64_t> lastId = 0;

    // Timer thread only.
    std::unordered_map<std::uint64_t, std::shared_ptr<Elector::Core>> electors;
    std::unordered_map<std::string, std::vector<Elector::Core *>> byLease;
    std::vector<IoThread::Request> outbox; ///< goes out at the end of the turn
    Random random{systemEntropy()};
    bool pushAlive = false;
    TimerThread::Timer relief; ///< for the dispatcher: see Dispatcher::relieve()

    TimerThread timers;
    IoThread io;
    std::unique_ptr<LeaseFeed> feed;
    Dispatcher dispatcher; ///< last, so that it ends first: its jobs use all of the above

private:
    void take(std::vector<IoThread::Answer> &answers);
    void jumped(Duration by);
    void onFeed(const FeedEvent &event);
    void pushFree(const LeaseId &lease);
    void pushState(bool alive);
};

struct Elector::Core : std::enable_shared_from_this<Core> {
    Core(ElectorHost::Core &hostUsed, Candidacy candidacy, ElectorCallbacks callbacksUsed);

    // Any thread.
    void start();
    void requestStop();
    [[nodiscard]] bool stop(Duration deadline);
    void close();
    [[nodiscard]] bool isLeader() const;
    [[nodiscard]] ElectorReport copyReport() const;
    void ask(Event event); ///< handles `event` on the timer thread

    // Timer thread only.
    void handle(Event event);
    void take(IoThread::Answer &answer);
    void abandon();

    // Constant after construction.
    ElectorHost::Core &host;
    const Candidacy who;
    const ElectorCallbacks callbacks;
    const std::uint64_t id;
    const std::shared_ptr<Dispatcher::Strand> strand = std::make_shared<Dispatcher::Strand>();

    // Written on the timer thread, read anywhere. On a gain the token is set before validity grows,
    // on a loss validity is zeroed before the token changes: whoever sees `now < validUntil` and then
    // the token of his own term leads by that very term.
    std::atomic<Instant::rep> validUntil = 0;
    std::atomic<std::uint64_t> token = 0;

    // Timer thread only.
    ElectionState state;
    TimerThread::Timer timer;
    Nonce fresh = Nonce::random(); ///< the next one to offer to decide()

private:
    void publish();
    void perform(const Action &action);
    void tellGained();
    void tellLost(LossReason reason);
    void tellChanged();
    void refreshReport();
    void noteAnswer(const IoThread::Answer &answer);
    void deliver(std::uint64_t run, const char *handler, const std::function<void()> &call);
    void mute();

    // Timer thread only.
    std::uint64_t m_run = 0; ///< which start() this is
    Term m_term; ///< the announced one
    std::optional<LeaseRecord> m_seen;
    std::optional<Error> m_callError;

    mutable std::mutex m_mutex;
    std::condition_variable m_stopped;
    // All guarded by m_mutex.
    ElectorReport m_report;
    std::optional<Error> m_handlerError;
    std::uint64_t m_stops = 0; ///< how often it came to an end
    std::uint64_t m_lastRun = 0;
    std::uint64_t m_openRun = 0; ///< whose callbacks are delivered; 0: none
    bool m_running = false; ///< started, and not come to its end yet
    bool m_changePosted = false;
};

} // namespace tenure
