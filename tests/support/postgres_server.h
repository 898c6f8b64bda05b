// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_connection.h"
#include "core/backend/uri.h"

#include <QTemporaryDir>

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tenure
{

/// A PostgreSQL server of a test: on a unix socket and a free port of 127.0.0.1, in a directory of
/// its own, under an unprivileged uid when the test is root (it refuses root), ended with its owner
/// also when the test is killed. Superuser "postgres", no passwords on the socket.
class PostgresServer
{
public:
    /// Makes a cluster and starts it. `lines` are added to postgresql.conf, `environment` ("A=b")
    /// is the server's.
    explicit PostgresServer(
        std::vector<std::string> lines = {}, std::vector<std::string> environment = {});
    /// A standby that streams from `primary`.
    PostgresServer(PostgresServer &primary, std::vector<std::string> lines);
    ~PostgresServer();
    PostgresServer(const PostgresServer &) = delete;
    PostgresServer &operator=(const PostgresServer &) = delete;

    [[nodiscard]] static bool installed();
    [[nodiscard]] bool running() const { return m_pid > 0; }
    void kill(); ///< SIGKILL, the postmaster and every session
    void stop(); ///< fast shutdown: sessions are ended, a checkpoint is written
    void start(); ///< again, with what was committed
    void pause() const; ///< SIGSTOP, the postmaster and every session
    void resume() const;
    void promote(); ///< a standby; waits until it takes writes
    void setLine(const std::string &line); ///< adds to postgresql.conf and reloads
    /// Puts these lines of pg_hba.conf before the others and reloads.
    void allow(const std::vector<std::string> &hbaLines);
    /// Turns TLS on with a certificate for `name`, signed by an authority of its own: caFile().
    void enableTls(const std::string &name);
    [[nodiscard]] std::string caFile() const { return path("ca.crt"); }

    [[nodiscard]] StoreUri socketUri(const std::string &schema = {}) const;
    [[nodiscard]] StoreUri tcpUri(const std::string &schema = {}) const;
    [[nodiscard]] std::uint16_t port() const { return m_port; }
    [[nodiscard]] std::string socketDirectory() const { return path(""); }
    [[nodiscard]] std::string path(const std::string &file) const;
    /// Files that the server must read: gives them to its uid, mode 0600.
    void own(const std::string &file) const;
    /// A statement of another client (superuser, over the socket); the test ends when it fails.
    postgres::PgRows run(const std::string &sql, const std::vector<postgres::PgValue> &values = {});
    void script(const std::string &sql); ///< several statements at once
    /// Another session of a superuser.
    [[nodiscard]] std::unique_ptr<postgres::PgConnection> session(
        const std::string &role = "test") const;
    /// Runs a program of PostgreSQL (initdb, pgbench, ...) under the server's uid; its output.
    std::string tool(const std::vector<std::string> &words, bool mustSucceed = true) const;

private:
    void configure(const std::vector<std::string> &lines) const;
    [[nodiscard]] std::vector<pid_t> processes() const;

    QTemporaryDir m_directory;
    std::vector<std::string> m_environment;
    std::uint16_t m_port = 0;
    pid_t m_pid = -1;
    std::unique_ptr<postgres::PgConnection> m_client;
};

/// A real pgbouncer before a server, on a free port of 127.0.0.1. Ended with its owner.
class PgBouncer
{
public:
    enum class Pools { Transactions, Sessions };
    PgBouncer(const PostgresServer &server, Pools pools);
    ~PgBouncer();
    PgBouncer(const PgBouncer &) = delete;
    PgBouncer &operator=(const PgBouncer &) = delete;
    [[nodiscard]] static bool installed();
    [[nodiscard]] StoreUri uri(const std::string &schema = {}) const;

private:
    const PostgresServer &m_server;
    QTemporaryDir m_directory;
    std::uint16_t m_port = 0;
    pid_t m_pid = -1;
};

} // namespace tenure
