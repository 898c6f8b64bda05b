// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_aside.h"

#include "core/backend/kubernetes/kube_legacy.h"
#include "core/backend/kubernetes/kube_scope.h"
#include "core/backend/kubernetes/kube_time.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;

constexpr std::size_t kMostEvents = 20; ///< shown; the server keeps them for an hour only
constexpr std::size_t kPage = 200;

std::string text(const Json &map, const char *key)
{
    const auto found = map.is_object() ? map.find(key) : map.end();
    return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json &part(const Json &map, const char *key)
{
    static const Json kNothing;
    const auto found = map.is_object() ? map.find(key) : map.end();
    return found != map.end() ? *found : kNothing;
}

HttpRequest eventsRequest(const LeasePlace &place)
{
    const std::string selector = "reason=LeaderElection,involvedObject.name=" + place.name;
    return jsonRequest("GET", "/api/v1/namespaces/" + percentEncoded(place.nameSpace)
            + "/events?limit=" + std::to_string(kPage) + "&fieldSelector=" + percentEncoded(selector));
}

/// As the server knows whoever asks; empty where it is too old to tell (before 1.28).
std::string userOf(Api &api, Instant deadline)
{
    const auto answer = api.send(jsonRequest("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                     R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})"),
        deadline);
    if (!answer || answer->status != 201)
        return {};
    const Json root = Json::parse(answer->body, nullptr, false);
    return text(part(part(root, "status"), "userInfo"), "username");
}

const char *kindOf(LeaseClass legacy)
{
    return legacy == LeaseClass::Endpoints ? "Endpoints" : legacy == LeaseClass::ConfigMap ? "ConfigMap" : "Lease";
}

/// "get,patch" of those in one resource.
std::string verbsOf(std::span<const Deed> deeds)
{
    std::string verbs;
    for (const Deed &deed : deeds)
        verbs += (verbs.empty() ? "" : ",") + deed.verb;
    return verbs;
}

} // namespace

std::string missingText(std::span<const Deed> missing)
{
    if (missing.empty())
        return {};
    std::string out = "missing `";
    for (const Deed &deed : missing)
        out += (&deed == missing.data() ? "" : ", ") + deed.verb;
    return out + " " + missing.front().resource + "` in " + printable(missing.front().nameSpace, 80);
}

std::string grantText(std::span<const Deed> missing, const std::string &user, const Settings &settings)
{
    if (missing.empty())
        return {};
    const Deed &first = missing.front();
    const std::string who = user.empty() ? "USER" : user;
    const std::string resource = first.resource == "leases" ? "leases.coordination.k8s.io" : first.resource;
    const std::string kubectl = "kubectl -n " + first.nameSpace + " create ";
    return (user.empty() ? "The user of the context " + printable(settings.context, 80) : "User " + printable(user, 255))
        + " cannot release the lease " + first.nameSpace + "/" + first.name + " by hand: "
        + missingText(missing) + ". These commands give the right (to all " + first.resource
        + " of the namespace):\n" + kubectl + "role tenure-operator --verb=" + verbsOf(missing)
        + " --resource=" + resource + "\n" + kubectl
        + "rolebinding tenure-operator --role=tenure-operator --user=" + shellQuoted(who) + "\n";
}

std::vector<BackendEvent> eventsOf(const std::string &body, std::string_view kind)
{
    const Json root = Json::parse(body, nullptr, false);
    std::vector<BackendEvent> events;
    for (const Json &item : part(root, "items")) {
        const std::string about = text(part(item, "involvedObject"), "kind");
        if (!about.empty() && about != kind)
            continue;
        BackendEvent event;
        for (const char *key : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
            if (!event.at)
                event.at = parseTime(text(item, key));
        }
        event.by = text(part(item, "source"), "component");
        if (event.by.empty())
            event.by = text(item, "reportingComponent");
        event.text = text(item, "message").substr(0, 1000);
        events.push_back(std::move(event));
    }
    std::stable_sort(events.begin(), events.end(),
        [](const BackendEvent &a, const BackendEvent &b) { return a.at > b.at; });
    events.resize(std::min(events.size(), kMostEvents));
    return events;
}

Result<LeaseAside> asideOf(Api &api, const LeasePlace &place, Instant deadline)
{
    LeaseAside aside;
    const LeaseClass legacy = legacyClassOf(place.name);
    const LeasePlace object{place.nameSpace, isLegacy(legacy) ? place.name.substr(place.name.find('/') + 1) : place.name};
    const auto events = api.send(eventsRequest(object), deadline);
    if (!events)
        return fail(events.error());
    if (events->status == 200)
        aside.events = eventsOf(events->body, kindOf(legacy));
    else if (events->status == 403)
        aside.noEvents = missingText(std::vector<Deed>{{"list", "events", place.nameSpace}});
    std::vector<Deed> deeds{{"get", "leases", place.nameSpace, place.name}, {"patch", "leases", place.nameSpace, place.name}};
    if (isLegacy(legacy))
        return aside; // looked at only, whatever the rights
    const auto allowed = mayDo(api, deeds, deadline);
    if (!allowed)
        return aside;
    std::vector<Deed> missing;
    for (std::size_t i = 0; i < deeds.size(); ++i) {
        if (!(*allowed)[i])
            missing.push_back(deeds[i]);
    }
    if (!missing.empty()) {
        aside.release.what = missingText(missing);
        aside.release.forAdmin = grantText(missing, userOf(api, deadline), api.settings());
    }
    return aside;
}

} // namespace tenure::kube
