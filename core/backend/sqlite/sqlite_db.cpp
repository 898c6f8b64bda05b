// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/sqlite/sqlite_db.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

#define TENURE_COLUMNS                                                                             \
    "name, boot, holder, nonce, token, ttl_ms, expires_ns, acquired_us, renewed_us, transitions, " \
    "released, hold_by, hold_until_ns, asked, asked_for_ms, out_holder, out_until_ns, candidates, " \
    "changed_ns"

constexpr const char *kLoad = "SELECT " TENURE_COLUMNS " FROM tenure_lease WHERE name = ?1";
constexpr const char *kSave = "INSERT OR REPLACE INTO tenure_lease(" TENURE_COLUMNS
                              ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)";
constexpr const char *kAfter
    = "SELECT " TENURE_COLUMNS " FROM tenure_lease WHERE name > ?1 ORDER BY name LIMIT ?2";
constexpr const char *kChanged = "SELECT " TENURE_COLUMNS
                                 " FROM tenure_lease WHERE boot = ?1 AND changed_ns > ?2 ORDER BY changed_ns";

std::int64_t nanoseconds(Instant at)
{
    return at.time_since_epoch().count();
}

/// "b\t<last try ns>\t<ttl ms>\n": a holder has no control characters.
std::string candidatesText(const std::vector<RowCandidate> &candidates)
{
    std::string out;
    for (const RowCandidate &c : candidates) {
        out += c.holder + "\t" + std::to_string(nanoseconds(c.lastTry)) + "\t"
            + std::to_string(c.ttl.count()) + "\n";
    }
    return out;
}

std::int64_t number(std::string_view text)
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<RowCandidate> candidatesFrom(std::string_view text)
{
    std::vector<RowCandidate> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t first = line.find('\t');
        const std::size_t second = line.find('\t', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos)
            continue;
        out.push_back({std::string(line.substr(0, first)),
            Instant(Duration(number(line.substr(first + 1, second - first - 1)))),
            Milliseconds(number(line.substr(second + 1)))});
    }
    return out;
}

} // namespace

const char *schemaSql()
{
    return "CREATE TABLE IF NOT EXISTS tenure_lease(name TEXT PRIMARY KEY NOT NULL, boot TEXT NOT NULL,\n"
           "  holder TEXT NOT NULL, nonce TEXT NOT NULL, token INTEGER NOT NULL, ttl_ms INTEGER NOT NULL,\n"
           "  expires_ns INTEGER NOT NULL, acquired_us INTEGER NOT NULL, renewed_us INTEGER NOT NULL,\n"
           "  transitions INTEGER NOT NULL, released INTEGER NOT NULL, hold_by TEXT NOT NULL,\n"
           "  hold_until_ns INTEGER NOT NULL, asked INTEGER NOT NULL, asked_for_ms INTEGER NOT NULL,\n"
           "  out_holder TEXT NOT NULL, out_until_ns INTEGER NOT NULL, candidates TEXT NOT NULL,\n"
           "  changed_ns INTEGER NOT NULL) WITHOUT ROWID;\n"
           "CREATE INDEX IF NOT EXISTS tenure_lease_changed ON tenure_lease(boot, changed_ns);\n";
}

/// A prepared statement in use; reset at the end, so that it holds no lock.
class SqliteDb::Statement
{
public:
    explicit Statement(sqlite3_stmt *statement) : m_statement(statement) { }
    Statement(const Statement &) = delete;
    Statement &operator=(const Statement &) = delete;
    ~Statement()
    {
        if (m_statement == nullptr)
            return;
        sqlite3_reset(m_statement);
        sqlite3_clear_bindings(m_statement);
    }
    [[nodiscard]] explicit operator bool() const { return m_statement != nullptr; }
    void bind(const std::string &text)
    {
        sqlite3_bind_text(m_statement, ++m_bound, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    }
    void bind(std::int64_t value) { sqlite3_bind_int64(m_statement, ++m_bound, value); }
    int step() { return sqlite3_step(m_statement); }
    std::string text()
    {
        const auto *bytes = static_cast<const char *>(sqlite3_column_blob(m_statement, m_read));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement, m_read++));
        return bytes != nullptr ? std::string(bytes, size) : std::string();
    }
    std::int64_t integer() { return sqlite3_column_int64(m_statement, m_read++); }
    Instant instant() { return Instant(Duration(integer())); }
    WallTime wall() { return WallTime(std::chrono::microseconds(integer())); }

    NamedRow row()
    {
        m_read = 0;
        NamedRow out;
        LeaseRow &row = out.row;
        out.name = text();
        const bool thisBoot = text() == bootId();
        row.holder = text();
        row.nonce = Nonce::parse(text()).value_or(Nonce());
        row.token = {static_cast<std::uint64_t>(integer())};
        row.ttl = Milliseconds(integer());
        row.expiresAt = instant();
        row.acquiredAt = wall();
        row.renewedAt = wall();
        row.transitions = static_cast<std::uint64_t>(integer());
        row.released = integer() != 0;
        row.holdBy = text();
        row.holdUntil = instant();
        row.asked = integer() != 0;
        row.askedFor = Milliseconds(integer());
        row.outHolder = text();
        row.outUntil = instant();
        row.candidates = candidatesFrom(text());
        if (!thisBoot) { // moments of another boot mean nothing: everything it granted is over
            row.expiresAt = row.holdUntil = row.outUntil = Instant();
            row.asked = false;
            row.candidates.clear();
        }
        return out;
    }

