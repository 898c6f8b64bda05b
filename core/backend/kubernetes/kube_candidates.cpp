// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_candidates.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr const char *kGroup = "/apis/coordination.k8s.io/";
/// In the order of preference. A group of that name may be served without this resource.
constexpr std::array<const char *, 3> kVersions{"v1", "v1beta1", "v1alpha2"};
constexpr Duration kDiscoverEvery = 5min;
constexpr Duration kRefreshEvery = 5s;
constexpr std::size_t kMostScopes = 20; ///< asked one by one; where there are more, one sees them all or none
constexpr std::size_t kMost = 1000;

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

/// "1.31.0" as numbers; what is no version comes last.
std::array<int, 3> versionOf(const std::string &text)
{
    std::array<int, 3> out{};
    const char *at = text.data();
    const char *const end = at + text.size();
    for (std::size_t i = 0; i < out.size() && at < end; ++i) {
        const auto read = std::from_chars(at, end, out[i]);
        if (read.ec != std::errc())
            return {1 << 30, 0, 0};
        at = read.ptr + (read.ptr < end ? 1 : 0);
    }
    return text.empty() ? std::array<int, 3>{1 << 30, 0, 0} : out;
}

} // namespace

CandidateMap candidatesOf(const std::string &body)
{
    using Rank = std::tuple<std::array<int, 3>, std::array<int, 3>, std::string, std::string>;
    std::map<std::string, std::vector<Rank>> ranked;
    const Json root = Json::parse(body, nullptr, false);
    for (const Json &item : part(root, "items")) {
        const Json &metadata = part(item, "metadata");
        const Json &spec = part(item, "spec");
        const std::string lease = text(spec, "leaseName");
        if (lease.empty())
            continue;
        ranked[text(metadata, "namespace") + "/" + lease].emplace_back(versionOf(text(spec, "emulationVersion")),
            versionOf(text(spec, "binaryVersion")), text(metadata, "creationTimestamp"), text(metadata, "name"));
    }
    CandidateMap out;
    for (auto &[lease, ranks] : ranked) {
        std::ranges::sort(ranks);
        for (Rank &rank : ranks)
            out[lease].push_back(std::move(std::get<3>(rank)));
    }
    return out;
}

/// Discovery lists what a version has; a version that the server does not know is 404, and no error.
void Candidates::discover(Api &api, Instant deadline)
{
    std::vector<HttpRequest> requests;
    for (const char *version : kVersions)
        requests.push_back(jsonRequest("GET", std::string(kGroup) + version));
    const auto answers = api.sendAll(requests, deadline);
    m_version.clear();
    for (std::size_t i = 0; i < answers.size() && m_version.empty(); ++i) {
        if (!answers[i] || answers[i]->status != 200)
            continue;
        const Json root = Json::parse(answers[i]->body, nullptr, false);
        for (const Json &resource : part(root, "resources")) {
            if (text(resource, "name") == "leasecandidates")
                m_version = kVersions[i];
        }
    }
}

void Candidates::refresh(Api &api, View &view, std::span<const std::string> scopes, Instant deadline)
{
    const Instant now = BootClock::now();
    if (now < m_refreshAt || scopes.size() > kMostScopes)
        return;
    m_refreshAt = now + kRefreshEvery;
    if (now >= m_discoverAt) {
        discover(api, deadline);
        m_discoverAt = now + kDiscoverEvery;
    }
    if (m_version.empty())
        return;
    std::vector<HttpRequest> requests;
    for (const std::string &scope : scopes) {
        const std::string place = scope.empty() ? std::string() : "/namespaces/" + percentEncoded(scope);
        requests.push_back(jsonRequest("GET", kGroup + m_version + place + "/leasecandidates?limit=" + std::to_string(kMost)));
    }
    CandidateMap all;
    for (const auto &answer : api.sendAll(requests, deadline)) {
        if (answer && answer->status == 404)
            m_discoverAt = Instant(); // it was served a moment ago
        if (answer && answer->status == 200)
            all.merge(candidatesOf(answer->body));
    }
    view.setCandidates(std::move(all));
}

} // namespace tenure::kube
