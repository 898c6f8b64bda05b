// SPDX-License-Identifier: GPL-3.0-or-later
// What other people's lock tables look like, in SQL (the facts are those of their sources).
#include "core/backend/postgres/pg_foreign.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tenure::postgres
{
namespace
{

// A write touches a row only while everything that was seen of it stands.
#define SEEN_ROW "WHERE {K1} = $1 AND {K2} = $2 AND {E} = $3"
// At least as long as the victim may go on believing.
#define HELD_UNTIL(column)                                                                         \
    "CASE WHEN isfinite(t." column ") AND t." column                                               \
    " > {now} + make_interval(secs => $4::float8)"                                                 \
    " THEN t." column " ELSE {now} + make_interval(secs => $4::float8) END"

// The notice that makes River's other clients try at once. Its channel carries the schema's name.
constexpr std::string_view kRiverClear
    = "WITH gone AS (DELETE FROM {T} AS t " SEEN_ROW " RETURNING t.name, t.leader_id) "
      "SELECT pg_notify({S} || '.river_leadership', json_build_object('name', name, 'leader_id', "
      "leader_id, 'action', 'resigned')::text) FROM gone";
constexpr std::string_view kRiverAsk
    = "SELECT pg_notify({S} || '.river_leadership', json_build_object('leader_id', t.leader_id, "
      "'action', 'request_resign')::text) FROM {T} AS t " SEEN_ROW;

constexpr std::string_view kDelete = "DELETE FROM {T} AS t " SEEN_ROW " RETURNING 1";

// The evidence is what names a term. What its holder renews all the time stays out of it: a release
// that compared it would lose against every heartbeat of a healthy holder.
constexpr std::array<FormatSql, 9> kFormats{{
    // The row stays for ever: without it its clients would never lock again. locked_at lies in the
    // past by the writer's own clock and zone, whichever they are, so everybody sees it free.
    {.format = Format::ShedLock,
        .kind = "shedlock",
        .columns = "name:S lock_until:D locked_at:D locked_by:S",
        .until = "lock_until",
        .clock = RowClock::Unknown,
        .key1 = "t.name::text",
        .holder = "t.locked_by::text",
        .acquired = "t.locked_at",
        .expires = "t.lock_until",
        .evidence = "t.name::text, t.locked_by::text, extract(epoch FROM t.locked_at)",
        .raw = "'name', t.name::text, 'locked_by', t.locked_by::text, 'locked_at', t.locked_at, "
               "'lock_until', t.lock_until",
        .clear
        = "UPDATE {T} AS t SET lock_until = least(t.locked_at, {now}) " SEEN_ROW " RETURNING 1",
        .hold
        = "UPDATE {T} AS t SET locked_by = left('hold:' || $5::text, 255), "
          "locked_at = {now}, lock_until = " HELD_UNTIL("lock_until") " " SEEN_ROW " RETURNING 1"},
    {.format = Format::Spring,
        .kind = "spring",
        .columns = "lock_key:S region:S client_id:S created_date:D expired_after:D",
        .until = "expired_after",
        .clock = RowClock::Holder,
        .key1 = "t.region::text",
        .key2 = "rtrim(t.lock_key::text)",
        .holder = "rtrim(t.client_id::text)",
        .expires = "t.expired_after",
        .evidence = "t.region::text, rtrim(t.lock_key::text), rtrim(t.client_id::text), "
                    "extract(epoch FROM t.created_date)",
        .raw = "'region', t.region::text, 'lock_key', t.lock_key::text, 'client_id', "
               "t.client_id::text, 'created_date', t.created_date, 'expired_after', "
               "t.expired_after",
        .clear = kDelete,
        .hold = "UPDATE {T} AS t SET client_id = left('hold:' || $5::text, 36), "
                "expired_after = " HELD_UNTIL("expired_after") " " SEEN_ROW " RETURNING 1"},
    {.format = Format::SpringOld,
        .kind = "spring",
        .columns = "lock_key:S region:S client_id:S created_date:D",
        .until = "created_date",
        .clock = RowClock::Holder,
        .key1 = "t.region::text",
        .key2 = "rtrim(t.lock_key::text)",
        .holder = "rtrim(t.client_id::text)",
        .renewed = "t.created_date",
        .evidence = "t.region::text, rtrim(t.lock_key::text), rtrim(t.client_id::text)",
        .raw = "'region', t.region::text, 'lock_key', t.lock_key::text, 'client_id', "
               "t.client_id::text, 'created_date', t.created_date",
        .clear = kDelete},
    {.format = Format::River,
        .kind = "river",
        .columns = "name:S leader_id:S elected_at:D expires_at:D",
        .until = "expires_at",
        .clock = RowClock::Server,
        .key1 = "t.name::text",
        .holder = "t.leader_id::text",
        .acquired = "t.elected_at",
        .expires = "t.expires_at",
        .evidence = "t.name::text, t.leader_id::text, extract(epoch FROM t.elected_at)",
        .raw = "'name', t.name::text, 'leader_id', t.leader_id::text, 'elected_at', t.elected_at, "
               "'expires_at', t.expires_at",
        .clear = kRiverClear,
        .hold
        = "UPDATE {T} AS t SET leader_id = left('hold:' || $5::text, 127), "
          "elected_at = {now}, expires_at = " HELD_UNTIL("expires_at") " " SEEN_ROW " RETURNING 1",
        .ask = kRiverAsk},
    {.format = Format::Oban,
        .kind = "oban",
        .columns = "name:S node:S started_at:D expires_at:D",
        .until = "expires_at",
        .clock = RowClock::Holder,
        .key1 = "t.name::text",
        .holder = "t.node::text",
        .acquired = "t.started_at",
        .expires = "t.expires_at",
        .evidence = "t.name::text, t.node::text, extract(epoch FROM t.started_at)",
        .raw = "'name', t.name::text, 'node', t.node::text, 'started_at', t.started_at, "
               "'expires_at', t.expires_at",
        .clear = kDelete,
        .hold
        = "UPDATE {T} AS t SET node = left('hold:' || $5::text, 255), "
          "started_at = {now}, expires_at = " HELD_UNTIL("expires_at") " " SEEN_ROW " RETURNING 1"},
    {.format = Format::ObanPython,
        .kind = "oban",
        .columns = "name:S node:S elected_at:D expires_at:D",
        .until = "expires_at",
        .clock = RowClock::Server,
        .key1 = "t.name::text",
        .holder = "t.node::text",
        .acquired = "t.elected_at",
        .expires = "t.expires_at",
        .evidence = "t.name::text, t.node::text, extract(epoch FROM t.elected_at)",
        .raw = "'name', t.name::text, 'node', t.node::text, 'elected_at', t.elected_at, "
               "'expires_at', t.expires_at",
        .clear = kDelete,
        .hold
        = "UPDATE {T} AS t SET node = left('hold:' || $5::text, 255), "
          "elected_at = {now}, expires_at = " HELD_UNTIL("expires_at") " " SEEN_ROW " RETURNING 1"},
    {.format = Format::PgLock,
        .kind = "pglock",
        .columns = "name:S record_version_number:N data:U owner:S",
        .clock = RowClock::None,
        .key1 = "t.name::text",
        .holder = "CASE WHEN t.record_version_number IS NOT NULL THEN t.owner::text END",
        .data = "t.record_version_number::text",
        .evidence = "t.name::text, t.owner::text",
        .raw = "'name', t.name::text, 'owner', t.owner::text, 'record_version_number', "
               "t.record_version_number, 'data_bytes', octet_length(t.data)",
        .clear = "UPDATE {T} AS t SET record_version_number = NULL " SEEN_ROW " RETURNING 1"},
    {.format = Format::Vault,
        .kind = "vault",
        .columns = "ha_key:S ha_identity:S ha_value:S valid_until:D",
        .until = "valid_until",
        .clock = RowClock::Server,
        .key1 = "t.ha_key::text",
        .holder = "t.ha_identity::text",
        .expires = "t.valid_until",
        .data = "t.ha_value::text",
        .evidence = "t.ha_key::text, t.ha_identity::text, t.ha_value::text",
        .raw = "'ha_key', t.ha_key::text, 'ha_identity', t.ha_identity::text, 'ha_value', "
               "t.ha_value::text, 'valid_until', t.valid_until",
        // Only to end a hold: a holder would have it back at once.
        .clear = "UPDATE {T} AS t SET valid_until = {now} " SEEN_ROW
                 " AND t.ha_identity LIKE 'hold:%' RETURNING 1",
        .hold = "UPDATE {T} AS t SET ha_identity = 'hold:' || $5::text, "
                "valid_until = " HELD_UNTIL("valid_until") " " SEEN_ROW " RETURNING 1"},
    {.format = Format::Quartz,
        .kind = "quartz",
        .columns = "sched_name:S instance_name:S last_checkin_time:N checkin_interval:N",
        .clock = RowClock::Holder,
        .key1 = "t.sched_name::text",
        .key2 = "t.instance_name::text",
        .holder = "t.instance_name::text",
        .renewed = "to_timestamp(t.last_checkin_time / 1000.0)",
        .data = "t.checkin_interval::text",
        .evidence = "t.sched_name::text, t.instance_name::text",
        .raw = "'sched_name', t.sched_name::text, 'instance_name', t.instance_name::text, "
               "'last_checkin_time', t.last_checkin_time, 'checkin_interval', t.checkin_interval"},
}};

#undef SEEN_ROW
#undef HELD_UNTIL

// Java's UUID.nameUUIDFromBytes(name.getBytes(UTF_8)): MD5 with the bits of version 3 and variant.
constexpr std::string_view kKeyOfName = "(SELECT (left(m, 12) || '3' || substr(m, 14, 3) || "
                                        "substr('89ab', (('x' || substr(m, 17, 1))::bit(4)::int "
                                        "& 3) + 1, 1) || substr(m, 18))::uuid::text FROM (SELECT "
                                        "md5(convert_to({N}, 'UTF8')) AS m) AS h)";
constexpr std::string_view kIsKey = "{N} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'";

using Fillings = std::vector<std::pair<std::string_view, std::string>>;

/// In one pass: what is filled in is not looked at again, so that no name of a table can be SQL.
std::string filled(std::string_view text, const Fillings &fillings)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto found = std::find_if(fillings.begin(), fillings.end(),
            [&](const auto &filling) { return text.substr(at).starts_with(filling.first); });
        if (found == fillings.end()) {
            out += text[at++];
        } else {
            out += found->second;
            at += found->first.size();
        }
    }
    return out;
}

