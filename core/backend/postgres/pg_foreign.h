// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::postgres
{

/// Whose locks a table keeps. The order is that of kFormats.
enum class Format {
    ShedLock,
    Spring, ///< INT_LOCK with EXPIRED_AFTER
    SpringOld, ///< INT_LOCK that only knows CREATED_DATE
    River,
    Oban,
    ObanPython,
    PgLock,
    Vault,
    Quartz,
};

/// Whose clock wrote the times of a row.
enum class RowClock { Server, Holder, Unknown, None };

/// One format as SQL expressions over one row `t`, all of type text, and what to write for a
/// release. `{T}` stands for the table, `{now}` for the server's time in the type of `until`,
/// `$1 $2` for the row's keys, `$3` for the version that was seen, `$4` for seconds, `$5` for by.
struct FormatSql {
    Format format = Format::ShedLock;
    std::string_view kind{}; ///< LeaseRecord::kind
    std::string_view columns{}; ///< "name:S lock_until:D": what a table must have, by type category
    std::string_view until{}; ///< the column that {now} is written to; empty: none
    RowClock clock = RowClock::None;
    std::string_view key1{}, key2{}; ///< key2 empty: one column is the key
    std::string_view holder{}, acquired{}, renewed{}, expires{}, data{};
    std::string_view evidence{}; ///< all that a release compares, for jsonb_build_array
    std::string_view raw{}; ///< for the raw view, for jsonb_build_object
    std::string_view clear{}; ///< statement; empty: this format is never cleared by us
    std::string_view hold{}; ///< statement; empty: cannot be held
    std::string_view ask{}; ///< statement; empty: its holders understand no request
};
[[nodiscard]] const FormatSql &sqlOf(Format format);

/// A table of `pg_catalog` that could keep locks, as discovery sees it.
struct TableSeen {
    std::string schema, name;
    std::string quoted; ///< "public.shedlock", quoted where needed
    std::string columns; ///< "name:S lock_until:D/tz ..." with type categories
    bool mayRead = false, mayUpdate = false, mayDelete = false;
};

/// A table that keeps locks of a known format.
struct ForeignTable {
    Format format = Format::ShedLock;
    std::string schema;
    std::string quoted;
    bool withZone = false; ///< the column that says until when knows a time zone
    bool mayRead = false, mayUpdate = false, mayDelete = false;

    [[nodiscard]] const FormatSql &sql() const { return sqlOf(format); }
    /// "shedlock:public.shedlock/": what the names of its leases begin with.
    [[nodiscard]] std::string prefix() const;
};
/// Which format a table is of, by its columns and their types; nothing when of none.
[[nodiscard]] std::optional<ForeignTable> recognised(const TableSeen &seen);
/// Lists candidates for recognised(): one row a table, columns in the order of TableSeen.
[[nodiscard]] std::string_view discoverySql();

/// The keys of one row. Printed with '/' between them; a '/' in the first of two is "%2F".
struct RowKey {
    std::string first, second;
    auto operator<=>(const RowKey &) const = default;
};
[[nodiscard]] std::string leaseName(const ForeignTable &table, const RowKey &key);
/// Nothing when `name` is no lease of this table.
[[nodiscard]] std::optional<RowKey> rowKey(const ForeignTable &table, std::string_view name);

// ---- Statements ---------------------------------------------------------------------------------

/// A page: $1 $2 the last keys of the page before ('' '' first), $3 how many, and for Spring $4 an
/// array of role names that may stand behind the hashed keys.
[[nodiscard]] std::string listSql(const ForeignTable &table);
/// These rows: $1 $2 arrays of keys (Spring: second is a role name or a hashed key).
[[nodiscard]] std::string readSql(const ForeignTable &table);
enum class ForeignVerb { Ask, Hold, Clear };
/// A plain question for a person's own psql that shows this row.
[[nodiscard]] std::string lookUpSql(const ForeignTable &table, const RowKey &key);
/// Any bytes as a literal, in E'' where they are not plain text.
[[nodiscard]] std::string sqlLiteral(std::string_view bytes);
/// The guarded write, answering one row for each changed one; empty when the format has none.
[[nodiscard]] std::string writeSql(const ForeignTable &table, ForeignVerb verb);

// ---- Rows ---------------------------------------------------------------------------------------

/// One row as listSql() and readSql() answer it, in this order.
struct ForeignRow {
    std::string key1, key2;
    std::optional<std::string> holder;
    std::optional<std::string> acquired, renewed,
        expires; ///< microseconds of the epoch, or "infinity"
    std::string now; ///< microseconds of the epoch
    std::optional<std::string> data;
    std::string version, raw;
};
inline constexpr std::size_t kForeignRowColumns = 10;

/// What the row says. Pure; any bytes do.
[[nodiscard]] LeaseRecord foreignRecord(const ForeignTable &table, const ForeignRow &row);
/// Nothing for what is no number of microseconds; the far past and future are kept within 10,000
/// years.
[[nodiscard]] std::optional<WallTime> wallTimeOf(const std::optional<std::string> &us);

} // namespace tenure::postgres
