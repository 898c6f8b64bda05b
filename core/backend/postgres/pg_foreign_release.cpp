// SPDX-License-Identifier: GPL-3.0-or-later
// Releases by hand of what other people's libraries hold. Whether an error leaves the outcome
// unknown, the store tells.
#include "core/backend/foreign_verbs.h"
#include "core/backend/postgres/pg_advisory_view.h"
#include "core/backend/postgres/pg_foreign_view.h"
#include "core/base/text.h"

namespace tenure::postgres
{
namespace
{

ForeignVerb verbOf(OperatorVerb verb)
{
    switch (verb) {
    case OperatorVerb::Ask:
        return ForeignVerb::Ask;
    case OperatorVerb::Hold:
        return ForeignVerb::Hold;
    case OperatorVerb::Clear:
        break;
    }
    return ForeignVerb::Clear;
}

Reply conflict(Reply now)
{
    now.outcome = Outcome::Conflict;
    return now;
}

} // namespace

Result<Reply> ForeignView::operate(
    PgConnection &connection, const Operate &operate, Instant deadline)
{
    // Looked at once more, so that a refusal can say what it is now. The write compares by itself.
    Result<Reply> now = readOne(connection, operate.lease, deadline);
    if (!now)
        return now;
    const LeaseRecord &record = now->record;
    const bool vacant = !record.holder && !record.hold;
    if (record.seen() != operate.expected || (!vacant && record.kind != operate.kind))
        return conflict(*std::move(now));
    if (vacant)
        return fail(ErrorKind::NotFound, "Nobody holds this lease", m_where,
            "There is nothing to give back");
    std::string why = whyNotReleased(record, operate.verb);
    if (!why.empty())
        return fail(ErrorKind::Unsupported, std::move(why), m_where);
    return operate.kind == "advisory" ? endSession(connection, operate, deadline)
                                      : writeRow(connection, operate, deadline);
}

/// What came of a write: its rows say whether the comparison held, a fresh read what is there now.
Result<Reply> ForeignView::written(
    PgConnection &connection, const Operate &operate, const Result<PgRows> &rows, Instant deadline)
{
    if (!rows)
        return fail(rows.error());
    const bool done = rows->size() > 0;
    Result<Reply> now = readOne(connection, operate.lease, deadline);
    if (now) {
        now->outcome = done ? Outcome::Done : Outcome::Conflict;
        return now;
    }
    // The write has its answer; that the look after it failed changes nothing about that.
    Reply reply;
    reply.outcome = done ? Outcome::Done : Outcome::Conflict;
    reply.record.lease = operate.lease;
    return reply;
}

Result<Reply> ForeignView::endSession(
    PgConnection &connection, const Operate &operate, Instant deadline)
{
    // The version is ours: [classid, objid, objsubid, pid, start]. The pid only makes it quick.
    const std::string &version = operate.expected.version;
    const std::size_t lastComma = version.rfind(", ");
    const std::size_t before
        = lastComma == std::string::npos ? lastComma : version.rfind(", ", lastComma - 1);
    if (before == std::string::npos)
        return fail(
            ErrorKind::BadConfig, "What was seen of this lock cannot be understood", m_where);
    const std::string pid = version.substr(before + 2, lastComma - before - 2);
    return written(connection, operate,
        connection.ask(std::string(endSessionSql()), {pid, version}, deadline), deadline);
}

Result<Reply> ForeignView::writeRow(
    PgConnection &connection, const Operate &operate, Instant deadline)
{
    const Known *known = tableOf(operate.lease.name());
    if (known == nullptr)
        return fail(ErrorKind::NotFound, "There is no such table any more", m_where);
    const std::string sql = writeSql(known->table, verbOf(operate.verb));
    if (sql.empty()) {
        return fail(ErrorKind::Unsupported,
            "The table " + printable(known->table.quoted, 120) + " has no room for that", m_where,
            "Choose another way of releasing");
    }
    const RowKey key = *rowKey(known->table, operate.lease.name());
    std::vector<PgValue> values{key.first, key.second, operate.expected.version};
    if (operate.verb == OperatorVerb::Hold) {
        values.emplace_back(std::to_string(static_cast<double>(operate.duration.count()) / 1000));
        values.emplace_back(operate.by);
    }
    return written(connection, operate, connection.ask(sql, values, deadline), deadline);
}

} // namespace tenure::postgres
