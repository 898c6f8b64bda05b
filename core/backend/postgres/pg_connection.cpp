// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_connection.h"

#include "core/backend/postgres/pg_compat.h"
#include "core/backend/postgres/pg_connect.h"
#include "core/backend/postgres/pg_errors.h"
#include "core/backend/postgres/pg_watchdog.h"

#include <algorithm>
#include <charconv>
#include <poll.h>
#include <unordered_map>
#include <unordered_set>

namespace tenure::postgres
{

// ---- rows and arrays --------------------------------------------------------------------------

struct PgRows::Data {
    pqxx::result result;
    [[nodiscard]] pqxx::field at(std::size_t row, std::size_t column) const
    {
        return result[static_cast<pqxx::result::size_type>(row)]
                     [static_cast<pqxx::row::size_type>(column)];
    }
};

std::size_t PgRows::size() const
{
    return m_data ? static_cast<std::size_t>(m_data->result.size()) : 0;
}

bool PgRows::isNull(std::size_t row, std::size_t column) const
{
    return m_data->at(row, column).is_null();
}

std::string_view PgRows::text(std::size_t row, std::size_t column) const
{
    const pqxx::field field = m_data->at(row, column);
    return {field.c_str(), static_cast<std::size_t>(field.size())};
}

std::int64_t PgRows::number(std::size_t row, std::size_t column) const
{
    const std::string_view digits = text(row, column);
    std::int64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size() ? value : 0;
}

void PgArray::add(std::string_view text)
{
    separate();
    m_text += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\')
            m_text += '\\';
        m_text += c;
    }
    m_text += '"';
}

void PgArray::add(std::int64_t number)
{
    separate();
    m_text += std::to_string(number);
}

void PgArray::addNull()
{
    separate();
    m_text += "NULL";
}

// ---- the session ------------------------------------------------------------------------------

struct PgConnection::Impl {
    std::unique_ptr<compat::Session> session;
    std::unique_ptr<Watchdog> watchdog;
    std::unique_ptr<compat::Listener> listener; ///< ends before the session
    std::vector<PgNotification> heard;
    std::unordered_set<std::string> asked; ///< statements that came already
    std::unordered_map<std::string, std::string> prepared; ///< statement -> its name

    ~Impl()
    {
        if (!watchdog)
            return; // it came to nothing
        // Nothing here may wait for the server: UNLISTEN would, a goodbye hardly ever.
        if (listener)
            watchdog->interrupt();
        else
            watchdog->arm(BootClock::now() + std::chrono::milliseconds(100));
        try {
            listener.reset();
            session.reset();
        } catch (const std::exception &) { // it was over anyway
        }
    }
};

namespace
{

/// What a statement must not depend on, unless a pooler stands between: then the session is not
/// ours.
constexpr const char *kIntroduce = R"sql(
SELECT pg_catalog.pg_backend_pid(),
  pg_catalog.pg_is_in_recovery(),
  pg_catalog.current_setting('server_version'),
  coalesce(pg_catalog.host(pg_catalog.inet_server_addr()), 'socket'),
  (SELECT system_identifier FROM pg_catalog.pg_control_system()),
  CASE WHEN NOT pg_catalog.pg_is_in_recovery()
    THEN pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) END,
  (extract(epoch FROM pg_catalog.clock_timestamp() - pg_catalog.pg_postmaster_start_time())
    * 1000000)::bigint,
  (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint,
  (SELECT pg_catalog.count(pg_catalog.set_config(name, value, false))
    FROM (VALUES ('search_path', 'pg_catalog, pg_temp'), ('TimeZone', 'UTC'), ('jit', 'off'),
        ('default_transaction_isolation', 'read committed'), ('client_min_messages', 'error'),
        -- Such a database does not know its own bytes; asked for UTF8 it would refuse whole answers.
        ('client_encoding', CASE pg_catalog.current_setting('server_encoding')
          WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END),
        ('plan_cache_mode', 'force_generic_plan'), ('statement_timeout', $2),
        -- A candidate's verbs go through the index: a plan made while the table was small would otherwise
        -- read all of it, dead versions too, until somebody analyses it.
        ('enable_seqscan', $3), ('enable_hashjoin', $3), ('enable_mergejoin', $3),
        -- A lock and a LISTEN live as long as their session: one that is idle is not forgotten.
        ('idle_session_timeout', '0'), ('transaction_timeout', '0'),
        ('synchronous_commit', CASE WHEN pg_catalog.current_setting('synchronous_commit')
          IN ('off', 'local') THEN 'on' ELSE pg_catalog.current_setting('synchronous_commit') END))
      AS pinned(name, value)
    WHERE pg_catalog.pg_backend_pid()::text = $1 AND value IS NOT NULL
      AND pg_catalog.current_setting(name, true) IS NOT NULL) -- not every version has all
)sql";

constexpr const char *kLiftLimit
    = "SELECT pg_catalog.set_config('statement_timeout', '0', false) WHERE pg_catalog.pg_backend_pid() = ";

