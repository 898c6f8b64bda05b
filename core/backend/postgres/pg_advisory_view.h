// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/record.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::postgres
{

/// Whose key an advisory lock has: one bigint, or a pair of ints.
struct AdvisoryKey {
    bool pair = false;
    std::int64_t one = 0; ///< the bigint, or the first int
    std::int32_t two = 0; ///< of a pair
    auto operator<=>(const AdvisoryKey &) const = default;
};
/// "advisory:-42" or "advisory:7,-9".
[[nodiscard]] std::string advisoryName(const AdvisoryKey &key);
/// Nothing when `name` is no such name.
[[nodiscard]] std::optional<AdvisoryKey> advisoryKey(std::string_view name);
/// The key of a lease: that of a name like "advisory:42" or "advisory:7,-9" (so that hand-written
/// loops compete with us), else the first 64 bits of the name's SHA-256.
[[nodiscard]] AdvisoryKey keyOf(const LeaseId &lease);
/// The statement with the lease's name before it, where pg_stat_activity shows it: a key does not
/// tell the name that it was made from.
[[nodiscard]] std::string markedFor(const LeaseId &lease, std::string_view sql);
/// As pg_locks shows it. `objsubid` 1: one bigint, 2: a pair.
[[nodiscard]] AdvisoryKey advisoryKeyOf(std::uint32_t classid, std::uint32_t objid, int objsubid);

/// One session that holds or waits for an advisory lock, as advisorySql() answers it, in this
/// order.
struct AdvisoryRow {
    std::uint32_t classid = 0, objid = 0;
    int objsubid = 1;
    int pid = 0; ///< 0: a prepared transaction
    std::string mode; ///< "ExclusiveLock", "ShareLock"
    bool granted = false;
    std::string application, user;
    std::string client; ///< "10.0.0.5", empty for a unix socket or when it is hidden from this role
    int port = -1;
    std::optional<std::string> startUs; ///< of the session; nothing: hidden from this role
    std::string state; ///< "idle", "active", "idle in transaction"
    std::optional<std::string> stateUs, transactionUs, waitUs; ///< since when
    std::string backend; ///< "client backend"
    std::string nowUs;
    std::string version; ///< evidence of this very hold; empty when the session's start is hidden
    std::string mark; ///< what markedFor() wrote; anybody may have written it
};
inline constexpr std::size_t kAdvisoryColumns = 19;

/// All advisory locks of the database at hand. With `$1` not null only those of the keys in the
/// arrays $1 (classid) $2 (objid) $3 (objsubid), and of the sessions that hold one of them.
[[nodiscard]] std::string_view advisorySql();
/// Ends the session that holds the lock: $1 pid, $2 the version seen. One row, true, when it was
/// told to end; none when anything is not as it was seen.
[[nodiscard]] std::string_view endSessionSql();

/// One record for each key, in the order of the keys, with a fact "lease" where a mark tells the name
/// that the key was made from. Pure.
[[nodiscard]] std::vector<LeaseRecord> advisoryRecords(std::span<const AdvisoryRow> rows);

} // namespace tenure::postgres
