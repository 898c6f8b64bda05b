// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/transition_spark.h"

#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>

namespace tenure::ui
{

TransitionSpark TransitionSpark::of(const std::deque<Instant> &times, Instant now, Duration window)
{
    TransitionSpark out;
    for (const Instant at : times) {
        const Duration age = now - at;
        if (age < Duration::zero() || age >= window)
            continue;
        const auto fromEnd = static_cast<std::size_t>(age.count() / (window / kBars).count());
        ++out.bars[kBars - 1 - std::min(fromEnd, kBars - 1)];
    }
    return out;
}

bool TransitionSpark::isEmpty() const
{
    return std::all_of(bars.begin(), bars.end(), [](int count) { return count == 0; });
}

void TransitionSpark::paint(QPainter &painter, const QRectF &box, const Theme &theme) const
{
    const double pitch = box.width() / static_cast<double>(kBars);
    const int most = std::max(4, *std::max_element(bars.begin(), bars.end()));
    for (std::size_t i = 0; i < kBars; ++i) {
        const double height = bars[i] == 0 ? 1.0 : std::max(3.0, box.height() * bars[i] / most);
        const QRectF bar(box.left() + pitch * static_cast<double>(i), box.bottom() - height,
            std::max(1.0, pitch - 1), height);
        painter.fillRect(bar, theme.color(bars[i] == 0 ? Token::Hairline : Token::Bar));
    }
}

} // namespace tenure::ui
