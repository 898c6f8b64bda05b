// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/swimlane_layout.h"
#include "ui/charts/ticking.h"

#include <QPointF>

namespace tenure::ui
{

/// Who led when: a truth lane and a lane for each holder over time. Drag pans, the wheel zooms at the
/// cursor, Home follows the present again; arrow keys and + - do the same from the keyboard.
class Swimlane final : public Ticking
{
    Q_OBJECT
public:
    Swimlane(const Theme &theme, const Clock &clock, QWidget *parent);
    void setLease(const LeaseStatus &status);
    void followNow();
    [[nodiscard]] bool isFollowing() const { return m_following; }
    [[nodiscard]] Duration span() const { return m_span; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;

private:
    [[nodiscard]] SwimWindow window() const;
    [[nodiscard]] double labelWidth() const;
    [[nodiscard]] double laneHeight() const;
    void zoom(double factor, double pixel);
    void pan(Duration by);
    void paintAxis(QPainter &painter, const SwimWindow &view) const;
    void paintLane(QPainter &painter, const SwimLane &lane, double top) const;
    void paintBar(QPainter &painter, const SwimBar &bar, QRectF box) const;

    LeaseStatus m_status;
    Duration m_span = std::chrono::minutes(10);
    Instant m_end; ///< right edge, when not following
    bool m_following = true;
    QPointF m_dragFrom;
    Instant m_dragEnd;
};

} // namespace tenure::ui
