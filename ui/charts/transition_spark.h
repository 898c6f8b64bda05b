// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <array>
#include <deque>

class QPainter;
class QRectF;

namespace tenure::ui
{

class Theme;

/// Changes of leadership over a window in a few mini bars, for table cells.
struct TransitionSpark {
    static constexpr std::size_t kBars = 8;
    std::array<int, kBars> bars{}; ///< oldest first

    [[nodiscard]] static TransitionSpark of(
        const std::deque<Instant> &times, Instant now, Duration window = std::chrono::hours(1));
    [[nodiscard]] bool isEmpty() const;
    void paint(QPainter &painter, const QRectF &box, const Theme &theme) const;
};

} // namespace tenure::ui
