// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/redis/redis_keys.h"
#include "core/backend/redis/resp_connection.h"
#include "core/backend/uri.h"

#include <vector>

namespace tenure::redis
{

/// What a redis URL says, ready to connect with. Immutable.
struct Settings {
    std::vector<Endpoint> endpoints; ///< one server, or the sentinels
    std::string master; ///< the master's name at the sentinels; empty without them
    Login login;
    Keys keys{std::string()};
    unsigned waitReplicas = 0;
    std::string scheme, display;
};

/// BadConfig: a database or replica count that is no number, half a client certificate.
[[nodiscard]] Result<Settings> settingsOf(const StoreUri &uri);

/// A connection to the server, or to the master that the sentinels name (its ROLE checked).
[[nodiscard]] Result<std::unique_ptr<RespConnection>> connectTo(
    const Settings &settings, Instant deadline, const std::atomic<bool> *cancelled = nullptr);

} // namespace tenure::redis
