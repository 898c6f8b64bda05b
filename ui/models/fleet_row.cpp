// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/fleet_row.h"

#include "ui/theme/words.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace tenure::ui
{
namespace
{

constexpr int kChurnRank = 7; // between LATE (6) and OVERDUE (8)

QString tr(const char *source)
{
    return QCoreApplication::translate("Fleet", source);
}

QString dash()
{
    return QString(QChar(0x2013));
}

/// The last leader seen, for a lease that nobody holds now.
const std::string *lastHolder(const LeaseStatus &status)
{
    for (auto term = status.terms.rbegin(); term != status.terms.rend(); ++term) {
        if (!term->holder.empty())
            return &term->holder;
    }
    return nullptr;
}

QString holderCell(const FleetRow &row, LinkState link)
{
    const bool past = row.state == LeaseState::Vacant || row.state == LeaseState::Expired || !isFresh(link);
    if (row.holder.isEmpty())
        return dash();
    return past ? tr("was %1").arg(row.holder) : row.holder;
}

QString leftCell(const LeaseStatus *status, LinkState link, Instant now)
{
    if (!isFresh(link) || status == nullptr)
        return QStringLiteral("?");
    if (const auto left = remainingAt(*status, link, now))
        return ageText(*left);
    return status->record.holder && status->record.remaining == std::nullopt ? tr("no end") : dash();
}

} // namespace

QString ageText(Duration age)
{
    using namespace std::chrono_literals;
    if (age < 10s)
        return QString::number(static_cast<double>(std::max<Duration>(age, 0s).count()) / 1e9, 'f', 1)
            + QStringLiteral(" s");
    return text(age);
}

QString columnTitle(FleetColumn column)
{
    switch (column) {
    case FleetColumn::State:
        return tr("State");
    case FleetColumn::Lease:
        return tr("Lease");
    case FleetColumn::Connection:
        return tr("Connection");
    case FleetColumn::Holder:
        return tr("Holder");
    case FleetColumn::Term:
        return tr("Term");
    case FleetColumn::Left:
        return tr("TTL left");
    case FleetColumn::Renewed:
        return tr("Renewed");
    case FleetColumn::Changes:
        return tr("Chg/1h");
    case FleetColumn::HeldFor:
        return tr("Held for");
    case FleetColumn::Seen:
    case FleetColumn::Count_:
        break;
    }
    return tr("Seen");
}

QString columnTip(FleetColumn column)
{
    switch (column) {
    case FleetColumn::State:
        return tr("What the evidence says now; UNKNOWN when the data is not fresh");
    case FleetColumn::Lease:
        return tr("Name of the lease in its backend");
    case FleetColumn::Connection:
        return tr("Where it is kept");
    case FleetColumn::Holder:
        return tr("Who leads; \"was\" when nobody leads or the data is old");
    case FleetColumn::Term:
        return tr("Fencing token of the present term; grows with every term");
    case FleetColumn::Left:
        return tr("Time until it expires unless it is renewed");
    case FleetColumn::Renewed:
        return tr("Time since the last renewal that was seen");
    case FleetColumn::Changes:
        return tr("Changes of leadership in the last hour, as far as they were seen");
    case FleetColumn::HeldFor:
        return tr("Time since the holder (or nobody) is so");
    case FleetColumn::Seen:
    case FleetColumn::Count_:
        break;
    }
    return tr("Age of the last look at this lease");
}

QString cellText(const FleetRow &row, const LeaseStatus *status, FleetColumn column,
    const QString &connection, LinkState link, Instant now)
{
    switch (column) {
    case FleetColumn::State:
        return word(row.state);
    case FleetColumn::Lease:
        return row.name;
    case FleetColumn::Connection:
        return connection;
    case FleetColumn::Holder:
        return holderCell(row, link);
    case FleetColumn::Term:
        return row.term == 0 ? dash() : QString::number(row.term);
    case FleetColumn::Left:
        return leftCell(status, link, now);
    case FleetColumn::Renewed:
        return isFresh(link) && row.state != LeaseState::Vacant && row.renewed != Instant()
            ? ageText(now - row.renewed)
            : dash();
    case FleetColumn::Changes:
        return status == nullptr ? dash()
                                 : QString::number(status->transitionsSince(now - std::chrono::hours(1)));
    case FleetColumn::HeldFor:
        return isFresh(link) && row.since != Instant() ? ageText(now - row.since) : dash();
    case FleetColumn::Seen:
    case FleetColumn::Count_:
        break;
    }
    return ageText(now - row.seen);
}

QString rowSentence(
    const FleetRow &row, const LeaseStatus *status, const QString &connection, LinkState link, Instant now)
{
    QStringList parts{word(row.state)};
    if (row.churning)
        parts << QStringLiteral("CHURN");
    parts << QString(row.name).replace(QLatin1Char('/'), QLatin1Char(' ')) << connection;
    const bool led = row.state == LeaseState::Held || row.state == LeaseState::Late || row.state == LeaseState::Overdue;
    if (!row.holder.isEmpty())
        parts << holderCell(row, link);
    if (led && status != nullptr)
        parts << tr("%1 left").arg(leftCell(status, link, now));
    else
        parts << cellText(row, status, FleetColumn::HeldFor, connection, link, now);
    return parts.join(QStringLiteral(", "));
}

QString groupWord(FleetGroup group)
{
    constexpr std::array words{"none", "state", "backend", "env", "prefix", "holder"};
    return QLatin1String(words[static_cast<std::size_t>(group)]);
}

FleetGroup groupFromWord(const QString &word)
{
    for (const FleetGroup group : {FleetGroup::State, FleetGroup::Backend, FleetGroup::Environment,
             FleetGroup::Prefix, FleetGroup::Holder}) {
        if (groupWord(group) == word)
            return group;
    }
    return FleetGroup::None;
}

namespace
{

/// "billing/" of "billing/scheduler"; empty when the name has no such sign.
std::string_view prefixOf(std::string_view name)
{
    const auto at = name.find_first_of("/:.");
    return at == std::string_view::npos || at == 0 ? std::string_view() : name.substr(0, at + 1);
}

} // namespace

std::string groupKey(const FleetRow &row, FleetGroup group, const ConnectionInfo &connection)
{
    switch (group) {
    case FleetGroup::None:
        break;
    case FleetGroup::State: // the worst first
        return std::string(1, static_cast<char>('9' - std::min(9, severity(row.state)))) + stateWord(row.state);
    case FleetGroup::Backend:
        return foldForFilter(connection.name.toStdString());
    case FleetGroup::Environment:
        return std::string(1, static_cast<char>('0' + static_cast<int>(connection.where)));
    case FleetGroup::Prefix:
        return std::string(prefixOf(row.foldedName));
    case FleetGroup::Holder:
        return row.foldedHolder;
    }
    return {};
}

QString groupTitle(const FleetRow &row, FleetGroup group, const ConnectionInfo &connection)
{
    switch (group) {
    case FleetGroup::None:
        break;
    case FleetGroup::State:
        return glyph(row.state) + QLatin1Char(' ') + word(row.state);
    case FleetGroup::Backend:
        return connection.name;
    case FleetGroup::Environment:
        return word(connection.where);
    case FleetGroup::Prefix: {
        const std::string_view prefix = prefixOf(row.lease.name());
        return prefix.empty() ? tr("(no prefix)") : shown(prefix);
    }
    case FleetGroup::Holder:
        return row.holder.isEmpty() ? tr("(nobody)") : row.holder;
    }
    return {};
}

bool refreshRow(FleetRow &row, const LeaseStatus &status, LinkState link, Instant now)
{
    const LeaseState state = stateAt(status, link, now);
    const int rank = std::max(severity(state) * 2, status.churning ? kChurnRank : 0);
    const bool keyChanged = rank != row.rank;
    row.state = state;
    row.rank = rank;
    row.churning = status.churning;
    const std::string *holder = status.record.holder ? &*status.record.holder : lastHolder(status);
    const std::string folded = holder == nullptr ? std::string() : foldForFilter(*holder);
    if (folded != row.foldedHolder || row.holder.isEmpty()) {
        row.foldedHolder = folded;
        row.holder = holder == nullptr ? QString() : shown(*holder);
    }
    row.term = status.record.token.value;
    row.changes = status.transitionsSeen;
    row.ends = status.expiresAt.value_or(Instant::max());
    row.renewed = status.lastRenewalAt;
    row.since = status.holderSince;
    row.seen = status.seenAt;
    return keyChanged;
}

} // namespace tenure::ui
