// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/work/work_queue.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>

#include <vector>

namespace tenure::ui
{

enum class WorkColumn {
    Id,
    When, ///< "ready", "in 4.0 s", "12 s left", "▲ LATE by 3.1 s"
    Attempts,
    Worker,
    Token, ///< of the claim
    Fence, ///< of the leader under whom it was claimed
    Reason,
    Age,
    Key,
    Payload,
    Count_,
};

/// Items of a work queue, in the order of their ids; a new look changes only what changed, so that a
/// selection and a scroll position stay. Times run on by this machine's clock while the look is fresh;
/// of an old one no time is shown. GUI thread.
class WorkModel final : public QAbstractTableModel
{
    Q_OBJECT
public:
    WorkModel(const Theme &theme, const Clock &clock, QObject *parent = nullptr);

    /// `items` in the order of their ids, as of `at`.
    void setItems(std::vector<ItemView> items, Instant at);
    void setFresh(bool fresh);
    void tick(); ///< times went on
    [[nodiscard]] const ItemView &item(int row) const { return m_items[static_cast<std::size_t>(row)]; }
    [[nodiscard]] int rowOf(std::int64_t id) const; ///< -1: not here

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] QString text(const ItemView &item, WorkColumn column) const;
    [[nodiscard]] QString whenText(const ItemView &item) const;
    [[nodiscard]] Duration due(const ItemView &item) const;
    [[nodiscard]] bool isLate(const ItemView &item) const;
    void tell(WorkColumn from, WorkColumn to);

    const Theme &m_theme;
    const Clock &m_clock;
    std::vector<ItemView> m_items;
    Instant m_at;
    bool m_fresh = true;
};

} // namespace tenure::ui
