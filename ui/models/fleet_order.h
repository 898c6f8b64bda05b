// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_row.h"

#include <Qt>

#include <vector>

namespace tenure::ui
{

/// The order of the table: slots of rows, sorted on request only, so that nothing jumps under a
/// pointer. Rows whose key changed are marked `moved` by the model. Refers to the rows; pure otherwise.
class FleetOrder
{
public:
    explicit FleetOrder(std::vector<FleetRow> &rows) : m_rows(rows) { }

    void setKey(FleetColumn column, Qt::SortOrder direction);
    [[nodiscard]] FleetColumn column() const { return m_column; }
    [[nodiscard]] Qt::SortOrder direction() const { return m_direction; }
    /// Does the order depend on what every renewal changes?
    [[nodiscard]] bool followsEveryLook() const;

    [[nodiscard]] const std::vector<std::uint32_t> &slots() const { return m_slots; }
    /// Replaces everything by these, sorted.
    void assign(std::vector<std::uint32_t> slots);
    void append(const std::vector<std::uint32_t> &slots);
    void removeAt(std::size_t first, std::size_t count);
    /// How many rows sort() would move.
    [[nodiscard]] std::size_t outOfPlace() const;
    void sort();
    /// Writes every row's `position`.
    void number();

private:
    [[nodiscard]] bool less(std::uint32_t a, std::uint32_t b) const;
    std::vector<FleetRow> &m_rows;
    std::vector<std::uint32_t> m_slots;
    FleetColumn m_column = FleetColumn::State;
    Qt::SortOrder m_direction = Qt::AscendingOrder;
};

} // namespace tenure::ui
