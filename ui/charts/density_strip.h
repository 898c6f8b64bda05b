// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/time_axis.h"

#include <QString>

#include <map>
#include <vector>

namespace tenure::ui
{

/// Changes of leadership of all leases over time, a row a connection: from this session and, where
/// the journal gave cells for the window that is shown, from those. What nobody observed is dotted;
/// a stretch with leases that had no leader has a red foot.
class DensityStrip final : public TimeAxis
{
    Q_OBJECT
public:
    DensityStrip(const Theme &theme, const Clock &clock, QWidget *parent);
    /// Replaces what is shown of one connection. `since`: when it was first looked at; before that the
    /// row is dotted, not empty.
    void setConnection(const QString &id, const QString &name, std::vector<Instant> times, Instant since);
    /// The journal's count for the window; empty: the session's alone.
    void setHistory(const QString &id, const std::vector<DensityCell> &cells);
    /// What operators did and alerts, over the row.
    void setMarks(const QString &id, std::vector<SwimMark> marks);
    void removeConnection(const QString &id);
    /// Changes and observed time in `span`, over all connections.
    [[nodiscard]] SwimSummary summary(TimeSpan span) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    struct Cell {
        Instant from, until;
        std::uint64_t transitions = 0;
        std::uint64_t leaderless = 0;
        Duration longestGap{};
        double observed = 0;
    };
    struct Row {
        QString name;
        std::vector<Instant> times;
        Instant since;
        std::vector<Cell> history;
        std::vector<SwimMark> marks;
    };
    /// A row in cells of about three pixels.
    [[nodiscard]] std::vector<Cell> cellsOf(const Row &row, const SwimWindow &view) const;
    [[nodiscard]] QString tipOf(const Row &row, double x) const;
    void paintRow(QPainter &painter, const Row &row, const SwimWindow &view, const QRectF &box) const;
    std::map<QString, Row> m_rows;
};

} // namespace tenure::ui
