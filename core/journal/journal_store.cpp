// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_store.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;
using namespace change_flags;

constexpr std::size_t kCachedNames = 50'000;
constexpr Duration kIdle = 20s;
constexpr std::int64_t kNobody = 0;

std::int64_t us(WallTime time)
{
    return time.time_since_epoch().count();
}

std::string cacheKey(std::int64_t connection, const std::string& name)
{
    return std::to_string(connection) + "/" + name;
}

} // namespace

JournalStore::JournalStore(JournalDb& db, const std::string& path) : m_db(db), m_claims(path) { }

std::optional<Error> JournalStore::write(std::span<const JournalRecord> records)
{
    m_kept.clear();
    if (m_leases.size() > kCachedNames)
        m_leases.clear();
    if (m_holders.size() > kCachedNames)
        m_holders.clear();
    const bool precious = std::any_of(records.begin(), records.end(),
        [](const JournalRecord& record) { return std::holds_alternative<ActionRecord>(record); });
    if (precious)
        m_db.run("PRAGMA synchronous=FULL");
    m_db.run("BEGIN IMMEDIATE");
    for (const JournalRecord& record : records)
        std::visit([this](const auto& one) { take(one); }, record);
    writeBuckets();
    writeLeases();
    writeSpans();
    m_db.run("COMMIT");
    std::optional<Error> problem = m_db.takeError();
    if (problem) {
        m_db.run("ROLLBACK");
        static_cast<void>(m_db.takeError());
        return problem;
    }
    if (precious)
        m_db.run("PRAGMA synchronous=NORMAL");
    for (const auto& [record, id] : m_kept)
        record->kept->set_value(id);
    return std::nullopt;
}

// ---- Connections ------------------------------------------------------------------------------

JournalStore::Connection& JournalStore::connection(const std::string& uid)
{
    Connection& found = m_connections[uid];
    if (found.id != 0)
        return found;
    auto known = m_db.prepared("SELECT id FROM connection WHERE uid=?");
    if (known.bind(uid).step()) {
        found.id = known.integer();
        return found;
    }
    auto made = m_db.prepared("INSERT INTO connection(uid, name, url) VALUES(?, ?, '')");
    made.bind(uid).bind(uid).step();
    found.id = m_db.lastId();
    return found;
}

void JournalStore::take(const JournalConnection& described)
{
    connection(described.id);
    auto update = m_db.prepared("UPDATE connection SET name=?, url=? WHERE uid=? AND (name<>? OR url<>?)");
    update.bind(described.name).bind(described.url).bind(described.id);
    update.bind(described.name).bind(described.url).step();
}

JournalStore::Connection* JournalStore::mine(const std::string& uid, WallTime at)
{
    Connection& found = connection(uid);
    if (!found.mine) {
        found.theirs = !m_claims.claim(found.id);
        if (found.theirs)
            return nullptr;
        found.mine = true;
        loadConnection(found);
    }
    found.told = std::max(found.told, at);
    return &found;
}

void JournalStore::loadConnection(Connection& connection)
{
    const std::string prefix = cacheKey(connection.id, {});
    std::erase_if(m_leases, [&](const auto& entry) { return entry.first.starts_with(prefix); });
    connection.spans.clear();
    auto spans = m_db.prepared("SELECT id, from_us, to_us FROM span WHERE conn=? ORDER BY from_us DESC LIMIT 64");
    spans.bind(connection.id);
    while (spans.step())
        connection.spans.push_front({spans.integer(), spans.integer(), spans.integer(), false});
    auto dark = m_db.prepared("SELECT count(*) FROM lease WHERE conn=? AND flags&4");
    connection.dark = dark.bind(connection.id).step() ? dark.integer() : 0;
}

void JournalStore::giveUpIdle(WallTime now)
{
    for (auto& [uid, connection] : m_connections) {
        if (connection.mine && now - connection.told > kIdle) {
            connection.mine = false;
            m_claims.giveUp(connection.id);
        }
    }
}

std::vector<std::string> JournalStore::elsewhere() const
{
    std::vector<std::string> out;
    for (const auto& [uid, connection] : m_connections) {
        if (connection.theirs)
            out.push_back(uid);
    }
    return out;
}

