// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_foreign.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenure::postgres
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kMaxRawBytes = 4096;
/// Further away than this no lock's end is meant: it is one that never ends.
constexpr Duration kNever = std::chrono::hours(24 * 365 * 10);
/// A moment of taking the lock that lies further in the future was written by another zone or
/// clock.
constexpr Duration kClockSlack = 1min;
/// What Spring's older table does not tell: the default time to live of its locks.
constexpr Duration kSpringOldTtl = 10s;
/// Quartz calls a member lost when it is this much later than its interval.
constexpr Duration kQuartzGrace = 7500ms;
constexpr std::int64_t kEndOfTime = 253'402'300'799'000'000; // the last second of the year 9999

constexpr std::array kAllFormats{Format::ShedLock, Format::Spring, Format::SpringOld, Format::River,
    Format::Oban, Format::ObanPython, Format::PgLock, Format::Vault, Format::Quartz};

std::vector<std::string_view> words(std::string_view text)
{
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0)
            out.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string_view withoutZone(std::string_view column)
{
    return column.ends_with("/tz") ? column.substr(0, column.size() - 3) : column;
}

bool hasColumns(const std::vector<std::string_view> &seen, std::string_view wanted)
{
    const auto needed = words(wanted);
    return std::all_of(needed.begin(), needed.end(), [&](std::string_view column) {
        return std::any_of(seen.begin(), seen.end(),
            [&](std::string_view has) { return withoutZone(has) == column; });
    });
}

std::string encoded(std::string_view part)
{
    std::string out;
    for (const char c : part)
        out += c == '/' ? "%2F" : c == '%' ? "%25" : std::string(1, c);
    return out;
}

std::string decoded(std::string_view part)
{
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
        const std::string_view here = part.substr(i, 3);
        if (here == "%2F" || here == "%25") {
            out += here == "%2F" ? '/' : '%';
            i += 2;
        } else {
            out += part[i];
        }
    }
    return out;
}

std::string clockSentence(RowClock clock, bool withZone)
{
    switch (clock) {
    case RowClock::Holder:
        return "its holder's, read against the server's clock";
    case RowClock::Unknown:
        return withZone ? "its writer's or the server's"
                        : "its writer's or the server's; without a zone, read as UTC";
    case RowClock::Server:
        return "the server's";
    case RowClock::None:
        break;
    }
    return "none: this format writes no times";
}

/// How far `later` is after `earlier`, without running over at the ends of time.
Duration between(WallTime earlier, WallTime later)
{
    const auto us = later.time_since_epoch() - earlier.time_since_epoch();
    constexpr auto kMost = std::chrono::microseconds(std::chrono::hours(24 * 365 * 200));
    return std::clamp(us, -kMost, kMost);
}

class Reader
{
public:
    Reader(const ForeignTable &table, const ForeignRow &row) : m_table(table), m_row(row)
    {
        m_now = wallTimeOf(row.now).value_or(WallTime());
    }

    LeaseRecord record()
    {
        const bool spring = m_table.format == Format::Spring || m_table.format == Format::SpringOld;
        const bool named = spring && m_row.data && !m_row.data->empty();
        m_record.lease
            = LeaseId::observed(leaseName(m_table, {m_row.key1, named ? *m_row.data : m_row.key2}));
        m_record.kind = m_table.sql().kind;
        m_record.version = m_row.version;
        m_record.raw = m_row.raw.substr(0, kMaxRawBytes);
        fact("table", m_table.quoted);
        if (named)
            fact("key", m_row.key2);
        if (m_row.holder && !m_row.holder->empty())
            describeHolder(*m_row.holder);
        else
            m_record.released = m_table.format == Format::PgLock;
        describeFormat();
        if (m_table.sql().clock != RowClock::Server)
            fact("clock", clockSentence(m_table.sql().clock, m_table.withZone));
        fact("sql", lookUpSql(m_table, {m_row.key1, m_row.key2}));
        if (!m_table.mayUpdate && !m_table.mayDelete)
            fact("rights", "this role may only look");
        return std::move(m_record);
    }

private:
    void fact(std::string name, std::string value)
    {
        m_record.facts.push_back({std::move(name), std::move(value)});
    }

    void note(std::string sentence)
    {
        if (m_record.note.empty())
            m_record.note = std::move(sentence);
    }

    void describeHolder(const std::string &holder)
    {
        const auto acquired = wallTimeOf(m_row.acquired);
        const bool ahead = acquired && between(m_now, *acquired) > kClockSlack;
        if (ahead) {
            note("taken " + durationText(between(m_now, *acquired))
                + " in the future: its writer's clock or time zone is another one");
        }
        const auto left = remaining();
        const bool hold = holder.starts_with("hold:") && !m_table.sql().hold.empty();
        if (left && *left <= Duration::zero()) {
            fact("last holder", printable(holder, 255));
            if (*left > -kNever)
                fact("ended", rfc3339(m_now + std::chrono::ceil<std::chrono::microseconds>(*left)));
            return;
        }
        if (hold) {
            m_record.hold = OperatorHold{
                holder.substr(5), std::chrono::ceil<Milliseconds>(left.value_or(kNever))};
            return;
        }
        m_record.holder = holder;
        if (!ahead)
            m_record.remaining = left;
        if (acquired && !ahead)
            m_record.acquiredAt = acquired;
        m_record.renewedAt = wallTimeOf(m_row.renewed);
        if (m_row.expires && !left)
            note("no expiry: a leaked lock");
    }

