// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_db.h"

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/journal/journal_schema.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/stat.h>

namespace tenure
{
namespace
{

/// `glob(pattern, name)` of ours, so that filters mean the same everywhere.
void matches(sqlite3_context* context, int, sqlite3_value** values)
{
    const auto bytes = [](sqlite3_value* value) {
        const auto* at = static_cast<const char*>(sqlite3_value_blob(value));
        return at == nullptr
            ? std::string_view()
            : std::string_view(at, static_cast<std::size_t>(sqlite3_value_bytes(value)));
    };
    sqlite3_result_int(context, globMatch(bytes(values[0]), bytes(values[1])) ? 1 : 0);
}

/// Makes the folder of `path` and those above it, for this user only.
void makeFolder(const std::string& path)
{
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1))
        ::mkdir(path.substr(0, slash).c_str(), 0700);
}

} // namespace

JournalStatement& JournalStatement::bind(std::int64_t value)
{
    sqlite3_bind_int64(m_statement, ++m_bound, value);
    return *this;
}

JournalStatement& JournalStatement::bind(double value)
{
    sqlite3_bind_double(m_statement, ++m_bound, value);
    return *this;
}

JournalStatement& JournalStatement::bind(const std::string& bytes)
{
    sqlite3_bind_text(
        m_statement, ++m_bound, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    return *this;
}

JournalStatement& JournalStatement::bind(std::optional<std::int64_t> value)
{
    if (value)
        return bind(*value);
    sqlite3_bind_null(m_statement, ++m_bound);
    return *this;
}

bool JournalStatement::step()
{
    m_read = 0;
    if (m_statement == nullptr)
        return false;
    const int code = sqlite3_step(m_statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        m_db.remember(code);
    return code == SQLITE_ROW;
}

void JournalStatement::reset()
{
    m_bound = 0;
    if (m_statement == nullptr)
        return;
    sqlite3_reset(m_statement);
    sqlite3_clear_bindings(m_statement);
}

std::string JournalStatement::text()
{
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(m_statement, m_read));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement, m_read++));
    return bytes != nullptr ? std::string(bytes, size) : std::string();
}

std::optional<std::int64_t> JournalStatement::maybe()
{
    if (sqlite3_column_type(m_statement, m_read) == SQLITE_NULL) {
        ++m_read;
        return std::nullopt;
    }
    return integer();
}

Result<std::unique_ptr<JournalDb>> JournalDb::open(
    const std::string& path, JournalOpen mode, Duration busyTimeout)
{
    struct stat known = {};
    const bool there = ::stat(path.c_str(), &known) == 0;
    if (!there && mode == JournalOpen::Read) {
        return errno == EACCES
            ? fail(ErrorKind::Denied, "The journal's folder may not be entered", path)
            : fail(ErrorKind::NotFound, "There is no journal yet", path,
                "It begins when a console, or tenurectl list --watch --journal, first watches a "
                "connection");
    }
    if (there && !S_ISREG(known.st_mode))
        return fail(ErrorKind::BadConfig, "The journal must be a plain file", path);
    if (!there)
        makeFolder(path);
    std::unique_ptr<JournalDb> db(new JournalDb(path));
    const int flags = SQLITE_OPEN_NOMUTEX
        | (mode == JournalOpen::Read ? SQLITE_OPEN_READONLY
                                     : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const int code = sqlite3_open_v2(path.c_str(), &db->m_db, flags, nullptr);
    if (code != SQLITE_OK)
        return fail(db->error(code));
    sqlite3_extended_result_codes(db->m_db, 1);
    sqlite3_busy_timeout(db->m_db,
        static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(busyTimeout).count()));
    sqlite3_create_function(db->m_db, "tenure_glob", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
        &matches, nullptr, nullptr);
    if (auto problem = db->prepare(mode))
        return fail(*std::move(problem));
    if (::stat(path.c_str(), &known) == 0) {
        db->m_device = known.st_dev;
        db->m_inode = known.st_ino;
    }
    return db;
}

