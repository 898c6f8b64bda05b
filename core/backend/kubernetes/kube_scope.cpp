// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_scope.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;

constexpr std::size_t kMostNamespaces = 2000;

std::string reviewBody(const Deed &deed)
{
    Json attributes{{"verb", deed.verb}, {"resource", deed.resource}};
    if (deed.resource == "leases")
        attributes["group"] = "coordination.k8s.io";
    if (!deed.nameSpace.empty())
        attributes["namespace"] = deed.nameSpace;
    if (!deed.name.empty())
        attributes["name"] = deed.name;
    return Json{{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SelfSubjectAccessReview"},
        {"spec", {{"resourceAttributes", std::move(attributes)}}}}
        .dump();
}

/// The namespaces of the cluster, or nothing when one may not know them.
std::optional<std::vector<std::string>> namespacesOf(Api &api, Instant deadline)
{
    const auto response = api.send(
        jsonRequest("GET", "/api/v1/namespaces?limit=" + std::to_string(kMostNamespaces)), deadline);
    if (!response || response->status != 200)
        return std::nullopt;
    const Json root = Json::parse(response->body, nullptr, false);
    std::vector<std::string> names;
    if (!root.is_object() || !root.contains("items"))
        return std::nullopt;
    for (const Json &item : root["items"]) {
        if (item.is_object() && item.contains("metadata"))
            names.push_back(item["metadata"].value("name", ""));
    }
    return names;
}

std::string textAt(const Json &root, const char *map, const char *key)
{
    const auto found = root.find(map);
    if (found == root.end() || !found->is_object())
        return {};
    const auto value = found->find(key);
    return value != found->end() && value->is_string() ? value->get<std::string>() : std::string();
}

} // namespace

Result<std::vector<bool>> mayDo(Api &api, std::span<const Deed> deeds, Instant deadline)
{
    std::vector<HttpRequest> requests;
    for (const Deed &deed : deeds) {
        requests.push_back(jsonRequest(
            "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", reviewBody(deed)));
    }
    const auto responses = api.sendAll(requests, deadline);
    std::vector<bool> out;
    for (const auto &response : responses) {
        if (!response)
            return fail(response.error());
        if (response->status != 201 && response->status != 200)
            return fail(errorOf(*response, {"create", "selfsubjectaccessreviews", ""}, api.settings()));
        const Json root = Json::parse(response->body, nullptr, false);
        const auto status = root.find("status");
        out.push_back(status != root.end() && status->is_object() && status->value("allowed", false));
    }
    return out;
}

std::string scopeQuery(const Settings &settings, const std::string &scope)
{
    // A node's sign of life every ten seconds is most of a large cluster's traffic: not even sent.
    const bool hide = scope.empty() && settings.show == Show::Elections;
    return hide ? "?fieldSelector=metadata.namespace%21%3Dkube-node-lease&" : "?";
}

Result<std::vector<std::string>> scopesOf(Api &api, Instant deadline)
{
    const Settings &settings = api.settings();
    if (!settings.namespaces.empty())
        return settings.namespaces;
    const auto all = api.send(jsonRequest("GET", leasesPath({}) + "?limit=1"), deadline);
    if (!all)
        return fail(all.error());
    if (all->status == 200)
        return std::vector<std::string>{std::string()};
    if (all->status != 403)
        return fail(errorOf(*all, {"list", "leases", ""}, settings));
    const std::vector<std::string> candidates
        = namespacesOf(api, deadline).value_or(std::vector<std::string>{settings.contextNamespace});
    std::vector<Deed> deeds;
    for (const std::string &name : candidates)
        deeds.push_back({"list", "leases", name});
    const auto allowed = mayDo(api, deeds, deadline);
    if (!allowed)
        return fail(allowed.error());
    std::vector<std::string> out;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if ((*allowed)[i])
            out.push_back(candidates[i]);
    }
    if (out.empty())
        return fail(errorOf(*all, {"list", "leases", ""}, settings));
    return out;
}

Result<LeasePage> leasePage(Api &api, View &view, const std::string &scope, const std::string &next,
    std::size_t limit, Instant deadline)
{
    const Settings &settings = api.settings();
    std::string path = leasesPath(scope) + scopeQuery(settings, scope) + "limit=" + std::to_string(limit);
    if (!next.empty())
        path += "&continue=" + percentEncoded(next);
    const auto response = api.send(jsonRequest("GET", std::move(path)), deadline);
    if (!response)
        return fail(response.error());
    const Json root = Json::parse(response->body, nullptr, false);
    if (response->status == 410 && root.is_object() && !next.empty()) {
        // The token is too old; the server offers one that goes on from a newer state.
        LeasePage page;
        page.next = textAt(root, "metadata", "continue");
        if (!page.next.empty() && page.next != next)
            return page;
    }
    if (response->status != 200)
        return fail(errorOf(*response, {"list", "leases", scope}, settings));
    const auto items = root.find("items");
    if (!root.is_object() || items == root.end())
        return fail(ErrorKind::Corrupt, "The API server's answer is no list of Leases", settings.display);
    LeasePage page;
    page.heard = Heard::of(*response);
    page.next = textAt(root, "metadata", "continue");
    page.resourceVersion = textAt(root, "metadata", "resourceVersion");
    for (const Json &item : *items) {
        auto object = leaseOf(item, settings.display);
        if (!object || !isShown(*object, settings))
            continue;
        std::string key = keyOf(*object);
        page.rows.push_back({std::move(key), view.note(*std::move(object), page.heard)});
    }
    view.noteClock(page.heard);
    return page;
}

} // namespace tenure::kube
