// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/io_thread.h"

#include <algorithm>
#include <iterator>

namespace tenure
{
namespace
{

/// Enough for connecting over a very slow line; what comes meanwhile waits at most so long.
constexpr Milliseconds kIdleFor{5000};

} // namespace

IoThread::IoThread(std::unique_ptr<LeaseStore> store, const Clock &clock, Sink sink)
    : m_store(std::move(store))
    , m_clock(clock)
    , m_sink(std::move(sink))
{
}

IoThread::~IoThread()
{
    stop();
}

void IoThread::start()
{
    m_stopping = false;
    m_thread = std::jthread([this](const std::stop_token &stop) { run(stop); });
}

void IoThread::stop()
{
    m_stopping = true;
    m_thread.request_stop();
    if (m_thread.joinable())
        m_thread.join();
}

void IoThread::push(std::vector<Request> requests)
{
    {
        for (Request &request : requests)
            request.pushedAt = m_clock.now();
        const std::lock_guard lock(m_mutex);
        m_queue.insert(m_queue.end(), std::move_iterator(requests.begin()),
            std::move_iterator(requests.end()));
    }
    m_changed.notify_all();
}

void IoThread::freeze()
{
    const std::lock_guard lock(m_mutex);
    m_frozen = true;
}

void IoThread::thaw()
{
    {
        const std::lock_guard lock(m_mutex);
        m_frozen = false;
    }
    m_changed.notify_all();
}

void IoThread::run(const std::stop_token &stop)
{
    std::vector<Request> batch;
    for (;;) {
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, stop, [this] { return !m_queue.empty() && !m_frozen; });
            if (stop.stop_requested())
                return;
            batch.swap(m_queue);
        }
        send(batch);
        batch.clear();
        m_afterIdle = false;
        for (bool more = true; more && nothingWaits(); m_afterIdle = true)
            more = m_store->idle(m_clock.now() + kIdleFor, m_stopping);
    }
}

bool IoThread::nothingWaits()
{
    const std::lock_guard lock(m_mutex);
    return m_queue.empty() && !m_frozen && !m_stopping;
}

/// What waited for most of its time while the store was connecting would hardly be answered in time, and
/// a late answer costs the connection again: its asker may ask anew, with all its time.
void IoThread::refuseStale(std::vector<Request> &batch, Instant now)
{
    std::vector<Answer> answers;
    std::erase_if(batch, [&](const Request &request) {
        const bool stale = (request.deadline - now) * 2 < request.deadline - request.pushedAt;
        if (stale) {
            Error error = fail(ErrorKind::Unavailable, "Connecting took too long for this attempt").value();
            error.recovery = Recovery::AtOnce;
            answers.push_back({request.elector, request.verb, request.request, now, fail(std::move(error))});
        }
        return stale;
    });
    if (!answers.empty())
        m_sink(std::move(answers));
}

void IoThread::send(std::vector<Request> &batch)
{
    const Instant sentAt = m_clock.now();
    if (m_afterIdle)
        refuseStale(batch, sentAt);
    std::erase_if(batch, [sentAt](const Request &request) { return request.deadline <= sentAt; });
    if (batch.empty())
        return;
    Instant deadline = Instant::max();
    m_commands.clear();
    for (Request &request : batch) {
        deadline = std::min(deadline, request.deadline);
        m_commands.push_back(std::move(request.command));
    }
    std::vector<Result<Reply>> results = m_store->execute(m_commands, deadline);
    std::vector<Answer> answers;
    answers.reserve(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const Request &request = batch[i];
        // A store that answers too little has a defect; its caller must still hear something true.
        Result<Reply> reply = i < results.size()
            ? std::move(results[i])
            : Result<Reply>(fail(ErrorKind::OutcomeUnknown, "The backend did not answer this command"));
        answers.push_back({request.elector, request.verb, request.request, sentAt, std::move(reply)});
    }
    m_sink(std::move(answers));
}

} // namespace tenure
