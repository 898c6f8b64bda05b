// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal.h"
#include "core/journal/journal_compact.h"
#include "core/journal/journal_store.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace tenure
{

/// Journal's thread: takes what waits as one batch, writes it, and between batches compacts. While
/// nothing can be written it keeps what waits, up to a limit, and tries again with growing pauses.
class JournalWriter
{
public:
    /// How long a record may wait for company.
    enum class Haste { Some, Soon, AtOnce };

    JournalWriter(Journal::Options options, const Clock& clock);
    ~JournalWriter();
    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    // Any thread:
    void add(JournalRecord record, Haste haste);
    void addObserved(ObservedRecord record);
    [[nodiscard]] Result<std::uint64_t> record(JournalAction action, Duration wait);
    bool flush(Duration wait);
    [[nodiscard]] JournalStatus status() const;
    [[nodiscard]] const std::string& path() const { return m_options.path; }
    /// A local moment by the wall clock of now.
    [[nodiscard]] WallTime wallOf(Instant at) const;

private:
    void run();
    bool open();
    void openFailed(const Error& error);
    void writeBatch();
    void batchFailed(const Error& error);
    void compact();
    [[nodiscard]] bool waitForWork(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] Instant nextWrite() const; ///< under the mutex
    void dropWaiting();
    void setState(JournalState state, std::string sentence);
    void close();

    const Journal::Options m_options;
    const Clock& m_clock;

    mutable std::mutex m_mutex;
    std::condition_variable m_wake; ///< to the writer
    std::condition_variable m_done; ///< to those in flush()
    // Guarded by m_mutex:
    std::vector<JournalRecord> m_waiting;
    std::map<std::string, std::size_t> m_observedAt; ///< where in m_waiting a connection's last one is
    JournalStatus m_status;
    Instant m_writeBy = Instant::max(); ///< when m_waiting has waited long enough
    std::uint64_t m_added = 0, m_settled = 0; ///< records so far: told, and committed or dropped
    bool m_lostSome = false; ///< records were dropped since the last batch
    bool m_stopping = false;

    // The writer's thread only:
    std::unique_ptr<JournalDb> m_db;
    std::unique_ptr<JournalStore> m_store;
    JournalCompactor m_compactor;
    std::vector<JournalRecord> m_batch; ///< what could not be written yet
    Instant m_nextTry, m_nextCompaction, m_stopBy;
    Instant m_compacted; ///< when the last round of compaction ended
    int m_failures = 0;
    bool m_forGood = false; ///< read-only whatever happens: a newer schema, no journal
    std::thread m_thread;
};

} // namespace tenure
