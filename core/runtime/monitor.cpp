// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/monitor.h"

#include "core/runtime/monitor_core.h"

namespace tenure
{

Monitor::Monitor(
    std::shared_ptr<const Backend> backend, Options options, const Clock& clock, Sink sink)
    : m_core(std::make_unique<Core>(std::move(backend), std::move(options), clock, std::move(sink)))
{
}

Monitor::~Monitor()
{
    stop();
}

void Monitor::start()
{
    if (m_core->thread.joinable())
        return;
    m_core->post([](MonitorInbox& inbox) {
        inbox.stopping = false;
        inbox.relist = true;
    });
    m_core->thread = std::thread([core = m_core.get()] { core->run(); });
    m_core->feed = m_core->backend->makeFeed();
    if (m_core->feed)
        m_core->feed->start([core = m_core.get()](const FeedEvent& event) { core->tell(event); });
}

void Monitor::stop()
{
    if (!m_core->thread.joinable())
        return;
    m_core->post([](MonitorInbox& inbox) { inbox.stopping = true; });
    if (m_core->feed)
        m_core->feed->stop();
    m_core->thread.join();
    m_core->feed.reset();
}

void Monitor::refresh()
{
    m_core->post([](MonitorInbox& inbox) { ++inbox.refreshes; });
}

void Monitor::focus(const LeaseId& lease)
{
    m_core->post([&](MonitorInbox& inbox) { inbox.focus = lease; });
}

void Monitor::acknowledge(std::uint64_t alert)
{
    m_core->post([&](MonitorInbox& inbox) { inbox.orders.push_back({alert, {}}); });
}

void Monitor::snooze(std::uint64_t alert, Duration duration)
{
    m_core->post([&](MonitorInbox& inbox) { inbox.orders.push_back({alert, duration}); });
}

} // namespace tenure
