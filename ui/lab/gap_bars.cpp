// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/gap_bars.h"

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>

namespace tenure::ui
{
namespace
{

QString gapText(const DrillRound &round)
{
    if (round.to.empty())
        return GapBars::tr("> %1").arg(QString::fromStdString(durationText(round.gap)));
    return GapBars::tr("%1 ± %2").arg(QString::fromStdString(durationText(round.gap)),
        QString::fromStdString(durationText(round.uncertainty)));
}

QString fromText(const DrillRound &round)
{
    return QString::fromStdString(printable(round.from, 60));
}

QString toText(const DrillRound &round)
{
    return round.to.empty() ? GapBars::tr("nobody") : QString::fromStdString(printable(round.to, 60));
}

} // namespace

GapBars::GapBars(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    setObjectName(QStringLiteral("gapBars"));
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void GapBars::begin(Duration limit, int times)
{
    m_limit = limit;
    m_times = times;
    m_rounds.clear();
    updateGeometry();
    update();
}

void GapBars::add(const DrillRound &round)
{
    m_rounds.push_back(round);
    QStringList lines;
    for (std::size_t i = 0; i < m_rounds.size(); ++i) {
        lines << tr("Round %1: from %2 to %3, %4, %5").arg(i + 1).arg(fromText(m_rounds[i]), toText(m_rounds[i]),
            gapText(m_rounds[i]), m_rounds[i].passed ? tr("within the limit") : tr("FAILED"));
    }
    setAccessibleName(tr("Time without a leader in each round"));
    setAccessibleDescription(lines.join(QLatin1Char('\n')));
    updateGeometry();
    update();
}

QSize GapBars::sizeHint() const
{
    const int rows = std::max(m_times, static_cast<int>(m_rounds.size()));
    return {120 * m_theme.unit(), (rows + 1) * m_theme.rowHeight()};
}

void GapBars::paintEvent(QPaintEvent *)
{
    if (m_times == 0)
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int unit = m_theme.unit();
    const int row = m_theme.rowHeight();
    const int number = 8 * unit;
    const int who = std::clamp(width() * 2 / 5, 40 * unit, 90 * unit);
    const int result = 44 * unit;
    const int left = number + who + 4 * unit;
    const int room = std::max(20 * unit, width() - left - result);
    Duration most = m_limit;
    for (const DrillRound &round : m_rounds)
        most = std::max(most, round.gap);
    const auto x = [&](Duration gap) {
        return left + static_cast<int>(static_cast<double>(room) * 0.95 * static_cast<double>(gap.count()) / static_cast<double>(std::max<std::int64_t>(most.count(), 1)));
    };
    painter.setFont(m_theme.font(FontRole::Small));
    painter.setPen(m_theme.color(Token::Muted));
    painter.drawText(QRect(left, 0, width() - left, row), Qt::AlignVCenter | Qt::AlignLeft,
        tr("time without a leader; limit %1").arg(QString::fromStdString(durationText(m_limit))));
    painter.setFont(m_theme.font(FontRole::Number));
    const QFontMetrics metrics(painter.font());
    for (int i = 0; i < std::max(m_times, static_cast<int>(m_rounds.size())); ++i) {
        const int top = (i + 1) * row;
        painter.setPen(m_theme.color(Token::Muted));
        painter.drawText(QRect(0, top, number - 2 * unit, row), Qt::AlignVCenter | Qt::AlignRight, QString::number(i + 1));
        if (i >= static_cast<int>(m_rounds.size()))
            continue;
        const DrillRound &round = m_rounds[static_cast<std::size_t>(i)];
        painter.setPen(m_theme.color(Token::Text));
        // Each name keeps both its ends, and the arrow always shows.
        const QString arrow = QStringLiteral("  →  ");
        const int half = (who - metrics.horizontalAdvance(arrow)) / 2;
        painter.drawText(QRect(number, top, who, row), Qt::AlignVCenter | Qt::AlignLeft,
            metrics.elidedText(fromText(round), Qt::ElideMiddle, half) + arrow + metrics.elidedText(toText(round), Qt::ElideMiddle, half));
        const QRect bar(left, top + row / 4, std::max(x(round.gap) - left, unit / 2), row / 2);
        painter.fillRect(bar, m_theme.color(round.passed ? Token::Bar : Token::Crit));
        painter.setPen(m_theme.color(round.passed ? Token::Text : Token::Crit));
        painter.drawText(QRect(bar.right() + 2 * unit, top, width() - bar.right() - 2 * unit, row), Qt::AlignVCenter | Qt::AlignLeft,
            gapText(round) + (round.passed ? QString() : tr("  FAILED")));
    }
    painter.setPen(QPen(m_theme.color(Token::Muted), 1, Qt::DashLine));
    painter.drawLine(x(m_limit), row, x(m_limit), height());
}

} // namespace tenure::ui
