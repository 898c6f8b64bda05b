// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_db.h"
#include "core/journal/journal_query.h"
#include "core/journal/journal_schema.h"

#include <unordered_map>

namespace tenure
{

/// One row of `change`, without its words.
struct ChangeRow {
    std::int64_t id = 0, at = 0, holder = 0, flags = 0, n = 0, dark = 0;
    TransitionKind kind = TransitionKind::Appeared;
    std::uint64_t token = 0;
    std::optional<std::int64_t> gap;
    [[nodiscard]] bool isDark() const { return (flags & change_flags::kDark) != 0; }
    [[nodiscard]] bool onHold() const { return (flags & change_flags::kOperatorHold) != 0; }
};

/// Where a lease stands in the journal.
struct LeaseRow {
    std::int64_t id = 0, connection = 0;
    ChangeRow last; ///< its state after its last change, kept also when that change is gone
};

/// Times in microseconds, as stored.
struct Stretch {
    std::int64_t from = 0, to = 0;
};

/// JournalQuery's connection and the lookups that its answers share.
struct JournalQuery::Reader {
    std::unique_ptr<JournalDb> db;
    std::vector<std::string> notes;
    std::unordered_map<std::int64_t, std::string> holders;

    [[nodiscard]] const std::string& holderName(std::int64_t id);
    [[nodiscard]] std::optional<std::int64_t> connectionId(const std::string& uid);
    [[nodiscard]] std::optional<LeaseRow> find(const LeaseKey& key);
    [[nodiscard]] std::vector<LeaseRow> matching(const JournalFilter& filter);
    /// The last change before `at`; where it was removed by now, the lease's last state if that is
    /// older than `at`.
    [[nodiscard]] std::optional<ChangeRow> stateBefore(const LeaseRow& lease, std::int64_t at);
    /// What was observed of the window, in order. The newest stretch of a connection is written
    /// some seconds late; when it ends near the window's end it counts as going on.
    [[nodiscard]] std::vector<Stretch> observed(std::int64_t connection, const TimeWindow& window);
    /// The same from the change before the window on: what a lease's silence is measured against.
    [[nodiscard]] std::vector<Stretch> observedSince(
        const LeaseRow& lease, const std::optional<ChangeRow>& before, TimeWindow window);
    /// Time without a leader from the beginning up to `at`, given the state before it.
    [[nodiscard]] static std::int64_t darkUpTo(
        const ChangeRow& state, std::int64_t at, const std::vector<Stretch>& observed);
    /// Counts and silence only.
    [[nodiscard]] WindowSummary summaryOf(const LeaseRow& lease, const TimeWindow& window);
    [[nodiscard]] std::int64_t longestSilence(const LeaseRow& lease, const TimeWindow& window,
        const std::optional<ChangeRow>& before, const std::optional<ChangeRow>& last,
        const std::vector<Stretch>& observed);
};

[[nodiscard]] ChangeRow readChange(JournalStatement& statement);
/// The columns that readChange() reads.
#define TENURE_CHANGE_COLUMNS "id, at_us, new_holder, flags, n, dark_us, kind, token, gap_us"

[[nodiscard]] inline std::int64_t us(WallTime time)
{
    return time.time_since_epoch().count();
}
[[nodiscard]] inline WallTime wall(std::int64_t us)
{
    return WallTime(std::chrono::microseconds(us));
}
[[nodiscard]] std::int64_t overlap(const std::vector<Stretch>& stretches, std::int64_t from, std::int64_t to);

/// One read transaction: every statement in it sees one state of the file.
class Snapshot
{
public:
    explicit Snapshot(JournalDb& db) : m_db(db) { m_db.run("BEGIN"); }
    ~Snapshot() { m_db.run("COMMIT"); }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

    /// `value`, or what went wrong on the way to it.
    template <typename T>
    [[nodiscard]] Result<T> done(T value)
    {
        if (auto problem = m_db.takeError())
            return fail(*std::move(problem));
        return value;
    }

private:
    JournalDb& m_db;
};

} // namespace tenure
