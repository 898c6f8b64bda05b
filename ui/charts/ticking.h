// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <QTimer>
#include <QWidget>

namespace tenure::ui
{

class Theme;

/// Base of the painted widgets: repaints when the theme changes and, while it can be seen, once a
/// tickEvery(), because what it shows ages by itself. Hidden it costs nothing. GUI thread.
class Ticking : public QWidget
{
    Q_OBJECT
public:
    Ticking(const Theme &theme, const Clock &clock, QWidget *parent);

protected:
    [[nodiscard]] const Theme &theme() const { return m_theme; }
    [[nodiscard]] const Clock &clock() const { return m_clock; }
    [[nodiscard]] Instant now() const { return m_clock.now(); }
    /// How soon it looks different by itself; zero: never.
    [[nodiscard]] virtual Milliseconds tickEvery() const { return std::chrono::seconds(1); }
    /// Called before each repaint by time: for tooltips and accessible text.
    virtual void tick() { }
    void retime();

    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    const Theme &m_theme;
    const Clock &m_clock;
    QTimer m_timer;
};

} // namespace tenure::ui
