// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/fleet_model.h"

#include "ui/theme/words.h"

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr auto kFlushEvery = 250ms;
constexpr auto kAgeEvery = 1000ms;
constexpr std::size_t kMostRuns = 64; ///< more separate removals than this are told as a reset

} // namespace

FleetModel::FleetModel(const Clock &clock, QObject *parent) : QAbstractTableModel(parent), m_clock(clock)
{
    m_flushTimer.setSingleShot(true);
    connect(&m_flushTimer, &QTimer::timeout, this, &FleetModel::flush);
    connect(&m_ageTimer, &QTimer::timeout, this, [this] {
        m_sweep = true;
        schedule();
    });
}

void FleetModel::addSource(LeaseSource *source)
{
    const auto index = static_cast<std::uint32_t>(m_sources.size());
    m_sources.push_back({source, source->connection(), linkStateAt(source->link(), now()), {}, {}});
    connect(source, &LeaseSource::leasesChanged, this,
        [this, index](const std::vector<LeaseId> &ids) { touch(index, ids); });
    connect(source, &LeaseSource::leasesRemoved, this,
        [this, index](const std::vector<LeaseId> &ids) { forget(index, ids); });
    connect(source, &LeaseSource::wasReset, this, [this, index] { reload(index); });
    connect(source, &LeaseSource::linkChanged, this, [this, index] {
        const LeaseSource *changed = m_sources[index].source;
        if (changed != nullptr && linkStateAt(changed->link(), now()) != m_sources[index].link) {
            m_sweep = true;
            schedule();
        }
    });
    reload(index);
    m_ageTimer.start(kAgeEvery);
}

void FleetModel::removeSource(LeaseSource *source)
{
    disconnect(source, nullptr, this, nullptr);
    for (Source &known : m_sources) {
        if (known.source != source)
            continue;
        for (const auto &[name, slot] : known.slots) {
            m_rows[slot].gone = true;
            m_gone.push_back(slot);
        }
        known.slots.clear();
        known.source = nullptr;
    }
    flush();
    if (!hasSources())
        m_ageTimer.stop();
}

bool FleetModel::hasSources() const
{
    return std::any_of(
        m_sources.begin(), m_sources.end(), [](const Source &source) { return source.source != nullptr; });
}

std::uint32_t FleetModel::slotFor(std::uint32_t source, const LeaseId &lease)
{
    const auto [found, isNew] = m_sources[source].slots.try_emplace(lease.name(), 0);
    if (!isNew)
        return found->second;
    if (m_free.empty()) {
        m_free.push_back(static_cast<std::uint32_t>(m_rows.size()));
        m_rows.emplace_back();
    }
    const std::uint32_t slot = m_free.back();
    m_free.pop_back();
    FleetRow row;
    row.lease = lease;
    row.name = shown(lease.name());
    row.foldedName = foldForFilter(lease.name());
    row.source = source;
    auto &places = m_sources[source].places;
    row.place = places.try_emplace(lease.name(), static_cast<std::uint32_t>(places.size())).first->second;
    row.used = true;
    m_rows[slot] = std::move(row);
    found->second = slot;
    return slot;
}

void FleetModel::markDirty(std::uint32_t slot)
{
    if (!m_rows[slot].dirty) {
        m_rows[slot].dirty = true;
        m_dirty.push_back(slot);
    }
}

void FleetModel::touch(std::uint32_t source, const std::vector<LeaseId> &leases)
{
    for (const LeaseId &lease : leases)
        markDirty(slotFor(source, lease));
    schedule();
}

void FleetModel::forget(std::uint32_t source, const std::vector<LeaseId> &leases)
{
    for (const LeaseId &lease : leases) {
        const auto found = m_sources[source].slots.find(lease.name());
        if (found == m_sources[source].slots.end())
            continue;
        m_rows[found->second].gone = true;
        m_gone.push_back(found->second);
        m_sources[source].slots.erase(found);
    }
    schedule();
}

void FleetModel::reload(std::uint32_t source)
{
    Source &known = m_sources[source];
    for (const auto &[name, slot] : known.slots) {
        if (known.source->leases().contains(m_rows[slot].lease))
            continue;
        m_rows[slot].gone = true;
        m_gone.push_back(slot);
    }
    std::erase_if(known.slots, [this](const auto &entry) { return m_rows[entry.second].gone; });
    for (const auto &[lease, status] : known.source->leases())
        markDirty(slotFor(source, lease));
    schedule();
}

void FleetModel::schedule()
{
    if (!m_flushTimer.isActive())
        m_flushTimer.start(kFlushEvery);
}

