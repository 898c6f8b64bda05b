// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/journal/journal_records.h"

#include <memory>

namespace tenure
{

/// From (included) to (excluded).
struct TimeWindow {
    WallTime from, to;
    [[nodiscard]] Duration length() const { return to - from; }
};

enum class TermKind {
    Led,
    Leaderless,
    OperatorHold,
    NotObserved, ///< nobody looked; what happened is not known
    Dense, ///< several changes within one pixel: `transitions` of them
};

/// One stretch of the truth lane of a lease. Segments follow each other without a hole, in order.
struct TermSegment {
    TermKind kind = TermKind::NotObserved;
    WallTime from, to; ///< cut to the window
    bool begins = false; ///< it begins here, not before the window
    bool ends = false; ///< it ends here, not after the window; false at `now`: it still is so
    std::string holder; ///< Led only
    FencingToken token; ///< Led only
    std::uint64_t transitions = 0; ///< changes of leadership in it: Dense only
    Duration leaderless{}; ///< in it: Leaderless and Dense
    std::uint64_t event = 0; ///< id of the event that began it, 0 when before the window or unknown
};

struct TermLane {
    std::vector<TermSegment> segments;
    std::vector<std::string> holders; ///< of the Led segments, in order of appearance, each once
    bool decimated = false; ///< some segments are Dense
};

/// One cell of a connection's density row.
struct DensityCell {
    WallTime from, to;
    std::uint64_t transitions = 0;
    std::uint64_t leaderless = 0; ///< most leases that lost their leader and had none, at once
    Duration longestGap{}; ///< of the times without a leader that ended here
    double observed = 0; ///< share of the cell that was observed
};

/// Renewals of one lease in a stretch of time.
struct RenewalBucket {
    WallTime from;
    Duration width{};
    std::uint64_t count = 0;
    Duration intervalLeast{}, intervalMost{}, intervalMean{}; ///< between renewals
    double headroomLeast = 1; ///< share of the ttl that was left at the latest of them
    std::uint64_t late = 0;
    Duration roundTripLeast{}, roundTripMost{}, roundTripMean{}; ///< of our own looks
};

/// What a window says in numbers.
struct WindowSummary {
    std::uint64_t transitions = 0; ///< changes of leadership, first sights not counted
    Duration leaderless{}; ///< observed time without a leader, after a leader was seen
    Duration longestGap{}; ///< longest stretch of it, as far as it lies in the window
    Duration observed{}; ///< how much of the window was observed
    std::uint64_t leases = 0; ///< that it is about
    std::uint64_t actions = 0; ///< of operators
    std::uint64_t alerts = 0; ///< raised
};

/// What to look for. Empty or absent means: any.
struct JournalFilter {
    std::string connection; ///< id
    std::string glob = "*"; ///< lease names
    std::optional<WallTime> from, to;
};

/// Result of checking the chain of operators' actions.
struct ChainCheck {
    bool sound = false;
    std::uint64_t actions = 0;
    std::string head; ///< hash of the newest; noted elsewhere, it also proves that nothing was cut off
    std::uint64_t brokenAt = 0; ///< id of the first action that does not fit; 0: none
    std::string sentence;
};

/// Reads a journal, also one that is being written, and somebody else's; never changes it. Each call
/// reads one consistent state. One owner, one thread at a time (not the GUI's: it reads the disk);
/// a window is answered in well under 100 ms, however much lies behind it.
class JournalQuery
{
public:
    /// NotFound: no file; Corrupt: no database; BadConfig: a database, but no journal; Denied. A
    /// newer schema is read as well as it can be, see notes().
    [[nodiscard]] static Result<JournalQuery> open(const std::string& path);
    JournalQuery(JournalQuery&&) noexcept;
    JournalQuery& operator=(JournalQuery&&) noexcept;
    ~JournalQuery();

    /// Odd things about the file, one sentence each.
    [[nodiscard]] const std::vector<std::string>& notes() const;
    [[nodiscard]] Result<std::vector<JournalConnection>> connections();
    /// Every lease that was ever seen, by connection and name.
    [[nodiscard]] Result<std::vector<LeaseKey>> leases(const JournalFilter& filter = {});
    /// The oldest and newest moment that is known of; nothing for an empty journal.
    [[nodiscard]] Result<std::optional<TimeWindow>> extent(const JournalFilter& filter = {});

    /// Who led when. At most about three segments a pixel.
    [[nodiscard]] Result<TermLane> terms(const LeaseKey& lease, TimeWindow window, int pixels);
    /// One cell a pixel, or fewer where no finer count is kept any more.
    [[nodiscard]] Result<std::vector<DensityCell>> density(
        const std::string& connection, TimeWindow window, int pixels);
    /// Stretches of the window in which nobody looked at the connection, in order.
    [[nodiscard]] Result<std::vector<TimeWindow>> notObserved(
        const std::string& connection, TimeWindow window);
    /// In order; at most about `pixels` buckets, of a minute at least.
    [[nodiscard]] Result<std::vector<RenewalBucket>> renewals(
        const LeaseKey& lease, TimeWindow window, int pixels);
    [[nodiscard]] Result<WindowSummary> summary(const LeaseKey& lease, TimeWindow window);
    /// The same over all leases that match.
    [[nodiscard]] Result<WindowSummary> summary(const JournalFilter& filter, TimeWindow window);

    /// A page of events, newest first; the next page begins before the last id of this one. `before`
    /// 0: from the newest.
    [[nodiscard]] Result<std::vector<JournalEvent>> events(
        const JournalFilter& filter, std::uint64_t before, std::size_t limit);
    [[nodiscard]] Result<std::vector<JournalAction>> actions(
        const JournalFilter& filter, std::uint64_t before, std::size_t limit);
    [[nodiscard]] Result<std::vector<JournalAlert>> alerts(
        const JournalFilter& filter, std::uint64_t before, std::size_t limit);
    /// Recomputes every hash.
    [[nodiscard]] Result<ChainCheck> verify();

    /// Ends a running call, which then fails with Unavailable. Any thread.
    void interrupt();

    struct Reader; ///< of the implementation

private:
    explicit JournalQuery(std::unique_ptr<Reader> reader);
    std::unique_ptr<Reader> m_reader;
};

} // namespace tenure