private:
    sqlite3_stmt *const m_statement;
    int m_bound = 0;
    int m_read = 0;
};

Result<std::unique_ptr<SqliteDb>> SqliteDb::open(
    const std::string &path, SqliteOpen mode, Instant deadline)
{
    if (const auto network = networkFileSystem(path)) {
        return fail(ErrorKind::BadConfig, "The file lies on " + *network
                + ", where locks between machines cannot be trusted",
            path, "Use a local disk, or Redis for several machines");
    }
    if (mode != SqliteOpen::Create && !identityOf(path)) {
        if (errno == EACCES)
            return fail(ErrorKind::Denied, "The directory may not be entered", path, "Grant access to it");
        return fail(ErrorKind::NotFound, "There is no such file", path,
            "A candidate makes it when it starts, or: tenurectl init");
    }
    std::unique_ptr<SqliteDb> db(new SqliteDb(path, mode, deadline));
    const int flags = SQLITE_OPEN_NOMUTEX
        | (mode == SqliteOpen::Look       ? SQLITE_OPEN_READONLY
                : mode == SqliteOpen::Write ? SQLITE_OPEN_READWRITE
                                            : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (const int code = sqlite3_open_v2(path.c_str(), &db->m_db, flags, nullptr); code != SQLITE_OK)
        return fail(db->error(code));
    sqlite3_extended_result_codes(db->m_db, 1);
    sqlite3_busy_handler(db->m_db, &SqliteDb::onBusy, db.get());
    // A token must survive a power cut, therefore each commit reaches the disk.
    if (auto problem = db->run("PRAGMA synchronous=FULL"))
        return fail(*std::move(problem));
    db->m_identity = identityOf(path);
    return db;
}

SqliteDb::~SqliteDb()
{
    for (const auto &[sql, statement] : m_statements)
        sqlite3_finalize(statement);
    sqlite3_close(m_db);
}

/// SQLite's own handler knows no deadline and sleeps up to 100 ms at a time.
int SqliteDb::onBusy(void *self, int tries)
{
    const Duration left = static_cast<SqliteDb *>(self)->m_deadline - BootClock::now();
    if (left <= 0ns)
        return 0;
    std::this_thread::sleep_for(std::min<Duration>(left, tries < 5 ? 200us : 2ms));
    return 1;
}

Error SqliteDb::error(int code) const
{
    const std::string said = m_db != nullptr ? sqlite3_errmsg(m_db) : sqlite3_errstr(code);
    const auto made = [&](ErrorKind kind, std::string what, std::string remedy) {
        return fail(kind, what + ": " + said, m_path, std::move(remedy)).value();
    };
    switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: {
        Error busy = made(ErrorKind::Unavailable, "Another process writes to the file", {});
        busy.recovery = Recovery::AtOnce;
        return busy;
    }
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return made(ErrorKind::Corrupt, "The file is not a sound SQLite database", "Check the path");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return made(ErrorKind::Denied, "The file may not be written", "Grant write access to the file and its directory");
    case SQLITE_CANTOPEN: {
        const std::string parent = m_path.substr(0, std::max<std::size_t>(1, m_path.rfind('/')));
        if (!identityOf(parent))
            return made(ErrorKind::NotFound, "The directory does not exist", "Make it first");
        return made(ErrorKind::Denied, "The file cannot be opened", "Grant access to the file and its directory");
    }
    case SQLITE_FULL:
        return made(ErrorKind::Unavailable, "The disk is full", "Make room on it");
    case SQLITE_ERROR:
        return made(ErrorKind::Corrupt, "A table of ours is not as expected",
            "Another program or version made it; use another file");
    default:
        return made(ErrorKind::Unavailable, "The file cannot be read or written now", {});
    }
}

