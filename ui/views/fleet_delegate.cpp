// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/fleet_delegate.h"

#include "ui/charts/transition_spark.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QPainter>

#include <algorithm>

namespace tenure::ui
{

FleetDelegate::FleetDelegate(const Theme &theme, const FleetModel &model, QObject *parent)
    : QStyledItemDelegate(parent), m_theme(theme), m_model(model)
{
}

QSize FleetDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {20 * m_theme.unit(), m_theme.rowHeight()};
}

void FleetDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const FleetRow &row = m_model.row(index.row());
    const auto column = static_cast<FleetColumn>(index.column());
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    const bool hovered = option.state.testFlag(QStyle::State_MouseOver);
    painter->save();
    painter->fillRect(option.rect, m_theme.color(selected ? Token::Selection : hovered ? Token::Alt : Token::Bg));
    painter->setPen(m_theme.color(Token::Hairline));
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    if (m_model.beginsGroup(index.row())) {
        painter->setPen(m_theme.color(Token::Line));
        painter->drawLine(option.rect.topLeft(), option.rect.topRight());
    }
    if (selected && index.column() == 0)
        painter->fillRect(QRect(option.rect.topLeft(), QSize(2, option.rect.height())), m_theme.color(Token::Info));
    const int unit = m_theme.unit();
    const QRect box = option.rect.adjusted(2 * unit, 0, -2 * unit, 0);
    const QString label = cellText(
        row, m_model.status(row), column, m_model.connection(row).name, m_model.link(row), m_model.now());
    if (column == FleetColumn::State)
        paintState(*painter, box, row);
    else if (column == FleetColumn::Left)
        paintLeft(*painter, box, row, label);
    else if (column == FleetColumn::Changes)
        paintChanges(*painter, box, row, label);
    else
        paintText(*painter, box, row, column, label);
    painter->restore();
}

void FleetDelegate::paintState(QPainter &painter, const QRect &box, const FleetRow &row) const
{
    const int unit = m_theme.unit();
    const QColor ink = m_theme.color(token(row.state));
    painter.setPen(row.state == LeaseState::Held ? m_theme.color(Token::Muted) : ink);
    painter.setFont(m_theme.font(FontRole::Body));
    painter.drawText(QRect(box.left(), box.top(), 5 * unit, box.height()), Qt::AlignCenter, glyph(row.state));
    const QFont font = m_theme.font(isAbnormal(row.state) ? FontRole::Strong : FontRole::Body);
    painter.setFont(font);
    painter.setPen(ink);
    const QRect words = box.adjusted(6 * unit, 0, 0, 0);
    painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter, word(row.state));
    if (!row.churning)
        return;
    const int used = QFontMetrics(font).horizontalAdvance(word(row.state)) + 2 * unit;
    painter.setPen(m_theme.color(Token::Warn));
    painter.setFont(m_theme.font(FontRole::Strong));
    painter.drawText(words.adjusted(used, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, churnGlyph());
}

void FleetDelegate::paintLeft(QPainter &painter, const QRect &box, const FleetRow &row, const QString &label) const
{
    const int unit = m_theme.unit();
    const QRect number(box.left(), box.top(), 21 * unit, box.height()); // "12 m 30 s"
    const LinkState link = m_model.link(row);
    painter.setFont(m_theme.font(FontRole::Number));
    painter.setPen(m_theme.color(isFresh(link) ? token(row.state) : Token::Stale));
    painter.drawText(number, Qt::AlignRight | Qt::AlignVCenter, label);
    const QRectF track(number.right() + 3 * unit, box.center().y() - unit / 2.0, box.right() - number.right() - 3 * unit, unit);
    if (track.width() < 3 * unit)
        return;
    const LeaseStatus *status = m_model.status(row);
    if (!isFresh(link) || status == nullptr) {
        painter.setPen(QPen(m_theme.color(Token::Stale), 1, Qt::DashLine));
        painter.drawLine(QPointF(track.left(), box.center().y()), QPointF(track.right(), box.center().y()));
        return;
    }
    const auto left = remainingAt(*status, link, m_model.now());
    if (!left || !status->record.ttl || status->record.ttl->count() <= 0)
        return;
    const double share = std::clamp(std::chrono::duration<double>(*left) / std::chrono::duration<double>(*status->record.ttl), 0.0, 1.0);
    painter.fillRect(track, m_theme.color(Token::Alt));
    painter.fillRect(QRectF(track.topLeft(), QSizeF(track.width() * share, track.height())),
        m_theme.color(row.state == LeaseState::Held ? Token::Bar : token(row.state)));
}

void FleetDelegate::paintChanges(QPainter &painter, const QRect &box, const FleetRow &row, const QString &label) const
{
    const int unit = m_theme.unit();
    const QRect number(box.left(), box.top(), 8 * unit, box.height());
    painter.setFont(m_theme.font(row.churning ? FontRole::Strong : FontRole::Number));
    painter.setPen(m_theme.color(row.churning ? Token::Warn : label == QLatin1String("0") ? Token::Muted : Token::Text));
    painter.drawText(number, Qt::AlignRight | Qt::AlignVCenter, label);
    const LeaseStatus *status = m_model.status(row);
    if (status == nullptr || status->transitionTimes.empty())
        return;
    const QRectF spark(number.right() + 2 * unit, box.top() + 2.0 * unit, box.right() - number.right() - 2 * unit, box.height() - 4.0 * unit);
    if (spark.width() > 4 * unit)
        TransitionSpark::of(status->transitionTimes, m_model.now()).paint(painter, spark, m_theme);
}

void FleetDelegate::paintText(
    QPainter &painter, const QRect &box, const FleetRow &row, FleetColumn column, const QString &label) const
{
    const bool stale = !isFresh(m_model.link(row));
    const bool isNumber = column == FleetColumn::Term || column == FleetColumn::Renewed
        || column == FleetColumn::HeldFor || column == FleetColumn::Seen;
    const bool main = column == FleetColumn::Lease;
    const bool quiet = stale || column == FleetColumn::Connection || column == FleetColumn::Seen
        || label == QString(QChar(0x2013)) || (column == FleetColumn::Holder && label != row.holder);
    painter.setFont(m_theme.font(isNumber ? FontRole::Number : main ? FontRole::Strong : FontRole::Body));
    painter.setPen(m_theme.color(quiet && !main ? Token::Muted : Token::Text));
    QRect area = box;
    if (column == FleetColumn::Connection) {
        const Surroundings where = m_model.connection(row).where;
        const Token band = where == Surroundings::Production ? Token::ProdBand
            : where == Surroundings::Staging                 ? Token::StageBand
            : where == Surroundings::Sim                     ? Token::SimBand
                                                             : Token::Line;
        const int unit = m_theme.unit();
        painter.fillRect(QRect(box.left(), box.center().y() - 2 * unit, unit, 4 * unit), m_theme.color(band));
        area.adjust(3 * unit, 0, 0, 0);
    }
    // Of a long token the last digits tell it from its neighbours.
    const auto mode = main || column == FleetColumn::Holder ? Qt::ElideMiddle
        : isNumber                                          ? Qt::ElideLeft
                                                            : Qt::ElideRight;
    painter.drawText(area, (isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(label, mode, area.width()));
}

} // namespace tenure::ui
