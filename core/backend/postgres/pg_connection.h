// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_settings.h"
#include "core/base/clock.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::postgres
{

/// Rows of an answer, as text. Copies share them. Columns and rows count from 0.
class PgRows
{
public:
    struct Data; ///< the library's own
    PgRows() = default;
    explicit PgRows(std::shared_ptr<const Data> data) : m_data(std::move(data)) { }
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool isNull(std::size_t row, std::size_t column) const;
    /// Empty for null. Valid as long as a copy of these rows lives.
    [[nodiscard]] std::string_view text(std::size_t row, std::size_t column) const;
    /// 0 for null and for what is no whole number.
    [[nodiscard]] std::int64_t number(std::size_t row, std::size_t column) const;
    [[nodiscard]] bool truth(std::size_t row, std::size_t column) const
    {
        return text(row, column) == "t";
    }

private:
    std::shared_ptr<const Data> m_data;
};

/// A value of a statement ($1, $2, ...); nothing: NULL.
using PgValue = std::optional<std::string>;

/// Builds the text of a one-dimensional array: `{"a",NULL}`. Quotes and backslashes are escaped.
class PgArray
{
public:
    void add(std::string_view text);
    void add(std::int64_t number);
    void addNull();
    [[nodiscard]] std::string text() const { return "{" + m_text + "}"; }

private:
    void separate() { m_text += m_text.empty() ? "" : ","; }
    std::string m_text;
};

/// What the server said about itself and this session when the connection was made.
struct PgServer {
    std::string version; ///< "15.18"
    std::string address; ///< of the server as it sees itself, or "socket"
    int pid = 0; ///< of this session
    bool standby = false;
    bool proxied = false; ///< what answered gave another pid than the session has: a pooler
    std::string epoch; ///< system identifier and timeline: another one may have forgotten writes
    Instant askedAt, toldAt; ///< all of this, on our clock
    WallTime time; ///< by the server's clock
    Duration uptime{}; ///< of the server then
};

struct PgNotification {
    std::string payload;
    int pid = 0;
};

/// One session of a server, through libpqxx. It dies at its first connection error and never comes
/// back by itself: whoever holds it drops it and opens another one. Errors of a statement alone
/// leave it usable (`usable()` tells). Settings that could change the meaning of a statement are
/// pinned: search_path, encoding, time zone, synchronous_commit, read-committed isolation. One
/// owner, one thread at a time; only interrupt() may be called from another. Destruction sends
/// nothing that could block.
class PgConnection
{
public:
    enum class Answer {
        Definite, ///< an error says for certain that nothing was done
        Unknown, ///< the statement may have been carried out
    };

    /// Several hosts are tried one after the other. `role` ends up in application_name as
    /// "tenure/<role>". Rejected, Denied, BadConfig: a person must act; Unavailable: later. `limit`: a
    /// candidate's, of each of its statements, so that the server need not be told with the first; such a
    /// session goes through indexes. 0: others, until the deadline.
    [[nodiscard]] static Result<std::unique_ptr<PgConnection>> open(const Settings &settings,
        std::string_view role, Instant deadline, const std::atomic<bool> *cancelled = nullptr,
        Milliseconds limit = {});
    ~PgConnection();
    PgConnection(const PgConnection &) = delete;
    PgConnection &operator=(const PgConnection &) = delete;

    [[nodiscard]] const PgServer &server() const { return m_server; }
    [[nodiscard]] bool usable() const { return m_usable; }
    /// Of the last ask() that failed.
    [[nodiscard]] Answer lastAnswer() const { return m_lastAnswer; }
    /// SQLSTATE of the last ask() that failed, empty when the server said none.
    [[nodiscard]] const std::string &lastSqlstate() const { return m_lastSqlstate; }

    /// False when the server has ended the session while nothing was asked: costs no round trip.
    [[nodiscard]] bool stillThere();
    /// To be watched by others for its end, not to be read from.
    [[nodiscard]] int socket() const;

    /// Carries out one statement in a transaction of its own. It is prepared when it comes a second
    /// time (over a slow line the first has no time for that), unless a pooler stands between. The server gives up at about the same deadline (statement_timeout).
    [[nodiscard]] Result<PgRows> ask(
        const std::string &sql, const std::vector<PgValue> &values, Instant deadline);

    /// Carries out a statement whose answer nobody needs, so that the server has planned it when it is
    /// next asked with `limit` of time; this once it may take until the deadline.
    void plan(const std::string &sql, const std::vector<PgValue> &values, Milliseconds limit,
        Instant deadline);

    /// Several statements without values, in one transaction.
    [[nodiscard]] Result<void> script(const std::string &sql, Instant deadline);

    /// LISTEN; `channel` is an unquoted name.
    [[nodiscard]] Result<void> listen(const std::string &channel, Instant deadline);
    /// Waits until notifications come (all that are there are returned), or nothing by `deadline`.
    [[nodiscard]] Result<std::vector<PgNotification>> receive(Instant deadline);

    /// Makes a call under way fail at once, and every later one. Any thread.
    void interrupt();

private:
    struct Impl;
    explicit PgConnection(std::unique_ptr<Impl> impl, std::string where);
    [[nodiscard]] Result<void> introduce(Milliseconds limit, Instant deadline);
    [[nodiscard]] Result<void> limitStatements(Milliseconds left, Instant deadline);
    [[nodiscard]] Result<PgRows> run(
        const std::string &sql, const std::vector<PgValue> &values, bool prepare, Instant deadline);
    template <typename F>
    [[nodiscard]] auto guarded(Instant deadline, F work) -> Result<decltype(work())>;

    const std::unique_ptr<Impl> m_impl;
    const std::string m_where;
    PgServer m_server;
    bool m_usable = true;
    Answer m_lastAnswer = Answer::Definite;
    std::string m_lastSqlstate;
    Milliseconds m_statementLimit{0};
};

} // namespace tenure::postgres
