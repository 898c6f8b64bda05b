// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_advisory_view.h"

#include "core/backend/postgres/pg_foreign.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace tenure::postgres
{
namespace
{

constexpr std::string_view kPrefix = "advisory:";
constexpr std::string_view kMark = "-- tenure lease "; ///< also in advisorySql()

template <typename T>
std::optional<T> wholeNumber(std::string_view text)
{
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

/// A name on one line: control characters and % as %XX.
std::string onOneLine(std::string_view name)
{
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F && c != '%')
            out += c;
        else
            out += std::string("%") + kDigits[byte >> 4U] + kDigits[byte & 0xFU];
    }
    return out;
}

std::string fromOneLine(std::string_view line)
{
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        unsigned byte = 0;
        const std::string_view digits = line.substr(i + 1, 2);
        if (line[i] == '%' && digits.size() == 2
            && std::from_chars(digits.data(), digits.data() + 2, byte, 16).ptr == digits.data() + 2) {
            out += static_cast<char>(byte);
            i += 2;
        } else {
            out += line[i];
        }
    }
    return out;
}

std::string placeOf(const AdvisoryRow &row)
{
    if (!row.client.empty())
        return row.client;
    return row.startUs ? "local" : "hidden";
}

std::string sessionName(const AdvisoryRow &row)
{
    if (row.pid == 0)
        return "a prepared transaction";
    const std::string &who = row.application.empty() ? row.user : row.application;
    return (who.empty() ? std::string("session") : who) + "@" + placeOf(row) + " pid "
        + std::to_string(row.pid);
}

std::string since(const std::optional<std::string> &us, const std::string &nowUs)
{
    const auto at = wallTimeOf(us);
    const auto now = wallTimeOf(nowUs);
    if (!at || !now)
        return {};
    return rfc3339(*at) + ", " + durationText(std::max<Duration>(*now - *at, Duration::zero()))
        + " ago";
}

std::string ageOf(const std::optional<std::string> &us, const std::string &nowUs)
{
    const auto at = wallTimeOf(us);
    const auto now = wallTimeOf(nowUs);
    return at && now ? durationText(std::max<Duration>(*now - *at, Duration::zero()))
                     : std::string();
}

/// What else ends when a session ends: for each pid the names of the keys that it holds.
using HeldBySession = std::map<int, std::vector<std::string>>;

std::string othersOf(const HeldBySession &held, int pid, const std::string &except)
{
    constexpr std::size_t kNamed = 5;
    std::string out;
    std::size_t others = 0;
    const auto found = held.find(pid);
    if (found == held.end())
        return out;
    for (const std::string &name : found->second) {
        if (name == except)
            continue;
        if (++others <= kNamed)
            out += (out.empty() ? "" : ", ") + name;
    }
    return others > kNamed ? out + " and " + std::to_string(others - kNamed) + " more" : out;
}

class OneKey
{
public:
    OneKey(const AdvisoryKey &key, const HeldBySession &held) : m_key(key), m_held(held)
    {
        m_record.lease = LeaseId::observed(advisoryName(key));
        m_record.kind = "advisory";
        fact("key",
            key.pair ? std::to_string(key.one) + ", " + std::to_string(key.two) + " (two ints)"
                     : std::to_string(key.one) + " (one bigint)");
        const auto whole = static_cast<std::uint64_t>(key.one);
        const auto first = key.pair ? static_cast<std::uint32_t>(key.one) : whole >> 32U;
        const auto second = key.pair ? static_cast<std::uint32_t>(key.two) : whole & 0xffffffffU;
        m_lookUp = "SELECT l.granted, l.mode, s.* FROM pg_locks l LEFT JOIN pg_stat_activity s "
                   "USING (pid) WHERE l.locktype = 'advisory' AND l.classid = "
            + std::to_string(first) + " AND l.objid = " + std::to_string(second)
            + " AND l.objsubid = " + (key.pair ? "2" : "1");
    }

    LeaseRecord record(const std::vector<const AdvisoryRow *> &holders,
        const std::vector<const AdvisoryRow *> &waiters)
    {
        if (!nameLease(holders))
            (void)nameLease(waiters);
        if (holders.size() == 1)
            describeHolder(*holders.front());
        else if (!holders.empty())
            describeSharers(holders);
        for (const AdvisoryRow *waiter : waiters) {
            const std::string waits = ageOf(waiter->waitUs, waiter->nowUs);
            m_record.candidates.push_back(sessionName(*waiter));
            fact("waits", sessionName(*waiter) + (waits.empty() ? "" : ", for " + waits));
        }
        fact("sql", m_lookUp);
        return std::move(m_record);
    }

private:
    void fact(std::string name, std::string value)
    {
        if (!value.empty())
            m_record.facts.push_back({std::move(name), std::move(value)});
    }

