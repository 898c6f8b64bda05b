// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/heartbeat_strip.h"

#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tenure::ui
{
namespace
{

constexpr std::size_t kMostBeats = 60;

} // namespace

HeartbeatStrip::HeartbeatStrip(const Theme &theme, const Clock &clock, QWidget *parent)
    : Ticking(theme, clock, parent)
{
    speak();
    setObjectName(QStringLiteral("heartbeatStrip"));
    setAccessibleName(tr("Renew heartbeat"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setToolTip(tr("The last %1 renewals: tick = renewal, short = late, gap = missed").arg(kMostBeats));
}

std::vector<HeartbeatStrip::Beat> HeartbeatStrip::beatsOf(const LeaseStatus &status, std::size_t most)
{
    std::vector<Beat> out;
    const Duration usual = status.renewInterval.value_or(Duration::zero());
    for (const RenewalSeen &renewal : status.renewals) {
        if (usual > Duration::zero() && renewal.interval > usual * 7 / 4) {
            const double ratio = static_cast<double>(renewal.interval.count())
                / static_cast<double>(usual.count());
            const auto missed = static_cast<std::size_t>(std::max(1.0, std::round(ratio) - 1));
            out.insert(out.end(), std::min(missed, most), Beat::Missed);
        }
        out.push_back(renewal.late ? Beat::Late : Beat::Renewed);
    }
    if (out.size() > most)
        out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(most));
    return out;
}

void HeartbeatStrip::setLease(const LeaseStatus &status)
{
    m_beats = beatsOf(status, kMostBeats);
    const auto late = std::count(m_beats.begin(), m_beats.end(), Beat::Late);
    const auto missed = std::count(m_beats.begin(), m_beats.end(), Beat::Missed);
    setAccessibleDescription(tr("%1 renewals, %2 late, %3 missed")
                                 .arg(m_beats.size() - static_cast<std::size_t>(missed))
                                 .arg(late)
                                 .arg(missed));
    update();
}

QSize HeartbeatStrip::sizeHint() const
{
    return {90 * theme().unit(), 9 * theme().unit()};
}

QSize HeartbeatStrip::minimumSizeHint() const
{
    return {40 * theme().unit(), 9 * theme().unit()};
}

void HeartbeatStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double base = height() - 1.5;
    painter.setPen(QPen(theme().color(Token::Hairline), 1));
    painter.drawLine(QPointF(0, base), QPointF(width(), base));
    if (m_beats.empty()) {
        painter.setPen(theme().color(Token::Muted));
        painter.setFont(theme().font(FontRole::Small));
        painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignLeft, tr("No renewal seen yet"));
        return;
    }
    // Newest at the right edge; the pitch is fixed so that a tick keeps its width as more arrive.
    const double pitch = std::min(width() / static_cast<double>(kMostBeats), theme().unit() * 3.0);
    const double tickWidth = std::max(2.0, pitch * 0.4);
    double x = width() - pitch;
    for (auto beat = m_beats.rbegin(); beat != m_beats.rend(); ++beat, x -= pitch) {
        const QRectF cell(x, 1, tickWidth, base - 1);
        if (*beat == Beat::Renewed) {
            painter.fillRect(cell, theme().color(Token::Bar));
        } else if (*beat == Beat::Late) {
            painter.fillRect(cell.adjusted(0, cell.height() * 0.5, 0, 0), theme().color(Token::Warn));
        } else {
            painter.setPen(QPen(theme().color(Token::Crit), 1.5, Qt::DotLine));
            painter.drawLine(QPointF(x, base - 2), QPointF(x + tickWidth, base - 2));
        }
    }
}

} // namespace tenure::ui
