// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/ttl_ring.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QPainter>

#include <algorithm>

namespace tenure::ui
{

using namespace std::chrono_literals;

TtlRing::TtlRing(const Theme &theme, const Clock &clock, QWidget *parent)
    : Ticking(theme, clock, parent)
{
    speak();
    setObjectName(QStringLiteral("ttlRing"));
    setAccessibleName(tr("Time left"));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void TtlRing::setLease(const LeaseStatus &status, const LinkStatus &link)
{
    m_status = status;
    m_link = link;
    tick();
    retime();
    update();
}

std::optional<Duration> TtlRing::left() const
{
    return remainingAt(m_status, linkStateAt(m_link, now()), now());
}

bool TtlRing::isKnown() const
{
    return isFresh(linkStateAt(m_link, now()));
}

QString TtlRing::text() const
{
    if (!isKnown())
        return QStringLiteral("?");
    if (const auto remaining = left())
        return ui::text(*remaining);
    return m_status.record.holder ? tr("no end") : tr("none");
}

Milliseconds TtlRing::tickEvery() const
{
    const auto remaining = left();
    const bool soon = remaining && *remaining < 10s && *remaining > 0s;
    return soon && theme().motion() == Motion::Full ? 250ms : 1000ms;
}

QString TtlRing::spokenValue() const
{
    const bool counts = left().has_value();
    return counts ? tr("%1 left").arg(text()) : isKnown() ? text() : tr("not known");
}

std::optional<std::pair<double, double>> TtlRing::spokenNumber() const
{
    const auto remaining = left();
    if (!remaining || !m_status.record.ttl)
        return std::nullopt;
    return std::pair(std::chrono::duration<double>(*remaining).count(),
        std::chrono::duration<double>(*m_status.record.ttl).count());
}

void TtlRing::tick()
{
    setAccessibleDescription(text());
    if (const auto remaining = left()) {
        const Duration low = std::max(*remaining - m_status.uncertainty, Duration::zero());
        setToolTip(tr("Between %1 and %2 left: half a round trip either way.")
                       .arg(ui::text(low), ui::text(*remaining + m_status.uncertainty)));
    } else {
        setToolTip(isKnown() ? QString() : tr("Not known: the data is not fresh."));
    }
}

QSize TtlRing::sizeHint() const
{
    const int side = 26 * theme().unit();
    return {side, side};
}

void TtlRing::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double thickness = theme().unit() * 1.75;
    const double side = std::min(width(), height()) - thickness - 2;
    const QRectF circle((width() - side) / 2, (height() - side) / 2, side, side);
    const auto remaining = left();
    const bool known = isKnown();
    painter.setPen(QPen(theme().color(known ? Token::Alt : Token::Stale), known ? thickness : 1.5,
        known ? Qt::SolidLine : Qt::DashLine));
    painter.drawEllipse(circle);

    const LeaseState state = stateAt(m_status, linkStateAt(m_link, now()), now());
    const QColor ink = theme().color(token(state));
    const Duration ttl = m_status.record.ttl ? Duration(*m_status.record.ttl) : 0ns;
    if (remaining && ttl > 0ns) {
        const double share = std::clamp(
            static_cast<double>(remaining->count()) / static_cast<double>(ttl.count()), 0.0, 1.0);
        const QColor arc = state == LeaseState::Held ? theme().color(Token::Bar) : ink;
        painter.setPen(QPen(arc, thickness, Qt::SolidLine, Qt::FlatCap));
        painter.drawArc(circle, 90 * 16, static_cast<int>(share * 360 * 16));
    }
    const QString number = text();
    const auto space = number.lastIndexOf(QLatin1Char(' '));
    const bool hasUnit = remaining && space > 0 && number.count(QLatin1Char(' ')) == 1;
    QFont font = theme().font(FontRole::BigNumber);
    const QString big = hasUnit ? number.left(space) : number;
    while (QFontMetricsF(font).horizontalAdvance(big) > side - 2 * thickness && font.pointSizeF() > 7)
        font.setPointSizeF(font.pointSizeF() * 0.9);
    painter.setPen(ink);
    painter.setFont(font);
    painter.drawText(circle, Qt::AlignCenter, big);
    if (hasUnit) {
        painter.setFont(theme().font(FontRole::Small));
        painter.setPen(theme().color(Token::Muted));
        const double below = QFontMetricsF(font).height() / 2;
        painter.drawText(circle.adjusted(0, below * 1.7, 0, below * 1.7), Qt::AlignCenter,
            tr("%1 left").arg(number.mid(space + 1)));
    }
}

} // namespace tenure::ui
