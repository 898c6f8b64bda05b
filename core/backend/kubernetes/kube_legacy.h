// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_work.h"

namespace tenure::kube
{

/// Where client-go kept an election before there were Leases, and some still do: an annotation of an
/// Endpoints or ConfigMap object. Its lease is called "endpoints/NAME" or "configmaps/NAME". Looked at
/// only: the holder rewrites the text with each renewal, so no write could be conditional on its term.
inline constexpr const char *kLeaderAnnotation = "control-plane.alpha.kubernetes.io/leader";

[[nodiscard]] bool isLegacy(LeaseClass leaseClass);
/// Of a lease's name; Election for a Lease.
[[nodiscard]] LeaseClass legacyClassOf(std::string_view name);
/// The object's metadata and nothing else: what a ConfigMap holds is none of our business.
[[nodiscard]] HttpRequest legacyRequest(const LeasePlace &place);
/// One page of all of a kind, in a namespace or everywhere.
[[nodiscard]] HttpRequest legacyListRequest(
    LeaseClass kind, const std::string &scope, const std::string &next, std::size_t limit);
/// What the annotation says. NotFound: it has none. Corrupt: it is no leader's record.
[[nodiscard]] Result<LeaseObject> legacyOf(
    const nlohmann::json &json, LeaseClass kind, const std::string &where);
[[nodiscard]] Result<LeaseObject> legacyOf(
    const std::string &body, LeaseClass kind, const std::string &where);

/// Notes what a page shows of them in the view; their keys.
struct LegacyPage {
    std::vector<std::string> keys;
    std::string next; ///< the server's continue token; empty: the last page
};
[[nodiscard]] LegacyPage takeLegacyPage(
    const HttpResponse &response, LeaseClass kind, View &view, const std::string &where);

} // namespace tenure::kube
