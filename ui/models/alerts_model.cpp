// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/alerts_model.h"

#include "ui/theme/words.h"

#include <algorithm>
#include <tuple>

namespace tenure::ui
{

AlertsModel::AlertsModel(const Clock &clock, QObject *parent) : QAbstractListModel(parent), m_clock(clock) { }

void AlertsModel::addSource(LeaseSource *source)
{
    m_sources.push_back(source);
    connect(source, &LeaseSource::alertsChanged, this, &AlertsModel::reload);
    connect(source, &LeaseSource::wasReset, this, &AlertsModel::reload);
    reload();
}

void AlertsModel::removeSource(LeaseSource *source)
{
    disconnect(source, nullptr, this, nullptr);
    std::erase(m_sources, source);
    reload();
}

void AlertsModel::reload()
{
    std::vector<Entry> fresh;
    for (LeaseSource *source : m_sources) {
        const ConnectionInfo info = source->connection();
        for (const auto &[id, alert] : source->alerts())
            fresh.push_back({source, info.id, info.name, alert});
    }
    // The newest of equals first, by when it began: an alert keeps its place while it lasts.
    const auto key = [](const Entry &entry) {
        return std::tuple(entry.alert.state, entry.alert.priority, -entry.alert.firstAt.time_since_epoch().count(), entry.alert.id);
    };
    std::sort(fresh.begin(), fresh.end(), [&](const Entry &a, const Entry &b) { return key(a) < key(b); });
    const bool sameRows = std::equal(fresh.begin(), fresh.end(), m_entries.begin(), m_entries.end(),
        [](const Entry &a, const Entry &b) { return a.source == b.source && a.alert.id == b.alert.id; });
    if (sameRows) {
        m_entries = std::move(fresh);
        if (!m_entries.empty())
            Q_EMIT dataChanged(index(0), index(rowCount() - 1));
    } else {
        beginResetModel();
        m_entries = std::move(fresh);
        endResetModel();
    }
    Q_EMIT countsChanged();
}

int AlertsModel::countOf(AlertState state) const
{
    return static_cast<int>(std::count_if(m_entries.begin(), m_entries.end(),
        [state](const Entry &entry) { return entry.alert.state == state; }));
}

int AlertsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

QVariant AlertsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Entry &found = entry(index.row());
    const Alert &alert = found.alert;
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
        return tr("P%1 %2 %3 on %4: %5")
            .arg(alert.priority)
            .arg(shown(alert.rule).toUpper(), shown(alert.lease.name()), found.connection, shown(alert.text));
    return role == Qt::ToolTipRole ? QVariant(shown(alert.action)) : QVariant();
}

} // namespace tenure::ui
