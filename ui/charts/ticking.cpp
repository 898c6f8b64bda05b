// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/ticking.h"

#include "ui/theme/theme.h"

namespace tenure::ui
{

Ticking::Ticking(const Theme &theme, const Clock &clock, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock)
{
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
    connect(&m_timer, &QTimer::timeout, this, [this] {
        tick();
        update();
        retime();
    });
}

void Ticking::retime()
{
    const Milliseconds every = tickEvery();
    if (!isVisible() || every <= Milliseconds::zero())
        m_timer.stop();
    else if (!m_timer.isActive() || m_timer.intervalAsDuration() != every)
        m_timer.start(every);
}

void Ticking::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    tick();
    retime();
}

void Ticking::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_timer.stop();
}

} // namespace tenure::ui
