// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenure::ctl
{

/// systemd's notification protocol (sd_notify(3)), spoken without its library: a datagram to the
/// socket that NOTIFY_SOCKET names. Does nothing where there is no such socket. One thread.
class ServiceManager
{
public:
    ServiceManager(); ///< from the environment
    ~ServiceManager();
    ServiceManager(const ServiceManager &) = delete;
    ServiceManager &operator=(const ServiceManager &) = delete;

    /// "READY=1", "STATUS=..." and the like, one a line.
    void tell(std::string_view lines) const;
    /// How often "WATCHDOG=1" is due: half of what the unit says. Nothing: no watchdog.
    [[nodiscard]] std::optional<Duration> watchdogEvery() const { return m_watchdog; }

private:
    int m_socket = -1;
    std::string m_address;
    std::optional<Duration> m_watchdog;
};

} // namespace tenure::ctl
