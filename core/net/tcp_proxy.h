// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace tenure
{

/// A TCP proxy on a free port of 127.0.0.1 that shows network faults on purpose, between one client
/// and one server: of a test, or of an instance that is to be cut off for real. What it passes on it
/// neither reads nor keeps. Its own thread, idle while nothing moves; the setters may be called from
/// any.
class TcpProxy
{
public:
    enum class Mode {
        Pass,
        HalfOpen, ///< connections stand and are accepted, nothing moves either way
        SwallowReplies, ///< requests arrive, answers do not
        Refuse, ///< present connections are reset, new ones closed at once
    };

    /// Where connections go: a name or address and a port, or a unix socket.
    struct Server {
        std::string host;
        std::uint16_t port = 0;
        std::string unixPath;
    };
    explicit TcpProxy(Server server);
    /// Forwards to 127.0.0.1:`serverPort`.
    explicit TcpProxy(std::uint16_t serverPort) : TcpProxy(Server{"127.0.0.1", serverPort, {}}) { }
    ~TcpProxy();
    TcpProxy(const TcpProxy &) = delete;
    TcpProxy &operator=(const TcpProxy &) = delete;

    [[nodiscard]] std::uint16_t port() const { return m_port; } ///< 0: none could be had
    void setMode(Mode mode);
    [[nodiscard]] Mode mode() const { return m_mode; }
    /// Each piece of data is held back this long, in each direction.
    void setDelay(Milliseconds delay);
    /// Resets the connections that stand; new ones work.
    void cut();

private:
    void run();

    const Server m_server;
    std::uint16_t m_port = 0;
    int m_listener = -1;
    int m_wake = -1;
    std::atomic<Mode> m_mode = Mode::Pass;
    std::atomic<std::int64_t> m_delayMs = 0;
    std::atomic<bool> m_cut = false;
    std::atomic<bool> m_ended = false;
    std::thread m_thread;
};

} // namespace tenure
