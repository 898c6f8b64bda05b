// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/copy_as.h"

#include "core/backend/uri.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "ui/theme/words.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
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

/// The URL as libpq takes it: without what is only ours, and without secrets. (QUrl knows neither
/// several hosts nor a socket as a host.)
QString psqlLine(const LeaseStatus &status, const ConnectionInfo &connection)
{
    auto uri = StoreUri::parse(connection.url.toStdString());
    if (!isPostgres(connection) || !uri)
        return {};
    for (const char *ours : {"schema", "mode", "roles", "sslpassword"})
        uri->parameters.erase(ours);
    uri->password.clear();
    return QStringLiteral("psql %1 -c %2").arg(quoted(text(uri->secretText())), quoted(psqlStatement(status, connection)));
}

/// The same Lease for a person's own kubectl.
QString kubectlLine(const LeaseStatus &status, const ConnectionInfo &connection)
{
    if (!isKubernetes(connection))
        return {};
    const QUrl url(connection.url);
    const QString id = text(status.record.lease.name());
    const QString inUrl = url.path().section(QLatin1Char('/'), 1);
    const QString file = QUrlQuery(url).queryItemValue(QStringLiteral("kubeconfig"), QUrl::FullyDecoded);
    QString line = QStringLiteral("kubectl");
    if (!file.isEmpty())
        line += QStringLiteral(" --kubeconfig ") + quoted(file);
    if (!url.host().isEmpty())
        line += QStringLiteral(" --context ") + quoted(connection.url.section(QLatin1String("//"), 1).section(QRegularExpression(QStringLiteral("[/?]")), 0, 0));
    line += QStringLiteral(" -n ") + quoted(inUrl.isEmpty() ? id.section(QLatin1Char('/'), 0, 0) : inUrl);
    return line + QStringLiteral(" get lease ") + quoted(inUrl.isEmpty() ? id.section(QLatin1Char('/'), 1) : id)
        + QStringLiteral(" -o yaml");
}

/// In E'' where it is not plain text, so that no name ends the literal or is something else there.
QString sqlLiteral(const std::string &bytes)
{
    const bool plain = isUtf8(bytes) && printable(bytes, bytes.size()) == bytes
        && bytes.find('\\') == std::string::npos;
    if (plain)
        return QLatin1Char('\'') + text(bytes).replace(QLatin1Char('\''), QLatin1String("''")) + QLatin1Char('\'');
    QString out = QStringLiteral("E'");
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\' && c != '\'')
            out += QLatin1Char(c);
        else
            out += QStringLiteral("\\x%1").arg(byte, 2, 16, QLatin1Char('0'));
    }
    return out + QLatin1Char('\'');
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

bool isPostgres(const ConnectionInfo &connection)
{
    return connection.url.startsWith(QLatin1String("postgres"));
}

bool isKubernetes(const ConnectionInfo &connection)
{
    return connection.url.startsWith(QLatin1String("kubernetes:"));
}

QString ownTable(const ConnectionInfo &connection)
{
    const auto uri = StoreUri::parse(connection.url.toStdString());
    QString schema = text(uri ? uri->parameter("schema", "tenure") : "tenure");
    return QLatin1Char('"') + schema.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QStringLiteral("\".tenure_lease");
}

QString psqlStatement(const LeaseStatus &status, const ConnectionInfo &connection)
{
    for (const RecordFact &fact : status.record.facts) {
        if (fact.name == "sql")
            return text(fact.value);
    }
    return QStringLiteral("SELECT * FROM %1 WHERE name = %2").arg(ownTable(connection), sqlLiteral(status.record.lease.name()));
}

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
    case CopyFormat::Psql:
        return tr("psql command");
    case CopyFormat::Kubectl:
        return tr("kubectl command");
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
    case CopyFormat::Psql:
        return psqlLine(status, connection);
    case CopyFormat::Kubectl:
        return kubectlLine(status, connection);
    case CopyFormat::Json:
        return jsonText(status, connection, link, clock);
    case CopyFormat::Markdown:
        break;
    }
    return markdownLine(status, connection, link, clock);
}

} // namespace tenure::ui