std::string keyOfName(std::string_view name)
{
    const Fillings named{{"{N}", std::string(name)}};
    return "(CASE WHEN " + filled(kIsKey, named) + " THEN " + std::string(name) + " ELSE "
        + filled(kKeyOfName, named) + " END)";
}

/// Microseconds as whole numbers, so that no session's date style or zone matters.
std::string micros(std::string_view column)
{
    if (column.empty())
        return "NULL::text";
    return filled(
        "CASE WHEN isfinite({C}) THEN floor(extract(epoch FROM {C})::numeric * 1000000)::text "
        "ELSE {C}::text END",
        {{"{C}", std::string(column)}});
}

std::string orNull(std::string_view expression)
{
    return expression.empty() ? "NULL::text" : std::string(expression);
}

bool isSpring(Format format)
{
    return format == Format::Spring || format == Format::SpringOld;
}

std::string key2Of(const FormatSql &sql)
{
    return sql.key2.empty() ? "''::text" : std::string(sql.key2);
}

std::string evidenceOf(const FormatSql &sql)
{
    return "jsonb_build_array(" + std::string(sql.evidence) + ")::text";
}

std::string selectFrom(const ForeignTable &table, const std::string &data)
{
    const FormatSql &sql = table.sql();
    return "SELECT " + std::string(sql.key1) + ", " + key2Of(sql) + ", " + orNull(sql.holder) + ", "
        + micros(sql.acquired) + ", " + micros(sql.renewed) + ", " + micros(sql.expires)
        + ", floor(extract(epoch FROM clock_timestamp())::numeric * 1000000)::text, " + data + ", "
        + evidenceOf(sql) + ", jsonb_build_object(" + std::string(sql.raw) + ")::text FROM "
        + table.quoted + " AS t";
}

} // namespace

