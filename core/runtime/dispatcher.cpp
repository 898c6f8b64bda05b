// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/dispatcher.h"

namespace tenure
{

Dispatcher::~Dispatcher()
{
    std::deque<std::shared_ptr<Strand>> dropped;
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
        dropped.swap(m_runnable);
    }
    m_runnableChanged.notify_all();
    for (std::thread &worker : m_workers)
        worker.join();
}

void Dispatcher::prepare()
{
    const std::lock_guard lock(m_mutex);
    if (m_workers.empty() && !m_stopping)
        addWorker();
}

void Dispatcher::post(const std::shared_ptr<Strand> &strand, Job job)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_stopping)
            return;
        strand->m_jobs.push_back(std::move(job));
        if (strand->m_scheduled)
            return;
        strand->m_scheduled = true;
        m_runnable.push_back(strand);
        if (m_workers.empty())
            addWorker();
    }
    m_runnableChanged.notify_one();
}

bool Dispatcher::relieve()
{
    const std::lock_guard lock(m_mutex);
    if (m_runnable.empty() || m_stopping)
        return false;
    if (m_idle == 0 && m_workers.size() < m_maxWorkers)
        addWorker();
    return true;
}

void Dispatcher::clear(Strand &strand)
{
    std::deque<Job> dropped; // a job's captures may end other things: not under the lock
    const std::lock_guard lock(m_mutex);
    dropped.swap(strand.m_jobs);
    m_jobDone.notify_all();
}

bool Dispatcher::waitIdle(const Strand &strand, std::optional<Deadline> until)
{
    std::unique_lock lock(m_mutex);
    const auto here = std::this_thread::get_id();
    const auto idle = [&strand, here] {
        return strand.m_jobs.empty() && (strand.m_runner == std::thread::id() || strand.m_runner == here);
    };
    if (until)
        return m_jobDone.wait_until(lock, *until, idle);
    m_jobDone.wait(lock, idle);
    return true;
}

bool Dispatcher::runsHere(const Strand &strand) const
{
    const std::lock_guard lock(m_mutex);
    return strand.m_runner == std::this_thread::get_id();
}

/// Under the lock.
void Dispatcher::addWorker()
{
    m_workers.emplace_back([this] { work(); });
}

void Dispatcher::work()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        ++m_idle;
        m_runnableChanged.wait(lock, [this] { return m_stopping || !m_runnable.empty(); });
        --m_idle;
        if (m_stopping)
            return;
        const std::shared_ptr<Strand> strand = std::move(m_runnable.front());
        m_runnable.pop_front();
        if (!strand->m_jobs.empty()) { // else clear() came first
            Job job = std::move(strand->m_jobs.front());
            strand->m_jobs.pop_front();
            strand->m_runner = std::this_thread::get_id();
            lock.unlock();
            job();
            job = nullptr;
            lock.lock();
            strand->m_runner = {};
        }
        // One job a turn, so that a busy strand does not keep the others waiting.
        if (strand->m_jobs.empty())
            strand->m_scheduled = false;
        else
            m_runnable.push_back(strand);
        m_jobDone.notify_all();
    }
}

} // namespace tenure
