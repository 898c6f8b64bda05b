// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/service_manager.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

std::optional<std::int64_t> numberFrom(const char *variable)
{
    const char *text = std::getenv(variable);
    std::int64_t value = 0;
    if (text == nullptr)
        return std::nullopt;
    const std::string_view digits(text);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value <= 0)
        return std::nullopt;
    return value;
}

} // namespace

ServiceManager::ServiceManager()
{
    const char *address = std::getenv("NOTIFY_SOCKET");
    if (address == nullptr || (*address != '/' && *address != '@'))
        return;
    m_address = address;
    m_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto every = numberFrom("WATCHDOG_USEC");
    const auto whose = numberFrom("WATCHDOG_PID");
    if (every && (!whose || *whose == getpid()))
        m_watchdog = std::chrono::microseconds(*every) / 2;
}

ServiceManager::~ServiceManager()
{
    if (m_socket >= 0)
        close(m_socket);
}

void ServiceManager::tell(std::string_view lines) const
{
    sockaddr_un address{};
    if (m_socket < 0 || m_address.size() >= sizeof address.sun_path)
        return;
    address.sun_family = AF_UNIX;
    std::copy(m_address.begin(), m_address.end(), address.sun_path);
    if (m_address.front() == '@')
        address.sun_path[0] = '\0'; // an abstract name, which has no end but its length
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + m_address.size());
    (void)sendto(m_socket, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
        reinterpret_cast<const sockaddr *>(&address), size);
}

} // namespace tenure::ctl
