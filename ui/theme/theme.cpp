// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QFontMetrics>
#include <QStyleFactory>
#include <QStyleHints>
#include <QWidget>

#include <algorithm>

namespace tenure::ui
{

Theme::Theme(QObject *parent)
    : QObject(parent), m_system(QGuiApplication::font()), m_base(m_system)
{
    m_scheme = systemScheme();
    measure();
}

void Theme::measure()
{
    const double size = m_system.pointSizeF() > 0 ? m_system.pointSizeF() : 10;
    m_base = m_system;
    m_base.setPointSizeF(size * m_percent / 100);
    m_unit = std::max(3, QFontMetrics(m_base).height() / 4);
}

void Theme::setTextSize(int percent)
{
    percent = std::clamp(percent, 80, 200);
    if (percent == m_percent)
        return;
    m_percent = percent;
    measure();
    apply();
    Q_EMIT changed();
}

void Theme::setDensity(Density density)
{
    if (density == m_density)
        return;
    m_density = density;
    Q_EMIT changed();
}

void Theme::setMotion(Motion motion)
{
    if (motion == m_motion)
        return;
    m_motion = motion;
    Q_EMIT changed();
}

void Theme::setTimes(TimeShown shown)
{
    if (shown == timeShown())
        return;
    setTimeShown(shown);
    Q_EMIT changed();
}

void Theme::install(QApplication &app)
{
    m_app = &app;
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    app.installEventFilter(this);
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    connect(QGuiApplication::styleHints(), &QStyleHints::colorSchemeChanged, this, &Theme::resolve);
#endif
    resolve();
    apply();
}

void Theme::setChoice(ThemeChoice choice)
{
    m_choice = choice;
    resolve();
}

void Theme::resolve()
{
    const Scheme before = m_scheme;
    switch (m_choice) {
    case ThemeChoice::System:
        m_scheme = systemScheme();
        break;
    case ThemeChoice::Light:
        m_scheme = Scheme::Light;
        break;
    case ThemeChoice::Dark:
        m_scheme = Scheme::Dark;
        break;
    case ThemeChoice::HighContrast:
        m_scheme = Scheme::HighContrast;
        break;
    }
    if (m_scheme == before)
        return;
    apply();
    Q_EMIT changed();
}

void Theme::apply()
{
    if (m_app == nullptr)
        return;
    m_applying = true;
    QApplication::setPalette(palette());
    if (QApplication::font() != m_base)
        QApplication::setFont(m_base);
    m_app->setStyleSheet(styleSheet(*this));
    m_applying = false;
}

Scheme Theme::systemScheme()
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    if (QGuiApplication::styleHints()->colorScheme() == Qt::ColorScheme::Dark)
        return Scheme::Dark;
    if (QGuiApplication::styleHints()->colorScheme() == Qt::ColorScheme::Light)
        return Scheme::Light;
#endif
    // Our own palette hides the system's: take it off for a moment to look beneath.
    const bool wasApplying = std::exchange(m_applying, true);
    if (m_app != nullptr)
        QApplication::setPalette(QPalette());
    const bool dark = QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
    if (m_app != nullptr)
        QApplication::setPalette(palette());
    m_applying = wasApplying;
    return dark ? Scheme::Dark : Scheme::Light;
}

bool Theme::eventFilter(QObject *watched, QEvent *event)
{
    const bool ofSystem = event->type() == QEvent::ApplicationPaletteChange && !m_applying;
    if (watched == m_app && ofSystem && m_choice == ThemeChoice::System)
        QMetaObject::invokeMethod(this, [this] { resolve(); }, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

QFont Theme::font(FontRole role) const
{
    QFont font = m_base;
    const double size = m_base.pointSizeF() > 0 ? m_base.pointSizeF() : 10;
    switch (role) {
    case FontRole::Body:
        break;
    case FontRole::Strong:
        font.setWeight(QFont::DemiBold);
        break;
    case FontRole::Small:
        font.setPointSizeF(size * 0.88);
        break;
    case FontRole::Title:
        font.setPointSizeF(size * 1.35);
        font.setWeight(QFont::DemiBold);
        break;
    case FontRole::BigNumber:
        font.setPointSizeF(size * 2.1);
        [[fallthrough]];
    case FontRole::Number:
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
        font.setFeature("tnum", 1);
#endif
        break;
    case FontRole::Mono:
        font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
        font.setPointSizeF(size * 0.95);
        break;
    }
    return font;
}

QPalette Theme::palette() const
{
    QPalette out;
    const auto set = [&](QPalette::ColorRole role, Token token) { out.setColor(role, color(token)); };
    set(QPalette::Window, Token::Surface);
    set(QPalette::WindowText, Token::Text);
    set(QPalette::Base, Token::Bg);
    set(QPalette::AlternateBase, Token::Surface);
    set(QPalette::Text, Token::Text);
    set(QPalette::Button, Token::Surface);
    set(QPalette::ButtonText, Token::Text);
    set(QPalette::BrightText, Token::Crit);
    set(QPalette::Highlight, Token::Selection);
    set(QPalette::HighlightedText, Token::Text);
    set(QPalette::ToolTipBase, Token::Bg);
    set(QPalette::ToolTipText, Token::Text);
    set(QPalette::PlaceholderText, Token::Muted);
    set(QPalette::Link, Token::Info);
    set(QPalette::LinkVisited, Token::Info);
    set(QPalette::Light, Token::Bg);
    set(QPalette::Midlight, Token::Alt);
    set(QPalette::Mid, Token::Hairline);
    set(QPalette::Dark, Token::Line);
    set(QPalette::Shadow, Token::Line);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText,
             QPalette::HighlightedText})
        out.setColor(QPalette::Disabled, role, color(Token::Muted));
    return out;
}

int Theme::rowHeight() const
{
    return QFontMetrics(m_base).height() + (m_density == Density::Compact ? m_unit / 2 : 2 * m_unit);
}

void useFont(QWidget *widget, const Theme &theme, FontRole role)
{
    widget->setFont(theme.font(role));
    QObject::connect(&theme, &Theme::changed, widget, [widget, &theme, role] {
        if (const QFont font = theme.font(role); widget->font() != font)
            widget->setFont(font);
    });
}

} // namespace tenure::ui
