// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_credentials.h"
#include "core/backend/uri.h"

namespace tenure::kube
{

enum class Show {
    Elections, ///< leases that candidates compete for
    All, ///< node heartbeats and API server identities, too
};

/// Everything that a kubernetes: URL says, with what the kubeconfig says behind it.
struct Settings {
    std::string display; ///< the URL
    std::string context; ///< "in-cluster" without a kubeconfig
    std::string contextNamespace; ///< of the context; "default" when it names none
    HttpTarget target;
    /// The URL's namespaces. One in the URL's path: lease ids are bare names. Else an id is
    /// "namespace/name", and an empty list means every namespace that one may read.
    std::vector<std::string> namespaces;
    bool bareNames = false;
    Show show = Show::Elections;
    std::shared_ptr<Credentials> credentials;
};

/// Reads the kubeconfig (or the service account of the pod this runs in); connects to nothing.
/// BadConfig names file and line. Parameters: kubeconfig=FILE, namespaces=a,b, show=all, via=HOST:PORT
/// (where connections go instead of the API server's address; its certificate is checked as before).
[[nodiscard]] Result<Settings> settingsOf(const StoreUri &uri);
/// Of "https://host:port/prefix", with the scheme's own port when it names none.
[[nodiscard]] std::pair<std::string, std::uint16_t> hostAndPort(const std::string &url);

inline constexpr const char *kServiceAccountDirectory
    = "/var/run/secrets/kubernetes.io/serviceaccount";
/// BadConfig when this process does not run in a pod.
[[nodiscard]] Result<Settings> inClusterSettings(
    const std::string &directory = kServiceAccountDirectory);

/// A namespace is a DNS label.
[[nodiscard]] bool isNamespaceName(std::string_view name);
/// A Lease's name is a DNS subdomain: lower-case letters, digits, '-' and '.', at most 253.
[[nodiscard]] bool isLeaseName(std::string_view name);

} // namespace tenure::kube
