// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/freshness_chip.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QPainter>

namespace tenure::ui
{

FreshnessChip::FreshnessChip(const Theme &theme, const Clock &clock, QWidget *parent)
    : Ticking(theme, clock, parent)
{
    setObjectName(QStringLiteral("freshnessChip"));
    setAccessibleName(tr("Freshness of the data"));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    tick();
}

void FreshnessChip::setLink(const LinkStatus &link)
{
    m_link = link;
    tick();
    update();
}

QString FreshnessChip::text() const
{
    QString out = ui::text(linkText(m_link, now()));
    if (m_link.simulated)
        out = QStringLiteral("SIM ") + out;
    return out;
}

void FreshnessChip::tick()
{
    const QString fresh = text();
    setAccessibleDescription(fresh);
    if (fresh == m_shownText)
        return;
    const bool grows = fresh.size() != m_shownText.size();
    m_shownText = fresh;
    if (grows)
        updateGeometry();
    QString tip = fresh;
    if (!m_link.pushHow.empty())
        tip += QLatin1Char('\n') + shown(m_link.pushHow);
    if (m_link.error)
        tip += QLatin1Char('\n') + shown(m_link.error->text());
    if (m_link.roundTrip)
        tip += QLatin1Char('\n') + tr("Round trip %1").arg(ui::text(*m_link.roundTrip));
    setToolTip(tip);
}

QSize FreshnessChip::sizeHint() const
{
    const QFontMetrics metrics(theme().font(FontRole::Strong));
    const int unit = theme().unit();
    return {metrics.horizontalAdvance(m_shownText) + 4 * unit, metrics.height() + unit};
}

void FreshnessChip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const LinkState state = linkStateAt(m_link, now());
    const QColor ink = theme().color(
        state == LinkState::Stale || state == LinkState::Disconnected ? Token::OnStaleChip : token(state));
    const QRectF box = QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75);
    const double radius = theme().unit();
    if (state == LinkState::Stale || state == LinkState::Disconnected) {
        painter.setPen(QPen(theme().color(Token::Stale), 1.5,
            state == LinkState::Stale ? Qt::DashLine : Qt::SolidLine));
        painter.setBrush(theme().color(Token::StaleChip));
        painter.drawRoundedRect(box, radius, radius);
        if (state == LinkState::Disconnected) {
            QColor hatch = theme().color(Token::Stale);
            hatch.setAlphaF(0.22F);
            painter.setPen(Qt::NoPen);
            painter.setBrush(QBrush(hatch, Qt::BDiagPattern));
            painter.drawRoundedRect(box, radius, radius);
        }
    } else if (state == LinkState::Denied || state == LinkState::Paused) {
        painter.setPen(QPen(ink, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box, radius, radius);
    }
    const QFont font = theme().font(isFresh(state) ? FontRole::Number : FontRole::Strong);
    painter.setFont(font);
    painter.setPen(ink);
    painter.drawText(rect(), Qt::AlignCenter, QFontMetrics(font).elidedText(m_shownText, Qt::ElideRight, width() - theme().unit()));
    if (state == LinkState::Polling) {
        painter.setPen(QPen(theme().color(Token::Line), 1.5, Qt::DotLine));
        painter.drawLine(QPointF(2.0 * theme().unit(), height() - 1.5),
            QPointF(width() - 2.0 * theme().unit(), height() - 1.5));
    }
}

} // namespace tenure::ui
