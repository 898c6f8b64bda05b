// SPDX-License-Identifier: GPL-3.0-or-later
// The fleet in groups and as tiles.
#include "ui/models/fleet_model.h"

#include "ui/theme/words.h"

namespace tenure::ui
{

void FleetModel::setGroup(FleetGroup group)
{
    if (group == m_group)
        return;
    m_group = group;
    for (FleetRow &row : m_rows) {
        if (!row.used || row.gone)
            continue;
        row.group = groupKey(row, m_group, m_sources[row.source].info);
        row.moved = true;
    }
    resort();
}

std::vector<FleetModel::Group> FleetModel::groups() const
{
    std::vector<Group> out;
    if (m_group == FleetGroup::None)
        return out;
    for (int i = 0; i < rowCount(); ++i) {
        const FleetRow &one = row(i);
        if (i == 0 || beginsGroup(i))
            out.push_back({groupTitle(one, m_group, connection(one)), i, 0, 0});
        ++out.back().count;
        out.back().abnormal += isAbnormal(one.state) || one.churning ? 1 : 0;
    }
    return out;
}

bool FleetModel::beginsGroup(int position) const
{
    return m_group != FleetGroup::None && position > 0 && row(position).group != row(position - 1).group;
}

void FleetModel::forEachTile(
    const std::function<void(std::size_t, std::uint32_t, const FleetRow &)> &tile) const
{
    for (std::uint32_t slot = 0; slot < m_rows.size(); ++slot) {
        if (m_rows[slot].used && !m_rows[slot].gone)
            tile(m_rows[slot].source, slot, m_rows[slot]);
    }
}

const FleetRow *FleetModel::tileRow(std::uint32_t slot, std::size_t source, std::size_t place) const
{
    if (slot >= m_rows.size())
        return nullptr;
    const FleetRow &row = m_rows[slot];
    return row.used && !row.gone && row.source == source && row.place == place ? &row : nullptr;
}

std::vector<const FleetRow *> FleetModel::find(const std::vector<std::pair<QString, std::string>> &wanted) const
{
    std::vector<const FleetRow *> out;
    for (const auto &[connection, lease] : wanted) {
        for (const Source &source : m_sources) {
            if (source.source == nullptr || source.info.name != connection)
                continue;
            if (const auto slot = source.slots.find(lease); slot != source.slots.end())
                out.push_back(&m_rows[slot->second]);
        }
    }
    return out;
}

std::vector<FleetModel::Block> FleetModel::blocks() const
{
    std::vector<Block> out;
    for (const Source &source : m_sources)
        out.push_back({source.info, source.link, static_cast<std::uint32_t>(source.places.size()), source.source != nullptr});
    return out;
}

} // namespace tenure::ui
