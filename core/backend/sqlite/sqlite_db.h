// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lease_row.h"

#include <sqlite3.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tenure
{

enum class SqliteOpen {
    Look, ///< read-only; the file must exist
    Write, ///< the file must exist
    Create, ///< made when absent
};

/// What of a file tells that it is still the one that was opened.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileIdentity &) const = default;
};
[[nodiscard]] std::optional<FileIdentity> identityOf(const std::string &path);

/// The name of the network file system that `path` (or the directory it would be made in) lies on, or
/// nothing. SQLite's locks cannot be trusted there.
[[nodiscard]] std::optional<std::string> networkFileSystem(const std::string &path);

/// This boot of the machine; another one means that every stored moment is void.
[[nodiscard]] const std::string &bootId();

/// The statement that makes our table and its index.
[[nodiscard]] const char *schemaSql();

/// One row with its name.
struct NamedRow {
    std::string name;
    LeaseRow row;
};

/// One connection to a file with our table. One owner, one thread at a time. A wait for another
/// writer's lock ends at the deadline. After an error other than Conflict drop it and open anew.
class SqliteDb
{
public:
    /// NotFound: no file; Denied; Corrupt: not a database; BadConfig: a network file system.
    [[nodiscard]] static Result<std::unique_ptr<SqliteDb>> open(
        const std::string &path, SqliteOpen mode, Instant deadline);
    ~SqliteDb();
    SqliteDb(const SqliteDb &) = delete;
    SqliteDb &operator=(const SqliteDb &) = delete;

    void setDeadline(Instant deadline) { m_deadline = deadline; }
    [[nodiscard]] SqliteOpen mode() const { return m_mode; }
    /// False when the path names another file by now, or none.
    [[nodiscard]] bool stillThere() const { return identityOf(m_path) == m_identity; }

    [[nodiscard]] std::optional<Error> run(const char *sql);
    /// Switches to write-ahead logging if it can; works without it too.
    void preferWal();
    [[nodiscard]] Result<std::string> text(const char *sql);
    [[nodiscard]] Result<bool> hasTable();
    /// A fresh row when there is none. Rows of another boot come with all moments over.
    [[nodiscard]] Result<LeaseRow> load(const std::string &name);
    [[nodiscard]] std::optional<Error> save(const std::string &name, const LeaseRow &row, Instant now);
    /// Rows in the order of their names, after `name`, at most `limit`.
    [[nodiscard]] Result<std::vector<NamedRow>> after(const std::string &name, std::size_t limit);
    /// Rows written after `since` in this boot, oldest first; `since` moves on.
    [[nodiscard]] Result<std::vector<NamedRow>> changedSince(Instant &since);
    /// For the statements of other tables in the same file (core/work), and what went wrong with them.
    [[nodiscard]] sqlite3 *handle() const { return m_db; }
    [[nodiscard]] Error errorOf(int code) const { return error(code); }

private:
    class Statement;
    SqliteDb(std::string path, SqliteOpen mode, Instant deadline)
        : m_path(std::move(path)), m_mode(mode), m_deadline(deadline)
    {
    }
    static int onBusy(void *self, int tries);
    [[nodiscard]] Error error(int code) const;
    [[nodiscard]] sqlite3_stmt *prepared(const char *sql);

    const std::string m_path;
    const SqliteOpen m_mode;
    Instant m_deadline;
    sqlite3 *m_db = nullptr;
    std::optional<FileIdentity> m_identity;
    std::map<const char *, sqlite3_stmt *> m_statements; ///< by the literal's address
};

} // namespace tenure
