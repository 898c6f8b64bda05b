// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/swimlane.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tenure::ui
{
namespace
{

constexpr std::size_t kMostHolders = 6;

} // namespace

Swimlane::Swimlane(const Theme &theme, const Clock &clock, QWidget *parent) : TimeAxis(theme, clock, parent)
{
    setObjectName(QStringLiteral("swimlane"));
    setAccessibleName(tr("Terms over time"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Minimum);
}

void Swimlane::setLease(const LeaseStatus &status)
{
    const auto lanes = m_status.terms.size();
    m_status = status;
    if (m_status.terms.size() != lanes)
        updateGeometry();
    setAccessibleDescription(
        tr("%1 terms seen, %2 changes").arg(m_status.terms.size()).arg(m_status.transitionsSeen));
    update();
}

void Swimlane::setHistory(std::vector<SwimStretch> stretches, std::vector<SwimMark> marks)
{
    m_history = std::move(stretches);
    m_marks = std::move(marks);
    updateGeometry();
    update();
}

std::vector<SwimStretch> Swimlane::stretches() const
{
    return joined(m_history, stretchesOf(m_status, now()));
}

double Swimlane::laneHeight() const
{
    return 5.5 * theme().unit();
}

double Swimlane::lanesTop() const
{
    return axisHeight() + (m_marks.empty() ? 0.0 : 3.5 * theme().unit());
}

QSize Swimlane::sizeHint() const
{
    const auto lanes = layoutSwimlane(stretches(), window(), kMostHolders).size();
    const double height = lanesTop() + static_cast<double>(std::max<std::size_t>(lanes, 3)) * laneHeight() + theme().unit();
    return {150 * theme().unit(), static_cast<int>(height)};
}

QSize Swimlane::minimumSizeHint() const
{
    return {80 * theme().unit(), sizeHint().height()};
}

void Swimlane::paintEvent(QPaintEvent *)
{
    const Instant start = BootClock::now();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const SwimWindow view = window();
    paintAxis(painter, view);
    double top = lanesTop();
    for (const SwimLane &lane : layoutSwimlane(stretches(), view, kMostHolders)) {
        paintLane(painter, lane, top);
        top += laneHeight();
    }
    paintMarks(painter, view);
    paintOverlay(painter, view);
    m_paintTime = BootClock::now() - start;
}

void Swimlane::paintLane(QPainter &painter, const SwimLane &lane, double top) const
{
    const bool truth = lane.holder.empty();
    painter.setFont(theme().font(truth ? FontRole::Strong : FontRole::Body));
    painter.setPen(theme().color(truth ? Token::Text : Token::Muted));
    const QString name = truth ? tr("truth") : shown(lane.holder);
    const QRectF label(2.0 * theme().unit(), top, labelWidth() - 4.0 * theme().unit(), laneHeight());
    painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(name, Qt::ElideMiddle, static_cast<int>(label.width())));
    painter.save();
    painter.setClipRect(QRectF(labelWidth(), top, width() - labelWidth(), laneHeight()));
    const double gap = theme().unit() * 0.6;
    for (const SwimBar &bar : lane.bars)
        paintBar(painter, bar,
            QRectF(labelWidth() + bar.left, top + gap, bar.right - bar.left, laneHeight() - 2 * gap));
    painter.restore();
}

void Swimlane::paintBar(QPainter &painter, const SwimBar &bar, QRectF box) const
{
    QColor ink = theme().color(Token::Text);
    switch (bar.kind) {
    case SwimBar::Kind::Term:
        painter.fillRect(box.adjusted(0, 0, -0.75, 0), theme().color(Token::Selection));
        painter.fillRect(QRectF(box.left(), box.top(), 2, box.height()), theme().color(Token::Info));
        break;
    case SwimBar::Kind::NoLeader:
        ink = theme().color(Token::Crit);
        painter.fillRect(box, QBrush(ink, Qt::BDiagPattern));
        painter.setPen(QPen(ink, 1));
        painter.drawRect(box);
        break;
    case SwimBar::Kind::NotObserved:
        painter.fillRect(box, theme().color(Token::Bg));
        painter.setPen(QPen(theme().color(Token::Stale), 2, Qt::DotLine));
        painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()));
        return;
    case SwimBar::Kind::Hold:
        ink = theme().color(Token::Info);
        painter.setPen(QPen(ink, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box);
        break;
    case SwimBar::Kind::Merged:
        painter.fillRect(box, theme().color(Token::Bar));
        break;
    }
    const QFont font = theme().font(FontRole::Small);
    const QString label = text(bar.label);
    const double needs = QFontMetricsF(font).horizontalAdvance(label) + 1.5 * theme().unit();
    painter.setFont(font);
    painter.setPen(ink);
    if (bar.kind == SwimBar::Kind::NoLeader || bar.kind == SwimBar::Kind::Merged) {
        // Hatching under digits cannot be read: a plate of plain ground for the label.
        if (needs > box.width())
            return;
        const QRectF plate(box.center().x() - needs / 2, box.top() + 1, needs, box.height() - 2);
        painter.fillRect(plate, theme().color(Token::Bg));
        painter.drawText(plate, Qt::AlignCenter, label);
    } else if (needs + 2.0 * theme().unit() <= box.width()) {
        painter.drawText(box.adjusted(2.0 * theme().unit(), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, label);
    }
}

void Swimlane::paintMarks(QPainter &painter, const SwimWindow &view) const
{
    const double unit = theme().unit();
    const double middle = axisHeight() + unit * 1.2;
    for (const SwimMark &mark : m_marks) {
        const double x = labelWidth() + view.x(mark.at);
        if (x < labelWidth() || x > width())
            continue;
        painter.setPen(QPen(theme().color(mark.kind == SwimMark::Kind::Action ? Token::Info : Token::Warn), 1, Qt::DotLine));
        painter.drawLine(QPointF(x, middle), QPointF(x, height()));
        paintMark(painter, mark, QPointF(x, middle));
    }
}

QString Swimlane::tipAt(const QPointF &position) const
{
    const SwimWindow view = window();
    const double x = position.x() - labelWidth();
    QStringList marks;
    for (const SwimMark &mark : m_marks) {
        if (position.y() < lanesTop() && std::abs(view.x(mark.at) - x) < 1.5 * theme().unit())
            marks << mark.text;
    }
    if (!marks.empty())
        return marks.mid(0, 6).join(QLatin1Char('\n'));
    const auto lanes = layoutSwimlane(stretches(), view, kMostHolders);
    const double row = (position.y() - lanesTop()) / laneHeight();
    if (row < 0 || row >= static_cast<double>(lanes.size()))
        return {};
    const SwimLane &lane = lanes[static_cast<std::size_t>(row)];
    QString tip = x < 0 ? shown(lane.holder) : QString();
    for (const SwimBar &bar : lane.bars) {
        if (x >= bar.left - 1 && x <= bar.right + 1)
            tip = text(bar.tip);
    }
    return tip;
}

bool Swimlane::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return TimeAxis::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    QToolTip::showText(help->globalPos(), tipAt(help->pos()), this);
    return true;
}

} // namespace tenure::ui
