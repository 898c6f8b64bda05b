// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <QWidget>

#include <optional>
#include <vector>

class QChart;
class QLineSeries;
class QLogValueAxis;
class QScatterSeries;
class QValueAxis;

namespace tenure::ui
{

class Theme;

/// Time between renewals over time, on a logarithmic scale, with the deadline and the ttl as lines:
/// what stays under the lower one is well. Hides which chart library draws it. At most 2,000 points.
class LatencyChart final : public QWidget
{
    Q_OBJECT
public:
    static constexpr std::size_t kMost = 2000;
    struct Point {
        double secondsAgo = 0;
        double seconds = 0;
        bool late = false;
    };
    LatencyChart(const Theme &theme, QWidget *parent);
    /// Oldest first. The caller has made them few enough.
    void setPoints(const std::vector<Point> &points, std::optional<Duration> deadline, std::optional<Duration> ttl);
    [[nodiscard]] std::size_t pointCount() const { return m_count; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    void colour();

    const Theme &m_theme;
    QChart *m_chart;
    QLineSeries *m_line, *m_deadline, *m_ttl;
    QScatterSeries *m_late;
    QValueAxis *m_time;
    QLogValueAxis *m_value;
    std::size_t m_count = 0;
};

} // namespace tenure::ui
