// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/redis/resp_connection.h"
#include "core/backend/uri.h"

#include <QTemporaryDir>

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tenure
{

/// A redis-server (or redis-sentinel) process of a test: on a unix socket and a free port of
/// 127.0.0.1, in a directory of its own, nothing saved, ended with its owner also when the test is
/// killed.
class RedisServer
{
public:
    /// Starts and waits until it answers. `options` are redis-server's command line; "PORT" and
    /// "DIR" in them are replaced. For redis-sentinel they are the lines of its file.
    explicit RedisServer(
        std::vector<std::string> options = {}, std::string program = "redis-server");
    ~RedisServer();
    RedisServer(const RedisServer &) = delete;
    RedisServer &operator=(const RedisServer &) = delete;

    [[nodiscard]] static bool installed();
    [[nodiscard]] bool running() const { return m_pid > 0; }
    void kill(); ///< SIGKILL
    void start(); ///< again, empty
    void pause() const; ///< SIGSTOP
    void resume() const;
    [[nodiscard]] StoreUri socketUri(const std::string &prefix = {}) const;
    [[nodiscard]] StoreUri tcpUri() const;
    [[nodiscard]] std::uint16_t port() const { return m_port; }
    [[nodiscard]] std::string path(const std::string &file) const;
    /// A command of another client, over the unix socket.
    redis::RespValue run(const std::vector<std::string_view> &words);

private:
    QTemporaryDir m_directory;
    std::string m_program;
    std::vector<std::string> m_options;
    std::uint16_t m_port = 0;
    pid_t m_pid = -1;
    std::unique_ptr<redis::RespConnection> m_client;
};

/// A port of 127.0.0.1 that was free a moment ago.
[[nodiscard]] std::uint16_t freePort();

} // namespace tenure
