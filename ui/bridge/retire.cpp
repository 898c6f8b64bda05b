// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/retire.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::ui
{
namespace
{

struct Count {
    std::mutex mutex;
    std::condition_variable changed;
    int running = 0; ///< guarded by mutex
};

/// Shared with the threads, so that one that outlives main still finds it.
const std::shared_ptr<Count> &count()
{
    static const auto shared = std::make_shared<Count>();
    return shared;
}

} // namespace

void retire(std::function<void()> job)
{
    const std::shared_ptr<Count> shared = count();
    {
        const std::lock_guard lock(shared->mutex);
        ++shared->running;
    }
    std::thread([shared, job = std::move(job)]() mutable {
        job();
        job = nullptr; // what it owned ends here, before it is counted as done
        const std::lock_guard lock(shared->mutex);
        --shared->running;
        shared->changed.notify_all();
    }).detach();
}

bool finishRetired(Duration limit)
{
    const std::shared_ptr<Count> shared = count();
    std::unique_lock lock(shared->mutex);
    return shared->changed.wait_for(lock, limit, [&] { return shared->running == 0; });
}

} // namespace tenure::ui
