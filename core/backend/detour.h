// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/net/tcp_proxy.h"

namespace tenure
{

/// Another way to the same store: through a port of this machine where a TcpProxy stands. Names in
/// certificates are checked as before.
struct Detour {
    TcpProxy::Server server; ///< where the store really is
    StoreUri uri; ///< its URL; through() leads elsewhere
    /// The URL of the same store through 127.0.0.1:`port`. With the password, as `uri` has it.
    [[nodiscard]] StoreUri through(std::uint16_t port) const;
};

/// Unsupported: nothing lies between that could be cut (a file), or more than one server may answer
/// (several hosts, sentinels); the sentence says so. BadConfig: the URL is of no use. Connects to
/// nothing. A server that sends its clients elsewhere (a Redis cluster) is not followed.
[[nodiscard]] Result<Detour> detourOf(const StoreUri &uri);

} // namespace tenure
