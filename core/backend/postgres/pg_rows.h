// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lease_row.h"
#include "core/backend/postgres/pg_connection.h"

namespace tenure::postgres
{

/// The statements for one schema (resources/sql).
struct Statements {
    explicit Statements(const std::string &schema);
    std::string acquire;
    std::string awaitingAcquire; ///< waits for the holder's end, if that is near
    // For one lease and the usual case; no row in the answer: the statement above must judge.
    std::string quickAcquire, quickAwaitingAcquire, quickRelease;
    std::string renew, release, operate, read, list, init;
    std::string makeSchema;
    std::string tail; ///< of the history: has its files and indexes open before the first write
    std::string channel; ///< of the notifications
    std::string makeRow; ///< a vacant row, for a hold on a name that nobody ever had
};

/// One row of an answer. Its moments are the server's, put on the scale of Instant.
struct Answered {
    std::string_view name; ///< lives in the rows
    std::string_view verdict;
    LeaseRow row;
    RowTime at;
    std::optional<Duration> retryIn;
};
[[nodiscard]] Answered answeredAt(const PgRows &rows, std::size_t index);

/// A token as the table keeps it.
[[nodiscard]] std::int64_t storedToken(FencingToken token);

/// The record as Reply carries it.
[[nodiscard]] Reply replyOf(const Answered &answered, const LeaseId &lease, Outcome outcome,
    ReadDepth depth = ReadDepth::Full);

/// What stands before the first wildcard of a glob.
[[nodiscard]] std::string literalStart(std::string_view glob);

} // namespace tenure::postgres
