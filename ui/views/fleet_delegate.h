// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_model.h"

#include <QStyledItemDelegate>

namespace tenure::ui
{

class Theme;

/// Paints the cells of the fleet. Countdowns and ages are worked out while painting, from the
/// monotonic deadlines; nothing else in the console may move a number.
class FleetDelegate final : public QStyledItemDelegate
{
    Q_OBJECT
public:
    FleetDelegate(const Theme &theme, const FleetModel &model, QObject *parent);
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    void paintState(QPainter &painter, const QRect &box, const FleetRow &row) const;
    void paintLeft(QPainter &painter, const QRect &box, const FleetRow &row, const QString &text) const;
    void paintChanges(QPainter &painter, const QRect &box, const FleetRow &row, const QString &text) const;
    void paintText(QPainter &painter, const QRect &box, const FleetRow &row, FleetColumn column, const QString &text) const;

    const Theme &m_theme;
    const FleetModel &m_model;
};

} // namespace tenure::ui