Milliseconds until(Instant deadline)
{
    return std::chrono::ceil<Milliseconds>(deadline - BootClock::now());
}

/// A few steps only, so that it need not be told to the server with every statement.
Milliseconds limitFor(Milliseconds left)
{
    for (const int step : {50, 100, 200, 500, 1000, 2000, 5000, 10'000, 30'000}) {
        if (left <= Milliseconds(step))
            return Milliseconds(step);
    }
    return std::chrono::minutes(2);
}

} // namespace

PgConnection::PgConnection(std::unique_ptr<Impl> impl, std::string where)
    : m_impl(std::move(impl)), m_where(std::move(where))
{
}

PgConnection::~PgConnection() = default;

Result<std::unique_ptr<PgConnection>> PgConnection::open(const Settings &settings,
    std::string_view role, Instant deadline, const std::atomic<bool> *cancelled, Milliseconds limit)
{
    auto raw = openSession(settings, role, deadline, cancelled);
    if (!raw)
        return fail(std::move(raw.error()));
    auto impl = std::make_unique<Impl>();
    try {
        impl->watchdog = std::make_unique<Watchdog>(PQsocket(raw->get()));
        impl->watchdog->arm(deadline);
        impl->session = compat::takeOver(raw->release());
    } catch (const std::exception &e) {
        return fail(brokenConnection(e.what(), settings.display));
    }
    std::unique_ptr<PgConnection> made(new PgConnection(std::move(impl), settings.display));
    auto introduced = made->introduce(limit, deadline);
    // An administrator's limit may be too short for a first statement, until it is ours.
    for (int tries = 0; !introduced && made->lastSqlstate() == "57014" && tries < 5; ++tries) {
        (void)made->script(std::string(kLiftLimit) + std::to_string(made->m_impl->session->backendpid()), deadline);
        introduced = made->introduce(limit, deadline);
    }
    if (!introduced)
        return fail(std::move(introduced.error()));
    return made;
}

/// Runs `work` under the watchdog and turns what libpqxx throws into our kinds, most derived first.
template <typename F>
auto PgConnection::guarded(Instant deadline, F work) -> Result<decltype(work())>
{
    m_lastSqlstate.clear();
    m_lastAnswer = Answer::Definite;
    if (!m_usable)
        return fail(brokenConnection("it is over", m_where));
    std::string message;
    bool broken = false;
    m_impl->watchdog->arm(deadline);
    try {
        auto done = work();
        if (!m_impl->watchdog->disarm())
            return done;
        m_usable = false; // answered, but only just: the socket is shut
        return done;
    } catch (const pqxx::statement_completion_unknown &e) {
        m_lastSqlstate = "40003";
        message = e.what();
    } catch (const pqxx::serialization_failure &e) {
        m_lastSqlstate = "40001";
        message = e.what();
    } catch (const pqxx::deadlock_detected &e) {
        m_lastSqlstate = "40P01";
        message = e.what();
    } catch (const pqxx::transaction_rollback &e) {
        m_lastSqlstate = "40000";
        message = e.what();
    } catch (const pqxx::insufficient_privilege &e) {
        m_lastSqlstate = "42501"; // libpqxx 6.4 forgets it
        message = e.what();
    } catch (const pqxx::sql_error &e) {
        m_lastSqlstate = e.sqlstate();
        message = e.what();
    } catch (
        const std::exception &e) { // broken_connection, in_doubt_error, and what nobody expects
        broken = true;
        message = e.what();
    }
    const bool late = m_impl->watchdog->disarm();
    broken = broken || !m_impl->session->is_open();
    Error error = late                     ? noAnswer(m_where)
        : broken && m_lastSqlstate.empty() ? brokenConnection(message, m_where)
                                           : errorOf(m_lastSqlstate, message, m_where);
    if (late || broken)
        error.recovery = Recovery::Reconnect;
    m_usable = !late && !broken;
    if (!m_usable || m_lastSqlstate == "40003")
        m_lastAnswer = Answer::Unknown;
    return fail(std::move(error));
}

Result<void> PgConnection::introduce(Milliseconds limit, Instant deadline)
{
    const int pid = m_impl->session->backendpid();
    m_statementLimit = limitFor(limit > Milliseconds::zero() ? limit : until(deadline));
    m_server.askedAt = BootClock::now();
    const std::vector<PgValue> values{std::to_string(pid), std::to_string(m_statementLimit.count()) + "ms",
        limit > Milliseconds::zero() ? PgValue("off") : PgValue()};
    auto rows = guarded(deadline, [&] {
        pqxx::nontransaction work(*m_impl->session);
        return compat::run(work, kIntroduce, values);
    });
    if (!rows)
        return fail(std::move(rows.error()));
    const PgRows told(std::make_shared<PgRows::Data>(PgRows::Data{std::move(*rows)}));
    m_server.pid = static_cast<int>(told.number(0, 0));
    m_server.proxied = m_server.pid != pid;
    m_server.standby = told.truth(0, 1);
    m_server.version = told.text(0, 2);
    m_server.address = told.text(0, 3);
    m_server.epoch = std::string(told.text(0, 4)) + "/" + std::string(told.text(0, 5));
    m_server.uptime = std::chrono::microseconds(told.number(0, 6));
    m_server.time = WallTime(std::chrono::microseconds(told.number(0, 7)));
    m_server.toldAt = BootClock::now();
    return {};
}

