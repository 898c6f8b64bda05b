// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/events_model.h"

#include "core/base/time_text.h"
#include "ui/theme/words.h"

#include <algorithm>
#include <array>

namespace tenure::ui
{

using namespace std::chrono_literals;

EventsModel::EventsModel(const Clock &clock, std::optional<LeaseId> only, QObject *parent)
    : QAbstractTableModel(parent), m_clock(clock), m_only(std::move(only))
{
    m_flushTimer.setSingleShot(true);
    connect(&m_flushTimer, &QTimer::timeout, this, &EventsModel::flush);
}

void EventsModel::addSource(LeaseSource *source)
{
    connect(source, &LeaseSource::transitionsAdded, this,
        [this, source](std::size_t howMany) { take(source, howMany); });
    take(source, source->transitions().size());
    flush();
}

void EventsModel::removeSource(LeaseSource *source)
{
    disconnect(source, nullptr, this, nullptr);
    const QString id = source->connection().id;
    const auto ofSource = [&](const Entry &entry) { return entry.connectionId == id; };
    beginResetModel();
    std::erase_if(m_entries, ofSource);
    std::erase_if(m_waiting, ofSource);
    endResetModel();
}

void EventsModel::take(LeaseSource *source, std::size_t howMany)
{
    const std::vector<Transition> &all = source->transitions();
    const ConnectionInfo info = source->connection();
    for (std::size_t i = all.size() - std::min(howMany, all.size()); i < all.size(); ++i) {
        if (!m_only || all[i].lease == *m_only)
            m_waiting.push_back({info.id, info.name, all[i]});
    }
    if (!m_flushTimer.isActive())
        m_flushTimer.start(250ms);
}

void EventsModel::flush()
{
    m_flushTimer.stop();
    if (m_waiting.empty())
        return;
    // Two connections report in turns: within one batch the moment decides.
    std::stable_sort(m_waiting.begin(), m_waiting.end(),
        [](const Entry &a, const Entry &b) { return a.transition.at < b.transition.at; });
    if (m_waiting.size() > kMost)
        m_waiting.erase(m_waiting.begin(), m_waiting.end() - static_cast<std::ptrdiff_t>(kMost));
    beginInsertRows({}, 0, static_cast<int>(m_waiting.size()) - 1);
    for (Entry &entry : m_waiting)
        m_entries.push_front(std::move(entry));
    m_waiting.clear();
    endInsertRows();
    if (m_entries.size() > kMost) {
        beginRemoveRows({}, static_cast<int>(kMost), static_cast<int>(m_entries.size()) - 1);
        m_entries.resize(kMost);
        endRemoveRows();
    }
}

int EventsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int EventsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(EventColumn::Count_);
}

QString EventsModel::text(const Entry &entry, EventColumn column) const
{
    const Transition &change = entry.transition;
    const QString nobody(QChar(0x2013));
    switch (column) {
    case EventColumn::Time:
        return timeText(change.serverTime.value_or(change.wall), m_clock.wall());
    case EventColumn::Connection:
        return entry.connection;
    case EventColumn::Lease:
        return shown(change.lease.name());
    case EventColumn::Change:
        return ui::text(std::string_view(transitionWord(change.kind)));
    case EventColumn::From:
        return change.oldHolder.empty() ? nobody : shown(change.oldHolder);
    case EventColumn::To:
        return change.newHolder.empty() ? nobody : shown(change.newHolder);
    case EventColumn::Gap:
        return change.gap ? ui::text(*change.gap) : QString();
    case EventColumn::Explanation:
    case EventColumn::Count_:
        break;
    }
    QString why = zoned(shown(change.explanation), change.serverTime.value_or(change.wall));
    if (change.inBlindSpot)
        why = tr("(while not observed) ") + why;
    return why;
}

QVariant EventsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Entry &found = entry(index.row());
    const auto column = static_cast<EventColumn>(index.column());
    if (role == Qt::DisplayRole)
        return text(found, column);
    if (role == Qt::ToolTipRole)
        return column == EventColumn::Time
            ? ui::text(rfc3339(found.transition.serverTime.value_or(found.transition.wall)))
            : text(found, column);
    if (role == Qt::TextAlignmentRole && column == EventColumn::Gap)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    return {};
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    if (role == Qt::TextAlignmentRole && static_cast<EventColumn>(section) == EventColumn::Gap)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole)
        return {};
    const std::array<QString, static_cast<std::size_t>(EventColumn::Count_)> titles{tr("Time (%1)").arg(zoneText()),
        tr("Connection"), tr("Lease"), tr("Change"), tr("From"), tr("To"), tr("No leader"), tr("What happened")};
    return titles[static_cast<std::size_t>(section)];
}

} // namespace tenure::ui
