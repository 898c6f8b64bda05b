// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/fleet_export.h"

#include "core/base/time_text.h"
#include "ui/theme/words.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>

namespace tenure::ui
{
namespace
{

constexpr std::array kColumns{"state", "lease", "connection", "environment", "holder", "token", "ttl_ms",
    "remaining_ms", "renewed_at", "held_since", "transitions_1h", "churning", "freshness", "observed_at"};
using Values = std::array<QJsonValue, kColumns.size()>;

QJsonValue momentOf(Instant instant, const Clock &clock)
{
    return instant == Instant() ? QJsonValue() : QJsonValue(text(rfc3339(wallOf(instant, clock))));
}

QJsonValue millisecondsOf(std::optional<Duration> duration)
{
    return duration ? QJsonValue(static_cast<qint64>(std::chrono::duration_cast<Milliseconds>(*duration).count()))
                    : QJsonValue();
}

Values valuesOf(const FleetModel &model, int position, const Clock &clock)
{
    const FleetRow &row = model.row(position);
    const LeaseStatus *status = model.status(row);
    const ConnectionInfo &connection = model.connection(row);
    const LinkState link = model.link(row);
    const bool sim = connection.where == Surroundings::Sim;
    Values out;
    out[0] = word(row.state);
    out[1] = shown(row.lease.name());
    out[2] = sim ? QStringLiteral("SIM ") + connection.name : connection.name;
    out[3] = word(connection.where);
    out[4] = row.holder.isEmpty() ? QJsonValue() : QJsonValue(row.holder);
    // As text: a token may be larger than what JSON's readers keep exactly.
    out[5] = row.term == 0 ? QJsonValue() : QJsonValue(QString::number(row.term));
    if (status != nullptr) {
        out[6] = status->record.ttl ? millisecondsOf(Duration(*status->record.ttl)) : QJsonValue();
        out[7] = millisecondsOf(remainingAt(*status, link, model.now()));
        out[10] = static_cast<qint64>(status->transitionsSince(model.now() - std::chrono::hours(1)));
    }
    out[8] = momentOf(row.renewed, clock);
    out[9] = momentOf(row.since, clock);
    out[11] = row.churning;
    out[12] = word(link);
    out[13] = momentOf(row.seen, clock);
    return out;
}

QString plain(const QJsonValue &value)
{
    if (value.isNull() || value.isUndefined())
        return {};
    return value.isBool() ? (value.toBool() ? QStringLiteral("true") : QStringLiteral("false")) : value.toVariant().toString();
}

} // namespace

QString csvField(const QString &field)
{
    QString out = field;
    static const QString kFormulas = QStringLiteral("=+-@\t\r");
    if (!out.isEmpty() && kFormulas.contains(out.front()))
        out.prepend(QLatin1Char('\''));
    const bool quoted = out.contains(QLatin1Char(',')) || out.contains(QLatin1Char('"'))
        || out.contains(QLatin1Char('\n')) || out.contains(QLatin1Char('\r'));
    if (!quoted)
        return out;
    return QLatin1Char('"') + out.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

QByteArray fleetCsv(const FleetModel &model, const Clock &clock)
{
    QStringList lines;
    QStringList head;
    for (const char *column : kColumns)
        head << QLatin1String(column);
    lines << head.join(QLatin1Char(','));
    for (int i = 0; i < model.rowCount(); ++i) {
        QStringList fields;
        for (const QJsonValue &value : valuesOf(model, i, clock))
            fields << csvField(plain(value));
        lines << fields.join(QLatin1Char(','));
    }
    return lines.join(QStringLiteral("\r\n")).toUtf8() + "\r\n";
}

QByteArray fleetJson(const FleetModel &model, const Clock &clock)
{
    QJsonArray leases;
    for (int i = 0; i < model.rowCount(); ++i) {
        const Values values = valuesOf(model, i, clock);
        QJsonObject lease;
        for (std::size_t k = 0; k < kColumns.size(); ++k)
            lease.insert(QLatin1String(kColumns[k]), values[k]);
        leases.append(lease);
    }
    return QJsonDocument(QJsonObject{{QStringLiteral("exported_at"), text(rfc3339(clock.wall()))},
        {QStringLiteral("leases"), leases}}).toJson();
}

} // namespace tenure::ui
