// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/world.h"

#include <QWidget>

namespace tenure::ui
{

class Theme;

/// One simulated run as lanes: above what the store says, below it for each instance what it believes
/// (bar) and whether it does leader's work (thick), with pauses, crashes and late writes. Over the whole
/// run; a click goes to that moment.
class SimLanes final : public QWidget
{
    Q_OBJECT
public:
    SimLanes(const Theme &theme, QWidget *parent = nullptr);
    /// Copies what is to be drawn.
    void show(const sim::World &world);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void momentChosen(tenure::Duration at);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;

private:
    enum class What { Held, Vacant, Believes, Works, Frozen, Stopped, Crashed };
    struct Piece {
        Duration from{}, until{};
        What what = What::Held;
        QString text;
    };
    struct Mark {
        Duration at{};
        int lane = 0;
        bool accepted = false; ///< a stale write: accepted or refused
    };
    class Reader;
    [[nodiscard]] double x(Duration at) const;
    void paintPieces(QPainter &painter, const std::vector<Piece> &pieces, const QRect &lane) const;
    void paintAxis(QPainter &painter) const;
    void choose(double at);
    [[nodiscard]] int labels() const;
    [[nodiscard]] int laneHeight() const;

    const Theme &m_theme;
    std::vector<QString> m_names;
    std::vector<std::vector<Piece>> m_lanes; ///< the store's first
    std::vector<Mark> m_marks;
    Duration m_now{};
    Duration m_length{std::chrono::seconds(60)};
};

} // namespace tenure::ui
