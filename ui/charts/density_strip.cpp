// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/density_strip.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tenure::ui
{

DensityStrip::DensityStrip(const Theme &theme, const Clock &clock, QWidget *parent) : TimeAxis(theme, clock, parent)
{
    setObjectName(QStringLiteral("densityStrip"));
    setAccessibleName(tr("Changes of leadership over time"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    showSpan(std::chrono::hours(1));
}

void DensityStrip::setConnection(
    const QString &id, const QString &name, std::vector<Instant> times, Instant since)
{
    const bool isNew = !m_rows.contains(id);
    Row &row = m_rows[id];
    row.name = name;
    row.times = std::move(times);
    row.since = since;
    QStringList described;
    for (const auto &[key, one] : m_rows)
        described << tr("%1: %2 changes").arg(one.name).arg(one.times.size());
    setAccessibleDescription(described.join(QStringLiteral("; ")));
    if (isNew)
        updateGeometry();
    update();
}

void DensityStrip::setHistory(const QString &id, const std::vector<DensityCell> &cells)
{
    const auto row = m_rows.find(id);
    if (row == m_rows.end())
        return;
    const Instant moment = now();
    const WallTime wall = clock().wall();
    const auto local = [&](WallTime at) { return moment - Duration(wall - at); };
    row->second.history.clear();
    for (const DensityCell &cell : cells)
        row->second.history.push_back({local(cell.from), local(cell.to), cell.transitions, cell.leaderless, cell.longestGap, cell.observed});
    update();
}

void DensityStrip::setMarks(const QString &id, std::vector<SwimMark> marks)
{
    const auto row = m_rows.find(id);
    if (row == m_rows.end())
        return;
    row->second.marks = std::move(marks);
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
    return {120 * theme().unit(), rows * theme().rowHeight() + static_cast<int>(axisHeight())};
}

std::vector<DensityStrip::Cell> DensityStrip::cellsOf(const Row &row, const SwimWindow &view) const
{
    const auto count = std::max<std::size_t>(1, static_cast<std::size_t>(view.width / 3));
    const Duration each = (view.until - view.from) / static_cast<Duration::rep>(count);
    std::vector<Cell> cells(count);
    const auto indexOf = [&](Instant at) { return static_cast<std::ptrdiff_t>((at - view.from) / each); };
    for (std::size_t i = 0; i < count; ++i) {
        cells[i].from = view.from + each * static_cast<Duration::rep>(i);
        cells[i].until = cells[i].from + each;
        cells[i].observed = cells[i].until > row.since && cells[i].from <= now() ? 1 : 0;
    }
    if (row.history.empty()) {
        for (const Instant at : row.times) {
            if (const auto i = indexOf(at); at >= view.from && i >= 0 && i < static_cast<std::ptrdiff_t>(count))
                ++cells[static_cast<std::size_t>(i)].transitions;
        }
        return cells;
    }
    for (Cell &cell : cells)
        cell.observed = cell.until > row.history.back().until ? cell.observed : 0;
    for (const Cell &known : row.history) {
        const auto first = std::max<std::ptrdiff_t>(0, indexOf(std::max(known.from, view.from)));
        const auto last = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(count) - 1, indexOf(known.until - Duration(1)));
        for (auto i = first; i <= last; ++i) {
            Cell &cell = cells[static_cast<std::size_t>(i)];
            cell.observed = std::max(cell.observed, known.observed);
            cell.leaderless = std::max(cell.leaderless, known.leaderless);
            cell.longestGap = std::max(cell.longestGap, known.longestGap);
            if (i == first && known.from >= view.from)
                cell.transitions += known.transitions;
        }
    }
    // What came after the journal's last cell is known to this session.
    for (const Instant at : row.times) {
        if (at >= row.history.back().until && at >= view.from && indexOf(at) < static_cast<std::ptrdiff_t>(count))
            ++cells[static_cast<std::size_t>(indexOf(at))].transitions;
    }
    return cells;
}

SwimSummary DensityStrip::summary(TimeSpan span) const
{
    SwimSummary out;
    const SwimWindow view{span.from, span.until, 3000};
    for (const auto &[id, row] : m_rows) {
        Duration unseen{};
        for (const Cell &cell : cellsOf(row, view)) {
            out.transitions += cell.transitions;
            out.longestGap = std::max(out.longestGap, cell.longestGap);
            if (cell.observed < 0.5 && cell.until <= now())
                unseen += cell.until - cell.from;
        }
        out.notObserved = std::max(out.notObserved, unseen);
    }
    return out;
}

void DensityStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const SwimWindow view = window();
    if (m_rows.empty()) {
        painter.setFont(theme().font(FontRole::Small));
        painter.setPen(theme().color(Token::Muted));
        painter.drawText(rect(), Qt::AlignCenter, tr("Nothing is connected"));
        return;
    }
    paintAxis(painter, view);
    const int unit = theme().unit();
    double top = axisHeight();
    for (const auto &[id, row] : m_rows) {
        painter.setFont(theme().font(FontRole::Small));
        painter.setPen(theme().color(Token::Text));
        const QRectF label(2.0 * unit, top, labelWidth() - 4.0 * unit, theme().rowHeight());
        painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(row.name, Qt::ElideRight, static_cast<int>(label.width())));
        paintRow(painter, row, view, QRectF(labelWidth(), top + unit, view.width, theme().rowHeight() - unit));
        top += theme().rowHeight();
    }
    paintOverlay(painter, view);
}