    /// Until its end; negative when that is over; nothing when it never ends or is not told.
    std::optional<Duration> remaining() const
    {
        if (m_table.format == Format::SpringOld) {
            const auto renewed = wallTimeOf(m_row.renewed);
            return renewed ? std::optional(between(m_now, *renewed) + kSpringOldTtl) : std::nullopt;
        }
        if (!m_row.expires || *m_row.expires == "infinity")
            return std::nullopt;
        if (*m_row.expires == "-infinity")
            return Duration::zero();
        const auto end = wallTimeOf(m_row.expires);
        if (!end)
            return std::nullopt;
        const Duration left = between(m_now, *end);
        return left > kNever ? std::nullopt : std::optional(left);
    }

    void describeFormat()
    {
        switch (m_table.format) {
        case Format::SpringOld:
            fact("time to live", "not told by this older table; 10 s, the default, is assumed");
            break;
        case Format::PgLock:
            if (m_row.data)
                fact("record version",
                    printable(*m_row.data, 40) + ", a new one with every heartbeat");
            break;
        case Format::Vault:
            if (m_row.data)
                fact("leader", printable(*m_row.data, 120));
            break;
        case Format::Quartz:
            describeMember();
            break;
        default:
            break;
        }
    }

    /// A member of a Quartz cluster and its heartbeat.
    void describeMember()
    {
        const std::string text = m_row.data.value_or(std::string());
        std::int64_t ms = 0;
        std::from_chars(text.data(), text.data() + text.size(), ms);
        const Duration interval = Milliseconds(std::clamp<std::int64_t>(ms, 0, 24 * 3600 * 1000));
        fact("check-in", "every " + durationText(interval));
        const auto last = wallTimeOf(m_row.renewed);
        if (last && between(*last, m_now) > interval + kQuartzGrace) {
            note("suspect: its last check-in was " + durationText(between(*last, m_now))
                + " ago by its own clock; the other members take its work over");
        }
    }

    const ForeignTable &m_table;
    const ForeignRow &m_row;
    WallTime m_now;
    LeaseRecord m_record;
};

} // namespace

std::string ForeignTable::prefix() const
{
    return std::string(sql().kind) + ":" + quoted + "/";
}

std::optional<ForeignTable> recognised(const TableSeen &seen)
{
    const auto columns = words(seen.columns);
    for (const Format format : kAllFormats) {
        const FormatSql &sql = sqlOf(format);
        if (!hasColumns(columns, sql.columns))
            continue;
        ForeignTable table;
        table.format = format;
        table.schema = seen.schema;
        table.quoted = seen.quoted;
        table.mayRead = seen.mayRead;
        table.mayUpdate = seen.mayUpdate;
        table.mayDelete = seen.mayDelete;
        const std::string zoned = std::string(sql.until) + ":D/tz";
        table.withZone = std::find(columns.begin(), columns.end(), zoned) != columns.end();
        return table;
    }
    return std::nullopt;
}

std::string leaseName(const ForeignTable &table, const RowKey &key)
{
    if (table.sql().key2.empty())
        return table.prefix() + key.first;
    return table.prefix() + encoded(key.first) + "/" + key.second;
}

std::optional<RowKey> rowKey(const ForeignTable &table, std::string_view name)
{
    const std::string prefix = table.prefix();
    // No text of PostgreSQL contains a NUL, and one in a parameter would end it early.
    if (!name.starts_with(prefix) || name.find('\0') != std::string_view::npos)
        return std::nullopt;
    name.remove_prefix(prefix.size());
    if (table.sql().key2.empty())
        return RowKey{std::string(name), {}};
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos)
        return std::nullopt;
    return RowKey{decoded(name.substr(0, slash)), std::string(name.substr(slash + 1))};
}

std::optional<WallTime> wallTimeOf(const std::optional<std::string> &us)
{
    if (!us)
        return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(us->data(), us->data() + us->size(), number);
    if (us->empty() || end != us->data() + us->size())
        return std::nullopt;
    if (error == std::errc::result_out_of_range)
        number = us->front() == '-' ? -kEndOfTime : kEndOfTime;
    else if (error != std::errc())
        return std::nullopt;
    return WallTime(std::chrono::microseconds(std::clamp(number, -kEndOfTime, kEndOfTime)));
}

LeaseRecord foreignRecord(const ForeignTable &table, const ForeignRow &row)
{
    return Reader(table, row).record();
}

} // namespace tenure::postgres
