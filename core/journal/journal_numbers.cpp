// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_reader.h"

#include <algorithm>

namespace tenure
{
namespace
{

Duration duration(std::int64_t microseconds)
{
    return std::chrono::microseconds(microseconds);
}

} // namespace

// ---- Summaries --------------------------------------------------------------------------------

/// The longest stretch of silence, as far as it lies in the window.
std::int64_t JournalQuery::Reader::longestSilence(const LeaseRow& lease, const TimeWindow& window,
    const std::optional<ChangeRow>& before, const std::optional<ChangeRow>& last,
    const std::vector<Stretch>& observed)
{
    std::int64_t longest = 0;
    std::int64_t from = us(window.from);
    const std::int64_t to = us(window.to);
    if (before && before->isDark()) { // silent when the window begins: until its first leader
        auto ends = db->prepared("SELECT at_us FROM change WHERE lease=? AND at_us>=? AND at_us<? AND "
                                 "new_holder<>0 ORDER BY at_us, id LIMIT 1");
        const std::int64_t end = ends.bind(lease.id).bind(from).bind(to).step() ? ends.integer() : to;
        longest = overlap(observed, from, end);
        from = end + 1;
    }
    if (last && last->isDark() && last->at >= from)
        longest = std::max(longest, overlap(observed, last->at, to));
    // Whole hours from what was summed up, their edges row by row.
    const std::int64_t hour = microseconds(kGapBucket);
    const std::int64_t firstHour = bucketOf(from - 1, kGapBucket) + 1;
    const std::int64_t endHour = std::max(firstHour, bucketOf(to, kGapBucket));
    auto hours = db->prepared("SELECT max(longest_us) FROM gap WHERE lease=? AND at>=? AND at<?");
    if (hours.bind(lease.id).bind(firstHour).bind(endHour).step())
        longest = std::max(longest, std::min(hours.integer(), to - us(window.from)));
    const auto edge = [&](std::int64_t begin, std::int64_t end) {
        auto rows = db->prepared("SELECT max(min(gap_us, at_us-?)) FROM change WHERE lease=? AND at_us>=? "
                                 "AND at_us<? AND gap_us IS NOT NULL");
        rows.bind(window.from).bind(lease.id).bind(begin).bind(std::min(end, to));
        if (begin < end && rows.step())
            longest = std::max(longest, rows.integer());
    };
    edge(from, firstHour * hour);
    if (endHour * hour >= from)
        edge(std::max(from, endHour * hour), to);
    return longest;
}

WindowSummary JournalQuery::Reader::summaryOf(const LeaseRow& lease, const TimeWindow& window)
{
    WindowSummary out;
    const auto before = stateBefore(lease, us(window.from));
    const auto last = stateBefore(lease, us(window.to));
    const std::vector<Stretch> observed = observedSince(lease, before, window);
    out.observed = duration(overlap(observed, us(window.from), us(window.to)));
    if (!last)
        return out;
    std::int64_t nBefore = before ? before->n : 0;
    std::int64_t darkBefore = before ? darkUpTo(*before, us(window.from), observed) : 0;
    if (!before) { // the changes before it were removed: what the first one counted is not ours
        auto first = db->prepared("SELECT " TENURE_CHANGE_COLUMNS
                                  " FROM change WHERE lease=? AND at_us>=? ORDER BY at_us, id LIMIT 1");
        if (first.bind(lease.id).bind(window.from).step()) {
            const ChangeRow row = readChange(first);
            nBefore = row.n - (row.kind == TransitionKind::Appeared ? 0 : 1);
            darkBefore = row.dark;
        }
    }
    out.transitions = static_cast<std::uint64_t>(std::max<std::int64_t>(0, last->n - nBefore));
    out.leaderless = duration(std::max<std::int64_t>(0, darkUpTo(*last, us(window.to), observed) - darkBefore));
    out.longestGap = duration(longestSilence(lease, window, before, last, observed));
    out.leases = 1;
    return out;
}

Result<WindowSummary> JournalQuery::summary(const LeaseKey& lease, TimeWindow window)
{
    JournalFilter filter;
    filter.connection = lease.connection;
    Snapshot snapshot(*m_reader->db);
    WindowSummary out;
    const auto row = m_reader->find(lease);
    if (!row)
        return snapshot.done(out);
    out = m_reader->summaryOf(*row, window);
    auto actions = m_reader->db->prepared("SELECT count(*) FROM action WHERE conn=? AND lease=? AND "
                                          "intent=0 AND at_us>=? AND at_us<?");
    actions.bind(lease.connection).bind(lease.lease.name()).bind(window.from).bind(window.to);
    out.actions = actions.step() ? actions.number() : 0;
    auto alerts = m_reader->db->prepared(
        "SELECT count(*) FROM alert WHERE conn=? AND lease=? AND first_us>=? AND first_us<?");
    alerts.bind(row->connection).bind(lease.lease.name()).bind(window.from).bind(window.to);
    out.alerts = alerts.step() ? alerts.number() : 0;
    return snapshot.done(out);
}

Result<WindowSummary> JournalQuery::summary(const JournalFilter& filter, TimeWindow window)
{
    Snapshot snapshot(*m_reader->db);
    WindowSummary out;
    for (const LeaseRow& lease : m_reader->matching(filter)) {
        const WindowSummary one = m_reader->summaryOf(lease, window);
        out.transitions += one.transitions;
        out.leaderless += one.leaderless;
        out.longestGap = std::max(out.longestGap, one.longestGap);
        out.observed = std::max(out.observed, one.observed);
        ++out.leases;
    }
    auto actions = m_reader->db->prepared(
        "SELECT count(*) FROM action WHERE (?='' OR conn=?) AND (lease='' OR tenure_glob(?, lease)) AND "
        "intent=0 AND at_us>=? AND at_us<?");
    actions.bind(filter.connection).bind(filter.connection).bind(filter.glob);
    actions.bind(window.from).bind(window.to);
    out.actions = actions.step() ? actions.number() : 0;
    auto alerts = m_reader->db->prepared(
        "SELECT count(*) FROM alert JOIN connection ON connection.id=alert.conn WHERE (?='' OR uid=?) AND "
        "(lease='' OR tenure_glob(?, lease)) AND first_us>=? AND first_us<?");
    alerts.bind(filter.connection).bind(filter.connection).bind(filter.glob);
    alerts.bind(window.from).bind(window.to);
    out.alerts = alerts.step() ? alerts.number() : 0;
    return snapshot.done(out);
}

// ---- Density ----------------------------------------------------------------------------------

namespace
{

/// The finest level that suits cells of `width` and still has counts from the window's begin on.
std::size_t densityLevel(JournalDb& db, std::int64_t connection, std::int64_t from, std::int64_t width)
{
    std::size_t level = 0;
    while (level + 1 < kDensityLevels.size() && microseconds(kDensityLevels[level + 1]) <= width)
        ++level;
    for (; level + 1 < kDensityLevels.size(); ++level) {
        auto first = db.prepared("SELECT min(at) FROM density WHERE conn=? AND level=?");
        first.bind(connection).bind(static_cast<std::int64_t>(level));
        const auto here = first.step() ? first.maybe() : std::nullopt;
        first.reset();
        if (here && *here <= bucketOf(from, kDensityLevels[level]))
            break;
        first.bind(connection).bind(static_cast<std::int64_t>(level + 1));
        const auto coarser = first.step() ? first.maybe() : std::nullopt;
        // The coarser level reaches no further back: nothing was removed.
        if (here && coarser
            && *here * microseconds(kDensityLevels[level])
                < (*coarser + 1) * microseconds(kDensityLevels[level + 1]))
            break;
    }
    return level;
}

} // namespace

Result<std::vector<DensityCell>> JournalQuery::density(
    const std::string& connection, TimeWindow window, int pixels)
{
    Snapshot snapshot(*m_reader->db);
    std::vector<DensityCell> out;
    const auto id = m_reader->connectionId(connection);
    if (!id || window.to <= window.from)
        return snapshot.done(std::move(out));
    JournalDb& db = *m_reader->db;
    const std::int64_t from = us(window.from);
    const std::int64_t wanted = std::max<std::int64_t>(1, (us(window.to) - from) / std::max(1, pixels));
    const std::size_t level = densityLevel(db, *id, from, wanted);
    const std::int64_t bucket = microseconds(kDensityLevels[level]);
    const std::int64_t step = (wanted + bucket - 1) / bucket * bucket;
    const std::int64_t start = from - ((from % step) + step) % step;
    for (std::int64_t at = start; at < us(window.to); at += step)
        out.push_back({wall(at), wall(at + step)});

    auto before = db.prepared("SELECT dark_end FROM density WHERE conn=? AND level=? AND at<? ORDER BY at "
                              "DESC LIMIT 1");
    before.bind(*id).bind(static_cast<std::int64_t>(level)).bind(start / bucket);
    std::int64_t dark = before.step() ? before.integer() : 0;
    auto rows = db.prepared("SELECT at, n, dark_most, dark_end, gap_us FROM density WHERE conn=? AND "
                            "level=? AND at>=? AND at<? ORDER BY at");
    rows.bind(*id).bind(static_cast<std::int64_t>(level)).bind(start / bucket);
    rows.bind((start + static_cast<std::int64_t>(out.size()) * step) / bucket);
    std::size_t filled = 0; ///< cells before it have their silent leases
    const auto carry = [&](std::size_t until) {
        for (; filled < until; ++filled)
            out[filled].leaderless = std::max(out[filled].leaderless, static_cast<std::uint64_t>(std::max<std::int64_t>(0, dark)));
    };
    while (rows.step()) {
        const std::int64_t at = rows.integer() * bucket;
        const auto cell = static_cast<std::size_t>((at - start) / step);
        carry(std::min(out.size(), cell + 1));
        DensityCell& sum = out[cell];
        sum.transitions += rows.number();
        sum.leaderless = std::max(sum.leaderless, rows.number());
        dark = rows.integer();
        sum.longestGap = std::max(sum.longestGap, duration(rows.integer()));
    }
    carry(out.size());
    const std::vector<Stretch> observed = m_reader->observed(*id, {wall(start), window.to});
    for (DensityCell& cell : out) {
        const WallTime to = std::min(cell.to, window.to);
        const auto length = static_cast<double>(us(to) - us(cell.from));
        cell.observed = static_cast<double>(overlap(observed, us(cell.from), us(to))) / length;
        if (cell.observed <= 0)
            cell.leaderless = 0; // not known
    }
    return snapshot.done(std::move(out));
}

// ---- Renewals ---------------------------------------------------------------------------------

Result<std::vector<RenewalBucket>> JournalQuery::renewals(const LeaseKey& lease, TimeWindow window, int pixels)
{
    Snapshot snapshot(*m_reader->db);
    std::vector<RenewalBucket> out;
    const auto row = m_reader->find(lease);
    if (!row || window.to <= window.from)
        return snapshot.done(std::move(out));
    JournalDb& db = *m_reader->db;
    const std::int64_t wanted = (us(window.to) - us(window.from)) / std::max(1, pixels);
    std::size_t level = wanted >= microseconds(kRenewalLevels[1]) ? 1 : 0;
    auto first = db.prepared("SELECT min(at) FROM renewal WHERE lease=? AND level=?");
    const auto oldest = [&](std::size_t of) {
        first.reset();
        first.bind(row->id).bind(static_cast<std::int64_t>(of));
        const auto at = first.step() ? first.maybe() : std::nullopt;
        return at ? *at * microseconds(kRenewalLevels[of]) : std::int64_t{0};
    };
    const std::int64_t hour = microseconds(kRenewalLevels[1]);
    if (level == 0 && oldest(0) > us(window.from) && oldest(1) + hour <= oldest(0))
        level = 1; // the minutes were removed
    const std::int64_t bucket = microseconds(kRenewalLevels[level]);
    const std::int64_t step = std::max(bucket, (wanted + bucket - 1) / bucket * bucket);
    auto rows = db.prepared(
        "SELECT at, n, least_us, most_us, sum_us, headroom, late, trip_least, trip_most, trip_sum FROM "
        "renewal WHERE lease=? AND level=? AND at>=? AND at<=? ORDER BY at");
    rows.bind(row->id).bind(static_cast<std::int64_t>(level));
    rows.bind(bucketOf(us(window.from), kRenewalLevels[level])).bind((us(window.to) - 1) / bucket);
    while (rows.step()) {
        const std::int64_t at = rows.integer() * bucket / step * step;
        if (out.empty() || us(out.back().from) != at) {
            out.push_back({wall(at), duration(step)});
            out.back().intervalLeast = out.back().roundTripLeast = Duration::max();
        }
        RenewalBucket& sum = out.back();
        const auto n = static_cast<std::int64_t>(rows.number());
        sum.count += static_cast<std::uint64_t>(n);
        sum.intervalLeast = std::min(sum.intervalLeast, duration(rows.integer()));
        sum.intervalMost = std::max(sum.intervalMost, duration(rows.integer()));
        sum.intervalMean += duration(rows.integer());
        sum.headroomLeast = std::min(sum.headroomLeast, rows.real());
        sum.late += rows.number();
        sum.roundTripLeast = std::min(sum.roundTripLeast, duration(rows.integer()));
        sum.roundTripMost = std::max(sum.roundTripMost, duration(rows.integer()));
        sum.roundTripMean += duration(rows.integer());
    }
    for (RenewalBucket& sum : out) { // until here sums
        sum.intervalMean /= static_cast<std::int64_t>(sum.count);
        sum.roundTripMean /= static_cast<std::int64_t>(sum.count);
    }
    return snapshot.done(std::move(out));
}

} // namespace tenure