void DensityStrip::paintRow(QPainter &painter, const Row &row, const SwimWindow &view, const QRectF &box) const
{
    const std::vector<Cell> cells = cellsOf(row, view);
    std::uint64_t most = 5;
    for (const Cell &cell : cells)
        most = std::max(most, cell.transitions);
    const double pitch = box.width() / static_cast<double>(cells.size());
    const double base = box.bottom() - 1;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Cell &cell = cells[i];
        const double x = box.left() + static_cast<double>(i) * pitch;
        if (cell.from > now())
            break;
        const bool seen = cell.observed > 0.05;
        if (seen || i % 2 == 0) // dotted where nobody looked
            painter.fillRect(QRectF(x, base, seen ? pitch : pitch * 0.8, 1), theme().color(seen ? Token::Hairline : Token::Stale));
        if (cell.leaderless > 0)
            painter.fillRect(QRectF(x, base - 3, pitch, 3), theme().color(Token::Crit));
        if (cell.transitions == 0)
            continue;
        const double share = std::sqrt(static_cast<double>(cell.transitions) / static_cast<double>(most));
        const double height = std::max(4.0, (box.height() - 3) * share);
        painter.fillRect(QRectF(x, base - height, std::max(2.0, pitch - 1), height), theme().color(Token::Bar));
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    for (const SwimMark &mark : row.marks) {
        if (mark.at >= view.from && mark.at <= view.until)
            paintMark(painter, mark, QPointF(box.left() + view.x(mark.at), box.top() + theme().unit()));
    }
    painter.restore();
}

QString DensityStrip::tipOf(const Row &row, double x) const
{
    const SwimWindow view = window();
    QStringList lines;
    for (const SwimMark &mark : row.marks) {
        if (std::abs(view.x(mark.at) - x) < 1.5 * theme().unit() && lines.size() < 6)
            lines << mark.text;
    }
    const std::vector<Cell> cells = cellsOf(row, view);
    const double share = std::clamp(x / view.width, 0.0, 1.0);
    const Cell &cell = cells[std::min(cells.size() - 1, static_cast<std::size_t>(share * static_cast<double>(cells.size())))];
    QString tip = cell.observed < 0.05
        ? tr("%1: not observed").arg(row.name)
        : tr("%1, from %2: %3 changes").arg(row.name, stampText(wallOf(cell.from, clock()), clock().wall())).arg(cell.transitions);
    if (cell.leaderless > 0 && cell.observed >= 0.05)
        tip += tr(", %1 without leader at once").arg(cell.leaderless);
    lines << tip;
    return lines.join(QLatin1Char('\n'));
}

bool DensityStrip::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return TimeAxis::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const double row = (help->pos().y() - axisHeight()) / theme().rowHeight();
    QString tip;
    if (row >= 0 && row < static_cast<double>(m_rows.size()) && help->pos().x() >= labelWidth()) {
        const Row &found = std::next(m_rows.begin(), static_cast<std::ptrdiff_t>(row))->second;
        tip = tipOf(found, help->pos().x() - labelWidth());
    }
    QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

} // namespace tenure::ui
