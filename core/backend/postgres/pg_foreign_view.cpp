// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_foreign_view.h"

#include "core/backend/postgres/pg_advisory_view.h"
#include "core/backend/postgres/pg_errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenure::postgres
{
namespace
{

using namespace std::chrono_literals;

/// A listing looks for new tables when the last look is older than this.
constexpr Duration kDiscoverEvery = 60s;
constexpr Duration kPageBudget = 150ms;
constexpr std::size_t kMaxRows = 1000;
constexpr std::string_view kCursor = "foreign:";

constexpr std::array<std::string_view, 8> kKinds{
    "shedlock:", "spring:", "river:", "oban:", "pglock:", "vault:", "quartz:", "advisory:"};

/// Names under which Spring's leader initiators and lock registries are usually used.
constexpr std::array<const char *, 5> kUsualRoles{
    "leader", "lock", "scheduler", "cluster", "default"};

/// Who holds or wants a table for itself alone: to read it would be to wait, and to be waited for.
constexpr const char *kBusySql
    = "SELECT l.relation::regclass::text, coalesce(min(l.pid), 0)::text FROM pg_catalog.pg_locks l "
      "WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock' AND l.pid <> "
      "pg_catalog.pg_backend_pid() "
      "AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = "
      "current_database()) "
      "AND l.relation IN (SELECT pg_catalog.to_regclass(t) FROM unnest($1::text[]) AS t) GROUP BY "
      "1";

std::optional<std::string> textOrNull(const PgRows &rows, std::size_t row, std::size_t column)
{
    if (rows.isNull(row, column))
        return std::nullopt;
    return std::string(rows.text(row, column));
}

AdvisoryRow advisoryRow(const PgRows &rows, std::size_t at)
{
    const auto text = [&](std::size_t column) { return std::string(rows.text(at, column)); };
    AdvisoryRow row;
    row.classid = static_cast<std::uint32_t>(rows.number(at, 0));
    row.objid = static_cast<std::uint32_t>(rows.number(at, 1));
    row.objsubid = static_cast<int>(rows.number(at, 2));
    row.pid = static_cast<int>(rows.number(at, 3));
    row.mode = text(4);
    row.granted = rows.truth(at, 5);
    row.application = text(6);
    row.user = text(7);
    row.client = text(8);
    row.port = static_cast<int>(rows.number(at, 9));
    row.startUs = textOrNull(rows, at, 10);
    row.state = text(11);
    row.stateUs = textOrNull(rows, at, 12);
    row.transactionUs = textOrNull(rows, at, 13);
    row.waitUs = textOrNull(rows, at, 14);
    row.backend = text(15);
    row.nowUs = text(16);
    row.version = text(17);
    row.mark = text(18);
    return row;
}

std::string readingProblem(const ForeignTable &table, const std::string &why)
{
    return "A table of the format \"" + std::string(table.sql().kind) + "\", "
        + printable(table.quoted, 120) + ", is not shown: " + why;
}

bool isSpring(const ForeignTable &table)
{
    return table.format == Format::Spring || table.format == Format::SpringOld;
}

} // namespace

/// Where a listing stands.
struct ForeignView::Place {
    std::size_t table = 0; ///< 0: advisory locks, else one more than the index
    RowKey after; ///< the last row told

    [[nodiscard]] std::string text() const
    {
        return std::string(kCursor) + std::to_string(table) + ":"
            + std::to_string(after.first.size()) + ":" + after.first + after.second;
    }
    /// The start for what cannot be understood.
    static Place of(std::string_view text)
    {
        Place place;
        std::size_t length = 0;
        if (!isForeignCursor(text))
            return place;
        text.remove_prefix(kCursor.size());
        const auto table = std::from_chars(text.data(), text.data() + text.size(), place.table);
        text.remove_prefix(
            std::min(text.size(), static_cast<std::size_t>(table.ptr - text.data()) + 1));
        const auto first = std::from_chars(text.data(), text.data() + text.size(), length);
        text.remove_prefix(
            std::min(text.size(), static_cast<std::size_t>(first.ptr - text.data()) + 1));
        place.after.first = text.substr(0, length);
        place.after.second = text.substr(std::min(length, text.size()));
        return place;
    }
};

ForeignView::ForeignView(
    std::vector<std::string> roleNames, std::string ownSchema, std::string where)
    : m_roleNames(std::move(roleNames)), m_ownSchema(std::move(ownSchema)),
      m_where(std::move(where))
{
}

bool ForeignView::isForeignName(std::string_view name)
{
    if (advisoryKey(name))
        return true;
    // "shedlock:public.shedlock/nightly": a kind, a qualified table, a row.
    return std::any_of(kKinds.begin(), kKinds.end(), [&](std::string_view kind) {
        return name.starts_with(kind) && name.find('.') != std::string_view::npos
            && name.find('/') != std::string_view::npos;
    });
}

bool ForeignView::isForeignCursor(std::string_view cursor)
{
    return cursor.starts_with(kCursor);
}

std::string ForeignView::firstCursor()
{
    return Place().text();
}

std::vector<std::string> ForeignView::notes() const
{
    std::vector<std::string> out;
    for (const Known &known : m_tables) {
        if (!known.problem.empty())
            out.push_back(known.problem);
    }
    if (!m_advisoryProblem.empty())
        out.push_back(m_advisoryProblem);
    return out;
}

// ---- Finding ------------------------------------------------------------------------------------

Result<void> ForeignView::survey(PgConnection &connection, Instant deadline)
{
    const auto rows = connection.ask(std::string(discoverySql()), {}, deadline);
    if (!rows)
        return fail(rows.error());
    m_tables.clear();
    for (std::size_t i = 0; i < rows->size(); ++i) {
        TableSeen seen;
        seen.schema = rows->text(i, 0);
        seen.name = rows->text(i, 1);
        seen.quoted = rows->text(i, 2);
        seen.columns = rows->text(i, 3);
        seen.mayRead = rows->truth(i, 4);
        seen.mayUpdate = rows->truth(i, 5);
        seen.mayDelete = rows->truth(i, 6);
        const auto table = recognised(seen);
        if (!table || seen.schema == m_ownSchema)
            continue;
        Known known{*table, {}};
        if (!table->mayRead) {
            known.problem = readingProblem(*table,
                "this role may not read it (GRANT SELECT ON " + printable(table->quoted, 120)
                    + ")");
        }
        m_tables.push_back(std::move(known));
    }
    m_discoveredAt = BootClock::now();
    return {};
}

Result<void> ForeignView::surveyOnce(PgConnection &connection, Instant deadline)
{
    return m_discoveredAt ? Result<void>() : survey(connection, deadline);
}

/// Leaves out what somebody holds for himself alone (a migration): waiting for it would stall the
/// rest.
Result<void> ForeignView::noteBusyTables(PgConnection &connection, Instant deadline)
{
    PgArray names;
    bool any = false;
    for (const Known &known : m_tables) {
        if (known.table.mayRead) {
            names.add(known.table.quoted);
            any = true;
        }
    }
    if (!any)
        return {};
    const auto rows = connection.ask(kBusySql, {names.text()}, deadline);
    if (!rows)
        return fail(rows.error());
    for (Known &known : m_tables) {
        constexpr std::string_view kBusy = "its table is locked";
        if (known.problem.find(kBusy) != std::string::npos)
            known.problem.clear();
        for (std::size_t i = 0; i < rows->size(); ++i) {
            if (rows->text(i, 0) == known.table.quoted) {
                known.problem = readingProblem(known.table,
                    std::string(kBusy) + " by session " + std::string(rows->text(i, 1)));
            }
        }
    }
    return {};
}

ForeignView::Known *ForeignView::tableOf(std::string_view name)
{
    const auto found = std::find_if(m_tables.begin(), m_tables.end(),
        [&](const Known &known) { return rowKey(known.table, name).has_value(); });
    return found == m_tables.end() ? nullptr : &*found;
}

/// One table's error hides that table only, unless the connection went with it.
Result<void> ForeignView::leaveOut(PgConnection &connection, Known &known, const Error &error) const
{
    if (!connection.usable() || error.recovery != Recovery::Backoff
        || error.kind == ErrorKind::Unavailable)
        return fail(error);
    known.problem = readingProblem(known.table, error.what);
    return {};
}

// ---- Listing ------------------------------------------------------------------------------------

ForeignRow ForeignView::rowOf(const PgRows &rows, std::size_t at)
{
    ForeignRow row;
    row.key1 = rows.text(at, 0);
    row.key2 = rows.text(at, 1);
    row.holder = textOrNull(rows, at, 2);
    row.acquired = textOrNull(rows, at, 3);
    row.renewed = textOrNull(rows, at, 4);
    row.expires = textOrNull(rows, at, 5);
    row.now = rows.text(at, 6);
    row.data = textOrNull(rows, at, 7);
    row.version = rows.text(at, 8);
    row.raw = rows.text(at, 9);
    m_serverTime = wallTimeOf(row.now);
    return row;
}

Result<bool> ForeignView::listTable(
    PgConnection &connection, const List &page, Place &place, Instant deadline, Reply &reply)
{
    Known &known = m_tables[place.table - 1];
    if (!known.problem.empty())
        return true;
    const std::size_t limit = std::clamp<std::size_t>(page.pageSize, 10, kMaxRows);
    std::vector<PgValue> values{place.after.first, place.after.second, std::to_string(limit)};
    if (isSpring(known.table)) {
        PgArray roles;
        for (const char *role : kUsualRoles)
            roles.add(role);
        for (const std::string &role : m_roleNames)
            roles.add(role);
        values.push_back(roles.text());
    }
    const auto rows = connection.ask(listSql(known.table), values, deadline);
    if (!rows) {
        if (auto left = leaveOut(connection, known, rows.error()); !left)
            return fail(std::move(left.error()));
        return true;
    }
    for (std::size_t i = 0; i < rows->size(); ++i) {
        const ForeignRow row = rowOf(*rows, i);
        place.after = {row.key1, row.key2};
        LeaseRecord record = foreignRecord(known.table, row);
        if (globMatch(page.glob, record.lease.name()))
            reply.records.push_back(std::move(record));
    }
    return rows->size() < limit;
}

Result<Reply> ForeignView::list(PgConnection &connection, const List &page, Instant deadline)
{
    const Instant began = BootClock::now();
    Place place = Place::of(page.cursor);
    if (page.cursor == firstCursor()
        && (!m_discoveredAt || began - *m_discoveredAt > kDiscoverEvery)) {
        if (auto found = survey(connection, deadline); !found)
            return fail(std::move(found.error()));
    }
    if (auto found = surveyOnce(connection, deadline); !found)
        return fail(std::move(found.error()));
    m_serverTime.reset();
    Reply reply;
    if (place.table == 0) {
        if (auto noted = noteBusyTables(connection, deadline); !noted)
            return fail(std::move(noted.error()));
        Found found;
        if (auto read = readAdvisory(connection, {}, deadline, found); !read)
            return fail(std::move(read.error()));
        for (auto &[name, record] : found) {
            if (globMatch(page.glob, name))
                reply.records.push_back(std::move(record));
        }
        place.table = 1;
    }
    while (place.table <= m_tables.size()) {
        if (reply.records.size() >= page.pageSize || BootClock::now() - began > kPageBudget) {
            reply.cursor = place.text();
            break;
        }
        const auto ended = listTable(connection, page, place, deadline, reply);
        if (!ended)
            return fail(ended.error());
        if (*ended)
            place = {place.table + 1, {}};
    }
    reply.serverTime = m_serverTime;
    return reply;
}

// ---- Reading ------------------------------------------------------------------------------------

Result<void> ForeignView::readAdvisory(
    PgConnection &connection, const std::vector<std::string> &names, Instant deadline, Found &found)
{
    PgArray classids, objids, kinds;
    for (const std::string &name : names) {
        const AdvisoryKey key = *advisoryKey(name);
        const auto whole = static_cast<std::uint64_t>(key.one);
        classids.add(key.pair ? static_cast<std::int64_t>(static_cast<std::uint32_t>(key.one))
                              : static_cast<std::int64_t>(whole >> 32));
        objids.add(key.pair ? static_cast<std::int64_t>(static_cast<std::uint32_t>(key.two))
                            : static_cast<std::int64_t>(whole & 0xffffffffU));
        kinds.add(static_cast<std::int64_t>(key.pair ? 2 : 1));
    }
    const bool all = names.empty();
    const auto value
        = [&](const PgArray &array) { return all ? PgValue() : PgValue(array.text()); };
    const auto rows = connection.ask(
        std::string(advisorySql()), {value(classids), value(objids), value(kinds)}, deadline);
    m_advisoryProblem.clear();
    if (!rows && connection.usable() && rows.error().kind == ErrorKind::Denied) {
        m_advisoryProblem = "Advisory locks are not shown: " + rows.error().what;
        return {};
    }
    if (!rows)
        return fail(rows.error());
    std::vector<AdvisoryRow> seen;
    seen.reserve(rows->size());
    for (std::size_t i = 0; i < rows->size(); ++i)
        seen.push_back(advisoryRow(*rows, i));
    if (!seen.empty())
        m_serverTime = wallTimeOf(seen.front().nowUs);
    for (LeaseRecord &record : advisoryRecords(seen)) {
        std::string name = record.lease.name();
        found.insert_or_assign(std::move(name), std::move(record));
    }
    return {};
}

Result<void> ForeignView::readTable(PgConnection &connection, Known &known,
    const std::vector<RowKey> &keys, Instant deadline, Found &found)
{
    PgArray first, second;
    for (const RowKey &key : keys) {
        first.add(key.first);
        second.add(key.second);
    }
    const auto rows = connection.ask(readSql(known.table), {first.text(), second.text()}, deadline);
    if (!rows && connection.usable() && isDataError(connection.lastSqlstate())) {
        // A name that this database cannot even spell: no row has it. It must not hide the others.
        if (keys.size() == 1)
            return {};
        for (const RowKey &key : keys) {
            if (auto one = readTable(connection, known, {key}, deadline, found); !one)
                return fail(std::move(one.error()));
        }
        return {};
    }
    if (!rows)
        return leaveOut(connection, known, rows.error());
    for (std::size_t i = 0; i < rows->size(); ++i) {
        LeaseRecord record = foreignRecord(known.table, rowOf(*rows, i));
        std::string name = record.lease.name();
        found.insert_or_assign(std::move(name), std::move(record));
    }
    return {};
}

std::vector<Result<Reply>> ForeignView::read(
    PgConnection &connection, const std::vector<LeaseId> &names, Instant deadline)
{
    m_serverTime.reset();
    Found found;
    const auto readAll = [&]() -> Result<void> {
        if (auto ready = surveyOnce(connection, deadline); !ready)
            return ready;
        std::vector<std::string> advisory;
        std::map<Known *, std::vector<RowKey>> rows;
        for (const LeaseId &name : names) {
            if (advisoryKey(name.name()))
                advisory.push_back(name.name());
            else if (Known *known = tableOf(name.name()))
                rows[known].push_back(*rowKey(known->table, name.name()));
        }
        if (!rows.empty()) {
            if (auto noted = noteBusyTables(connection, deadline); !noted)
                return noted;
        }
        if (!advisory.empty()) {
            if (auto read = readAdvisory(connection, advisory, deadline, found); !read)
                return read;
        }
        for (const auto &[known, keys] : rows) {
            if (!known->problem.empty())
                continue;
            if (auto read = readTable(connection, *known, keys, deadline, found); !read)
                return read;
        }
        return {};
    };
    const Result<void> done = readAll();
    std::vector<Result<Reply>> out;
    out.reserve(names.size());
    for (const LeaseId &name : names) {
        if (!done) {
            out.emplace_back(fail(done.error()));
            continue;
        }
        if (const auto record = found.find(name.name()); record != found.end()) {
            out.emplace_back(replyWith(record->second));
            continue;
        }
        const Known *known = tableOf(name.name());
        if (known != nullptr && !known->problem.empty()) {
            out.emplace_back(fail(known->table.mayRead ? ErrorKind::Unavailable : ErrorKind::Denied,
                known->problem, m_where));
            continue;
        }
        LeaseRecord nothing;
        nothing.lease = name;
        out.emplace_back(replyWith(std::move(nothing)));
    }
    return out;
}

Reply ForeignView::replyWith(LeaseRecord record) const
{
    Reply reply;
    reply.record = std::move(record);
    reply.serverTime = m_serverTime;
    return reply;
}

Result<Reply> ForeignView::readOne(PgConnection &connection, const LeaseId &name, Instant deadline)
{
    auto replies = read(connection, {name}, deadline);
    return std::move(replies.front());
}

} // namespace tenure::postgres
