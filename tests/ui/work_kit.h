// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/work/open_work_queue.h"

#include <string>

namespace tenure::test
{

using namespace std::chrono_literals;

/// Puts items into a real queue and drives them as workers would.
class QueueDriver
{
public:
    QueueDriver(const StoreUri &uri, const std::string &name) : m_queue(openWorkQueue(uri, name).value()) { }

    WorkQueue &queue() { return *m_queue; }
    void put(const std::string &payload, const std::string &key = {}, Duration delay = {}, int attempts = 3)
    {
        const NewItem item{payload, key, delay, attempts};
        check(m_queue->enqueue(std::span(&item, 1), soon()).has_value());
    }
    Claim claim(const std::string &worker, Milliseconds timeout = 1min, FencingToken fence = {})
    {
        m_worker = {HolderId::parse(worker).value(), fence};
        auto claims = m_queue->claim(m_worker, 1, timeout, soon());
        check(claims && claims->size() == 1);
        return claims->front();
    }
    void settle(const Claim &claim, Settlement::Kind kind, const std::string &reason = {})
    {
        const Settlement one{kind, claim.ticket, 1min, {}, reason};
        check(m_queue->settle(m_worker, std::span(&one, 1), soon()).has_value());
    }
    void bury(const std::string &payload, const std::string &worker, const std::string &reason)
    {
        put(payload, {}, {}, 1);
        settle(claim(worker), Settlement::Kind::Fail, reason);
    }
    QueueCounts counts() { return m_queue->counts(soon()).value(); }

private:
    static Instant soon() { return BootClock::now() + 20s; }
    static void check(bool done)
    {
        if (!done)
            throw std::runtime_error("the queue refused what a test needs");
    }

    std::unique_ptr<WorkQueue> m_queue;
    Worker m_worker{HolderId::parse("nobody").value(), {}};
};

} // namespace tenure::test
