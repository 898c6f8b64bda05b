// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <sqlite3.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tenure
{

/// The newest schema that this program writes; a larger one in a file is only read.
constexpr int kJournalSchema = 1;

enum class JournalOpen { Read, Write };

class JournalDb;

/// A prepared statement in use; reset at its end, so that it holds no lock. Binds and reads columns
/// in order.
class JournalStatement
{
public:
    JournalStatement(JournalDb& db, sqlite3_stmt* statement) : m_db(db), m_statement(statement) { }
    JournalStatement(const JournalStatement&) = delete;
    JournalStatement& operator=(const JournalStatement&) = delete;
    ~JournalStatement() { reset(); }

    JournalStatement& bind(std::int64_t value);
    JournalStatement& bind(std::uint64_t value) { return bind(static_cast<std::int64_t>(value)); }
    JournalStatement& bind(double value);
    JournalStatement& bind(const std::string& bytes); ///< must live until the step
    JournalStatement& bind(std::optional<std::int64_t> value);
    JournalStatement& bind(WallTime time) { return bind(time.time_since_epoch().count()); }

    /// True: a row stands there. False: no more, or an error (see JournalDb::error()).
    bool step();
    void reset(); ///< ready to be bound anew

    std::int64_t integer() { return sqlite3_column_int64(m_statement, m_read++); }
    std::uint64_t number() { return static_cast<std::uint64_t>(integer()); }
    double real() { return sqlite3_column_double(m_statement, m_read++); }
    std::string text();
    std::optional<std::int64_t> maybe();
    WallTime time() { return WallTime(std::chrono::microseconds(integer())); }

private:
    JournalDb& m_db;
    sqlite3_stmt* const m_statement;
    int m_bound = 0;
    int m_read = 0;
};

/// One connection to a journal file. One owner, one thread at a time (interrupt() from any). Errors
/// are remembered, so that a run of statements is judged once at its end.
class JournalDb
{
public:
    /// Write makes file, folder and schema when they are missing, and fails with Unsupported on a
    /// newer schema. BadConfig: a database, but no journal.
    [[nodiscard]] static Result<std::unique_ptr<JournalDb>> open(
        const std::string& path, JournalOpen mode, Duration busyTimeout);
    ~JournalDb();
    JournalDb(const JournalDb&) = delete;
    JournalDb& operator=(const JournalDb&) = delete;

    /// `sql` must be a literal: it is kept prepared by its address.
    [[nodiscard]] JournalStatement prepared(const char* sql);
    /// Runs statements without results.
    bool run(const char* sql);
    /// The first column of the first row of `sql`, 0 when there is none.
    [[nodiscard]] std::int64_t value(const char* sql);
    [[nodiscard]] std::int64_t lastId() const { return sqlite3_last_insert_rowid(m_db); }
    [[nodiscard]] int changes() const { return sqlite3_changes(m_db); }
    [[nodiscard]] int schema() const { return m_schema; }

    /// The first thing that went wrong since the last call.
    [[nodiscard]] std::optional<Error> takeError();
    void interrupt() { sqlite3_interrupt(m_db); }
    /// The path still names the file that was opened.
    [[nodiscard]] bool stillThere() const;
    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    explicit JournalDb(std::string path) : m_path(std::move(path)) { }
    [[nodiscard]] std::optional<Error> prepare(JournalOpen mode);
    [[nodiscard]] std::optional<Error> makeSchema();
    [[nodiscard]] Error error(int code) const;
    void remember(int code);
    friend class JournalStatement;

    const std::string m_path;
    sqlite3* m_db = nullptr;
    int m_schema = 0;
    std::uint64_t m_device = 0, m_inode = 0;
    std::optional<Error> m_error;
    std::map<const char*, sqlite3_stmt*> m_statements;
};

/// One or all of a journal's files (-wal, -shm) moved to `path.damaged-<time>`. Returns where to.
[[nodiscard]] std::string setAside(const std::string& path, WallTime now);

} // namespace tenure
