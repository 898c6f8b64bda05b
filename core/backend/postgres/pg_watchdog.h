// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/alarm.h"

#include <mutex>
#include <optional>
#include <thread>

namespace tenure::postgres
{

/// Bounds calls of a library that knows no deadlines: when one passes, the socket is shut down and
/// the call returns with an error. Has a descriptor of its own for the socket, so that it can never
/// hit another one. Arming it wakes no thread. arm() and disarm() by the caller of the library,
/// interrupt() by any thread.
class Watchdog
{
public:
    explicit Watchdog(int socket); ///< throws std::system_error when there is no descriptor left
    ~Watchdog();
    Watchdog(const Watchdog &) = delete;
    Watchdog &operator=(const Watchdog &) = delete;

    void arm(Instant deadline);
    /// True when the deadline had passed.
    bool disarm();
    void interrupt();
    [[nodiscard]] bool interrupted() const;

private:
    void run();
    void bite();
    void lookBy(Instant when);

    Alarm m_alarm; ///< before the socket: it may throw
    const int m_socket;
    mutable std::mutex m_mutex;
    Instant m_alarmAt = Instant::max(); ///< guarded by m_mutex; the thread looks then
    std::optional<Instant> m_deadline; ///< guarded by m_mutex
    bool m_bitten = false; ///< guarded by m_mutex
    bool m_interrupted = false; ///< guarded by m_mutex
    bool m_ending = false; ///< guarded by m_mutex
    std::thread m_thread;
};

} // namespace tenure::postgres
