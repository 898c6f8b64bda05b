// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/copy_as.h"

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "ui/theme/words.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QUrl>
#include <QUrlQuery>

namespace tenure::ui
{
namespace
{

QString quoted(const QString &word)
{
    return text(shellQuoted(word.toStdString()));
}

QString redisLine(const LeaseStatus &status, const ConnectionInfo &connection)
{
    const QUrl url(connection.url);
    if (!url.scheme().startsWith(QLatin1String("redis")) || url.scheme().contains(QLatin1String("sentinel")))
        return {};
    const QString key = QUrlQuery(url).queryItemValue(QStringLiteral("prefix")) + text(status.record.lease.name());
    QString line = QStringLiteral("redis-cli");
    if (url.scheme() == QLatin1String("redis+unix")) {
        line += QStringLiteral(" -s ") + quoted(url.path());
    } else {
        line += QStringLiteral(" -h %1 -p %2").arg(quoted(url.host())).arg(url.port(6379));
        if (url.path().size() > 1)
            line += QStringLiteral(" -n ") + quoted(url.path().mid(1));
        if (url.scheme() == QLatin1String("rediss"))
            line += QStringLiteral(" --tls");
    }
    return line + QStringLiteral(" GET ") + quoted(key);
}

QString jsonText(const LeaseStatus &status, const ConnectionInfo &connection, const LinkStatus &link, const Clock &clock)
{
    const LinkState state = linkStateAt(link, clock.now());
    const auto left = remainingAt(status, state, clock.now());
    const auto millis = [](auto duration) {
        return QJsonValue(static_cast<double>(std::chrono::duration_cast<Milliseconds>(duration).count()));
    };
    QJsonObject out;
    out[QStringLiteral("backend")] = connection.url;
    out[QStringLiteral("lease")] = shown(status.record.lease.name());
    out[QStringLiteral("kind")] = shown(status.record.kind);
    out[QStringLiteral("state")] = text(std::string_view(stateJson(stateAt(status, state, clock.now()))));
    out[QStringLiteral("holder")] = status.record.holder ? QJsonValue(shown(*status.record.holder)) : QJsonValue();
    // A string: a token is larger than JSON readers keep exactly.
    out[QStringLiteral("token")] = QString::number(status.record.token.value);
    out[QStringLiteral("ttl_ms")] = status.record.ttl ? millis(*status.record.ttl) : QJsonValue();
    out[QStringLiteral("remaining_ms")] = left ? millis(*left) : QJsonValue();
    out[QStringLiteral("observed_at")] = text(rfc3339(wallOf(status.seenAt, clock)));
    out[QStringLiteral("freshness")] = word(state);
    return QString::fromUtf8(QJsonDocument(out).toJson(QJsonDocument::Compact));
}

QString markdownLine(const LeaseStatus &status, const ConnectionInfo &connection, const LinkStatus &link, const Clock &clock)
{
    const LinkState state = linkStateAt(link, clock.now());
    return QStringLiteral("- %1 `%2` on %3 (%4%5): %6")
        .arg(text(rfc3339(clock.wall())), shown(status.record.lease.name()).replace(QLatin1Char('`'), QLatin1Char('\'')),
            connection.name, connection.where == Surroundings::Sim ? QStringLiteral("SIM, ") : QString(),
            text(linkText(link, clock.now())), text(explainState(status, state, clock.now())));
}

} // namespace

QString title(CopyFormat format)
{
    const auto tr = [](const char *source) { return QCoreApplication::translate("CopyAs", source); };
    switch (format) {
    case CopyFormat::Name:
        return tr("Name");
    case CopyFormat::Tenurectl:
        return tr("tenurectl command");
    case CopyFormat::RedisCli:
        return tr("redis-cli command");
    case CopyFormat::Json:
        return tr("JSON");
    case CopyFormat::Markdown:
        break;
    }
    return tr("Markdown incident line");
}

QString copyAs(CopyFormat format, const LeaseStatus &status, const ConnectionInfo &connection,
    const LinkStatus &link, const Clock &clock)
{
    switch (format) {
    case CopyFormat::Name:
        return shown(status.record.lease.name());
    case CopyFormat::Tenurectl:
        return QStringLiteral("tenurectl show %1 %2").arg(quoted(connection.url), quoted(text(status.record.lease.name())));
    case CopyFormat::RedisCli:
        return redisLine(status, connection);
    case CopyFormat::Json:
        return jsonText(status, connection, link, clock);
    case CopyFormat::Markdown:
        break;
    }
    return markdownLine(status, connection, link, clock);
}

} // namespace tenure::ui
