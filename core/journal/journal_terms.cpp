// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_reader.h"

#include <algorithm>

namespace tenure
{
namespace
{

/// More changes than this within one pixel are told as one dense segment.
constexpr int kRowsAPixel = 3;

/// Puts changes together to segments without holes.
class LaneBuilder
{
public:
    LaneBuilder(JournalQuery::Reader& reader, TimeWindow window) : m_reader(reader), m_window(window)
    {
        m_open.from = window.from;
    }

    /// As it was when the window began.
    void begin(const std::optional<ChangeRow>& state)
    {
        if (state)
            setOpen(*state, m_window.from, false);
    }

    void take(const ChangeRow& row)
    {
        const WallTime at = wall(row.at);
        const bool led = row.holder != 0;
        if (row.kind == TransitionKind::Appeared && m_known && led == (m_open.kind == TermKind::Led)
            && row.holder == m_holder && row.token == m_open.token.value)
            return; // the same as before, seen anew
        if (row.gap && *row.gap > 0 && m_known && m_open.kind == TermKind::Led && led) {
            close(std::max(m_open.from, wall(row.at - *row.gap)), true);
            m_open = TermSegment();
            m_open.kind = TermKind::Leaderless;
            m_open.from = m_segments.empty() ? m_window.from : m_segments.back().to;
            m_open.begins = true;
        }
        close(at, true);
        setOpen(row, at, true);
    }

    /// `many` changes from `from` to `to`, the last of which is `last`.
    void dense(WallTime from, WallTime to, std::uint64_t many, Duration leaderless, const ChangeRow& last)
    {
        close(from, true);
        TermSegment segment;
        segment.kind = TermKind::Dense;
        segment.from = from;
        segment.to = to;
        segment.begins = segment.ends = true;
        segment.transitions = many;
        segment.leaderless = leaderless;
        segment.event = static_cast<std::uint64_t>(last.id);
        m_segments.push_back(std::move(segment));
        setOpen(last, to, false);
    }

    struct Mark {
        std::size_t segments = 0;
        TermSegment open;
        bool known = false;
        std::int64_t holder = 0;
    };
    [[nodiscard]] Mark mark() const { return {m_segments.size(), m_open, m_known, m_holder}; }
    void backTo(const Mark& mark)
    {
        m_segments.resize(mark.segments);
        m_open = mark.open;
        m_known = mark.known;
        m_holder = mark.holder;
    }

    std::vector<TermSegment> finish()
    {
        close(m_window.to, false);
        return std::move(m_segments);
    }

private:
    void close(WallTime at, bool ends)
    {
        if (at <= m_open.from)
            return;
        m_open.to = at;
        m_open.ends = ends;
        if (m_open.kind == TermKind::Leaderless)
            m_open.leaderless = m_open.to - m_open.from;
        m_segments.push_back(m_open);
    }

    void setOpen(const ChangeRow& row, WallTime at, bool begins)
    {
        m_known = true;
        m_holder = row.holder;
        m_open = TermSegment();
        m_open.from = at;
        m_open.begins = begins && row.kind != TransitionKind::Appeared;
        m_open.event = begins ? static_cast<std::uint64_t>(row.id) : 0;
        if (row.holder != 0) {
            m_open.kind = TermKind::Led;
            m_open.holder = m_reader.holderName(row.holder);
            m_open.token = FencingToken{row.token};
        } else {
            m_open.kind = row.onHold() ? TermKind::OperatorHold : TermKind::Leaderless;
        }
    }

    JournalQuery::Reader& m_reader;
    const TimeWindow m_window;
    std::vector<TermSegment> m_segments;
    TermSegment m_open; ///< NotObserved until something is known
    bool m_known = false;
    std::int64_t m_holder = 0;
};

void push(std::vector<TermSegment>& out, TermSegment segment)
{
    if (segment.to <= segment.from)
        return;
    const bool joins = !out.empty() && segment.kind == TermKind::NotObserved
        && out.back().kind == TermKind::NotObserved;
    if (joins)
        out.back().to = segment.to;
    else
        out.push_back(std::move(segment));
}

TermSegment unobserved(WallTime from, WallTime to)
{
    TermSegment segment;
    segment.from = from;
    segment.to = to;
    return segment;
}

/// What nobody looked at is not claimed: cut out of the segments.
std::vector<TermSegment> onlyObserved(
    std::vector<TermSegment> segments, const std::vector<Stretch>& observed)
{
    std::vector<TermSegment> out;
    std::size_t first = 0;
    for (TermSegment& segment : segments) {
        WallTime at = segment.from;
        while (first < observed.size() && wall(observed[first].to) <= segment.from)
            ++first;
        for (std::size_t i = first; i < observed.size() && wall(observed[i].from) < segment.to; ++i) {
            const WallTime from = std::max(segment.from, wall(observed[i].from));
            const WallTime to = std::min(segment.to, wall(observed[i].to));
            push(out, unobserved(at, from));
            TermSegment piece = segment;
            piece.from = from;
            piece.to = to;
            piece.begins = segment.begins && from == segment.from;
            piece.ends = segment.ends && to == segment.to;
            if (piece.kind == TermKind::Leaderless)
                piece.leaderless = to - from;
            push(out, std::move(piece));
            at = to;
        }
        push(out, unobserved(at, segment.to));
    }
    return out;
}

std::vector<std::string> holdersOf(const std::vector<TermSegment>& segments)
{
    std::vector<std::string> out;
    for (const TermSegment& segment : segments) {
        if (segment.kind == TermKind::Led
            && std::find(out.begin(), out.end(), segment.holder) == out.end())
            out.push_back(segment.holder);
    }
    return out;
}

/// The walk over the changes of one window: row by row where they lie apart, by jumps where not.
class LaneWalk
{
public:
    LaneWalk(JournalQuery::Reader& reader, const LeaseRow& lease, TimeWindow window, int pixels)
        : m_reader(reader), m_lease(lease), m_window(window),
          m_width(std::max<std::int64_t>(1, (us(window.to) - us(window.from)) / std::max(1, pixels))),
          m_builder(reader, window)
    {
    }

