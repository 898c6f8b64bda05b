// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_legacy.h"

#include "core/backend/kubernetes/kube_time.h"

#include <nlohmann/json.hpp>

#include <array>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;

constexpr std::string_view kEndpoints = "endpoints";
constexpr std::string_view kConfigMaps = "configmaps";

std::string_view resourceOf(LeaseClass kind)
{
    return kind == LeaseClass::ConfigMap ? kConfigMaps : kEndpoints;
}

HttpRequest metadataRequest(std::string path, const char *kind)
{
    HttpRequest request = jsonRequest("GET", std::move(path));
    for (auto &[name, value] : request.headers) {
        if (name == "Accept")
            value = std::string("application/json;as=") + kind + ";v=v1;g=meta.k8s.io";
    }
    return request;
}

std::string pathOf(LeaseClass kind, const std::string &nameSpace)
{
    std::string path = "/api/v1/";
    if (!nameSpace.empty())
        path += "namespaces/" + percentEncoded(nameSpace) + "/";
    return path.append(resourceOf(kind));
}

const Json &part(const Json &map, const char *key)
{
    static const Json kNothing;
    const auto found = map.is_object() ? map.find(key) : map.end();
    return found != map.end() ? *found : kNothing;
}

std::string text(const Json &map, const char *key)
{
    const Json &value = part(map, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

/// The last write of the annotation, by the server's clock.
void readWriter(const Json &metadata, LeaseObject &out)
{
    static const std::string kField = std::string("f:") + kLeaderAnnotation;
    for (const Json &entry : part(metadata, "managedFields")) {
        const Json &notes = part(part(part(entry, "fieldsV1"), "f:metadata"), "f:annotations");
        const auto at = parseTime(text(entry, "time"));
        if (!notes.is_object() || !notes.contains(kField) || !at || (out.writtenAt && *at < *out.writtenAt))
            continue;
        out.writtenAt = at;
        out.writer = text(entry, "manager");
    }
}

/// As if it were a Lease, which has the same fields by nearly the same names.
Json asLease(const Json &metadata, const Json &record, const std::string &name)
{
    Json spec = Json::object();
    for (const auto &[from, to] : {std::pair{"holderIdentity", "holderIdentity"},
             {"leaseDurationSeconds", "leaseDurationSeconds"}, {"acquireTime", "acquireTime"},
             {"renewTime", "renewTime"}, {"leaderTransitions", "leaseTransitions"}}) {
        if (record.contains(from))
            spec[to] = record[from];
    }
    return {{"metadata", {{"name", name}, {"namespace", text(metadata, "namespace")}, {"uid", text(metadata, "uid")},
                {"resourceVersion", text(metadata, "resourceVersion")}}},
        {"spec", std::move(spec)}};
}

} // namespace

bool isLegacy(LeaseClass leaseClass)
{
    return leaseClass == LeaseClass::Endpoints || leaseClass == LeaseClass::ConfigMap;
}

LeaseClass legacyClassOf(std::string_view name)
{
    for (const LeaseClass kind : {LeaseClass::Endpoints, LeaseClass::ConfigMap}) {
        if (name.starts_with(std::string(resourceOf(kind)) + "/"))
            return kind;
    }
    return LeaseClass::Election;
}

HttpRequest legacyRequest(const LeasePlace &place)
{
    const std::string name = place.name.substr(place.name.find('/') + 1);
    return metadataRequest(pathOf(legacyClassOf(place.name), place.nameSpace) + "/" + percentEncoded(name), "PartialObjectMetadata");
}

HttpRequest legacyListRequest(LeaseClass kind, const std::string &scope, const std::string &next, std::size_t limit)
{
    std::string path = pathOf(kind, scope) + "?limit=" + std::to_string(limit);
    if (!next.empty())
        path += "&continue=" + percentEncoded(next);
    return metadataRequest(std::move(path), "PartialObjectMetadataList");
}

Result<LeaseObject> legacyOf(const Json &json, LeaseClass kind, const std::string &where)
{
    const Json &metadata = part(json, "metadata");
    const std::string annotation = text(part(metadata, "annotations"), kLeaderAnnotation);
    if (annotation.empty())
        return fail(ErrorKind::NotFound, "The object carries no leader's annotation", where);
    const Json record = Json::parse(annotation, nullptr, false);
    if (!record.is_object())
        return fail(ErrorKind::Corrupt, "The leader's annotation is no JSON object", where);
    const std::string name = std::string(resourceOf(kind)) + "/" + text(metadata, "name");
    auto object = leaseOf(asLease(metadata, record, name), where);
    if (!object)
        return object;
    object->leaseClass = kind;
    object->text = annotation;
    object->yaml = std::string(kLeaderAnnotation) + ": " + record.dump(2, ' ', true, Json::error_handler_t::replace).substr(0, 8192) + "\n";
    readWriter(metadata, *object);
    return object;
}

Result<LeaseObject> legacyOf(const std::string &body, LeaseClass kind, const std::string &where)
{
    const Json json = Json::parse(body, nullptr, false);
    if (!json.is_object())
        return fail(ErrorKind::Corrupt, "The API server's answer is no JSON", where);
    return legacyOf(json, kind, where);
}

LegacyPage takeLegacyPage(const HttpResponse &response, LeaseClass kind, View &view, const std::string &where)
{
    LegacyPage page;
    const Json root = Json::parse(response.body, nullptr, false);
    if (response.status != 200 || !root.is_object())
        return page; // not served, or not ours to see
    page.next = text(part(root, "metadata"), "continue");
    for (const Json &item : part(root, "items")) {
        auto object = legacyOf(item, kind, where);
        if (!object)
            continue;
        page.keys.push_back(keyOf(*object));
        view.note(*std::move(object), Heard::of(response));
    }
    return page;
}

} // namespace tenure::kube
