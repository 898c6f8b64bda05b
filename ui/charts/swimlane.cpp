// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/swimlane.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <array>
#include <cmath>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kShortest = 10s;
constexpr Duration kLongest = std::chrono::hours(24 * 7);
constexpr std::size_t kMostHolders = 6;
constexpr std::array<Duration, 14> kSteps{1s, 2s, 5s, 10s, 30s, 1min, 2min, 5min, 10min, 30min, 1h, 3h,
    6h, 24h};

} // namespace

Swimlane::Swimlane(const Theme &theme, const Clock &clock, QWidget *parent)
    : Ticking(theme, clock, parent)
{
    setObjectName(QStringLiteral("swimlane"));
    setAccessibleName(tr("Terms over time"));
    setFocusPolicy(Qt::StrongFocus);
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

void Swimlane::followNow()
{
    m_following = true;
    update();
}

double Swimlane::labelWidth() const
{
    return 24.0 * theme().unit();
}

double Swimlane::laneHeight() const
{
    return 5.5 * theme().unit();
}

SwimWindow Swimlane::window() const
{
    // A little room at the right, so that "now" is a place and not the border.
    const Instant end = m_following ? now() + m_span / 40 : m_end;
    return {end - m_span, end, std::max(1.0, width() - labelWidth())};
}

QSize Swimlane::sizeHint() const
{
    const auto lanes = layoutSwimlane(m_status, window(), now(), kMostHolders).size();
    const double height = 6.0 * theme().unit() + static_cast<double>(std::max<std::size_t>(lanes, 3)) * laneHeight();
    return {150 * theme().unit(), static_cast<int>(height)};
}

QSize Swimlane::minimumSizeHint() const
{
    return {80 * theme().unit(), sizeHint().height()};
}

void Swimlane::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const SwimWindow view = window();
    paintAxis(painter, view);
    double top = 6.0 * theme().unit();
    for (const SwimLane &lane : layoutSwimlane(m_status, view, now(), kMostHolders)) {
        paintLane(painter, lane, top);
        top += laneHeight();
    }
    const double x = labelWidth() + view.x(now());
    if (x < width()) {
        painter.setPen(QPen(theme().color(Token::Info), 1.5));
        painter.drawLine(QPointF(x, 4.5 * theme().unit()), QPointF(x, height()));
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme().color(Token::Info), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
}

void Swimlane::paintAxis(QPainter &painter, const SwimWindow &view) const
{
    const double spacing = 22.0 * theme().unit();
    Duration step = kSteps.back();
    for (const Duration candidate : kSteps) {
        if (view.width * static_cast<double>(candidate.count()) / static_cast<double>(m_span.count()) >= spacing) {
            step = candidate;
            break;
        }
    }
    // Ticks on round wall-clock times, placed by the local monotonic clock.
    const WallTime wallFrom = wallOf(view.from, clock());
    const auto every = std::chrono::duration_cast<std::chrono::microseconds>(step);
    const auto first = (wallFrom.time_since_epoch() / every + 1) * every;
    painter.setFont(theme().font(FontRole::Small));
    for (auto at = first; at < (wallFrom + std::chrono::duration_cast<std::chrono::microseconds>(m_span)).time_since_epoch(); at += every) {
        const Instant local = view.from + Duration(at - wallFrom.time_since_epoch());
        const double x = labelWidth() + view.x(local);
        painter.setPen(QPen(theme().color(Token::Hairline), 1));
        painter.drawLine(QPointF(x, 5.0 * theme().unit()), QPointF(x, height()));
        painter.setPen(theme().color(Token::Muted));
        const QString label = axisText(WallTime(at), step, clock().wall());
        painter.drawText(QRectF(x - spacing / 2, 0, spacing, 4.5 * theme().unit()), Qt::AlignCenter, label);
    }
    painter.setPen(theme().color(Token::Muted));
    painter.drawText(QRectF(0, 0, labelWidth(), 4.5 * theme().unit()), Qt::AlignLeft | Qt::AlignVCenter, timeShown() == TimeShown::Local ? zoneText() : tr("UTC"));
}

void Swimlane::paintLane(QPainter &painter, const SwimLane &lane, double top) const
{
    const bool truth = lane.holder.empty();
    painter.setFont(theme().font(truth ? FontRole::Strong : FontRole::Body));
    painter.setPen(theme().color(truth ? Token::Text : Token::Muted));
    const QString name = truth ? tr("truth") : shown(lane.holder);
    const QRectF label(0, top, labelWidth() - 2.0 * theme().unit(), laneHeight());
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

void Swimlane::zoom(double factor, double pixel)
{
    const SwimWindow view = window();
    const Instant fixed = view.at(pixel);
    const auto wanted = static_cast<Duration::rep>(static_cast<double>(m_span.count()) * factor);
    const Duration next = std::clamp(Duration(wanted), kShortest, kLongest);
    const double share = pixel / view.width;
    m_end = fixed + Duration(static_cast<Duration::rep>(static_cast<double>(next.count()) * (1 - share)));
    m_span = next;
    update();
}

void Swimlane::pan(Duration by)
{
    m_end = window().until + by;
    m_following = false;
    update();
}

void Swimlane::mousePressEvent(QMouseEvent *event)
{
    m_dragFrom = event->position();
    m_dragEnd = window().until;
    setCursor(Qt::ClosedHandCursor);
}

void Swimlane::mouseMoveEvent(QMouseEvent *event)
{
    const SwimWindow view = window();
    m_end = m_dragEnd - (view.at(event->position().x()) - view.at(m_dragFrom.x()));
    m_following = false;
    update();
}

void Swimlane::mouseReleaseEvent(QMouseEvent *)
{
    unsetCursor();
}

void Swimlane::wheelEvent(QWheelEvent *event)
{
    const double pixel = std::max(0.0, event->position().x() - labelWidth());
    zoom(std::pow(0.8, event->angleDelta().y() / 120.0), pixel);
    event->accept();
}

void Swimlane::keyPressEvent(QKeyEvent *event)
{
    const double middle = window().width / 2;
    switch (event->key()) {
    case Qt::Key_Home:
        followNow();
        break;
    case Qt::Key_Left:
        pan(-m_span / 8);
        break;
    case Qt::Key_Right:
        pan(m_span / 8);
        break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(0.8, middle);
        break;
    case Qt::Key_Minus:
        zoom(1.25, middle);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool Swimlane::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return Ticking::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const auto lanes = layoutSwimlane(m_status, window(), now(), kMostHolders);
    const double row = (help->pos().y() - 6.0 * theme().unit()) / laneHeight();
    const double x = help->pos().x() - labelWidth();
    QString tip;
    if (row >= 0 && row < static_cast<double>(lanes.size())) {
        const SwimLane &lane = lanes[static_cast<std::size_t>(row)];
        if (x < 0)
            tip = shown(lane.holder);
        for (const SwimBar &bar : lane.bars) {
            if (x >= bar.left - 1 && x <= bar.right + 1)
                tip = text(bar.tip);
        }
    }
    QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

} // namespace tenure::ui
