// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_settings.h"

#include "core/backend/uri_schemes.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tenure::kube
{
namespace
{

constexpr const char *kInCluster = "in-cluster";

template <typename Entry>
Result<const Entry *> named(const std::map<std::string, Entry> &entries, const std::string &name,
    const char *what, const std::string &where)
{
    const auto found = entries.find(name);
    if (found != entries.end())
        return &found->second;
    std::vector<std::string_view> known;
    for (const auto &entry : entries)
        known.push_back(entry.first);
    const std::string meant = nearMiss(name, known);
    std::string remedy = known.empty() ? "The kubeconfig has none"
                                       : "Known ones: " + printable(joined(known), 300);
    if (!meant.empty())
        remedy = "Did you mean " + printable(meant, 80) + "? " + remedy;
    return fail(ErrorKind::BadConfig,
        std::string("There is no ") + what + " called \"" + printable(name, 80) + "\"", where, remedy);
}

std::optional<Error> proxyProblem(const Cluster &cluster)
{
    const std::string &proxy = cluster.proxyUrl;
    for (const char *scheme : {"http://", "https://", "socks5://"}) {
        if (proxy.empty() || proxy.starts_with(scheme))
            return std::nullopt;
    }
    return fail(ErrorKind::BadConfig, "proxy-url is no http://, https:// or socks5:// URL",
        cluster.place.text(), "Correct this line")
        .value();
}

Result<Settings> fromKubeConfig(const KubeConfig &config, const std::string &wanted)
{
    const std::string name = wanted.empty() ? config.currentContext : wanted;
    const std::string files = config.files.front();
    if (name.empty()) {
        return fail(ErrorKind::BadConfig, "The kubeconfig names no current context", files,
            "Run kubectl config use-context NAME, or write kubernetes://CONTEXT");
    }
    const auto context = named(config.contexts, name, "context", files);
    if (!context)
        return fail(context.error());
    const auto cluster = named(config.clusters, (*context)->cluster, "cluster", (*context)->place.text());
    if (!cluster)
        return fail(cluster.error());
    User user;
    if (!(*context)->user.empty()) {
        const auto found = named(config.users, (*context)->user, "user", (*context)->place.text());
        if (!found)
            return fail(found.error());
        user = **found;
    }
    if ((*cluster)->server.empty())
        return fail(ErrorKind::BadConfig, "The cluster has no server", (*cluster)->place.text());
    if (auto problem = proxyProblem(**cluster))
        return fail(*std::move(problem));
    Settings settings;
    settings.context = name;
    settings.contextNamespace = (*context)->nameSpace.empty() ? "default" : (*context)->nameSpace;
    settings.target.url = (*cluster)->server;
    HttpTls &tls = settings.target.tls;
    tls.caFile = (*cluster)->caFile;
    tls.caData = (*cluster)->caData;
    tls.serverName = (*cluster)->tlsServerName;
    tls.verify = !(*cluster)->insecure;
    tls.certFile = user.certFile;
    tls.certData = user.certData;
    tls.keyFile = user.keyFile;
    tls.keyData = user.keyData;
    if (!(*cluster)->proxyUrl.empty())
        settings.target.proxy = (*cluster)->proxyUrl;
    settings.credentials = std::make_shared<Credentials>(std::move(user), **cluster);
    // What is wrong with URL or files is told now, with the line it stands in.
    if (auto client = HttpClient::make(settings.target); !client) {
        Error error = client.error();
        error.where = (*cluster)->place.text();
        return fail(std::move(error));
    }
    return settings;
}

std::string firstLine(const std::string &path)
{
    std::ifstream stream(path);
    std::string line;
    std::getline(stream, line);
    return line;
}

std::optional<Error> takeUrl(const StoreUri &uri, Settings &settings)
{
    const auto wrong = [&](std::string what, std::string remedy) {
        return fail(ErrorKind::BadConfig, std::move(what), uri.display(), std::move(remedy)).value();
    };
    if (!uri.path.empty()) {
        settings.namespaces = {uri.path};
        settings.bareNames = true;
    }
    const std::string list = uri.parameter("namespaces");
    if (!list.empty() && settings.bareNames)
        return wrong("The namespace is given twice, as path and as namespaces=", "Use one of them");
    std::stringstream names(list);
    for (std::string name; std::getline(names, name, ',');)
        settings.namespaces.push_back(name);
    for (const std::string &name : settings.namespaces) {
        if (!isNamespaceName(name)) {
            return wrong("\"" + printable(name, 80) + "\" is not the name of a namespace",
                "Write lower-case letters, digits and '-'");
        }
    }
    const std::string show = uri.parameter("show", "elections");
    if (show != "all" && show != "elections")
        return wrong("show= is neither all nor elections", "Write show=all");
    settings.show = show == "all" ? Show::All : Show::Elections;
    const std::string via = uri.parameter("via");
    if (via.empty())
        return std::nullopt;
    if (settings.target.proxy)
        return wrong("via= does not go together with the proxy-url of the kubeconfig", "Use one of them");
    std::string &url = settings.target.url;
    if (settings.target.tls.serverName.empty())
        settings.target.tls.serverName = hostAndPort(url).first;
    const std::size_t begin = url.find("://") + 3;
    url.replace(begin, std::min(url.find('/', begin), url.size()) - begin, via);
    return std::nullopt;
}

} // namespace

std::pair<std::string, std::uint16_t> hostAndPort(const std::string &url)
{
    const std::size_t begin = url.find("://") + 3;
    std::string host = url.substr(begin, std::min(url.find('/', begin), url.size()) - begin);
    int port = url.starts_with("https") ? 443 : 80;
    const std::size_t colon = host.rfind(':');
    if (colon != std::string::npos && host.find(']', colon) == std::string::npos) {
        port = std::atoi(host.c_str() + colon + 1);
        host.resize(colon);
    }
    if (host.starts_with('['))
        host = host.substr(1, host.size() - 2);
    return {host, static_cast<std::uint16_t>(port)};
}

bool isNamespaceName(std::string_view name)
{
    return isLeaseName(name) && name.size() <= 63 && name.find('.') == std::string_view::npos;
}

bool isLeaseName(std::string_view name)
{
    const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.empty() || name.size() > 253)
        return false;
    char before = '.';
    for (const char c : name) {
        const bool mark = c == '-' || c == '.';
        if (!alphanumeric(c) && !mark)
            return false;
        if ((c == '.' && !alphanumeric(before)) || (c == '-' && before == '.'))
            return false;
        before = c;
    }
    return alphanumeric(before);
}