// ---- What was observed ------------------------------------------------------------------------

void JournalStore::take(const ObservedRecord& record)
{
    Connection* at = mine(record.connection, record.until);
    if (at == nullptr)
        return;
    const std::int64_t from = us(record.from);
    const std::int64_t until = us(record.until);
    if (at->spans.empty() || record.afterLoss
        || from - at->spans.back().to > microseconds(record.longestPause)) {
        at->spans.push_back({0, from, until, true});
        return;
    }
    Span& last = at->spans.back();
    last.dirty = last.dirty || until > last.to;
    last.to = std::max(last.to, until);
}

/// Something was seen at `at`, so the connection was observed then.
void JournalStore::witness(Connection& connection, std::int64_t at)
{
    if (connection.spans.empty()) {
        connection.spans.push_back({0, at, at, true});
        return;
    }
    constexpr std::int64_t kNear = 5'000'000;
    Span& last = connection.spans.back();
    const std::int64_t floor
        = connection.spans.size() > 1 ? connection.spans[connection.spans.size() - 2].to : 0;
    if (at > last.to && at - last.to <= kNear) {
        last.to = at;
        last.dirty = true;
    } else if (at < last.from && last.from - at <= kNear && at > floor) {
        last.from = at;
        last.dirty = true;
    }
}

/// How much of the time from `from` to `to` was observed.
std::int64_t JournalStore::observedWithin(
    const Connection& connection, std::int64_t from, std::int64_t to)
{
    std::int64_t sum = 0;
    for (auto span = connection.spans.rbegin(); span != connection.spans.rend(); ++span) {
        if (span->to <= from)
            break;
        sum += std::max<std::int64_t>(0, std::min(to, span->to) - std::max(from, span->from));
    }
    return sum;
}

// ---- Changes ----------------------------------------------------------------------------------

std::int64_t JournalStore::holder(const std::string& name)
{
    if (name.empty())
        return kNobody;
    const auto cached = m_holders.find(name);
    if (cached != m_holders.end())
        return cached->second;
    auto known = m_db.prepared("SELECT id FROM holder WHERE name=?");
    std::int64_t id = 0;
    if (known.bind(name).step()) {
        id = known.integer();
    } else {
        auto made = m_db.prepared("INSERT INTO holder(name) VALUES(?)");
        made.bind(name).step();
        id = m_db.lastId();
    }
    m_holders.emplace(name, id);
    return id;
}

JournalStore::Lease& JournalStore::lease(const Connection& connection, const LeaseId& name)
{
    const std::string key = cacheKey(connection.id, name.name());
    const auto cached = m_leases.find(key);
    if (cached != m_leases.end())
        return cached->second;
    Lease& lease = m_leases[key];
    auto known = m_db.prepared(
        "SELECT id, last_us, n, dark_us, holder, token, flags FROM lease WHERE conn=? AND name=?");
    if (known.bind(connection.id).bind(name.name()).step()) {
        lease.id = known.integer();
        lease.last = known.integer();
        lease.n = known.integer();
        lease.dark = known.integer();
        lease.holder = known.integer();
        lease.token = known.number();
        lease.flags = known.integer();
        return lease;
    }
    auto made = m_db.prepared(
        "INSERT INTO lease(conn, name, last_us, n, dark_us, holder, token, flags) VALUES(?,?,0,0,0,0,0,0)");
    made.bind(connection.id).bind(name.name()).step();
    lease.id = m_db.lastId();
    return lease;
}

/// Time without a leader up to `at`, as far as it was observed. Returns the gap that ended, if one
/// did.
std::int64_t JournalStore::addSilence(
    const Connection& connection, Lease& lease, const ChangeRecord& record, std::int64_t at)
{
    const Transition& t = record.transition;
    const std::int64_t told = t.gap ? microseconds(*t.gap) : 0;
    if (lease.isDark()) {
        const std::int64_t silent = observedWithin(connection, lease.last, at);
        lease.dark += silent;
        return t.newHolder.empty() ? 0 : std::max<std::int64_t>(1, told > 0 ? told : silent);
    }
    // Taken over after it ran out, with no look between: the gap has no row of its own.
    if (told > 0 && lease.holder != kNobody)
        lease.dark += observedWithin(connection, std::max(lease.last, at - told), at);
    return told;
}

