// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/density_strip.h"

#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tenure::ui
{
namespace
{

constexpr Duration kWindow = std::chrono::hours(1);
constexpr int kLabelUnits = 32;

} // namespace

DensityStrip::DensityStrip(const Theme &theme, const Clock &clock, QWidget *parent)
    : Ticking(theme, clock, parent)
{
    setObjectName(QStringLiteral("densityStrip"));
    setAccessibleName(tr("Changes of leadership in the last hour"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Minimum);
}

void DensityStrip::setConnection(
    const QString &id, const QString &name, std::vector<Instant> times, Instant since)
{
    const bool isNew = !m_rows.contains(id);
    m_rows[id] = {name, std::move(times), since};
    QStringList described;
    for (const auto &[key, row] : m_rows)
        described << tr("%1: %2 changes").arg(row.name).arg(row.times.size());
    setAccessibleDescription(described.join(QStringLiteral("; ")));
    if (isNew)
        updateGeometry();
    update();
}

void DensityStrip::removeConnection(const QString &id)
{
    if (m_rows.erase(id) > 0) {
        updateGeometry();
        update();
    }
}

QSize DensityStrip::sizeHint() const
{
    const int rows = std::max(1, static_cast<int>(m_rows.size()));
    return {120 * theme().unit(), rows * theme().rowHeight() + 5 * theme().unit()};
}

void DensityStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setFont(theme().font(FontRole::Small));
    painter.setPen(theme().color(Token::Muted));
    if (m_rows.empty()) {
        painter.drawText(rect(), Qt::AlignCenter, tr("Nothing is connected"));
        return;
    }
    const int unit = theme().unit();
    const double left = kLabelUnits * unit;
    const QRectF axis(left, height() - 5.0 * unit, width() - left - 2.0 * unit, 5.0 * unit);
    painter.drawText(axis, Qt::AlignLeft | Qt::AlignVCenter, tr("1 h ago"));
    painter.drawText(axis, Qt::AlignHCenter | Qt::AlignVCenter, tr("30 min"));
    painter.drawText(axis, Qt::AlignRight | Qt::AlignVCenter, tr("now"));
    double top = 0;
    for (const auto &[id, row] : m_rows) {
        painter.setPen(theme().color(Token::Text));
        const QRectF label(2.0 * unit, top, left - 4.0 * unit, theme().rowHeight());
        painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(row.name, Qt::ElideRight, static_cast<int>(label.width())));
        paintRow(painter, row, QRectF(left, top + unit, axis.width(), theme().rowHeight() - unit));
        top += theme().rowHeight();
    }
}

void DensityStrip::paintRow(QPainter &painter, const Row &row, const QRectF &box) const
{
    const double pitch = theme().unit() * 1.5;
    const auto cells = std::max<std::size_t>(1, static_cast<std::size_t>(box.width() / pitch));
    std::vector<int> counts(cells, 0);
    const Instant moment = now();
    const Duration cellSpan = kWindow / static_cast<Duration::rep>(cells);
    const auto fromEnd = [&](Instant at) {
        return static_cast<std::size_t>(std::max<Duration::rep>(0, (moment - at).count() / cellSpan.count()));
    };
    for (const Instant at : row.times) {
        if (fromEnd(at) < cells)
            ++counts[cells - 1 - fromEnd(at)];
    }
    const std::size_t unseen = cells - std::min(cells, fromEnd(row.since) + 1);
    const int most = std::max(5, *std::max_element(counts.begin(), counts.end()));
    const double base = box.bottom() - 1;
    painter.setPen(QPen(theme().color(Token::Line), 1, Qt::DotLine));
    const double seenFrom = box.right() - static_cast<double>(cells - unseen) * pitch;
    painter.drawLine(QPointF(box.left(), base), QPointF(seenFrom, base));
    painter.setPen(QPen(theme().color(Token::Hairline), 1));
    painter.drawLine(QPointF(seenFrom, base), QPointF(box.right(), base));
    for (std::size_t i = 0; i < cells; ++i) {
        if (counts[i] == 0)
            continue;
        const double height = std::max(3.0, box.height() * std::sqrt(counts[i] / static_cast<double>(most)));
        const double x = box.right() - static_cast<double>(cells - i) * pitch;
        painter.fillRect(QRectF(x, base - height, pitch - 1, height), theme().color(Token::Bar));
    }
}

} // namespace tenure::ui
