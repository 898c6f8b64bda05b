// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenure::kube
{

/// Where something stands, for errors: "~/.kube/config:12".
struct ConfigPlace {
    std::string file;
    int line = 0;
    [[nodiscard]] std::string text() const;
};

/// One cluster of a kubeconfig. Files are resolved against the kubeconfig's directory; base64 is
/// decoded.
struct Cluster {
    ConfigPlace place;
    std::string server;
    std::string tlsServerName;
    std::string caFile, caData;
    std::string proxyUrl;
    bool insecure = false; ///< insecure-skip-tls-verify
};

enum class Interactive { Unset, Never, IfAvailable, Always };

/// A credential plugin (client.authentication.k8s.io). Run without a shell.
struct ExecPlugin {
    ConfigPlace place;
    std::string apiVersion; ///< "client.authentication.k8s.io/v1" or ".../v1beta1"
    std::string command; ///< with a slash: resolved against the kubeconfig's directory; else by PATH
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment; ///< in addition to our own
    std::string installHint;
    bool provideClusterInfo = false;
    Interactive interactive = Interactive::Unset;
};

struct User {
    ConfigPlace place;
    std::string certFile, certData;
    std::string keyFile, keyData;
    std::string token;
    std::string tokenFile; ///< read again and again; goes before `token`
    std::string name, password; ///< basic authentication
    std::string as, asUid; ///< impersonation
    std::vector<std::string> asGroups;
    std::vector<std::pair<std::string, std::string>> asExtra;
    std::optional<ExecPlugin> exec;
};

struct Context {
    ConfigPlace place;
    std::string cluster;
    std::string user;
    std::string nameSpace;
};

/// Kubeconfig files, merged as kubectl does: whoever names something first wins. Secrets inside are
/// never printed by anything here.
struct KubeConfig {
    std::map<std::string, Cluster> clusters;
    std::map<std::string, User> users;
    std::map<std::string, Context> contexts;
    std::string currentContext;
    std::vector<std::string> files; ///< those that were read, in order

    /// BadConfig with file and line: not YAML, a value of the wrong type, bad base64, a name twice in
    /// one file. A file that does not exist is left out; NotFound when none does.
    [[nodiscard]] static Result<KubeConfig> load(const std::vector<std::string> &files);
    /// The files that `kubectl` would read: KUBECONFIG (a list), else ~/.kube/config.
    [[nodiscard]] static std::vector<std::string> defaultFiles();
};

} // namespace tenure::kube
