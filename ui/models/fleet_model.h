// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_order.h"

#include <QAbstractTableModel>
#include <QTimer>

#include <array>
#include <functional>
#include <unordered_map>
#include <vector>

namespace tenure::ui
{

/// How many leases are in which state, over all sources and before the filter.
struct FleetSummary {
    std::size_t total = 0;
    std::size_t churning = 0;
    std::array<std::size_t, 7> states{}; ///< by LeaseState
    bool operator==(const FleetSummary &) const = default;
};

/// One row a lease over several connections. Built for 10,000 leases and 1,000 changes a second:
/// changes are gathered and told at most 4 times a second, as one dataChanged or one layoutChanged.
/// The order is calm: it is only re-evaluated when nobody looks closely (setCalm) or on resort().
/// Countdowns are not data here: the delegate paints them from the lease's deadline. GUI thread.
class FleetModel final : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Role { KeyConnectionRole = Qt::UserRole, KeyLeaseRole };

    explicit FleetModel(const Clock &clock, QObject *parent);

    /// Borrowed; must be removed before it dies.
    void addSource(LeaseSource *source);
    void removeSource(LeaseSource *source);
    [[nodiscard]] bool hasSources() const;

    void setFilter(LeaseFilter filter);
    void setGroup(FleetGroup group);
    [[nodiscard]] FleetGroup group() const { return m_group; }
    /// The groups as they are listed now; none without grouping.
    struct Group {
        QString title;
        int first = 0; ///< position of its first row
        int count = 0;
        int abnormal = 0;
    };
    [[nodiscard]] std::vector<Group> groups() const;
    /// Is this the first row of a group (but not of the table)?
    [[nodiscard]] bool beginsGroup(int position) const;
    /// Every lease of every connection, whatever filter and order: index of its block, slot, row.
    void forEachTile(
        const std::function<void(std::size_t block, std::uint32_t slot, const FleetRow &row)> &tile) const;
    /// The row in that slot, if it still is the one of this block and place.
    [[nodiscard]] const FleetRow *tileRow(std::uint32_t slot, std::size_t block, std::size_t place) const;
    struct Block {
        ConnectionInfo info;
        LinkState link = LinkState::Connecting;
        std::uint32_t places = 0; ///< one more than the largest place that was given
        bool open = false; ///< false: the connection was closed
    };
    [[nodiscard]] std::vector<Block> blocks() const;
    /// Calm: a pointer or the focus is in the table, rows must not jump.
    void setCalm(bool calm);
    void resort();
    [[nodiscard]] std::size_t wouldMove() const { return m_wouldMove; }
    /// Tells now what was gathered; called by its timer.
    void flush();

    [[nodiscard]] const FleetSummary &summary() const { return m_summary; }
    [[nodiscard]] const FleetRow &row(int position) const;
    [[nodiscard]] FleetKey key(int position) const;
    [[nodiscard]] int positionOf(const FleetKey &key) const; ///< -1: not listed
    [[nodiscard]] const LeaseStatus *status(const FleetRow &row) const;
    [[nodiscard]] const ConnectionInfo &connection(const FleetRow &row) const;
    [[nodiscard]] LinkState link(const FleetRow &row) const;
    /// The worst abnormal rows, worst first, whatever the filter; `total` gets how many there are.
    [[nodiscard]] std::vector<const FleetRow *> worst(std::size_t most, std::size_t *total) const;
    [[nodiscard]] Instant now() const { return m_clock.now(); }
    [[nodiscard]] const Clock &clock() const { return m_clock; }
    /// These leases of connections of these names, in that order, as far as they are known.
    [[nodiscard]] std::vector<const FleetRow *> find(const std::vector<std::pair<QString, std::string>> &wanted) const;
    /// Time spent in flush() since the start, for the bench.
    [[nodiscard]] Duration timeInFlush() const { return m_timeInFlush; }

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

Q_SIGNALS:
    void flushed(); ///< summary, worst() and wouldMove() may have changed

private:
    struct Source {
        LeaseSource *source = nullptr; ///< null: removed
        ConnectionInfo info;
        LinkState link = LinkState::Connecting;
        std::unordered_map<std::string, std::uint32_t> slots;
        std::unordered_map<std::string, std::uint32_t> places; ///< of all names ever seen
    };
    void touch(std::uint32_t source, const std::vector<LeaseId> &leases);
    void forget(std::uint32_t source, const std::vector<LeaseId> &leases);
    void reload(std::uint32_t source);
    std::uint32_t slotFor(std::uint32_t source, const LeaseId &lease);
    void markDirty(std::uint32_t slot);
    void schedule();
    void refreshLinks(Instant now);
    void refresh(FleetRow &row, Instant now);
    void restructure(bool listChanged);
    void dropUnlisted();
    void insertListed();
    void sortUnderView();
    void rebuild();
    void freeGone();
    void count();

    const Clock &m_clock;
    std::vector<Source> m_sources;
    std::vector<FleetRow> m_rows; ///< slots
    std::vector<std::uint32_t> m_free;
    std::vector<std::uint32_t> m_dirty;
    std::vector<std::uint32_t> m_gone;
    FleetOrder m_order{m_rows};
    LeaseFilter m_filter;
    FleetGroup m_group = FleetGroup::None;
    FleetSummary m_summary;
    QTimer m_flushTimer;
    QTimer m_ageTimer; ///< states age without any news
    std::size_t m_wouldMove = 0;
    bool m_calm = false;
    bool m_sweep = false; ///< next flush looks at every row
    Duration m_timeInFlush{};
};

} // namespace tenure::ui
