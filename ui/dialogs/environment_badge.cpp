// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/environment_badge.h"

#include "ui/bridge/profile_store.h"
#include "ui/theme/tokens.h"

#include <QApplication>
#include <QPainter>
#include <QPainterPath>

#include <utility>

namespace tenure::ui
{
namespace
{

std::pair<Token, Token> tokensOf(Environment environment)
{
    switch (environment) {
    case Environment::Production:
        return {Token::ProdBand, Token::OnProdBand};
    case Environment::Staging:
        return {Token::StageBand, Token::OnStageBand};
    case Environment::Development:
        return {Token::DevBand, Token::OnDevBand};
    case Environment::Sim:
        return {Token::SimBand, Token::OnSimBand};
    }
    return {Token::DevBand, Token::OnDevBand};
}

} // namespace

EnvironmentBadge::EnvironmentBadge(Environment environment, QString name, QWidget *parent)
    : QWidget(parent), m_environment(environment), m_name(std::move(name))
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setEnvironment(m_environment, m_name);
}

void EnvironmentBadge::setEnvironment(Environment environment, const QString &name)
{
    m_environment = environment;
    m_name = name;
    setAccessibleName(text());
    updateGeometry();
    update();
}

QString EnvironmentBadge::text() const
{
    const QString word = environmentWord(m_environment);
    const QString glyph = m_environment == Environment::Sim ? QStringLiteral("◇ ") : QString();
    return m_name.isEmpty() ? glyph + word : glyph + word + QStringLiteral("  ") + m_name;
}

QSize EnvironmentBadge::sizeHint() const
{
    QFont bold = font();
    bold.setWeight(QFont::Bold);
    const QFontMetrics metrics(bold);
    return {metrics.horizontalAdvance(text()) + metrics.height() * 2, metrics.height() * 7 / 4};
}

void EnvironmentBadge::paintEvent(QPaintEvent *)
{
    const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    const Scheme scheme = dark ? Scheme::Dark : Scheme::Light;
    const auto [back, front] = tokensOf(m_environment);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int height = fontMetrics().height();
    QPainterPath shape;
    shape.addRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), height / 5.0, height / 5.0);
    painter.fillPath(shape, tokenColor(scheme, back));
    if (m_environment == Environment::Staging) { // stripes at both ends, never behind the word
        painter.setClipPath(shape);
        painter.setPen(QPen(tokenColor(scheme, front), height / 8.0));
        for (int x = 0; x < height; x += height / 3) {
            painter.drawLine(QPointF(x - height / 2.0, rect().height()), QPointF(x, 0));
            const double right = width() - x;
            painter.drawLine(QPointF(right, rect().height()), QPointF(right + height / 2.0, 0));
        }
        painter.setClipping(false);
    }
    QFont bold = font();
    bold.setWeight(QFont::Bold);
    painter.setFont(bold);
    painter.setPen(tokenColor(scheme, front));
    painter.drawText(rect(), Qt::AlignCenter, text());
}

} // namespace tenure::ui
