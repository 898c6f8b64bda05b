// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tenure
{

/// Runs other people's callbacks. Each elector has a strand: its jobs run in order and never two at
/// once; different strands do not wait for each other as long as fewer than `maxWorkers` of them are
/// blocked. Threads are made when they are needed, but for a first one that was asked for. Any thread.
class Dispatcher
{
public:
    using Job = std::function<void()>;
    using Deadline = std::chrono::steady_clock::time_point;

    class Strand
    {
        friend class Dispatcher;
        // All guarded by the dispatcher's mutex.
        std::deque<Job> m_jobs;
        bool m_scheduled = false; ///< waits for a worker, or one runs it
        std::thread::id m_runner; ///< of the running job; none when none runs
    };

    explicit Dispatcher(std::size_t maxWorkers = 64) : m_maxWorkers(maxWorkers) { }
    ~Dispatcher(); ///< drops what waits, waits for what runs
    Dispatcher(const Dispatcher &) = delete;
    Dispatcher &operator=(const Dispatcher &) = delete;

    /// Makes the first thread, so that the first job finds one.
    void prepare();
    /// Jobs must not throw.
    void post(const std::shared_ptr<Strand> &strand, Job job);
    /// To be called a moment after a post: when work still waits since every worker is blocked in a
    /// job, one more is made. True while work waits: call again.
    bool relieve();
    /// Drops the jobs that did not begin.
    void clear(Strand &strand);
    /// Until nothing of it waits or runs (but the caller); false when that took longer.
    bool waitIdle(const Strand &strand, std::optional<Deadline> until = {});
    /// Whether the caller is inside a job of `strand`.
    [[nodiscard]] bool runsHere(const Strand &strand) const;

private:
    void addWorker();
    void work();

    const std::size_t m_maxWorkers;
    mutable std::mutex m_mutex;
    std::condition_variable m_runnableChanged;
    std::condition_variable m_jobDone;
    // All guarded by m_mutex.
    std::deque<std::shared_ptr<Strand>> m_runnable;
    std::vector<std::thread> m_workers;
    std::size_t m_idle = 0;
    bool m_stopping = false;
};

} // namespace tenure