    /// By the first mark that is true: whose name has this very key.
    bool nameLease(const std::vector<const AdvisoryRow *> &sessions)
    {
        for (const AdvisoryRow *row : sessions) {
            const LeaseId lease = LeaseId::observed(fromOneLine(row->mark));
            if (!row->mark.empty() && !advisoryKey(lease.name()) && keyOf(lease) == m_key) {
                fact("lease", lease.name());
                return true;
            }
        }
        return false;
    }

    void describeHolder(const AdvisoryRow &row)
    {
        m_record.holder = sessionName(row);
        m_record.version = row.version;
        m_record.raw = row.mode + " " + sessionName(row);
        if (row.pid == 0) {
            m_record.version.clear();
            m_record.note = "held by a prepared transaction: it lasts until somebody commits or "
                            "rolls that back";
            return;
        }
        if (row.mode == "ShareLock")
            fact("mode", "shared");
        fact("session", "pid " + std::to_string(row.pid) + ", user " + row.user);
        fact("session start", since(row.startUs, row.nowUs));
        fact("client",
            row.client.empty() ? (row.startUs ? "unix socket" : "hidden from this role")
                               : row.client + ":" + std::to_string(row.port));
        fact("application", row.application);
        fact("held since", heldSince(row));
        fact("state", row.state + (row.stateUs ? " for " + ageOf(row.stateUs, row.nowUs) : ""));
        if (row.transactionUs && row.state != "active")
            fact("transaction", "open for " + ageOf(row.transactionUs, row.nowUs));
        fact("also holds", othersOf(m_held, row.pid, m_record.lease.name()));
        fact("lasts", "until its session ends or unlocks it; no time runs");
        if (row.backend != "client backend" && !row.backend.empty()) {
            m_record.version.clear();
            m_record.note
                = "held by the server's own process (" + row.backend + "): not to be ended";
        } else if (!row.startUs) {
            m_record.note = "this role may not see whose session it is; pg_read_all_stats lets it";
        }
    }

    /// pg_locks does not tell it; a session that did nothing since took the lock before that.
    static std::string heldSince(const AdvisoryRow &row)
    {
        const auto start = wallTimeOf(row.startUs);
        const auto idle = wallTimeOf(row.stateUs);
        if (!start)
            return {};
        if (row.state.starts_with("idle") && idle)
            return "some time between " + rfc3339(*start) + " and " + rfc3339(*idle);
        return "some time after " + rfc3339(*start);
    }

    void describeSharers(const std::vector<const AdvisoryRow *> &holders)
    {
        std::string all;
        for (const AdvisoryRow *row : holders) {
            all += (all.empty() ? "" : ", ") + sessionName(*row);
            fact("shared by", sessionName(*row));
        }
        m_record.holder = all;
        m_record.raw = "ShareLock " + all;
        m_record.note = std::to_string(holders.size())
            + " sessions share this lock: none of them leads alone";
    }

    const AdvisoryKey m_key;
    const HeldBySession &m_held;
    LeaseRecord m_record;
    std::string m_lookUp; ///< shows it in a person's own psql
};

} // namespace

std::string advisoryName(const AdvisoryKey &key)
{
    return std::string(kPrefix) + std::to_string(key.one)
        + (key.pair ? "," + std::to_string(key.two) : "");
}

std::optional<AdvisoryKey> advisoryKey(std::string_view name)
{
    if (!name.starts_with(kPrefix))
        return std::nullopt;
    const std::string_view text = name.substr(kPrefix.size());
    AdvisoryKey key;
    if (const std::size_t comma = text.find(','); comma != std::string_view::npos) {
        const auto one = wholeNumber<std::int32_t>(text.substr(0, comma));
        const auto two = wholeNumber<std::int32_t>(text.substr(comma + 1));
        if (!one || !two)
            return std::nullopt;
        key = {true, *one, *two};
    } else {
        const auto one = wholeNumber<std::int64_t>(text);
        if (!one)
            return std::nullopt;
        key.one = *one;
    }
    // "advisory:007" is another name, and nothing has it.
    return advisoryName(key) == name ? std::optional(key) : std::nullopt;
}

AdvisoryKey keyOf(const LeaseId &lease)
{
    if (const auto named = advisoryKey(lease.name()))
        return *named;
    std::uint64_t bits = 0;
    const std::string digest = sha256Hex(lease.name());
    std::from_chars(digest.data(), digest.data() + 16, bits, 16);
    AdvisoryKey key;
    key.one = static_cast<std::int64_t>(bits);
    return key;
}

std::string markedFor(const LeaseId &lease, std::string_view sql)
{
    return std::string(kMark) + onOneLine(lease.name()) + "\n" + std::string(sql);
}

