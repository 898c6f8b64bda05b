// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/fleet_order.h"

#include <algorithm>
#include <iterator>

namespace tenure::ui
{

void FleetOrder::setKey(FleetColumn column, Qt::SortOrder direction)
{
    m_column = column;
    m_direction = direction;
    for (const std::uint32_t slot : m_slots)
        m_rows[slot].moved = true;
}

bool FleetOrder::followsEveryLook() const
{
    switch (m_column) {
    case FleetColumn::State:
    case FleetColumn::Lease:
    case FleetColumn::Connection:
        return false;
    default:
        return true;
    }
}

void FleetOrder::assign(std::vector<std::uint32_t> slots)
{
    for (const std::uint32_t slot : m_slots)
        m_rows[slot].position = FleetRow::kNowhere;
    m_slots = std::move(slots);
    for (const std::uint32_t slot : m_slots)
        m_rows[slot].moved = true;
    sort();
}

void FleetOrder::append(const std::vector<std::uint32_t> &slots)
{
    for (const std::uint32_t slot : slots) {
        m_rows[slot].moved = true;
        m_rows[slot].position = static_cast<std::uint32_t>(m_slots.size());
        m_slots.push_back(slot);
    }
}

void FleetOrder::removeAt(std::size_t first, std::size_t count)
{
    const auto begin = m_slots.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    for (auto slot = begin; slot != end; ++slot)
        m_rows[*slot].position = FleetRow::kNowhere;
    m_slots.erase(begin, end);
}

bool FleetOrder::less(std::uint32_t a, std::uint32_t b) const
{
    const FleetRow &x = m_rows[a];
    const FleetRow &y = m_rows[b];
    if (x.group != y.group)
        return x.group < y.group;
    const auto key = [&]() -> std::strong_ordering {
        switch (m_column) {
        case FleetColumn::State:
            return y.rank <=> x.rank; // the worst first
        case FleetColumn::Connection:
            return x.source <=> y.source;
        case FleetColumn::Holder:
            return x.foldedHolder <=> y.foldedHolder;
        case FleetColumn::Term:
            return x.term <=> y.term;
        case FleetColumn::Left:
            return x.ends <=> y.ends;
        case FleetColumn::Renewed:
            return y.renewed <=> x.renewed;
        case FleetColumn::Changes:
            return y.changes <=> x.changes;
        case FleetColumn::HeldFor:
            return y.since <=> x.since;
        case FleetColumn::Seen:
            return y.seen <=> x.seen;
        case FleetColumn::Lease:
        case FleetColumn::Count_:
            break;
        }
        return std::strong_ordering::equal;
    }();
    if (key != std::strong_ordering::equal)
        return m_direction == Qt::AscendingOrder ? key < 0 : key > 0;
    const bool byName = m_column == FleetColumn::Lease && m_direction == Qt::DescendingOrder;
    if (x.foldedName != y.foldedName)
        return byName ? y.foldedName < x.foldedName : x.foldedName < y.foldedName;
    return x.source != y.source ? x.source < y.source : x.lease < y.lease;
}

std::size_t FleetOrder::outOfPlace() const
{
    // Unmarked rows are in order among themselves: a marked one moves unless it fits between its
    // neighbours as they stand.
    std::size_t count = 0;
    std::uint32_t before = FleetRow::kNowhere;
    for (std::size_t i = 0; i < m_slots.size(); ++i) {
        const std::uint32_t slot = m_slots[i];
        if (!m_rows[slot].moved) {
            before = slot;
            continue;
        }
        bool fits = before == FleetRow::kNowhere || !less(slot, before);
        const std::size_t next = i + 1;
        if (fits && next < m_slots.size() && !m_rows[m_slots[next]].moved)
            fits = !less(m_slots[next], slot);
        if (fits)
            before = slot;
        else
            ++count;
    }
    return count;
}

void FleetOrder::sort()
{
    const auto compare = [this](std::uint32_t a, std::uint32_t b) { return less(a, b); };
    const auto split = std::stable_partition(
        m_slots.begin(), m_slots.end(), [this](std::uint32_t slot) { return !m_rows[slot].moved; });
    std::sort(split, m_slots.end(), compare);
    std::inplace_merge(m_slots.begin(), split, m_slots.end(), compare);
    for (const std::uint32_t slot : m_slots)
        m_rows[slot].moved = false;
    number();
}

void FleetOrder::number()
{
    for (std::size_t i = 0; i < m_slots.size(); ++i)
        m_rows[m_slots[i]].position = static_cast<std::uint32_t>(i);
}

} // namespace tenure::ui
