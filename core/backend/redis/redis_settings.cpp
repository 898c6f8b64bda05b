// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_settings.h"

#include <charconv>

namespace tenure::redis
{
namespace
{

Result<unsigned> numberOf(const std::string &text, const char *name, const std::string &where)
{
    unsigned value = 0;
    const char *end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (!text.empty() && (parsed.ec != std::errc() || parsed.ptr != end || value > 1'000'000))
        return fail(ErrorKind::BadConfig, std::string(name) + " is not a small number", where);
    return value;
}

} // namespace

Result<Settings> settingsOf(const StoreUri &uri)
{
    Settings settings;
    settings.scheme = uri.scheme;
    settings.display = uri.display();
    settings.keys = Keys(uri.parameter("prefix"));
    settings.login.user = uri.user;
    settings.login.password = uri.password;
    const bool sentinel = uri.scheme == "redis+sentinel";
    const bool socket = uri.scheme == "redis+unix";
    const bool pathIsDatabase = !sentinel && !socket;
    const auto database = numberOf(
        uri.parameter("db", pathIsDatabase ? uri.path : std::string()), "db", settings.display);
    if (!database)
        return fail(database.error());
    settings.login.database = *database;
    const auto replicas = numberOf(uri.parameter("waitReplicas"), "waitReplicas", settings.display);
    if (!replicas)
        return fail(replicas.error());
    settings.waitReplicas = *replicas;

    Endpoint endpoint;
    endpoint.display = settings.display;
    endpoint.tls = uri.scheme == "rediss";
    endpoint.caFile = uri.parameter("ca");
    endpoint.certFile = uri.parameter("cert");
    endpoint.keyFile = uri.parameter("key");
    endpoint.serverName = uri.parameter("sni", uri.parameter("tls-server-name"));
    const std::string insecure = uri.parameter("insecure", "0");
    endpoint.verify = insecure == "0" || insecure == "false" || insecure == "no";
    if (endpoint.certFile.empty() != endpoint.keyFile.empty()) {
        return fail(ErrorKind::BadConfig,
            "A client certificate needs both cert= and key=", settings.display);
    }
    if (socket) {
        endpoint.unixPath = uri.path;
        settings.endpoints.push_back(endpoint);
        return settings;
    }
    if (sentinel)
        settings.master = uri.path;
    for (const auto &[host, port] : uri.hosts) {
        endpoint.host = host;
        endpoint.port = port != 0 ? port : static_cast<std::uint16_t>(sentinel ? 26379 : 6379);
        settings.endpoints.push_back(endpoint);
    }
    if (settings.endpoints.empty())
        return fail(ErrorKind::BadConfig, "There is no host to connect to", settings.display);
    return settings;
}

} // namespace tenure::redis
