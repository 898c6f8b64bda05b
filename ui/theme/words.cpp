// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/words.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

namespace tenure::ui
{

QString shown(std::string_view bytes)
{
    return text(printable(bytes));
}

QString text(std::string_view utf8)
{
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

QString text(Duration duration)
{
    return text(durationText(duration));
}

QString word(LeaseState state)
{
    return text(std::string_view(stateWord(state)));
}

QString glyph(LeaseState state)
{
    return text(std::string_view(stateGlyph(state)));
}

QString word(LinkState state)
{
    return text(std::string_view(linkWord(state)));
}

QString churnGlyph()
{
    return QString(QChar(0x224B));
}

Token token(LeaseState state)
{
    switch (state) {
    case LeaseState::Held:
        return Token::Text;
    case LeaseState::Late:
    case LeaseState::Overdue:
        return Token::Warn;
    case LeaseState::Expired:
    case LeaseState::Vacant:
        return Token::Crit;
    case LeaseState::OperatorHold:
        return Token::Info;
    case LeaseState::Unknown:
        break;
    }
    return Token::Stale;
}

Token token(LinkState state)
{
    switch (state) {
    case LinkState::Live:
    case LinkState::Polling:
        return Token::Text;
    case LinkState::Connecting:
        return Token::Muted;
    case LinkState::Paused:
        return Token::Info;
    case LinkState::Denied:
        return Token::Crit;
    case LinkState::Stale:
    case LinkState::Disconnected:
        break;
    }
    return Token::Stale;
}

bool isAbnormal(LeaseState state)
{
    return state != LeaseState::Held && state != LeaseState::Unknown;
}

WallTime wallOf(Instant instant, const Clock &clock)
{
    const auto ago = std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - instant);
    return clock.wall() - ago;
}

QString timeText(WallTime when, WallTime today)
{
    using std::chrono::days;
    const QString full = text(rfc3339(when));
    const QString clock = full.mid(11, 8);
    const bool sameDay = std::chrono::floor<days>(when) == std::chrono::floor<days>(today);
    return sameDay ? clock : full.mid(5, 5) + QLatin1Char(' ') + clock;
}

} // namespace tenure::ui
