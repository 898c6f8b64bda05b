// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/drill/drill.h"

#include <QWidget>

namespace tenure::ui
{

class Theme;

/// The rounds of a drill, a line each: who gave way to whom, and the time without a leader as a bar
/// beside the limit.
class GapBars final : public QWidget
{
    Q_OBJECT
public:
    explicit GapBars(const Theme &theme, QWidget *parent = nullptr);
    /// `times`: how many there will be.
    void begin(Duration limit, int times);
    void add(const DrillRound &round);
    [[nodiscard]] const std::vector<DrillRound> &rounds() const { return m_rounds; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    const Theme &m_theme;
    Duration m_limit{std::chrono::seconds(5)};
    int m_times = 0;
    std::vector<DrillRound> m_rounds;
};

} // namespace tenure::ui
