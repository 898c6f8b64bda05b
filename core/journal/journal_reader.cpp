// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_reader.h"

#include <algorithm>

namespace tenure
{
namespace
{

/// The newest stretch is written this late at most, with some room.
constexpr std::int64_t kWrittenLate = 6'000'000;

} // namespace

ChangeRow readChange(JournalStatement& statement)
{
    ChangeRow row;
    row.id = statement.integer();
    row.at = statement.integer();
    row.holder = statement.integer();
    row.flags = statement.integer();
    row.n = statement.integer();
    row.dark = statement.integer();
    row.kind = static_cast<TransitionKind>(statement.integer());
    row.token = statement.number();
    row.gap = statement.maybe();
    return row;
}

std::int64_t overlap(const std::vector<Stretch>& stretches, std::int64_t from, std::int64_t to)
{
    std::int64_t sum = 0;
    auto stretch = std::lower_bound(stretches.begin(), stretches.end(), from,
        [](const Stretch& one, std::int64_t at) { return one.to < at; });
    for (; stretch != stretches.end() && stretch->from < to; ++stretch)
        sum += std::max<std::int64_t>(0, std::min(to, stretch->to) - std::max(from, stretch->from));
    return sum;
}

const std::string& JournalQuery::Reader::holderName(std::int64_t id)
{
    const auto known = holders.find(id);
    if (known != holders.end())
        return known->second;
    if (holders.size() > 50'000)
        holders.clear();
    std::string& name = holders[id];
    auto find = db->prepared("SELECT name FROM holder WHERE id=?");
    if (id != 0 && find.bind(id).step())
        name = find.text();
    return name;
}

std::optional<std::int64_t> JournalQuery::Reader::connectionId(const std::string& uid)
{
    auto known = db->prepared("SELECT id FROM connection WHERE uid=?");
    return known.bind(uid).step() ? std::optional(known.integer()) : std::nullopt;
}

namespace
{

LeaseRow readLease(JournalStatement& statement)
{
    LeaseRow lease;
    lease.id = statement.integer();
    lease.connection = statement.integer();
    lease.last.at = statement.integer();
    lease.last.n = statement.integer();
    lease.last.dark = statement.integer();
    lease.last.holder = statement.integer();
    lease.last.token = statement.number();
    lease.last.flags = statement.integer();
    return lease;
}

} // namespace

#define TENURE_LEASE_COLUMNS \
    "lease.id, lease.conn, last_us, lease.n, dark_us, lease.holder, lease.token, lease.flags"

std::optional<LeaseRow> JournalQuery::Reader::find(const LeaseKey& key)
{
    auto known = db->prepared("SELECT " TENURE_LEASE_COLUMNS " FROM lease JOIN connection ON "
                              "connection.id=lease.conn WHERE uid=? AND lease.name=?");
    return known.bind(key.connection).bind(key.lease.name()).step() ? std::optional(readLease(known))
                                                                    : std::nullopt;
}

std::vector<LeaseRow> JournalQuery::Reader::matching(const JournalFilter& filter)
{
    std::vector<LeaseRow> out;
    auto rows = db->prepared("SELECT " TENURE_LEASE_COLUMNS " FROM lease JOIN connection ON "
                             "connection.id=lease.conn WHERE (?='' OR uid=?) AND tenure_glob(?, lease.name)");
    rows.bind(filter.connection).bind(filter.connection).bind(filter.glob);
    while (rows.step())
        out.push_back(readLease(rows));
    return out;
}

std::optional<ChangeRow> JournalQuery::Reader::stateBefore(const LeaseRow& lease, std::int64_t at)
{
    auto before = db->prepared("SELECT " TENURE_CHANGE_COLUMNS
                               " FROM change WHERE lease=? AND at_us<? ORDER BY at_us DESC, id DESC LIMIT 1");
    if (before.bind(lease.id).bind(at).step())
        return readChange(before);
    return lease.last.at != 0 && lease.last.at < at ? std::optional(lease.last) : std::nullopt;
}

std::vector<Stretch> JournalQuery::Reader::observed(std::int64_t connection, const TimeWindow& window)
{
    std::vector<Stretch> out;
    // Stretches do not overlap, so the last one that begins before the window is the only early one.
    auto rows = db->prepared(
        "SELECT from_us, to_us FROM span WHERE conn=?1 AND from_us < ?3 AND from_us >= ifnull((SELECT "
        "max(from_us) FROM span WHERE conn=?1 AND from_us <= ?2), ?2) ORDER BY from_us");
    rows.bind(connection).bind(us(window.from)).bind(us(window.to));
    while (rows.step()) {
        Stretch stretch{rows.integer(), rows.integer()};
        if (!out.empty() && stretch.from <= out.back().to)
            out.back().to = std::max(out.back().to, stretch.to);
        else
            out.push_back(stretch);
    }
    auto newest = db->prepared("SELECT max(to_us) FROM span WHERE conn=?");
    const bool known = newest.bind(connection).step();
    const std::int64_t end = known ? newest.integer() : 0;
    if (!out.empty() && out.back().to == end && us(window.to) - end <= kWrittenLate)
        out.back().to = std::max(end, us(window.to));
    return out;
}

std::vector<Stretch> JournalQuery::Reader::observedSince(
    const LeaseRow& lease, const std::optional<ChangeRow>& before, TimeWindow window)
{
    if (before && before->isDark())
        window.from = std::min(window.from, wall(before->at));
    return observed(lease.connection, window);
}

std::int64_t JournalQuery::Reader::darkUpTo(
    const ChangeRow& state, std::int64_t at, const std::vector<Stretch>& observed)
{
    return state.dark + (state.isDark() ? overlap(observed, state.at, at) : 0);
}

// ---- Opening ----------------------------------------------------------------------------------

JournalQuery::JournalQuery(std::unique_ptr<Reader> reader) : m_reader(std::move(reader)) { }
JournalQuery::JournalQuery(JournalQuery&&) noexcept = default;
JournalQuery& JournalQuery::operator=(JournalQuery&&) noexcept = default;
JournalQuery::~JournalQuery() = default;

Result<JournalQuery> JournalQuery::open(const std::string& path)
{
    auto db = JournalDb::open(path, JournalOpen::Read, std::chrono::seconds(2));
    if (!db)
        return fail(db.error());
    auto reader = std::make_unique<Reader>();
    reader->db = std::move(*db);
    if (reader->db->schema() > kJournalSchema) {
        reader->notes.push_back("A newer version of Tenure wrote this journal; some of it may not be "
                                "shown as it should");
    }
    return JournalQuery(std::move(reader));
}

const std::vector<std::string>& JournalQuery::notes() const
{
    return m_reader->notes;
}

void JournalQuery::interrupt()
{
    m_reader->db->interrupt();
}

Result<std::vector<JournalConnection>> JournalQuery::connections()
{
    Snapshot snapshot(*m_reader->db);
    std::vector<JournalConnection> out;
    auto rows = m_reader->db->prepared("SELECT uid, name, url FROM connection ORDER BY name, uid");
    while (rows.step()) {
        JournalConnection one;
        one.id = rows.text();
        one.name = rows.text();
        one.url = rows.text();
        out.push_back(std::move(one));
    }
    return snapshot.done(std::move(out));
}

Result<std::vector<LeaseKey>> JournalQuery::leases(const JournalFilter& filter)
{
    Snapshot snapshot(*m_reader->db);
    std::vector<LeaseKey> out;
    auto rows = m_reader->db->prepared(
        "SELECT uid, lease.name FROM lease JOIN connection ON connection.id=lease.conn WHERE (?='' OR "
        "uid=?) AND tenure_glob(?, lease.name) ORDER BY uid, lease.name");
    rows.bind(filter.connection).bind(filter.connection).bind(filter.glob);
    while (rows.step()) {
        LeaseKey key;
        key.connection = rows.text();
        key.lease = LeaseId::observed(rows.text());
        out.push_back(std::move(key));
    }
    return snapshot.done(std::move(out));
}

Result<std::optional<TimeWindow>> JournalQuery::extent(const JournalFilter& filter)
{
    Snapshot snapshot(*m_reader->db);
    auto spans = m_reader->db->prepared(
        "SELECT min(from_us), max(to_us) FROM span JOIN connection ON connection.id=span.conn WHERE (?='' "
        "OR uid=?)");
    std::optional<TimeWindow> out;
    if (spans.bind(filter.connection).bind(filter.connection).step()) {
        const auto from = spans.maybe();
        const auto to = spans.maybe();
        if (from && to)
            out = TimeWindow{wall(*from), wall(*to)};
    }
    if (!out || filter.connection.empty()) {
        const std::int64_t least = m_reader->db->value("SELECT min(at_us) FROM change");
        const std::int64_t most = m_reader->db->value("SELECT max(at_us) FROM change");
        if (least != 0 && out)
            out = TimeWindow{std::min(out->from, wall(least)), std::max(out->to, wall(most))};
        else if (least != 0)
            out = TimeWindow{wall(least), wall(most)};
    }
    return snapshot.done(out);
}

} // namespace tenure
