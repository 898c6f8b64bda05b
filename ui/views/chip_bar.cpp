// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/chip_bar.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHBoxLayout>
#include <QLocale>
#include <QPainter>

#include <array>

namespace tenure::ui
{
namespace
{

struct ChipInk {
    Token text, fill, edge;
    Qt::PenStyle pen;
};

ChipInk inkOf(Chip::Shape shape)
{
    switch (shape) {
    case Chip::Shape::Warn:
        return {Token::OnWarnChip, Token::WarnChip, Token::WarnChip, Qt::SolidLine};
    case Chip::Shape::Crit:
        return {Token::OnCritChip, Token::CritChip, Token::CritChip, Qt::SolidLine};
    case Chip::Shape::Stale:
        return {Token::OnStaleChip, Token::StaleChip, Token::Stale, Qt::DashLine};
    case Chip::Shape::Plain:
        break;
    }
    return {Token::Text, Token::Bg, Token::Hairline, Qt::SolidLine};
}

Chip::Shape shapeOf(LeaseState state)
{
    switch (state) {
    case LeaseState::Late:
    case LeaseState::Overdue:
        return Chip::Shape::Warn;
    case LeaseState::Expired:
    case LeaseState::Vacant:
        return Chip::Shape::Crit;
    case LeaseState::Unknown:
        return Chip::Shape::Stale;
    case LeaseState::Held:
    case LeaseState::OperatorHold:
        break;
    }
    return Chip::Shape::Plain;
}

} // namespace

Chip::Chip(const Theme &theme, Shape shape, QString glyph, QString word, QWidget *parent)
    : QAbstractButton(parent), m_theme(theme), m_shape(shape), m_glyph(std::move(glyph)), m_word(std::move(word))
{
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Chip::setCount(std::size_t count)
{
    const qsizetype before = label().size();
    m_count = count;
    setAccessibleName(label());
    if (label().size() != before)
        updateGeometry();
    update();
}

QString Chip::label() const
{
    const QString number = QLocale(QLocale::English).toString(static_cast<qulonglong>(m_count)).replace(QLatin1Char(','), QChar(0x2009));
    return (m_glyph.isEmpty() ? QString() : m_glyph + QStringLiteral("  ")) + number + QLatin1Char(' ') + m_word;
}

QSize Chip::sizeHint() const
{
    const QFontMetrics metrics(m_theme.font(FontRole::Strong));
    return {metrics.horizontalAdvance(label()) + 6 * m_theme.unit(), m_theme.rowHeight()};
}

void Chip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const ChipInk ink = inkOf(m_shape);
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    const double radius = m_shape == Shape::Warn || m_shape == Shape::Plain ? box.height() / 2 : m_theme.unit();
    const bool marked = isChecked() || hasFocus();
    painter.setPen(QPen(m_theme.color(marked ? Token::Info : ink.edge), marked ? 2 : 1.25, marked ? Qt::SolidLine : ink.pen));
    painter.setBrush(m_theme.color(m_shape == Shape::Plain && (isChecked() || underMouse()) ? Token::Selection : ink.fill));
    painter.drawRoundedRect(box, radius, radius);
    painter.setFont(m_theme.font(m_shape == Shape::Plain ? FontRole::Body : FontRole::Strong));
    painter.setPen(m_theme.color(ink.text));
    painter.drawText(rect(), Qt::AlignCenter, label());
}

ChipBar::ChipBar(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    setObjectName(QStringLiteral("chipBar"));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * theme.unit());
    m_all = add(Chip::Shape::Plain, QString(), tr("leases"), QString());
    constexpr std::array worstFirst{LeaseState::Expired, LeaseState::Vacant, LeaseState::Overdue, LeaseState::Late};
    for (const LeaseState state : worstFirst)
        m_states[state] = add(shapeOf(state), glyph(state), word(state), QStringLiteral("state:") + word(state).toLower());
    m_churn = add(Chip::Shape::Warn, churnGlyph(), QStringLiteral("CHURN"), QStringLiteral("state:churn"));
    for (const LeaseState state : {LeaseState::Unknown, LeaseState::OperatorHold, LeaseState::Held})
        m_states[state] = add(shapeOf(state), glyph(state), word(state), QStringLiteral("state:") + word(state).toLower());
    row->addStretch(1);
    setSummary({});
}

Chip *ChipBar::add(Chip::Shape shape, const QString &glyph, const QString &word, const QString &filter)
{
    auto *chip = new Chip(m_theme, shape, glyph, word, this);
    chip->setObjectName(QStringLiteral("chip_") + word.toLower());
    chip->setProperty("filter", filter);
    chip->setToolTip(filter.isEmpty() ? tr("Show all") : tr("Show only these: %1").arg(filter));
    layout()->addWidget(chip);
    connect(chip, &Chip::clicked, this,
        [this, chip, filter] { Q_EMIT filterPicked(chip->isChecked() ? filter : QString()); });
    return chip;
}

void ChipBar::setSummary(const FleetSummary &summary)
{
    m_all->setCount(summary.total);
    m_churn->setCount(summary.churning);
    m_churn->setVisible(summary.churning > 0);
    for (const auto &[state, chip] : m_states) {
        const std::size_t count = summary.states[static_cast<std::size_t>(state)];
        chip->setCount(count);
        chip->setVisible(count > 0 || state == LeaseState::Held);
    }
}

void ChipBar::setFilter(const QString &filter)
{
    for (Chip *chip : findChildren<Chip *>()) {
        const QString own = chip->property("filter").toString();
        chip->setChecked(!own.isEmpty() && own == filter.trimmed());
    }
}

} // namespace tenure::ui