void FleetModel::refreshLinks(Instant now)
{
    for (Source &source : m_sources) {
        if (source.source == nullptr)
            continue;
        const LinkState link = linkStateAt(source.source->link(), now);
        m_sweep = m_sweep || link != source.link;
        source.link = link;
    }
}

void FleetModel::refresh(FleetRow &row, Instant now)
{
    const Source &source = m_sources[row.source];
    const LeaseStatus *status = this->status(row);
    if (status == nullptr)
        return;
    if (refreshRow(row, *status, source.link, now) || m_order.followsEveryLook())
        row.moved = true;
    if (m_group != FleetGroup::None) {
        std::string group = groupKey(row, m_group, source.info);
        if (group != row.group) {
            row.group = std::move(group);
            row.moved = true;
        }
    }
    if (m_filter.isEmpty()) {
        row.matches = true;
        return;
    }
    const std::string connection = foldForFilter(source.info.name.toStdString());
    const std::string environment = shortWord(source.info.where).toStdString();
    row.matches = m_filter.matches({row.foldedName, row.foldedHolder, connection, environment, row.state,
        source.link, status, now});
}

void FleetModel::flush()
{
    const Instant start = BootClock::now();
    const Instant moment = now();
    m_flushTimer.stop();
    refreshLinks(moment);
    if (std::exchange(m_sweep, false)) {
        m_dirty.clear();
        for (std::uint32_t slot = 0; slot < m_rows.size(); ++slot) {
            if (m_rows[slot].used && !m_rows[slot].gone)
                m_dirty.push_back(slot);
        }
    }
    std::uint32_t first = FleetRow::kNowhere;
    std::uint32_t last = 0;
    bool listChanged = !m_gone.empty();
    for (const std::uint32_t slot : m_dirty) {
        FleetRow &row = m_rows[slot];
        row.dirty = false;
        if (row.gone)
            continue;
        refresh(row, moment);
        const bool listed = row.position != FleetRow::kNowhere;
        listChanged = listChanged || listed != row.matches;
        if (listed) {
            first = std::min(first, row.position);
            last = std::max(last, row.position);
        }
    }
    m_dirty.clear();
    if (first != FleetRow::kNowhere)
        Q_EMIT dataChanged(index(static_cast<int>(first), 0), index(static_cast<int>(last), columnCount() - 1));
    restructure(listChanged);
    count();
    m_timeInFlush += BootClock::now() - start;
    Q_EMIT flushed();
}

void FleetModel::restructure(bool listChanged)
{
    if (listChanged) {
        const bool wasEmpty = m_order.slots().empty();
        dropUnlisted();
        insertListed();
        if (wasEmpty)
            sortUnderView();
    }
    m_wouldMove = m_order.outOfPlace();
    if (m_wouldMove > 0 && !m_calm)
        sortUnderView();
}

void FleetModel::dropUnlisted()
{
    const auto listed = [this](std::uint32_t slot) { return !m_rows[slot].gone && m_rows[slot].matches; };
    const std::vector<std::uint32_t> &slots = m_order.slots();
    std::vector<std::pair<std::size_t, std::size_t>> runs; // first, count
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (listed(slots[i]))
            continue;
        if (!runs.empty() && runs.back().first + runs.back().second == i)
            ++runs.back().second;
        else
            runs.emplace_back(i, 1);
    }
    if (runs.size() > kMostRuns) {
        rebuild();
    } else {
        for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
            const auto first = static_cast<int>(run->first);
            beginRemoveRows({}, first, first + static_cast<int>(run->second) - 1);
            m_order.removeAt(run->first, run->second);
            m_order.number();
            endRemoveRows();
        }
    }
    freeGone();
}

void FleetModel::freeGone()
{
    for (const std::uint32_t slot : m_gone) {
        m_rows[slot] = FleetRow();
        m_free.push_back(slot);
    }
    m_gone.clear();
}

void FleetModel::insertListed()
{
    std::vector<std::uint32_t> fresh;
    for (std::uint32_t slot = 0; slot < m_rows.size(); ++slot) {
        const FleetRow &row = m_rows[slot];
        if (row.used && !row.gone && row.matches && row.position == FleetRow::kNowhere)
            fresh.push_back(slot);
    }
    if (fresh.empty())
        return;
    const int at = rowCount();
    beginInsertRows({}, at, at + static_cast<int>(fresh.size()) - 1);
    m_order.append(fresh);
    endInsertRows();
}

