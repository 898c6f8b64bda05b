// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <atomic>
#include <cstdint>
#include <thread>

namespace tenure::test
{

/// A TCP proxy on a free port of 127.0.0.1 that shows network faults on purpose, between one client
/// and one server of a test. Its own thread; the setters may be called from any.
class TcpProxy
{
public:
    enum class Mode {
        Pass,
        HalfOpen, ///< connections stand and are accepted, nothing moves either way
        SwallowReplies, ///< requests arrive, answers do not
        Refuse, ///< present connections are reset, new ones closed at once
    };

    /// Forwards to 127.0.0.1:`serverPort`.
    explicit TcpProxy(std::uint16_t serverPort);
    ~TcpProxy();
    TcpProxy(const TcpProxy &) = delete;
    TcpProxy &operator=(const TcpProxy &) = delete;

    [[nodiscard]] std::uint16_t port() const { return m_port; }
    void setMode(Mode mode);
    /// Each piece of data is held back this long, in each direction.
    void setDelay(Milliseconds delay);
    /// Resets the connections that stand; new ones work.
    void cut();

private:
    void run();

    const std::uint16_t m_serverPort;
    std::uint16_t m_port = 0;
    int m_listener = -1;
    int m_wake = -1;
    std::atomic<Mode> m_mode = Mode::Pass;
    std::atomic<std::int64_t> m_delayMs = 0;
    std::atomic<bool> m_cut = false;
    std::atomic<bool> m_ended = false;
    std::thread m_thread;
};

} // namespace tenure::test
