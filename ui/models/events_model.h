// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/lease_source.h"

#include <QAbstractTableModel>
#include <QTimer>

#include <deque>
#include <optional>

namespace tenure::ui
{

enum class EventColumn { Time, Connection, Lease, Change, From, To, Gap, Explanation, Count_ };

/// The changes of leadership of all connections, newest first, the last 10,000; or of one lease.
class EventsModel final : public QAbstractTableModel
{
    Q_OBJECT
public:
    static constexpr std::size_t kMost = 10000;
    /// `only`: just this lease.
    EventsModel(const Clock &clock, std::optional<LeaseId> only, QObject *parent);
    void addSource(LeaseSource *source);
    void removeSource(LeaseSource *source);
    void flush();

    struct Entry {
        QString connectionId, connection;
        Transition transition;
    };
    [[nodiscard]] const Entry &entry(int row) const { return m_entries[static_cast<std::size_t>(row)]; }

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void take(LeaseSource *source, std::size_t howMany);
    [[nodiscard]] QString text(const Entry &entry, EventColumn column) const;

    const Clock &m_clock;
    std::optional<LeaseId> m_only;
    std::deque<Entry> m_entries; ///< newest first
    std::vector<Entry> m_waiting; ///< newest last
    QTimer m_flushTimer;
};

} // namespace tenure::ui