void FleetModel::sortUnderView()
{
    Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<std::uint32_t> kept;
    kept.reserve(static_cast<std::size_t>(before.size()));
    for (const QModelIndex &entry : before)
        kept.push_back(m_order.slots()[static_cast<std::size_t>(entry.row())]);
    m_order.sort();
    for (qsizetype i = 0; i < before.size(); ++i) {
        const auto position = m_rows[kept[static_cast<std::size_t>(i)]].position;
        changePersistentIndex(before[i], index(static_cast<int>(position), before[i].column()));
    }
    m_wouldMove = 0;
    Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

void FleetModel::rebuild()
{
    beginResetModel();
    std::vector<std::uint32_t> listed;
    for (std::uint32_t slot = 0; slot < m_rows.size(); ++slot) {
        const FleetRow &row = m_rows[slot];
        if (row.used && !row.gone && row.matches)
            listed.push_back(slot);
    }
    m_order.assign(std::move(listed));
    m_wouldMove = 0;
    endResetModel();
}

void FleetModel::count()
{
    m_summary = {};
    for (const FleetRow &row : m_rows) {
        if (!row.used || row.gone)
            continue;
        ++m_summary.total;
        ++m_summary.states[static_cast<std::size_t>(row.state)];
        if (row.churning)
            ++m_summary.churning;
    }
}

void FleetModel::setFilter(LeaseFilter filter)
{
    m_filter = std::move(filter);
    const Instant moment = now();
    refreshLinks(moment);
    for (FleetRow &row : m_rows) {
        if (row.used && !row.gone)
            refresh(row, moment);
    }
    rebuild();
    count();
    Q_EMIT flushed();
}

void FleetModel::setCalm(bool calm)
{
    m_calm = calm;
    if (!calm && m_wouldMove > 0)
        resort();
}

void FleetModel::resort()
{
    sortUnderView();
    Q_EMIT flushed();
}

void FleetModel::sort(int column, Qt::SortOrder order)
{
    m_order.setKey(static_cast<FleetColumn>(column), order);
    resort();
}

const FleetRow &FleetModel::row(int position) const
{
    return m_rows[m_order.slots()[static_cast<std::size_t>(position)]];
}

FleetKey FleetModel::key(int position) const
{
    const FleetRow &found = row(position);
    return {connection(found).id, found.lease};
}

int FleetModel::positionOf(const FleetKey &key) const
{
    for (const Source &source : m_sources) {
        if (source.source == nullptr || source.info.id != key.connection)
            continue;
        const auto found = source.slots.find(key.lease.name());
        if (found != source.slots.end() && m_rows[found->second].position != FleetRow::kNowhere)
            return static_cast<int>(m_rows[found->second].position);
    }
    return -1;
}

const LeaseStatus *FleetModel::status(const FleetRow &row) const
{
    const LeaseSource *source = m_sources[row.source].source;
    return source == nullptr ? nullptr : source->find(row.lease);
}

const ConnectionInfo &FleetModel::connection(const FleetRow &row) const
{
    return m_sources[row.source].info;
}

LinkState FleetModel::link(const FleetRow &row) const
{
    return m_sources[row.source].link;
}

std::vector<const FleetRow *> FleetModel::worst(std::size_t most, std::size_t *total) const
{
    std::vector<const FleetRow *> out;
    for (const FleetRow &row : m_rows) {
        if (row.used && !row.gone && (isAbnormal(row.state) || row.churning))
            out.push_back(&row);
    }
    *total = out.size();
    const auto kept = static_cast<std::ptrdiff_t>(std::min(most, out.size()));
    std::partial_sort(out.begin(), out.begin() + kept, out.end(), [](const FleetRow *a, const FleetRow *b) {
        return a->rank != b->rank ? a->rank > b->rank : a->foldedName < b->foldedName;
    });
    out.resize(static_cast<std::size_t>(kept));
    return out;
}

int FleetModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_order.slots().size());
}

int FleetModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(FleetColumn::Count_);
}

QVariant FleetModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const FleetRow &found = row(index.row());
    const LeaseStatus *known = status(found);
    const auto column = static_cast<FleetColumn>(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return cellText(found, known, column, connection(found).name, link(found), now());
    case Qt::ToolTipRole:
        return known == nullptr ? QString() : text(explainState(*known, link(found), now()));
    case Qt::AccessibleTextRole:
        return rowSentence(found, known, connection(found).name, link(found), now());
    case KeyConnectionRole:
        return connection(found).id;
    case KeyLeaseRole:
        return QByteArray::fromStdString(found.lease.name());
    default:
        return {};
    }
}

QVariant FleetModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const auto column = static_cast<FleetColumn>(section);
    if (role == Qt::DisplayRole)
        return columnTitle(column);
    const bool isNumber = column == FleetColumn::Term || column == FleetColumn::Renewed
        || column == FleetColumn::HeldFor || column == FleetColumn::Seen;
    if (role == Qt::TextAlignmentRole && isNumber)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    return role == Qt::ToolTipRole ? QVariant(columnTip(column)) : QVariant();
}

} // namespace tenure::ui
