// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/digest.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenure
{
namespace
{

Notice noticeOf(const std::string& connection, const std::string& rule, const std::map<std::uint64_t, Alert>& firing,
    const LeaseId& first)
{
    Notice notice;
    notice.connection = connection;
    notice.rule = rule;
    notice.alerts = firing.size();
    notice.first = first;
    if (firing.empty()) {
        notice.withdraw = true;
        return notice;
    }
    const Alert& newest = firing.rbegin()->second;
    notice.priority = newest.priority;
    notice.action = newest.action;
    const std::string what = newest.lease.name().empty() ? connection : printable(newest.lease.name(), 120);
    notice.text = firing.size() == 1
        ? what + ": " + newest.text
        : std::to_string(firing.size()) + " leases on " + connection + ", first "
            + printable(first.name(), 120) + ": " + newest.text;
    return notice;
}

} // namespace

void AlertDigest::take(const std::string& connection, const Alert& alert, Instant now)
{
    Group& group = m_groups[{connection, alert.rule}];
    if (alert.state != AlertState::Firing) {
        group.firing.erase(alert.id);
        if (group.firing.empty() && group.toldAt && !group.told.empty())
            group.tellAt = now; // takes the notice back at once
        return;
    }
    if (group.firing.empty() && group.told.empty())
        group.first = alert.lease;
    group.firing.insert_or_assign(alert.id, alert);
    if (group.told.count(alert.id) > 0 || group.tellAt)
        return;
    const Instant earliest = group.toldAt ? *group.toldAt + kInterval : now;
    group.tellAt = std::max(now + kWait, earliest);
}

std::vector<Notice> AlertDigest::due(Instant now)
{
    std::vector<Notice> out;
    for (auto& [key, group] : m_groups) {
        const bool repeat = !group.firing.empty() && group.toldAt && now - *group.toldAt >= kRepeat
            && group.firing.begin()->second.priority == 1;
        if (!repeat && (!group.tellAt || now < *group.tellAt))
            continue;
        group.tellAt.reset();
        if (group.firing.empty() && group.told.empty())
            continue; // came and went within the wait
        Notice notice = noticeOf(key.first, key.second, group.firing, group.first);
        notice.repeated = repeat;
        group.told.clear();
        for (const auto& [id, alert] : group.firing)
            group.told[id] = true;
        if (!notice.withdraw)
            group.toldAt = now;
        out.push_back(std::move(notice));
    }
    std::erase_if(m_groups, [now](const auto& entry) {
        const Group& group = entry.second;
        return group.firing.empty() && group.told.empty() && !group.tellAt
            && (!group.toldAt || now - *group.toldAt > kInterval);
    });
    return out;
}

std::optional<Instant> AlertDigest::nextDue() const
{
    std::optional<Instant> next;
    const auto consider = [&next](Instant at) { next = next ? std::min(*next, at) : at; };
    for (const auto& [key, group] : m_groups) {
        if (group.tellAt)
            consider(*group.tellAt);
        else if (!group.firing.empty() && group.toldAt && group.firing.begin()->second.priority == 1)
            consider(*group.toldAt + kRepeat);
    }
    return next;
}

} // namespace tenure