Result<void> PgConnection::limitStatements(Milliseconds left, Instant deadline)
{
    if (m_server.proxied || (m_statementLimit >= left && m_statementLimit <= 4 * left))
        return {};
    const Milliseconds limit = limitFor(left);
    if (auto set = script("SET statement_timeout = " + std::to_string(limit.count()), deadline); !set)
        return set;
    m_statementLimit = limit;
    return {};
}

Result<PgRows> PgConnection::run(
    const std::string &sql, const std::vector<PgValue> &values, bool prepare, Instant deadline)
{
    auto rows = guarded(deadline, [&] {
        compat::Session &session = *m_impl->session;
        const bool again = !m_impl->asked.insert(sql).second;
        if (m_server.proxied || !(prepare || again)) {
            pqxx::nontransaction work(session);
            return compat::run(work, sql, values);
        }
        auto known = m_impl->prepared.find(sql);
        if (known == m_impl->prepared.end()) {
            const std::string name = "tenure_" + std::to_string(m_impl->prepared.size());
            session.prepare(name, sql);
            known = m_impl->prepared.emplace(sql, name).first;
        }
        pqxx::nontransaction work(session);
        return compat::runPrepared(work, known->second, values);
    });
    if (!rows)
        return fail(std::move(rows.error()));
    return PgRows(std::make_shared<PgRows::Data>(PgRows::Data{std::move(*rows)}));
}

int PgConnection::socket() const
{
    return m_impl->session->sock();
}

bool PgConnection::stillThere()
{
    // Whatever comes unasked is a goodbye, or something to swallow before the next statement.
    pollfd fd{m_usable ? m_impl->session->sock() : -1, POLLIN, 0};
    while (m_usable && poll(&fd, 1, 0) > 0) {
        const auto got = guarded(BootClock::now() + std::chrono::milliseconds(100),
            [&] { return m_impl->session->get_notifs(); });
        m_usable = m_usable && got && m_impl->session->is_open();
    }
    return m_usable;
}

Result<PgRows> PgConnection::ask(
    const std::string &sql, const std::vector<PgValue> &values, Instant deadline)
{
    if (deadline <= BootClock::now()) {
        m_lastSqlstate.clear();
        m_lastAnswer = Answer::Definite;
        Error late = noAnswer(m_where);
        late.recovery = Recovery::Backoff;
        return fail(std::move(late));
    }
    if (auto limited = limitStatements(until(deadline), deadline); !limited) {
        m_lastAnswer = Answer::Definite; // the statement itself was never sent
        return fail(std::move(limited.error()));
    }
    return run(sql, values, false, deadline);
}

void PgConnection::plan(const std::string &sql, const std::vector<PgValue> &values,
    Milliseconds limit, Instant deadline)
{
    if (limitStatements(limit, deadline))
        (void)run(sql, values, true, deadline); // what is wrong with it is told to who asks in earnest
}

Result<void> PgConnection::script(const std::string &sql, Instant deadline)
{
    auto done = guarded(deadline, [&] {
        pqxx::nontransaction work(*m_impl->session);
        work.exec(sql);
        return true;
    });
    if (!done)
        return fail(std::move(done.error()));
    return {};
}

Result<void> PgConnection::listen(const std::string &channel, Instant deadline)
{
    auto heard = [this](std::string payload, int pid) {
        m_impl->heard.push_back({std::move(payload), pid});
    };
    auto done = guarded(deadline, [&] {
        m_impl->listener = compat::listen(*m_impl->session, channel, heard);
        return true;
    });
    if (!done)
        return fail(std::move(done.error()));
    return {};
}

Result<std::vector<PgNotification>> PgConnection::receive(Instant deadline)
{
    while (true) {
        auto got = guarded(
            deadline + std::chrono::seconds(1), [&] { return m_impl->session->get_notifs(); });
        if (!got)
            return fail(std::move(got.error()));
        if (!m_impl->session->is_open() || m_impl->watchdog->interrupted()) {
            m_usable = false;
            return fail(brokenConnection("", m_where));
        }
        const Milliseconds left = until(deadline);
        if (!m_impl->heard.empty() || left <= Milliseconds::zero())
            return std::exchange(m_impl->heard, {});
        pollfd fd{m_impl->session->sock(), POLLIN, 0};
        (void)poll(&fd, 1, static_cast<int>(left.count()));
    }
}

void PgConnection::interrupt()
{
    m_impl->watchdog->interrupt();
}

} // namespace tenure::postgres
