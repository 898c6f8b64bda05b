// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/words.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <QDateTime>
#include <QRegularExpression>

namespace tenure::ui
{
namespace
{

TimeShown currentlyShown = TimeShown::Utc; // GUI thread

QDateTime dateTime(Qt::TimeSpec spec, WallTime when)
{
    const auto msecs = std::chrono::floor<std::chrono::milliseconds>(when).time_since_epoch().count();
    const QDateTime local = QDateTime::fromMSecsSinceEpoch(msecs);
    return spec == Qt::UTC ? local.toUTC() : local;
}

QString clockIn(Qt::TimeSpec spec, WallTime when, WallTime today)
{
    const QDateTime moment = dateTime(spec, when);
    const bool sameDay = moment.date() == dateTime(spec, today).date();
    return moment.toString(sameDay ? QStringLiteral("HH:mm:ss") : QStringLiteral("MM-dd HH:mm:ss"));
}

} // namespace

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

void setTimeShown(TimeShown shown)
{
    currentlyShown = shown;
}

TimeShown timeShown()
{
    return currentlyShown;
}

QString zoneText()
{
    const QString local = QDateTime::currentDateTime().timeZoneAbbreviation();
    switch (currentlyShown) {
    case TimeShown::Utc:
        break;
    case TimeShown::Local:
        return local;
    case TimeShown::Both:
        return QStringLiteral("UTC / ") + local;
    }
    return QStringLiteral("UTC");
}

QString timeText(WallTime when, WallTime today)
{
    switch (currentlyShown) {
    case TimeShown::Utc:
        break;
    case TimeShown::Local:
        return clockIn(Qt::LocalTime, when, today);
    case TimeShown::Both:
        return clockIn(Qt::UTC, when, today) + QStringLiteral(" / ") + clockIn(Qt::LocalTime, when, today);
    }
    return clockIn(Qt::UTC, when, today);
}

QString stampText(WallTime when, WallTime today)
{
    const QString utc = clockIn(Qt::UTC, when, today) + QStringLiteral(" UTC");
    if (currentlyShown == TimeShown::Utc)
        return utc;
    const QDateTime moment = dateTime(Qt::LocalTime, when);
    const QString local = clockIn(Qt::LocalTime, when, today) + QLatin1Char(' ') + moment.timeZoneAbbreviation();
    return currentlyShown == TimeShown::Local ? local
                                              : utc + QStringLiteral(" (") + local + QLatin1Char(')');
}

QString axisText(WallTime when, Duration step, WallTime today)
{
    using namespace std::chrono_literals;
    const Qt::TimeSpec spec = currentlyShown == TimeShown::Local ? Qt::LocalTime : Qt::UTC;
    if (step >= 24h)
        return dateTime(spec, when).toString(QStringLiteral("MM-dd"));
    QString label = clockIn(spec, when, today);
    if (step >= 1min)
        label.chop(3);
    return label;
}

QString zoned(const QString &sentence, WallTime near)
{
    if (currentlyShown == TimeShown::Utc)
        return sentence;
    static const QRegularExpression kMoment(QStringLiteral("\\b(\\d\\d:\\d\\d:\\d\\d)(\\.\\d)\\b"));
    QString out;
    qsizetype done = 0;
    for (auto found = kMoment.globalMatch(sentence); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        QDateTime moment = dateTime(Qt::UTC, near);
        moment.setTime(QTime::fromString(match.captured(1), QStringLiteral("HH:mm:ss")));
        if (moment > dateTime(Qt::UTC, near).addSecs(60))
            moment = moment.addDays(-1);
        const QString local = moment.toLocalTime().toString(QStringLiteral("HH:mm:ss")) + match.captured(2);
        out += sentence.mid(done, match.capturedStart() - done);
        out += currentlyShown == TimeShown::Local ? local : match.captured() + QStringLiteral(" / ") + local;
        done = match.capturedEnd();
    }
    return out + sentence.mid(done);
}

} // namespace tenure::ui