Result<Settings> inClusterSettings(const std::string &directory)
{
    const char *host = std::getenv("KUBERNETES_SERVICE_HOST");
    const char *port = std::getenv("KUBERNETES_SERVICE_PORT");
    if (host == nullptr || port == nullptr || *host == '\0' || *port == '\0') {
        return fail(ErrorKind::BadConfig, "This process does not run in a pod of a cluster",
            "kubernetes:", "Set KUBECONFIG or add ?kubeconfig=FILE to the URL");
    }
    const std::string name(host);
    Settings settings;
    settings.context = kInCluster;
    settings.target.url = "https://" + (name.find(':') == std::string::npos ? name : "[" + name + "]")
        + ":" + port;
    settings.target.tls.caFile = directory + "/ca.crt";
    const std::string nameSpace = firstLine(directory + "/namespace");
    settings.contextNamespace = nameSpace.empty() ? "default" : nameSpace;
    User user;
    user.place.file = directory;
    user.tokenFile = directory + "/token";
    Cluster cluster;
    cluster.server = settings.target.url;
    cluster.caFile = settings.target.tls.caFile;
    settings.credentials = std::make_shared<Credentials>(std::move(user), std::move(cluster));
    if (auto client = HttpClient::make(settings.target); !client)
        return fail(client.error());
    return settings;
}

Result<Settings> settingsOf(const StoreUri &uri)
{
    const std::string wanted = uri.hosts.empty() ? std::string() : uri.hosts.front().first;
    const std::string file = uri.parameter("kubeconfig");
    const auto config
        = KubeConfig::load(file.empty() ? KubeConfig::defaultFiles() : std::vector<std::string>{file});
    Result<Settings> settings;
    const bool none = !config && config.error().kind == ErrorKind::NotFound;
    const bool pod = std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
    if (file.empty() && (wanted == kInCluster || (none && wanted.empty() && pod)))
        settings = inClusterSettings();
    else if (!config)
        settings = fail(none ? fail(ErrorKind::BadConfig, config.error().what, config.error().where, config.error().remedy).value() : config.error());
    else
        settings = fromKubeConfig(*config, wanted);
    if (!settings)
        return settings;
    settings->display = uri.display();
    settings->target.display = uri.display();
    if (auto problem = takeUrl(uri, *settings))
        return fail(*std::move(problem));
    return settings;
}

} // namespace tenure::kube
