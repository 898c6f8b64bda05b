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

void Monitor::setRules(RuleBook rules)
{
    m_core->post([&](MonitorInbox& inbox) { inbox.rules = std::move(rules); });
}

void Monitor::acknowledge(std::uint64_t alert, const std::string& by)
{
    m_core->order([=](AlertRules& rules, Instant now) { return rules.acknowledge(alert, now, by); });
}

void Monitor::shelve(
    std::uint64_t alert, Duration duration, const std::string& by, const std::string& reason)
{
    m_core->order([=](AlertRules& rules, Instant now) {
        return rules.shelve(alert, now + duration, now, by, reason);
    });
}

void Monitor::shelveAll(const std::string& rule, const std::string& glob, Duration duration,
    const std::string& by, const std::string& reason)
{
    m_core->order([=](AlertRules& rules, Instant now) {
        Shelf shelf;
        shelf.rule = rule;
        shelf.glob = glob;
        shelf.until = now + duration;
        shelf.by = by;
        shelf.reason = reason;
        return rules.shelve(std::move(shelf), now);
    });
}

void Monitor::unshelve(std::uint64_t shelf)
{
    m_core->order([=](AlertRules& rules, Instant now) { return rules.unshelve(shelf, now); });
}

} // namespace tenure
