// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_db.h"
#include "core/journal/journal_records.h"
#include "core/journal/journal_schema.h"
#include "core/journal/writer_claims.h"

#include <deque>
#include <future>
#include <span>
#include <tuple>
#include <unordered_map>
#include <variant>

namespace tenure
{

// ---- What waits to be written, its moments already by the wall clock --------------------------

struct ChangeRecord {
    std::string connection;
    Transition transition;
    WallTime at;
};

struct AlertRecord {
    std::string connection;
    std::uint64_t run = 0;
    Alert alert;
    WallTime firstAt, lastAt;
    std::optional<WallTime> until;
};

struct RenewalRecord {
    LeaseKey lease;
    WallTime at;
    RenewalSeen seen;
    Duration roundTrip{};
};

struct ObservedRecord {
    std::string connection;
    WallTime from, until; ///< without a break
    Duration longestPause{}; ///< before `from`, that is no break either
    bool afterLoss = false; ///< records before it were lost: a break, however short
};

struct ActionRecord {
    JournalAction action;
    std::shared_ptr<std::promise<Result<std::uint64_t>>> kept;
};

using JournalRecord
    = std::variant<JournalConnection, ChangeRecord, AlertRecord, RenewalRecord, ObservedRecord, ActionRecord>;

/// Turns records into rows, a batch a transaction. Keeps the last state of each lease and connection
/// in memory, which holds as long as it alone keeps the connection; after an error make a new one.
/// The writer's thread only.
class JournalStore
{
public:
    JournalStore(JournalDb& db, const std::string& path);

    /// All or nothing. Tells every ActionRecord its id once it is committed.
    [[nodiscard]] std::optional<Error> write(std::span<const JournalRecord> records);
    /// Gives up connections of which nothing was told for a while, so that another process may keep
    /// them. `now` by the wall clock.
    void giveUpIdle(WallTime now);
    /// Ids of the connections that another process keeps.
    [[nodiscard]] std::vector<std::string> elsewhere() const;

private:
    struct Span {
        std::int64_t id = 0; ///< 0: not written yet
        std::int64_t from = 0, to = 0;
        bool dirty = false;
    };
    struct Connection {
        std::int64_t id = 0;
        bool mine = false;
        bool theirs = false; ///< another process keeps it
        std::int64_t dark = 0; ///< leases that lost their leader and have none
        WallTime told; ///< of the last record
        std::deque<Span> spans; ///< the last ones, oldest first
    };
    struct Lease {
        std::int64_t id = 0, last = 0, n = 0, dark = 0, holder = 0, flags = 0;
        std::uint64_t token = 0;
        bool dirty = false;
        [[nodiscard]] bool isDark() const { return (flags & change_flags::kDark) != 0; }
    };
    struct Cell {
        std::int64_t n = 0, darkMost = 0, darkEnd = 0, gap = 0;
    };
    struct Renewals {
        std::int64_t n = 0, least = 0, most = 0, sum = 0, late = 0;
        double headroom = 1;
        std::int64_t tripLeast = 0, tripMost = 0, tripSum = 0;
    };
    using Bucket = std::tuple<std::int64_t, std::int64_t, std::int64_t>; ///< whose, level, number

    void take(const JournalConnection& connection);
    void take(const ChangeRecord& record);
    void take(const AlertRecord& record);
    void take(const RenewalRecord& record);
    void take(const ObservedRecord& record);
    void take(const ActionRecord& record);

    Connection& connection(const std::string& uid);
    /// This connection, if it is ours to keep; else nothing.
    Connection* mine(const std::string& uid, WallTime at);
    void loadConnection(Connection& connection);
    Lease& lease(const Connection& connection, const LeaseId& name);
    std::int64_t holder(const std::string& name);
    static std::int64_t observedWithin(const Connection& connection, std::int64_t from, std::int64_t to);
    void witness(Connection& connection, std::int64_t at);
    std::int64_t addSilence(const Connection& connection, Lease& lease, const ChangeRecord& record,
        std::int64_t at);
    void countDensity(const Connection& connection, std::int64_t at, std::int64_t gap, bool counts,
        std::int64_t darkMost);
    void endAlertsOfOthers(const Connection& connection, std::uint64_t run, WallTime at);
    void writeBuckets();
    void writeLeases();
    void writeSpans();

    JournalDb& m_db;
    WriterClaims m_claims;
    std::map<std::string, Connection> m_connections;
    std::unordered_map<std::string, Lease> m_leases; ///< by connection's row and name
    std::unordered_map<std::string, std::int64_t> m_holders;
    std::vector<Lease*> m_dirty;
    std::map<Bucket, Cell> m_cells;
    std::map<Bucket, Renewals> m_renewals;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_gaps;
    std::map<std::int64_t, std::uint64_t> m_alertRuns; ///< last run told, by connection
    std::vector<std::pair<const ActionRecord*, std::uint64_t>> m_kept; ///< of this batch
};

} // namespace tenure
