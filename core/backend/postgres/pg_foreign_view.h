// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_connection.h"
#include "core/backend/postgres/pg_foreign.h"
#include "core/backend/store.h"

#include <map>

namespace tenure::postgres
{

/// The locks that other people's libraries keep in this database: their tables and advisory locks,
/// found, read and released. Looking only reads; a table that cannot be read hides no other one.
/// One owner, one thread: that of the store whose connection it is given. A connection that an
/// error made unusable is the caller's to drop.
class ForeignView
{
public:
    /// `roleNames` may stand behind Spring's hashed keys, besides a few usual ones. Tables in
    /// `ownSchema` are not foreign.
    ForeignView(std::vector<std::string> roleNames, std::string ownSchema, std::string where);

    /// May `name` be one of the names given here? Says so by its form alone.
    [[nodiscard]] static bool isForeignName(std::string_view name);
    [[nodiscard]] static bool isForeignCursor(std::string_view cursor);
    [[nodiscard]] static std::string firstCursor();
    /// Looks anew which tables there are. A listing does so by itself now and then.
    [[nodiscard]] Result<void> survey(PgConnection &connection, Instant deadline);
    /// One page: whole tables as far as `pageSize` and a budget of time allow. `page.cursor`
    /// as firstCursor() or a reply gave it; the last reply's is empty.
    [[nodiscard]] Result<Reply> list(PgConnection &connection, const List &page, Instant deadline);
    /// One result a name, in order. What is not there is a vacant record without anything.
    [[nodiscard]] std::vector<Result<Reply>> read(
        PgConnection &connection, const std::vector<LeaseId> &names, Instant deadline);
    /// Compare-and-release of a foreign lease. Conflict: it is not what was seen any more.
    [[nodiscard]] Result<Reply> operate(
        PgConnection &connection, const Operate &operate, Instant deadline);
    /// What was found and cannot be read, one sentence each, for doctor.
    [[nodiscard]] std::vector<std::string> notes() const;

private:
    struct Known {
        ForeignTable table;
        std::string problem; ///< why it is left out until the next discovery
    };
    using Found = std::map<std::string, LeaseRecord>; ///< by name

    [[nodiscard]] Result<void> surveyOnce(PgConnection &connection, Instant deadline);
    [[nodiscard]] Result<void> noteBusyTables(PgConnection &connection, Instant deadline);
    [[nodiscard]] Known *tableOf(std::string_view name);
    struct Place;
    /// True when the table is at its end.
    [[nodiscard]] Result<bool> listTable(
        PgConnection &connection, const List &page, Place &place, Instant deadline, Reply &reply);
    [[nodiscard]] Result<void> readTable(PgConnection &connection, Known &known,
        const std::vector<RowKey> &keys, Instant deadline, Found &found);
    [[nodiscard]] Result<void> leaveOut(
        PgConnection &connection, Known &known, const Error &error) const;
    [[nodiscard]] ForeignRow rowOf(const PgRows &rows, std::size_t at);
    [[nodiscard]] Result<void> readAdvisory(PgConnection &connection,
        const std::vector<std::string> &names, Instant deadline, Found &found);
    [[nodiscard]] Result<Reply> readOne(
        PgConnection &connection, const LeaseId &name, Instant deadline);
    [[nodiscard]] Result<Reply> endSession(
        PgConnection &connection, const Operate &operate, Instant deadline);
    [[nodiscard]] Result<Reply> writeRow(
        PgConnection &connection, const Operate &operate, Instant deadline);
    [[nodiscard]] Result<Reply> written(PgConnection &connection, const Operate &operate,
        const Result<PgRows> &rows, Instant deadline);
    [[nodiscard]] Reply replyWith(LeaseRecord record) const;

    const std::vector<std::string> m_roleNames;
    const std::string m_ownSchema;
    const std::string m_where;
    std::vector<Known> m_tables;
    std::optional<Instant> m_discoveredAt;
    std::optional<WallTime> m_serverTime; ///< of the last answer
    std::string m_advisoryProblem;
};

} // namespace tenure::postgres
