// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/spoken.h"
#include "ui/charts/swimlane_layout.h"
#include "ui/charts/ticking.h"

#include <QPointF>
#include <QString>

#include <optional>
#include <vector>

namespace tenure::ui
{

/// A stretch of time that a person chose.
struct TimeSpan {
    Instant from, until;
    [[nodiscard]] Duration length() const { return until - from; }
    bool operator==(const TimeSpan &) const = default;
};

/// Something that happened at a moment: what an operator did (a diamond), an alert (a triangle).
struct SwimMark {
    enum class Kind { Action, Alert };
    Kind kind = Kind::Action;
    Instant at;
    QString text;
};

/// From the journal, with their words; local moments.
[[nodiscard]] std::vector<SwimMark> marksOf(
    const std::vector<JournalAction> &actions, const std::vector<JournalAlert> &alerts, const Clock &clock);

/// Base of the widgets over time: drag pans, the wheel zooms at the cursor, Shift and drag (or a drag
/// on the axis) selects, Home follows the present, Alt+Left goes back to the view before. Arrow keys,
/// + and -, Shift with the arrows do the same from the keyboard; Escape ends the selection.
class TimeAxis : public Ticking, public Spoken
{
    Q_OBJECT
public:
    TimeAxis(const Theme &theme, const Clock &clock, QWidget *parent);

    void followNow();
    [[nodiscard]] bool isFollowing() const { return m_following; }
    [[nodiscard]] Duration span() const { return m_span; }
    void showSpan(Duration span); ///< the last so long, following the present
    void showRange(TimeSpan span);
    void goBack();
    void goForward();
    [[nodiscard]] SwimWindow window() const;
    [[nodiscard]] const std::optional<TimeSpan> &selection() const { return m_selection; }
    void select(std::optional<TimeSpan> selection);
    [[nodiscard]] double labelWidth() const;
    [[nodiscard]] double axisHeight() const;

    [[nodiscard]] QString spokenValue() const override;
    [[nodiscard]] QAccessible::Role spokenRole() const override { return QAccessible::Chart; }

Q_SIGNALS:
    void viewChanged();
    void selectionChanged();

protected:
    /// A diamond or a triangle around the point.
    void paintMark(QPainter &painter, const SwimMark &mark, QPointF at) const;
    void paintAxis(QPainter &painter, const SwimWindow &view) const;
    /// The selection, the present and the focus ring; after everything else.
    void paintOverlay(QPainter &painter, const SwimWindow &view) const;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    bool event(QEvent *event) override;

private:
    struct View {
        Instant end;
        Duration span;
        bool following;
    };
    void zoom(double factor, double pixel);
    void pan(Duration by);
    void extend(Duration by);
    void remember();
    void restore(const View &view);

    Duration m_span = std::chrono::minutes(10);
    Instant m_end; ///< right edge, when not following
    bool m_following = true;
    std::optional<TimeSpan> m_selection;
    std::vector<View> m_back, m_forward;
    Instant m_remembered; ///< quick steps after each other are one step back
    bool m_selecting = false;
    QPointF m_dragFrom;
    Instant m_dragEnd;
};

} // namespace tenure::ui