const FormatSql &sqlOf(Format format)
{
    return kFormats[static_cast<std::size_t>(format)];
}

std::string_view discoverySql()
{
    // By the names first, which are few: in a catalogue of 100,000 tables that is one quick scan,
    // and only what is left of it is looked at closely.
    return "SELECT n.nspname::text, c.relname::text, "
           "quote_ident(n.nspname) || '.' || quote_ident(c.relname), columns.list, "
           "has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT'), "
           "has_any_column_privilege(c.oid, 'UPDATE'), has_table_privilege(c.oid, 'DELETE') "
           "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace, "
           "LATERAL (SELECT string_agg(a.attname::text || ':' || y.typcategory::text || "
           "CASE WHEN y.typname IN ('timestamptz', 'timetz') THEN '/tz' ELSE '' END, ' ' "
           "ORDER BY a.attnum) AS list FROM pg_catalog.pg_attribute a "
           "JOIN pg_catalog.pg_type y ON y.oid = a.atttypid "
           "WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped OFFSET 0) AS columns "
           "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition "
           "AND c.relname ~* '(lock|leader|peers|scheduler_state)' "
           "AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' "
           "AND columns.list IS NOT NULL ORDER BY 1, 2 LIMIT 500";
}

std::string listSql(const ForeignTable &table)
{
    const FormatSql &sql = table.sql();
    const std::string key2 = key2Of(sql);
    const std::string data = isSpring(table.format)
        ? "(SELECT l FROM labels WHERE labels.k = rtrim(t.lock_key::text) LIMIT 1)"
        : orNull(sql.data);
    const std::string labels = isSpring(table.format) ? "WITH labels AS MATERIALIZED (SELECT l, "
            + filled(kKeyOfName, {{"{N}", "l"}}) + " AS k FROM unnest($4::text[]) AS l) "
                                                      : std::string();
    return labels + selectFrom(table, data) + " WHERE (" + std::string(sql.key1) + ", " + key2
        + ") > ($1::text, $2::text) ORDER BY 1, 2 LIMIT $3::int";
}

