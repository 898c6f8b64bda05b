// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/time_axis.h"

namespace tenure::ui
{

/// Who led when: a truth lane and a lane for each holder over time, from this session and from what
/// the journal gave; see TimeAxis for how one moves in it.
class Swimlane final : public TimeAxis
{
    Q_OBJECT
public:
    Swimlane(const Theme &theme, const Clock &clock, QWidget *parent);
    /// What this session knows.
    void setLease(const LeaseStatus &status);
    /// What was before, in a window around the one that is shown.
    void setHistory(std::vector<SwimStretch> stretches, std::vector<SwimMark> marks);
    [[nodiscard]] std::vector<SwimStretch> stretches() const;
    [[nodiscard]] const std::vector<SwimMark> &marks() const { return m_marks; }
    /// How long the last painting took.
    [[nodiscard]] Duration paintTime() const { return m_paintTime; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    [[nodiscard]] double laneHeight() const;
    [[nodiscard]] double lanesTop() const;
    void paintLane(QPainter &painter, const SwimLane &lane, double top) const;
    void paintBar(QPainter &painter, const SwimBar &bar, QRectF box) const;
    void paintMarks(QPainter &painter, const SwimWindow &view) const;
    [[nodiscard]] QString tipAt(const QPointF &position) const;

    LeaseStatus m_status;
    std::vector<SwimStretch> m_history;
    std::vector<SwimMark> m_marks;
    Duration m_paintTime{};
};

} // namespace tenure::ui
