// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/sqlite/sqlite_db.h"

#include <string>

namespace tenure
{

/// One statement of a queue, prepared, bound and read in order. Must not outlive the connection.
class SqliteStatement
{
public:
    SqliteStatement(SqliteDb &db, const char *sql) : m_db(db)
    {
        m_code = sqlite3_prepare_v2(db.handle(), sql, -1, &m_statement, nullptr);
    }
    ~SqliteStatement() { sqlite3_finalize(m_statement); }
    SqliteStatement(const SqliteStatement &) = delete;
    SqliteStatement &operator=(const SqliteStatement &) = delete;

    SqliteStatement &bind(std::int64_t value)
    {
        sqlite3_bind_int64(m_statement, ++m_bound, value);
        return *this;
    }
    SqliteStatement &bind(const std::string &text)
    {
        sqlite3_bind_text64(m_statement, ++m_bound, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
        return *this;
    }
    SqliteStatement &bindOrNull(const std::string &text)
    {
        if (!text.empty())
            return bind(text);
        ++m_bound; // what is not bound is NULL
        return *this;
    }
    SqliteStatement &bindBlob(const std::string &bytes)
    {
        sqlite3_bind_blob64(m_statement, ++m_bound, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_TRANSIENT);
        return *this;
    }

    /// True: a row stands there. False: no more, or a problem.
    bool step()
    {
        m_read = 0;
        if (m_code == SQLITE_OK || m_code == SQLITE_ROW)
            m_code = sqlite3_step(m_statement);
        return m_code == SQLITE_ROW;
    }
    [[nodiscard]] std::optional<Error> problem() const
    {
        if (m_code == SQLITE_OK || m_code == SQLITE_ROW || m_code == SQLITE_DONE)
            return std::nullopt;
        return m_db.errorOf(m_code);
    }
    std::int64_t integer() { return sqlite3_column_int64(m_statement, m_read++); }
    std::string text()
    {
        const auto *bytes = static_cast<const char *>(sqlite3_column_blob(m_statement, m_read));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement, m_read++));
        return bytes != nullptr ? std::string(bytes, size) : std::string();
    }

private:
    SqliteDb &m_db;
    sqlite3_stmt *m_statement = nullptr;
    int m_code = SQLITE_OK;
    int m_bound = 0;
    int m_read = 0;
};

} // namespace tenure