std::string readSql(const ForeignTable &table)
{
    const FormatSql &sql = table.sql();
    const bool spring = isSpring(table.format);
    // Spring's rows come back under the very name that was asked for.
    return "WITH asked AS MATERIALIZED (SELECT a, b, "
        + (spring ? keyOfName("b") : std::string("b"))
        + " AS k FROM unnest($1::text[], $2::text[]) AS x(a, b)) "
        + selectFrom(table, spring ? "asked.b" : orNull(sql.data))
        + " JOIN asked ON asked.a = " + std::string(sql.key1) + " AND asked.k = " + key2Of(sql);
}

std::string sqlLiteral(std::string_view bytes)
{
    const bool plain = isUtf8(bytes) && printable(bytes, bytes.size()) == bytes
        && bytes.find('\\') == std::string_view::npos;
    std::string out = plain ? "'" : "E'";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        constexpr std::string_view kHex = "0123456789abcdef";
        if (c == '\'')
            out += "''";
        else if (plain || (byte >= 0x20 && byte < 0x7f && c != '\\'))
            out += c;
        else
            out += std::string("\\x") + kHex[byte >> 4U] + kHex[byte & 15U];
    }
    return out + "'";
}

std::string lookUpSql(const ForeignTable &table, const RowKey &key)
{
    const FormatSql &sql = table.sql();
    std::string out = "SELECT * FROM " + table.quoted + " AS t WHERE " + std::string(sql.key1)
        + " = " + sqlLiteral(key.first);
    if (!sql.key2.empty())
        out += " AND " + std::string(sql.key2) + " = " + sqlLiteral(key.second);
    return out;
}

std::string writeSql(const ForeignTable &table, ForeignVerb verb)
{
    const FormatSql &sql = table.sql();
    const std::string_view text = verb == ForeignVerb::Clear ? sql.clear
        : verb == ForeignVerb::Hold                          ? sql.hold
                                                             : sql.ask;
    return filled(text,
        {{"{K1}", std::string(sql.key1)}, {"{K2}", key2Of(sql)}, {"{E}", evidenceOf(sql)},
            {"{T}", table.quoted}, {"{S}", sqlLiteral(table.schema)},
            {"$2", isSpring(table.format) ? keyOfName("$2::text") : "$2::text"},
            {"{now}",
                table.withZone ? "clock_timestamp()" : "(clock_timestamp() AT TIME ZONE 'UTC')"}});
}

} // namespace tenure::postgres