std::optional<Error> SqliteDb::run(const char *sql)
{
    const int code = sqlite3_exec(m_db, sql, nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? std::nullopt : std::optional(error(code));
}

void SqliteDb::preferWal()
{
    const auto mode = text("PRAGMA journal_mode");
    if (mode && *mode != "wal")
        (void)text("PRAGMA journal_mode=WAL"); // busy: another one is just doing it
}

sqlite3_stmt *SqliteDb::prepared(const char *sql)
{
    const auto known = m_statements.find(sql);
    if (known != m_statements.end())
        return known->second;
    sqlite3_stmt *statement = nullptr;
    if (sqlite3_prepare_v3(m_db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
        return nullptr;
    m_statements.emplace(sql, statement);
    return statement;
}

Result<std::string> SqliteDb::text(const char *sql)
{
    Statement statement(prepared(sql));
    if (!statement)
        return fail(error(sqlite3_extended_errcode(m_db)));
    const int code = statement.step();
    if (code == SQLITE_ROW)
        return statement.text();
    return code == SQLITE_DONE ? Result<std::string>(std::string()) : fail(error(code));
}

Result<bool> SqliteDb::hasTable()
{
    const auto found = text("SELECT count(*) FROM sqlite_schema WHERE type='table' AND name='tenure_lease'");
    if (!found)
        return fail(found.error());
    return *found != "0";
}

Result<LeaseRow> SqliteDb::load(const std::string &name)
{
    Statement statement(prepared(kLoad));
    if (!statement)
        return fail(error(sqlite3_extended_errcode(m_db)));
    statement.bind(name);
    const int code = statement.step();
    if (code == SQLITE_ROW)
        return statement.row().row;
    return code == SQLITE_DONE ? Result<LeaseRow>(LeaseRow()) : fail(error(code));
}

std::optional<Error> SqliteDb::save(const std::string &name, const LeaseRow &row, Instant now)
{
    Statement statement(prepared(kSave));
    if (!statement)
        return error(sqlite3_extended_errcode(m_db));
    statement.bind(name);
    statement.bind(bootId());
    statement.bind(row.holder);
    statement.bind(row.nonce.hex());
    statement.bind(static_cast<std::int64_t>(row.token.value));
    statement.bind(row.ttl.count());
    statement.bind(nanoseconds(row.expiresAt));
    statement.bind(row.acquiredAt.time_since_epoch().count());
    statement.bind(row.renewedAt.time_since_epoch().count());
    statement.bind(static_cast<std::int64_t>(row.transitions));
    statement.bind(std::int64_t{row.released});
    statement.bind(row.holdBy);
    statement.bind(nanoseconds(row.holdUntil));
    statement.bind(std::int64_t{row.asked});
    statement.bind(row.askedFor.count());
    statement.bind(row.outHolder);
    statement.bind(nanoseconds(row.outUntil));
    statement.bind(candidatesText(row.candidates));
    statement.bind(nanoseconds(now));
    const int code = statement.step();
    return code == SQLITE_DONE ? std::nullopt : std::optional(error(code));
}

Result<std::vector<NamedRow>> SqliteDb::after(const std::string &name, std::size_t limit)
{
    Statement statement(prepared(kAfter));
    if (!statement)
        return fail(error(sqlite3_extended_errcode(m_db)));
    statement.bind(name);
    statement.bind(static_cast<std::int64_t>(limit));
    std::vector<NamedRow> rows;
    int code = SQLITE_OK;
    while ((code = statement.step()) == SQLITE_ROW)
        rows.push_back(statement.row());
    return code == SQLITE_DONE ? Result<std::vector<NamedRow>>(std::move(rows)) : fail(error(code));
}

Result<std::vector<NamedRow>> SqliteDb::changedSince(Instant &since)
{
    Statement statement(prepared(kChanged));
    if (!statement)
        return fail(error(sqlite3_extended_errcode(m_db)));
    statement.bind(bootId());
    statement.bind(nanoseconds(since));
    std::vector<NamedRow> rows;
    int code = SQLITE_OK;
    while ((code = statement.step()) == SQLITE_ROW) {
        rows.push_back(statement.row());
        since = statement.instant(); // the column after the row's own
    }
    return code == SQLITE_DONE ? Result<std::vector<NamedRow>>(std::move(rows)) : fail(error(code));
}

} // namespace tenure
