// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/count_tile.h"

#include "ui/theme/theme.h"

#include <QLocale>
#include <QPainter>

namespace tenure::ui
{

CountTile::CountTile(const Theme &theme, const QString &caption, Token ink, QWidget *parent)
    : QAbstractButton(parent), m_theme(theme), m_ink(ink)
{
    setText(caption);
    setCheckable(true);
    setAutoExclusive(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
    setUnknown();
}

void CountTile::show(const QString &number, const QString &note, bool warns)
{
    m_number = number;
    m_note = note;
    m_warns = warns;
    setAccessibleName(text() + QLatin1Char(' ') + number + (note.isEmpty() ? QString() : QStringLiteral(", ") + note));
    setToolTip(note);
    update();
}

void CountTile::setCount(std::uint64_t count, const QString &note)
{
    // A thin space every three digits, as everywhere in the console.
    QString number = QLocale(QLocale::English).toString(static_cast<qulonglong>(count));
    show(number.replace(QLatin1Char(','), QChar(0x2009)), note, count > 0);
}

void CountTile::setUnknown()
{
    show(QString(QChar(0x2013)), {}, false);
}

void CountTile::setStale(bool stale)
{
    if (stale == m_stale)
        return;
    m_stale = stale;
    update();
}

QSize CountTile::sizeHint() const
{
    const int unit = m_theme.unit();
    const int small = QFontMetrics(m_theme.font(FontRole::Small)).height();
    const int big = QFontMetrics(m_theme.font(FontRole::BigNumber)).height();
    return {38 * unit, 2 * small + big + 4 * unit};
}

void CountTile::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int unit = m_theme.unit();
    const bool ringed = isChecked() || hasFocus();
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    painter.setPen(QPen(m_theme.color(ringed ? Token::Info : Token::Hairline), ringed ? 2 : 1));
    painter.setBrush(m_theme.color(isChecked() ? Token::Selection : underMouse() ? Token::Alt : Token::Bg));
    painter.drawRoundedRect(box, unit, unit);
    const QRect inner = rect().adjusted(3 * unit, 2 * unit, -3 * unit, -2 * unit);
    const auto line = [&](FontRole role, Token ink, const QString &words, int top) {
        const QFont font = m_theme.font(role);
        const QFontMetrics metrics(font);
        painter.setFont(font);
        painter.setPen(m_theme.color(ink));
        const QRect place(inner.left(), top, inner.width(), metrics.height());
        painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(words, Qt::ElideRight, inner.width()));
        return top + metrics.height();
    };
    const Token quiet = m_stale ? Token::Stale : isChecked() ? Token::Text : Token::Muted;
    int top = line(FontRole::Small, isChecked() ? Token::Text : Token::Muted, text(), inner.top());
    top = line(FontRole::BigNumber, m_stale ? Token::Stale : m_warns ? m_ink : Token::Text, m_number, top);
    line(FontRole::Small, quiet, m_note, top);
}

} // namespace tenure::ui