    TermLane walk()
    {
        std::optional<ChangeRow> state = m_reader.stateBefore(m_lease, us(m_window.from));
        m_observed = m_reader.observedSince(m_lease, state, m_window);
        m_builder.begin(state);
        std::int64_t from = us(m_window.from);
        while (from < us(m_window.to))
            from = untilDense(from, state);
        TermLane lane;
        lane.segments = onlyObserved(m_builder.finish(), m_observed);
        lane.holders = holdersOf(lane.segments);
        lane.decimated = m_decimated;
        return lane;
    }

private:
    /// Takes rows from `from` on until a pixel is too full; tells that pixel and returns its end.
    std::int64_t untilDense(std::int64_t from, std::optional<ChangeRow>& state)
    {
        auto rows = m_reader.db->prepared("SELECT " TENURE_CHANGE_COLUMNS
                                          " FROM change WHERE lease=? AND at_us>=? AND at_us<? ORDER BY at_us, id");
        rows.bind(m_lease.id).bind(from).bind(m_window.to);
        std::int64_t pixel = -1;
        int inPixel = 0;
        LaneBuilder::Mark mark;
        std::optional<ChangeRow> atMark;
        while (rows.step()) {
            const ChangeRow row = readChange(rows);
            const std::int64_t its = (row.at - us(m_window.from)) / m_width;
            if (its != pixel) {
                pixel = its;
                inPixel = 0;
                mark = m_builder.mark();
                atMark = state;
            }
            if (++inPixel > kRowsAPixel) {
                m_builder.backTo(mark);
                return tellDense(pixel, atMark, state);
            }
            m_builder.take(row);
            state = row;
        }
        return us(m_window.to);
    }

    std::int64_t tellDense(
        std::int64_t pixel, const std::optional<ChangeRow>& before, std::optional<ChangeRow>& state)
    {
        const std::int64_t from = us(m_window.from) + pixel * m_width;
        const std::int64_t to = std::min(from + m_width, us(m_window.to));
        const ChangeRow last = *m_reader.stateBefore(m_lease, to);
        const std::int64_t dark = JournalQuery::Reader::darkUpTo(last, to, m_observed)
            - (before ? JournalQuery::Reader::darkUpTo(*before, from, m_observed) : 0);
        const std::int64_t many = last.n - (before ? before->n : 0);
        m_builder.dense(wall(from), wall(to), static_cast<std::uint64_t>(std::max<std::int64_t>(0, many)),
            std::chrono::microseconds(std::clamp<std::int64_t>(dark, 0, to - from)), last);
        m_decimated = true;
        state = last;
        return to;
    }

    JournalQuery::Reader& m_reader;
    const LeaseRow& m_lease;
    const TimeWindow m_window;
    const std::int64_t m_width;
    std::vector<Stretch> m_observed;
    LaneBuilder m_builder;
    bool m_decimated = false;
};

} // namespace

Result<TermLane> JournalQuery::terms(const LeaseKey& lease, TimeWindow window, int pixels)
{
    Snapshot snapshot(*m_reader->db);
    TermLane lane;
    if (window.to <= window.from)
        return snapshot.done(std::move(lane));
    const auto row = m_reader->find(lease);
    if (!row) {
        lane.segments.push_back(unobserved(window.from, window.to));
        return snapshot.done(std::move(lane));
    }
    lane = LaneWalk(*m_reader, *row, window, pixels).walk();
    return snapshot.done(std::move(lane));
}

Result<std::vector<TimeWindow>> JournalQuery::notObserved(const std::string& connection, TimeWindow window)
{
    Snapshot snapshot(*m_reader->db);
    std::vector<TimeWindow> out;
    WallTime at = window.from;
    if (const auto id = m_reader->connectionId(connection)) {
        for (const Stretch& stretch : m_reader->observed(*id, window)) {
            if (wall(stretch.from) > at)
                out.push_back({at, wall(stretch.from)});
            at = std::max(at, wall(stretch.to));
        }
    }
    if (at < window.to)
        out.push_back({at, window.to});
    return snapshot.done(std::move(out));
}

} // namespace tenure
