// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/time_axis.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <array>
#include <cmath>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kShortest = 2s;
constexpr Duration kLongest = std::chrono::hours(24 * 400);
constexpr std::size_t kMostSteps = 50;
constexpr std::array<Duration, 17> kSteps{1s, 2s, 5s, 10s, 30s, 1min, 2min, 5min, 10min, 30min, 1h, 3h,
    6h, 24h, 24h * 7, 24h * 30, 24h * 90};

} // namespace

std::vector<SwimMark> marksOf(
    const std::vector<JournalAction> &actions, const std::vector<JournalAlert> &alerts, const Clock &clock)
{
    const auto local = [&](WallTime at) { return clock.now() - Duration(clock.wall() - at); };
    std::vector<SwimMark> out;
    for (const JournalAction &action : actions) {
        QString text = shown(action.verb).toUpper() + TimeAxis::tr(" by %1").arg(shown(action.by));
        if (!action.reason.empty())
            text += QStringLiteral(": ") + shown(action.reason);
        if (!action.sentence.empty())
            text += QStringLiteral(" → ") + shown(action.sentence);
        out.push_back({SwimMark::Kind::Action, local(action.at), text});
    }
    for (const JournalAlert &alert : alerts) {
        out.push_back({SwimMark::Kind::Alert, local(alert.firstAt),
            QStringLiteral("P%1 %2: %3").arg(alert.priority).arg(shown(alert.rule).toUpper(), shown(alert.text))});
    }
    return out;
}

TimeAxis::TimeAxis(const Theme &theme, const Clock &clock, QWidget *parent) : Ticking(theme, clock, parent)
{
    speak();
    setFocusPolicy(Qt::StrongFocus);
}

double TimeAxis::labelWidth() const
{
    return 32.0 * theme().unit();
}

double TimeAxis::axisHeight() const
{
    return 6.0 * theme().unit();
}

SwimWindow TimeAxis::window() const
{
    // A little room at the right, so that "now" is a place and not the border.
    const Instant end = m_following ? now() + m_span / 40 : m_end;
    return {end - m_span, end, std::max(1.0, width() - labelWidth())};
}

void TimeAxis::followNow()
{
    remember();
    m_following = true;
    update();
    Q_EMIT viewChanged();
}

void TimeAxis::showSpan(Duration span)
{
    remember();
    m_span = std::clamp(span, kShortest, kLongest);
    m_following = true;
    update();
    Q_EMIT viewChanged();
}

void TimeAxis::showRange(TimeSpan span)
{
    remember();
    m_span = std::clamp(span.length(), kShortest, kLongest);
    m_end = span.until;
    m_following = false;
    update();
    Q_EMIT viewChanged();
}

void TimeAxis::remember()
{
    const Instant moment = now();
    const bool fresh = m_back.empty() || moment - m_remembered > 700ms;
    m_remembered = moment;
    if (!fresh)
        return;
    m_back.push_back({window().until, m_span, m_following});
    if (m_back.size() > kMostSteps)
        m_back.erase(m_back.begin());
    m_forward.clear();
}

void TimeAxis::restore(const View &view)
{
    m_span = view.span;
    m_end = view.end;
    m_following = view.following;
    m_remembered = Instant();
    update();
    Q_EMIT viewChanged();
}

void TimeAxis::goBack()
{
    if (m_back.empty())
        return;
    m_forward.push_back({window().until, m_span, m_following});
    const View view = m_back.back();
    m_back.pop_back();
    restore(view);
}

void TimeAxis::goForward()
{
    if (m_forward.empty())
        return;
    m_back.push_back({window().until, m_span, m_following});
    const View view = m_forward.back();
    m_forward.pop_back();
    restore(view);
}

void TimeAxis::select(std::optional<TimeSpan> selection)
{
    if (selection && selection->until < selection->from)
        std::swap(selection->from, selection->until);
    if (selection == m_selection)
        return;
    m_selection = selection;
    update();
    valueChanged(this, spokenValue());
    Q_EMIT selectionChanged();
}

QString TimeAxis::spokenValue() const
{
    const SwimWindow view = window();
    QString out = tr("%1 to %2").arg(stampText(wallOf(view.from, clock()), clock().wall()),
        m_following ? tr("now") : stampText(wallOf(view.until, clock()), clock().wall()));
    if (m_selection)
        out += tr(", selected %1").arg(text(m_selection->length()));
    return accessibleDescription().isEmpty() ? out : accessibleDescription() + QStringLiteral(", ") + out;
}

void TimeAxis::paintMark(QPainter &painter, const SwimMark &mark, QPointF at) const
{
    const double unit = theme().unit();
    const bool action = mark.kind == SwimMark::Kind::Action;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().color(action ? Token::Info : Token::Warn));
    if (action)
        painter.drawPolygon(QPolygonF{at + QPointF(0, -unit), at + QPointF(unit, 0), at + QPointF(0, unit), at + QPointF(-unit, 0)});
    else
        painter.drawPolygon(QPolygonF{at + QPointF(0, -unit), at + QPointF(unit, unit), at + QPointF(-unit, unit)});
}

void TimeAxis::paintAxis(QPainter &painter, const SwimWindow &view) const
{
    const double spacing = (timeShown() == TimeShown::Utc ? 22.0 : 24.0) * theme().unit();
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
        painter.drawLine(QPointF(x, axisHeight() - theme().unit()), QPointF(x, height()));
        painter.setPen(theme().color(Token::Muted));
        const QString label = axisText(WallTime(at), step, clock().wall());
        if (x + painter.fontMetrics().horizontalAdvance(label) / 2.0 <= width()) // half a label says nothing
            painter.drawText(QRectF(x - spacing / 2, 0.75 * theme().unit(), spacing, axisHeight() - 2.0 * theme().unit()), Qt::AlignCenter, label);
    }
    painter.setPen(theme().color(Token::Muted));
    painter.drawText(QRectF(0, 0.75 * theme().unit(), labelWidth(), axisHeight() - 2.0 * theme().unit()), Qt::AlignLeft | Qt::AlignVCenter,
        QStringLiteral("  ") + (timeShown() == TimeShown::Local ? zoneText() : tr("UTC")));
}

