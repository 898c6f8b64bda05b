// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/work_queue.h"

#include <algorithm>

namespace tenure::sim
{

/// Takes note of who asks; says whether fencing refuses it. The judges' `m_latest` knows the order of
/// grants also where tokens tell it wrongly.
bool WorkQueue::fenced(FencingToken token, std::uint64_t serial)
{
    m_lastWasStale = serial < m_latest;
    m_latest = std::max(m_latest, serial);
    const bool old = token < m_largest;
    m_largest = std::max(m_largest, token);
    return m_spec.fencing == Fencing::On && old;
}

WorkQueue::Answer WorkQueue::claim(int who, FencingToken token, std::uint64_t serial, int &item)
{
    if (fenced(token, serial))
        return Answer::Refused;
    while (m_firstOpen < m_items.size() && m_items[m_firstOpen].state == WorkItem::State::Done)
        ++m_firstOpen;
    std::size_t found = m_items.size();
    for (std::size_t i = m_firstOpen; i < m_items.size() && found == m_items.size(); ++i) {
        // What an earlier grant left unfinished is taken up again by the present one.
        const WorkItem &one = m_items[i];
        const bool left = one.state == WorkItem::State::Processing && (one.serial < serial || one.by == who);
        if (one.state == WorkItem::State::Pending || left)
            found = i;
    }
    if (found == m_items.size())
        return Answer::Empty;
    WorkItem &taken = m_items[found];
    taken.state = WorkItem::State::Processing;
    taken.by = who;
    taken.token = token;
    taken.serial = serial;
    item = static_cast<int>(found);
    return Answer::Done;
}

WorkQueue::Answer WorkQueue::next(int who, int &item)
{
    const std::size_t mine = m_own[who]; // the same again until it had its effect
    if (mine >= m_items.size())
        return Answer::Empty;
    WorkItem &taken = m_items[mine];
    if (taken.state == WorkItem::State::Pending)
        taken.state = WorkItem::State::Processing;
    taken.by = who;
    item = static_cast<int>(mine);
    return Answer::Done;
}

WorkQueue::Answer WorkQueue::effect(int who, FencingToken token, std::uint64_t serial, int item)
{
    const bool refused = fenced(token, serial);
    if (refused) {
        ++m_score[Metric::RejectedWrites];
        return Answer::Refused;
    }
    if (const auto own = m_own.find(who); own != m_own.end() && own->second == static_cast<std::size_t>(item))
        ++own->second;
    WorkItem &one = m_items[static_cast<std::size_t>(item)];
    if (m_spec.idempotent && !one.effects.empty())
        return Answer::Done;
    if (m_lastWasStale)
        ++m_score[Metric::UnsafeWrites];
    if (!one.effects.empty())
        ++m_score[Metric::Duplicates];
    one.effects.emplace_back(who, token);
    return Answer::Done;
}

WorkQueue::Answer WorkQueue::acknowledge(FencingToken token, std::uint64_t serial, int item)
{
    if (fenced(token, serial))
        return Answer::Refused;
    WorkItem &one = m_items[static_cast<std::size_t>(item)];
    if (one.state != WorkItem::State::Done) {
        one.state = WorkItem::State::Done;
        ++m_score[Metric::ItemsDone];
        if (one.effects.empty())
            ++m_score[Metric::Lost];
    }
    return Answer::Done;
}

} // namespace tenure::sim
