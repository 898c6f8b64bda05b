// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <libpq-fe.h>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

// Where libpqxx 6.4 (Debian 12) and 7.10 (Debian 13) differ. In both, a session that libpq has
// already opened within our deadline is handed over: libpqxx itself could neither bound nor cancel
// that.
namespace tenure::postgres::compat
{

using Heard = std::function<void(std::string payload, int pid)>;

#if PQXX_VERSION_MAJOR < 7

/// Hands over the one session it was given; asked for another one (libpqxx 6 reconnects without a
/// word) it refuses.
class OneSession final : public pqxx::connectionpolicy
{
public:
    explicit OneSession(const std::string &options) : pqxx::connectionpolicy(options) { }
    static thread_local PGconn *next;
    handle do_startconnect(handle orig) override
    {
        if (orig != nullptr)
            return orig;
        PGconn *given = next;
        next = nullptr;
        if (given == nullptr)
            throw pqxx::broken_connection("this session is over");
        return given;
    }
    handle do_completeconnect(handle orig) override { return orig; }
};
inline thread_local PGconn *OneSession::next = nullptr;

class Session final : public pqxx::basic_connection_base<OneSession>
{
public:
    using pqxx::basic_connection_base<OneSession>::basic_connection_base;
};

inline std::unique_ptr<Session> takeOver(PGconn *raw)
{
    OneSession::next = raw;
    auto session = std::make_unique<Session>(std::string());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    session->inhibit_reactivation(true);
#pragma GCC diagnostic pop
    return session;
}

inline auto parametersOf(const std::vector<std::optional<std::string>> &values)
{
    std::vector<const char *> out;
    out.reserve(values.size());
    for (const auto &value : values)
        out.push_back(value ? value->c_str() : nullptr);
    return out;
}

inline pqxx::result run(pqxx::nontransaction &work, const std::string &sql,
    const std::vector<std::optional<std::string>> &values)
{
    return work.exec_params(sql, pqxx::prepare::make_dynamic_params(parametersOf(values)));
}

inline pqxx::result runPrepared(pqxx::nontransaction &work, const std::string &name,
    const std::vector<std::optional<std::string>> &values)
{
    return work.exec_prepared(name, pqxx::prepare::make_dynamic_params(parametersOf(values)));
}

class Listener final : public pqxx::notification_receiver
{
public:
    Listener(Session &session, const std::string &channel, Heard heard)
        : pqxx::notification_receiver(session, channel), m_heard(std::move(heard))
    {
    }
    void operator()(const std::string &payload, int pid) override { m_heard(payload, pid); }

private:
    const Heard m_heard;
};

inline std::unique_ptr<Listener> listen(Session &session, const std::string &channel, Heard heard)
{
    return std::make_unique<Listener>(session, channel, std::move(heard));
}

#else

using Session = pqxx::connection;

inline std::unique_ptr<Session> takeOver(PGconn *raw)
{
    return std::make_unique<Session>(Session::seize_raw_connection(raw));
}

inline pqxx::params parametersOf(const std::vector<std::optional<std::string>> &values)
{
    pqxx::params out;
    for (const auto &value : values) {
        if (value)
            out.append(*value);
        else
            out.append();
    }
    return out;
}

inline pqxx::result run(pqxx::nontransaction &work, const std::string &sql,
    const std::vector<std::optional<std::string>> &values)
{
    return work.exec(pqxx::zview(sql), parametersOf(values));
}

inline pqxx::result runPrepared(pqxx::nontransaction &work, const std::string &name,
    const std::vector<std::optional<std::string>> &values)
{
    return work.exec(pqxx::prepped(name), parametersOf(values));
}

struct Listener {
};

inline std::unique_ptr<Listener> listen(Session &session, const std::string &channel, Heard heard)
{
    session.listen(channel, [heard = std::move(heard)](const pqxx::notification &message) {
        heard(std::string(message.payload), message.backend_pid);
    });
    return std::make_unique<Listener>();
}

#endif

} // namespace tenure::postgres::compat
