// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/journal/journal_records.h"

#include <memory>

namespace tenure
{

enum class JournalState {
    Opening,
    Writing,
    ReadOnly, ///< can be read, nothing is kept: a newer schema, or no right to write
    Failing, ///< nothing can be kept now (a full disk); it is tried again and again
    Closed,
};
[[nodiscard]] const char* journalStateWord(JournalState state); ///< "writing", "read-only", ...

/// How the journal is, as a value for a status bar.
struct JournalStatus {
    JournalState state = JournalState::Opening;
    std::string path;
    std::string sentence; ///< why it is not writing, or what was odd; empty: all is well
    std::string setAside; ///< where a damaged file was put, empty when there was none
    std::uint64_t written = 0; ///< records committed by this process
    std::uint64_t dropped = 0; ///< records lost because nothing could be kept for too long
    std::uint64_t waiting = 0; ///< records not committed yet
    std::uint64_t bytes = 0; ///< in use; the file itself shrinks at a checkpoint
    /// Connections that another process journals at the moment; ours are not kept twice.
    std::vector<std::string> elsewhere;
};

class JournalWriter;

/// The lasting memory: a SQLite file of what was observed and done. Everything is handed to a thread
/// of its own through a bounded queue, and written in batches; no call but record() ever waits for
/// the disk. What was committed survives `kill -9`; a loss of power may take the last seconds, but
/// never an operator's action, and never leaves the file torn. Several processes may write to one
/// file: one of them keeps each connection. Any thread. Read it with JournalQuery.
class Journal
{
public:
    struct Options {
        std::string path = defaultPath();
        std::uint64_t sizeLimit = 1ULL << 30U; ///< bytes; the oldest goes first
        std::chrono::hours ageLimit{24 * 400};
        std::size_t queueLimit = 200'000; ///< records kept in memory while nothing can be written
        Duration flushEvery = std::chrono::milliseconds(100); ///< longest wait before a commit
        Duration busyTimeout = std::chrono::seconds(5); ///< for another process's lock
    };

    /// `$XDG_DATA_HOME/tenure/journal.db`, else `~/.local/share/tenure/journal.db`.
    [[nodiscard]] static std::string defaultPath();

    /// Opens the file (and makes its folder) on the writer's thread; status() tells how it went.
    explicit Journal(Options options, const Clock& clock = SystemClock::instance());
    /// Writes what waits, as far as that is possible within a second, then ends.
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Says what a connection is; before anything else is told of it.
    void describe(const JournalConnection& connection);
    void append(const std::string& connection, const Transition& transition);
    /// `run` tells the alert numbers of one Monitor from those of another.
    void append(const std::string& connection, std::uint64_t run, const Alert& alert);
    /// A renewal that was seen, and the round trip of the look that showed it; kept as minimum,
    /// maximum and mean of a minute, later of an hour.
    void append(const LeaseKey& lease, const RenewalSeen& renewal, Duration roundTrip);
    /// The connection was observed without a break up to `until`. A pause of more than
    /// `longestPause` since the last call is a stretch that nobody observed.
    void observed(const std::string& connection, Instant until, Duration longestPause);
    /// Keeps an operator's action and waits until it is on the disk, for `wait` at most. Returns its
    /// id. Unavailable, Denied: not kept (yet); the action itself need not wait for that.
    [[nodiscard]] Result<std::uint64_t> record(JournalAction action, Duration wait);
    /// Waits until everything appended before is committed. False: not within `wait`.
    bool flush(Duration wait);

    [[nodiscard]] JournalStatus status() const;
    [[nodiscard]] const std::string& path() const;

private:
    std::unique_ptr<JournalWriter> m_writer;
};

} // namespace tenure