void JournalStore::take(const ChangeRecord& record)
{
    Connection* home = mine(record.connection, record.at);
    if (home == nullptr)
        return;
    const Transition& t = record.transition;
    Lease& state = lease(*home, t.lease);
    // Rows of a lease stand in the order in which they were learnt, also when a clock was set back.
    const std::int64_t at = std::max(us(record.at), state.last);
    witness(*home, at);
    const bool counts = t.kind != TransitionKind::Appeared;
    const std::int64_t gap = addSilence(*home, state, record, at);
    const bool wasDark = state.isDark();
    const bool onHold = t.kind == TransitionKind::Held;
    const bool dark = t.newHolder.empty() && !onHold && t.kind != TransitionKind::Deleted
        && (wasDark || !t.oldHolder.empty() || (state.flags & kOperatorHold) != 0);
    state.n += counts ? 1 : 0;
    state.last = at;
    state.holder = holder(t.newHolder);
    state.token = t.token.value;
    state.flags = (t.inBlindSpot ? kInBlindSpot : 0) | (onHold ? kOperatorHold : 0) | (dark ? kDark : 0);
    const std::int64_t before = home->dark;
    home->dark += (dark ? 1 : 0) - (wasDark ? 1 : 0);
    const std::int64_t most = std::max({before, home->dark, gap > 0 && !wasDark ? before + 1 : before});
    auto row = m_db.prepared("INSERT INTO change(lease, at_us, server_us, kind, old_holder, new_holder, "
                             "token, gap_us, flags, n, dark_us, why) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    row.bind(state.id).bind(at);
    row.bind(t.serverTime ? std::optional(us(*t.serverTime)) : std::nullopt);
    row.bind(static_cast<std::int64_t>(t.kind)).bind(holder(t.oldHolder)).bind(state.holder);
    row.bind(t.token.value).bind(t.gap ? std::optional(microseconds(*t.gap)) : std::nullopt);
    row.bind(state.flags).bind(state.n).bind(state.dark).bind(t.explanation).step();
    if (gap > 0) {
        std::int64_t& longest = m_gaps[{state.id, bucketOf(at, kGapBucket)}];
        longest = std::max(longest, gap);
    }
    countDensity(*home, at, gap, counts, most);
    if (!state.dirty)
        m_dirty.push_back(&state);
    state.dirty = true;
}

void JournalStore::countDensity(const Connection& connection, std::int64_t at, std::int64_t gap,
    bool counts, std::int64_t darkMost)
{
    for (std::size_t level = 0; level < kDensityLevels.size(); ++level) {
        Cell& cell = m_cells[{connection.id, static_cast<std::int64_t>(level),
            bucketOf(at, kDensityLevels[level])}];
        cell.n += counts ? 1 : 0;
        cell.darkMost = std::max(cell.darkMost, darkMost);
        cell.darkEnd = connection.dark;
        cell.gap = std::max(cell.gap, gap);
    }
}

// ---- Renewals ---------------------------------------------------------------------------------

void JournalStore::take(const RenewalRecord& record)
{
    Connection* home = mine(record.lease.connection, record.at);
    const std::int64_t interval = microseconds(record.seen.interval);
    if (home == nullptr || interval <= 0)
        return;
    const std::int64_t trip = microseconds(record.roundTrip);
    const std::int64_t id = lease(*home, record.lease.lease).id;
    for (std::size_t level = 0; level < kRenewalLevels.size(); ++level) {
        Renewals& sum = m_renewals[{id, static_cast<std::int64_t>(level),
            bucketOf(us(record.at), kRenewalLevels[level])}];
        sum.least = sum.n == 0 ? interval : std::min(sum.least, interval);
        sum.most = std::max(sum.most, interval);
        sum.tripLeast = sum.n == 0 ? trip : std::min(sum.tripLeast, trip);
        sum.tripMost = std::max(sum.tripMost, trip);
        ++sum.n;
        sum.sum += interval;
        sum.tripSum += trip;
        sum.late += record.seen.late ? 1 : 0;
        sum.headroom = std::min(sum.headroom, record.seen.headroom);
    }
}

} // namespace tenure
