// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_rows.h"

#include "pg_texts.h"

namespace tenure::postgres
{
namespace
{

enum Column : std::size_t {
    kName,
    kVerdict,
    kNow,
    kHolder,
    kNonce,
    kToken,
    kTtl,
    kAcquired,
    kRenewed,
    kExpires,
    kTransitions,
    kReleased,
    kAsk,
    kHoldBy,
    kHoldUntil,
    kUntil,
};

void replaceAll(std::string &text, std::string_view from, const std::string &to)
{
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string literal(std::string_view text)
{
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("''") : c == '\\' ? std::string("\\\\") : std::string(1, c);
    return (text.find('\\') == std::string_view::npos ? "" : "E") + out + "'";
}

} // namespace

Statements::Statements(const std::string &schema) : channel("tenure_" + schema)
{
    const auto made = [&](const char *text) {
        std::string out(text);
        replaceAll(out, "@schema@", quotedName(schema));
        replaceAll(out, "@channel@", literal(channel));
        replaceAll(out, "@literal@", literal(schema));
        return out;
    };
    acquire = made(kAcquireSql);
    awaitingAcquire = made(kAwaitingAcquireSql);
    quickAcquire = made(kQuickAcquireSql);
    quickAwaitingAcquire = made(kQuickAwaitingAcquireSql);
    quickRelease = made(kQuickReleaseSql);
    renew = made(kRenewSql);
    release = made(kReleaseSql);
    operate = made(kOperateSql);
    read = made(kReadSql);
    list = made(kListSql);
    init = made(kInitSql);
    tail = "SELECT at FROM " + quotedName(schema) + ".tenure_history ORDER BY id DESC LIMIT 1";
    makeSchema = "CREATE SCHEMA IF NOT EXISTS " + quotedName(schema) + ";\n";
    makeRow = "INSERT INTO " + quotedName(schema)
        + ".tenure_lease (name) VALUES ($1) ON CONFLICT (name) DO NOTHING";
}

Answered answeredAt(const PgRows &rows, std::size_t index)
{
    const auto us
        = [&](Column column) { return std::chrono::microseconds(rows.number(index, column)); };
    const auto instant = [&](Column column) { return Instant(us(column)); };
    Answered out;
    out.name = rows.text(index, kName);
    out.verdict = rows.text(index, kVerdict);
    out.at = {instant(kNow), WallTime(us(kNow))};
    LeaseRow &row = out.row;
    row.holder = rows.text(index, kHolder);
    row.nonce = Nonce::parse(rows.text(index, kNonce)).value_or(Nonce());
    row.token = {static_cast<std::uint64_t>(rows.number(index, kToken))};
    row.ttl = Milliseconds(rows.number(index, kTtl));
    row.acquiredAt = WallTime(us(kAcquired));
    row.renewedAt = WallTime(us(kRenewed));
    row.expiresAt = instant(kExpires);
    row.transitions = static_cast<std::uint64_t>(rows.number(index, kTransitions));
    row.released = rows.truth(index, kReleased);
    row.asked = !rows.isNull(index, kAsk);
    row.askedFor = Milliseconds(rows.number(index, kAsk));
    row.holdBy = rows.text(index, kHoldBy);
    row.holdUntil = instant(kHoldUntil);
    if (!rows.isNull(index, kUntil))
        out.retryIn = instant(kUntil) - out.at.now;
    return out;
}

std::int64_t storedToken(FencingToken token)
{
    return static_cast<std::int64_t>(std::min<std::uint64_t>(token.value, INT64_MAX));
}

Reply replyOf(const Answered &answered, const LeaseId &lease, Outcome outcome, ReadDepth depth)
{
    Reply reply;
    reply.outcome = outcome;
    reply.record = recordOf(lease, answered.row, answered.at, depth);
    reply.serverTime = answered.at.wall;
    return reply;
}

std::string literalStart(std::string_view glob)
{
    return std::string(glob.substr(0, glob.find_first_of("*?")));
}

} // namespace tenure::postgres