std::optional<Error> JournalDb::prepare(JournalOpen mode)
{
    if (mode == JournalOpen::Write) {
        // Only before the first table is made can the file learn to shrink bit by bit.
        run("PRAGMA auto_vacuum=INCREMENTAL");
        ::chmod(m_path.c_str(), 0600);
    }
    const std::int64_t tables = value("SELECT count(*) FROM sqlite_schema");
    const std::int64_t mark = value("PRAGMA application_id");
    m_schema = static_cast<int>(value("PRAGMA user_version"));
    if (auto problem = takeError())
        return problem;
    if (tables == 0 && mode == JournalOpen::Read)
        return fail(ErrorKind::NotFound, "The journal is still empty", m_path).value();
    if (tables != 0 && mark != kJournalMark) {
        return fail(ErrorKind::BadConfig, "The file is a database, but no journal of Tenure", m_path,
            "Name another file")
            .value();
    }
    if (mode == JournalOpen::Read)
        return takeError();
    if (m_schema > kJournalSchema) {
        return fail(ErrorKind::Unsupported,
            "A newer version of Tenure wrote this journal (schema " + std::to_string(m_schema)
                + ", this one knows " + std::to_string(kJournalSchema) + "): it is only read",
            m_path, "Install the newer version, or name another file")
            .value();
    }
    static_cast<void>(value("PRAGMA journal_mode=WAL"));
    // What is committed survives the end of this process, however it ends; the disk is waited for at
    // checkpoints, and at once for operators' actions.
    run("PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-16000");
    if (auto problem = takeError())
        return problem;
    return m_schema == kJournalSchema ? std::nullopt : makeSchema();
}

std::optional<Error> JournalDb::makeSchema()
{
    run("BEGIN IMMEDIATE");
    // Another process may just have done it.
    if (value("PRAGMA user_version") != kJournalSchema) {
        run(journalSchemaSql());
        const std::string marks = "PRAGMA application_id=" + std::to_string(kJournalMark)
            + "; PRAGMA user_version=" + std::to_string(kJournalSchema);
        run(marks.c_str());
    }
    run("COMMIT");
    auto problem = takeError();
    if (problem)
        sqlite3_exec(m_db, "ROLLBACK", nullptr, nullptr, nullptr);
    m_schema = kJournalSchema;
    return problem;
}

JournalDb::~JournalDb()
{
    for (const auto& [sql, statement] : m_statements)
        sqlite3_finalize(statement);
    sqlite3_close(m_db);
}

JournalStatement JournalDb::prepared(const char* sql)
{
    const auto known = m_statements.find(sql);
    if (known != m_statements.end())
        return {*this, known->second};
    sqlite3_stmt* statement = nullptr;
    const int code
        = sqlite3_prepare_v3(m_db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) {
        remember(code);
        return {*this, nullptr};
    }
    m_statements.emplace(sql, statement);
    return {*this, statement};
}

bool JournalDb::run(const char* sql)
{
    const int code = sqlite3_exec(m_db, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        remember(code);
    return code == SQLITE_OK;
}

std::int64_t JournalDb::value(const char* sql)
{
    JournalStatement statement = prepared(sql);
    return statement.step() ? statement.integer() : 0;
}

void JournalDb::remember(int code)
{
    if (!m_error)
        m_error = error(code);
}

std::optional<Error> JournalDb::takeError()
{
    return std::exchange(m_error, std::nullopt);
}

bool JournalDb::stillThere() const
{
    struct stat known = {};
    return ::stat(m_path.c_str(), &known) == 0 && known.st_dev == m_device
        && known.st_ino == m_inode;
}

Error JournalDb::error(int code) const
{
    const std::string said = m_db != nullptr ? sqlite3_errmsg(m_db) : sqlite3_errstr(code);
    const auto made = [&](ErrorKind kind, const std::string& what, std::string remedy) {
        return fail(kind, what + ": " + said, m_path, std::move(remedy)).value();
    };
    switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return made(ErrorKind::Corrupt, "The journal is damaged", {});
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        return made(ErrorKind::Denied, "The journal may not be written",
            "Grant write access to the file and its folder, or name another file");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return made(ErrorKind::Unavailable, "Another process writes to the journal for too long", {});
    case SQLITE_FULL:
        return made(ErrorKind::Unavailable, "The disk is full", "Make room on it");
    case SQLITE_INTERRUPT:
        return made(ErrorKind::Unavailable, "The question was withdrawn", {});
    case SQLITE_ERROR:
        return made(ErrorKind::Unsupported, "The journal has another shape than this version knows",
            "Use the version that wrote it");
    default:
        return made(ErrorKind::Unavailable, "The journal cannot be read or written now", {});
    }
}

std::string setAside(const std::string& path, WallTime now)
{
    std::string stamp = rfc3339(now).substr(0, 19);
    std::replace(stamp.begin(), stamp.end(), ':', '-');
    const std::string aside = path + ".damaged-" + stamp;
    if (std::rename(path.c_str(), aside.c_str()) != 0)
        return {};
    for (const char* part : {"-wal", "-shm"})
        std::rename((path + part).c_str(), (aside + part).c_str());
    return aside;
}

} // namespace tenure