void TimeAxis::paintOverlay(QPainter &painter, const SwimWindow &view) const
{
    if (m_selection) {
        QColor wash = theme().color(Token::Info);
        const double left = labelWidth() + std::clamp(view.x(m_selection->from), 0.0, view.width);
        const double right = labelWidth() + std::clamp(view.x(m_selection->until), 0.0, view.width);
        const QRectF area(left, axisHeight() - theme().unit(), std::max(1.0, right - left), height() - axisHeight() + theme().unit());
        wash.setAlphaF(0.14F);
        painter.fillRect(area, wash);
        painter.setPen(QPen(theme().color(Token::Info), 1));
        painter.drawLine(area.topLeft(), area.bottomLeft());
        painter.drawLine(area.topRight(), area.bottomRight());
    }
    const double x = labelWidth() + view.x(now());
    if (x > labelWidth() && x < width()) {
        painter.setPen(QPen(theme().color(Token::Info), 1.5));
        painter.drawLine(QPointF(x, axisHeight() - 1.5 * theme().unit()), QPointF(x, height()));
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme().color(Token::Info), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
}

void TimeAxis::zoom(double factor, double pixel)
{
    remember();
    const SwimWindow view = window();
    const Instant fixed = view.at(pixel);
    const double wanted = static_cast<double>(m_span.count()) * factor;
    const Duration next = std::clamp(Duration(static_cast<Duration::rep>(wanted)), kShortest, kLongest);
    const double share = pixel / view.width;
    m_end = fixed + Duration(static_cast<Duration::rep>(static_cast<double>(next.count()) * (1 - share)));
    m_span = next;
    update();
    Q_EMIT viewChanged();
}

void TimeAxis::pan(Duration by)
{
    remember();
    m_end = window().until + by;
    m_following = false;
    update();
    Q_EMIT viewChanged();
}

void TimeAxis::extend(Duration by)
{
    const SwimWindow view = window();
    const Instant middle = view.from + m_span / 2;
    TimeSpan chosen = m_selection.value_or(TimeSpan{middle, middle});
    chosen.until += by;
    select(chosen);
}

void TimeAxis::mousePressEvent(QMouseEvent *event)
{
    m_dragFrom = event->position();
    m_selecting = event->modifiers().testFlag(Qt::ShiftModifier) || event->position().y() < axisHeight() - theme().unit();
    if (m_selecting) {
        const Instant at = window().at(std::max(0.0, m_dragFrom.x() - labelWidth()));
        select(TimeSpan{at, at});
        setCursor(Qt::IBeamCursor);
    } else {
        remember();
        m_dragEnd = window().until;
        setCursor(Qt::ClosedHandCursor);
    }
}

void TimeAxis::mouseMoveEvent(QMouseEvent *event)
{
    const SwimWindow view = window();
    if (m_selecting) {
        const double x = std::clamp(event->position().x() - labelWidth(), 0.0, view.width);
        select(TimeSpan{view.at(std::max(0.0, m_dragFrom.x() - labelWidth())), view.at(x)});
        return;
    }
    m_end = m_dragEnd - (view.at(event->position().x()) - view.at(m_dragFrom.x()));
    m_following = false;
    update();
    Q_EMIT viewChanged();
}

void TimeAxis::mouseReleaseEvent(QMouseEvent *event)
{
    unsetCursor();
    // A click, not a drag: it ends the selection.
    if ((event->position() - m_dragFrom).manhattanLength() < 3)
        select(std::nullopt);
    m_selecting = false;
}

void TimeAxis::wheelEvent(QWheelEvent *event)
{
    const double pixel = std::max(0.0, event->position().x() - labelWidth());
    zoom(std::pow(0.8, event->angleDelta().y() / 120.0), pixel);
    event->accept();
}

void TimeAxis::keyPressEvent(QKeyEvent *event)
{
    const double middle = window().width / 2;
    const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
    const bool alt = event->modifiers().testFlag(Qt::AltModifier);
    switch (event->key()) {
    case Qt::Key_Home:
        followNow();
        break;
    case Qt::Key_Left:
        alt ? goBack() : shift ? extend(-m_span / 20) : pan(-m_span / 8);
        break;
    case Qt::Key_Right:
        alt ? goForward() : shift ? extend(m_span / 20) : pan(m_span / 8);
        break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(0.8, middle);
        break;
    case Qt::Key_Minus:
        zoom(1.25, middle);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_selection && m_selection->length() > Duration::zero())
            showRange(*m_selection);
        break;
    case Qt::Key_Escape:
        select(std::nullopt);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool TimeAxis::event(QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        // Alt+Left is the way back within the timeline before it is that of the window.
        const auto *key = static_cast<QKeyEvent *>(event);
        const bool steps = key->key() == Qt::Key_Left || key->key() == Qt::Key_Right;
        if (steps && key->modifiers().testFlag(Qt::AltModifier)) {
            event->accept();
            return true;
        }
    }
    return Ticking::event(event);
}

void TimeAxis::resizeEvent(QResizeEvent *event)
{
    Ticking::resizeEvent(event);
    Q_EMIT viewChanged();
}

} // namespace tenure::ui
