// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/lease_source.h"

#include <QAbstractListModel>

#include <vector>

namespace tenure::ui
{

/// The alerts of all connections: unacknowledged before the rest, worst first, resolved ones last.
class AlertsModel final : public QAbstractListModel
{
    Q_OBJECT
public:
    AlertsModel(const Clock &clock, QObject *parent);
    void addSource(LeaseSource *source);
    void removeSource(LeaseSource *source);

    struct Entry {
        LeaseSource *source = nullptr;
        QString connectionId, connection;
        Alert alert;
    };
    [[nodiscard]] const Entry &entry(int row) const { return m_entries[static_cast<std::size_t>(row)]; }
    [[nodiscard]] const std::vector<LeaseSource *> &sources() const { return m_sources; }
    [[nodiscard]] int countOf(AlertState state) const;
    [[nodiscard]] Instant now() const { return m_clock.now(); }

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;

Q_SIGNALS:
    void countsChanged();

private:
    void reload();

    const Clock &m_clock;
    std::vector<LeaseSource *> m_sources;
    std::vector<Entry> m_entries;
};

} // namespace tenure::ui
