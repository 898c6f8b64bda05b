// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/tone.h"

#include "ui/theme/tokens.h"

#include <QApplication>
#include <QLabel>
#include <QPalette>
#include <QStyle>
#include <QVariant>

namespace tenure::ui
{
namespace
{

const char *roleOf(Tone tone)
{
    switch (tone) {
    case Tone::Normal:
        return "";
    case Tone::Muted:
        return "caption";
    case Tone::Warning:
        return "warn";
    case Tone::Critical:
        return "crit";
    case Tone::Stale:
        return "stale";
    case Tone::Info:
        return "info";
    }
    return "";
}

Token tokenOf(Tone tone)
{
    switch (tone) {
    case Tone::Normal:
        return Token::Text;
    case Tone::Muted:
        return Token::Muted;
    case Tone::Warning:
        return Token::Warn;
    case Tone::Critical:
        return Token::Crit;
    case Tone::Stale:
        return Token::Stale;
    case Tone::Info:
        return Token::Info;
    }
    return Token::Text;
}

} // namespace

QColor toneColor(Tone tone)
{
    const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    return tokenColor(dark ? Scheme::Dark : Scheme::Light, tokenOf(tone));
}

void setTone(QLabel *label, Tone tone)
{
    const QString role = QLatin1String(roleOf(tone));
    if (label->property("role").toString() == role)
        return;
    label->setProperty("role", role);
    label->style()->unpolish(label);
    label->style()->polish(label);
}

} // namespace tenure::ui
