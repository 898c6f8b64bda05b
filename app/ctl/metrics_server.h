// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace tenure::ctl
{

/// Answers `GET /metrics` on one address, one request a connection; anything else gets a short
/// refusal. Slow or silent clients are dropped after two seconds. One thread of its own.
class MetricsServer
{
public:
    /// `answer` makes the text; on the server's thread. BadConfig: "HOST:PORT" is needed, with an
    /// address of this machine. Denied, Unavailable: it cannot be listened there.
    [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> start(
        const std::string &listen, std::function<std::string()> answer);
    ~MetricsServer();
    MetricsServer(const MetricsServer &) = delete;
    MetricsServer &operator=(const MetricsServer &) = delete;
    /// "127.0.0.1:9468", with the port that was given for port 0.
    [[nodiscard]] const std::string &address() const { return m_address; }

private:
    MetricsServer(int socket, std::string address, std::function<std::string()> answer);
    void run();
    void serve(int client);

    const int m_socket;
    const int m_stop;
    const std::string m_address;
    const std::function<std::string()> m_answer;
    std::thread m_thread;
};

} // namespace tenure::ctl
