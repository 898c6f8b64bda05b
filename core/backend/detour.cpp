// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/detour.h"

#ifdef TENURE_HAVE_KUBERNETES
#include "core/backend/kubernetes/kube_settings.h"
#endif

namespace tenure
{
namespace
{

constexpr const char *kLoopback = "127.0.0.1";
constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint16_t kPostgresPort = 5432;

tl::unexpected<Error> impossible(const StoreUri &uri, std::string what)
{
    return fail(ErrorKind::Unsupported, std::move(what), uri.display());
}

/// A directory of sockets where a host would stand, as libpq takes it.
TcpProxy::Server postgresServer(const StoreUri &uri)
{
    const auto &[host, written] = uri.hosts.front();
    const std::uint16_t port = written != 0 ? written : kPostgresPort;
    if (host.starts_with('/'))
        return {{}, 0, host + "/.s.PGSQL." + std::to_string(port)};
    return {uri.parameter("hostaddr", host), port, {}};
}

Result<TcpProxy::Server> serverOf(const StoreUri &uri)
{
    if (uri.scheme == "redis+unix")
        return TcpProxy::Server{{}, 0, uri.path};
    if (uri.scheme == "kubernetes") {
#ifdef TENURE_HAVE_KUBERNETES
        const auto settings = kube::settingsOf(uri);
        if (!settings)
            return fail(settings.error());
        if (settings->target.proxy)
            return impossible(uri, "The cluster is reached through a proxy of its own: it cannot be cut off");
        auto [host, port] = kube::hostAndPort(settings->target.url);
        return TcpProxy::Server{std::move(host), port, {}};
#endif
    }
    const bool hosts = uri.scheme == "redis" || uri.scheme == "rediss" || uri.scheme == "postgresql";
    if (!hosts)
        return impossible(uri, "There is no one connection to cut with " + uri.scheme + ":");
    if (uri.hosts.size() != 1)
        return impossible(uri, "Only a URL with exactly one host can be cut off");
    if (uri.scheme == "postgresql")
        return postgresServer(uri);
    const auto &[host, port] = uri.hosts.front();
    return TcpProxy::Server{host, port != 0 ? port : kRedisPort, {}};
}

} // namespace

StoreUri Detour::through(std::uint16_t port) const
{
    StoreUri out = uri;
    if (uri.scheme == "kubernetes") {
        out.parameters["via"] = std::string(kLoopback) + ":" + std::to_string(port);
        return out;
    }
    if (uri.scheme == "redis+unix") {
        out.scheme = "redis";
        out.path.clear();
    }
    // The name in a certificate stays that of the server.
    if (uri.scheme == "rediss" && uri.parameter("sni").empty())
        out.parameters["sni"] = uri.hosts.front().first;
    if (uri.scheme == "postgresql" && !uri.hosts.front().first.starts_with('/')) {
        out.parameters["hostaddr"] = kLoopback;
        out.hosts.front().second = port;
        return out;
    }
    out.hosts = {{kLoopback, port}};
    return out;
}

Result<Detour> detourOf(const StoreUri &uri)
{
    auto server = serverOf(uri);
    if (!server)
        return fail(std::move(server.error()));
    return Detour{*std::move(server), uri};
}

} // namespace tenure