AdvisoryKey advisoryKeyOf(std::uint32_t classid, std::uint32_t objid, int objsubid)
{
    if (objsubid == 2)
        return {true, static_cast<std::int32_t>(classid), static_cast<std::int32_t>(objid)};
    return {
        false, static_cast<std::int64_t>((static_cast<std::uint64_t>(classid) << 32) | objid), 0};
}

std::string_view advisorySql()
{
    // Whole rows as JSON where a column is not known to every version (waitstart: 14).
    return "WITH l AS MATERIALIZED (SELECT classid, objid, objsubid, pid, mode, granted, "
           "to_jsonb(k) AS j "
           "FROM pg_catalog.pg_locks k WHERE locktype = 'advisory' AND database = "
           "(SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())), "
           "asked AS MATERIALIZED (SELECT a::oid, b::oid, c::smallint FROM unnest($1::bigint[], "
           "$2::bigint[], "
           "$3::bigint[]) AS x(a, b, c)), "
           "wanted AS (SELECT * FROM l WHERE $1::bigint[] IS NULL OR (classid, objid, objsubid) IN "
           "(SELECT * FROM asked) "
           "OR pid IN (SELECT pid FROM l WHERE granted AND (classid, objid, objsubid) IN (SELECT * "
           "FROM asked))) "
           "SELECT w.classid::text, w.objid::text, w.objsubid::text, coalesce(w.pid, 0)::text, "
           "w.mode, w.granted, "
           "coalesce(s.application_name, ''), coalesce(s.usename::text, ''), "
           "coalesce(host(s.client_addr), ''), "
           "coalesce(s.client_port, -1)::text, "
           "floor(extract(epoch FROM s.backend_start)::numeric * 1000000)::text, coalesce(s.state, "
           "''), "
           "floor(extract(epoch FROM s.state_change)::numeric * 1000000)::text, "
           "floor(extract(epoch FROM s.xact_start)::numeric * 1000000)::text, "
           "floor(extract(epoch FROM (w.j->>'waitstart')::timestamptz)::numeric * 1000000)::text, "
           "coalesce(s.backend_type, ''), floor(extract(epoch FROM clock_timestamp())::numeric * "
           "1000000)::text, "
           "CASE WHEN s.backend_start IS NULL THEN '' ELSE jsonb_build_array(w.classid::bigint, "
           "w.objid::bigint, "
           "w.objsubid, w.pid, extract(epoch FROM s.backend_start))::text END, "
           "CASE WHEN starts_with(s.query, '-- tenure lease ') "
           "THEN split_part(substr(s.query, 17), chr(10), 1) END "
           "FROM wanted w LEFT JOIN pg_catalog.pg_stat_activity s ON s.pid = w.pid "
           "ORDER BY w.objsubid, w.classid, w.objid, w.granted DESC, (w.j->>'waitstart'), w.pid "
           "LIMIT 20000";
}

std::string_view endSessionSql()
{
    return "SELECT pg_catalog.pg_terminate_backend(l.pid) FROM pg_catalog.pg_locks l "
           "JOIN pg_catalog.pg_stat_activity s ON s.pid = l.pid "
           "WHERE l.locktype = 'advisory' AND l.granted AND l.pid = $1::int AND l.pid <> "
           "pg_catalog.pg_backend_pid() "
           "AND s.backend_type = 'client backend' AND l.database = "
           "(SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) "
           "AND jsonb_build_array(l.classid::bigint, l.objid::bigint, l.objsubid, l.pid, "
           "extract(epoch FROM s.backend_start))::text = $2::text LIMIT 1";
}

std::vector<LeaseRecord> advisoryRecords(std::span<const AdvisoryRow> rows)
{
    struct Group {
        std::vector<const AdvisoryRow *> holders, waiters;
    };
    std::map<AdvisoryKey, Group> groups;
    HeldBySession held;
    for (const AdvisoryRow &row : rows) {
        const AdvisoryKey key = advisoryKeyOf(row.classid, row.objid, row.objsubid);
        Group &group = groups[key];
        auto &side = row.granted ? group.holders : group.waiters;
        // One session may hold a lock twice: shared and exclusively.
        const auto same = std::find_if(side.begin(), side.end(),
            [&](const AdvisoryRow *other) { return other->pid != 0 && other->pid == row.pid; });
        if (same != side.end())
            continue;
        side.push_back(&row);
        if (row.granted)
            held[row.pid].push_back(advisoryName(key));
    }
    std::vector<LeaseRecord> out;
    out.reserve(groups.size());
    for (const auto &[key, group] : groups)
        out.push_back(OneKey(key, held).record(group.holders, group.waiters));
    return out;
}

} // namespace tenure::postgres
