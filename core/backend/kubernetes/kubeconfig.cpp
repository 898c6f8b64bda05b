// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kubeconfig.h"

#include "core/backend/kubernetes/base64.h"
#include "core/base/text.h"

#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tenure::kube
{
namespace
{

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{8} * 1024 * 1024;

/// Thrown inside this file only, caught in readFile().
struct Problem {
    ConfigPlace place;
    std::string what;
};

/// Reads one file's nodes; every complaint carries its line.
class Reader
{
public:
    explicit Reader(std::string file)
        : m_file(std::move(file)), m_directory(std::filesystem::absolute(m_file).parent_path())
    {
    }

    [[nodiscard]] ConfigPlace at(const YAML::Node &node) const
    {
        return {m_file, node.Mark().line + 1};
    }

    [[noreturn]] void complain(const YAML::Node &node, std::string what) const
    {
        throw Problem{at(node), std::move(what)};
    }

    [[nodiscard]] YAML::Node child(const YAML::Node &map, const char *key) const
    {
        if (!map || map.IsNull())
            return YAML::Node(YAML::NodeType::Undefined);
        if (!map.IsMap())
            complain(map, std::string("a map with ") + key + " is expected here");
        return map[key];
    }

    [[nodiscard]] std::string text(const YAML::Node &map, const char *key) const
    {
        const YAML::Node node = child(map, key);
        if (!node || node.IsNull())
            return {};
        if (!node.IsScalar())
            complain(node, std::string(key) + " must be a text");
        return node.Scalar();
    }

    [[nodiscard]] bool flag(const YAML::Node &map, const char *key) const
    {
        const std::string value = text(map, key);
        if (value == "true" || value.empty() || value == "false")
            return value == "true";
        complain(child(map, key), std::string(key) + " must be true or false");
    }

    [[nodiscard]] std::string decoded(const YAML::Node &map, const char *key) const
    {
        const std::string value = text(map, key);
        auto bytes = base64Decoded(value);
        if (!bytes)
            complain(child(map, key), std::string(key) + " is not base64");
        return *std::move(bytes);
    }

    [[nodiscard]] std::string path(const YAML::Node &map, const char *key) const
    {
        const std::string value = text(map, key);
        return value.empty() ? value : (m_directory / value).lexically_normal().string();
    }

    [[nodiscard]] std::vector<std::string> texts(const YAML::Node &map, const char *key) const
    {
        std::vector<std::string> out;
        for (const YAML::Node &item : list(map, key)) {
            if (!item.IsScalar())
                complain(item, std::string("an entry of ") + key + " must be a text");
            out.push_back(item.Scalar());
        }
        return out;
    }

    [[nodiscard]] YAML::Node list(const YAML::Node &map, const char *key) const
    {
        const YAML::Node node = child(map, key);
        if (!node || node.IsNull())
            return YAML::Node(YAML::NodeType::Sequence);
        if (!node.IsSequence())
            complain(node, std::string(key) + " must be a list");
        return node;
    }

    [[nodiscard]] Cluster cluster(const YAML::Node &node) const
    {
        Cluster out;
        out.server = text(node, "server");
        out.tlsServerName = text(node, "tls-server-name");
        out.caFile = path(node, "certificate-authority");
        out.caData = decoded(node, "certificate-authority-data");
        out.proxyUrl = text(node, "proxy-url");
        out.insecure = flag(node, "insecure-skip-tls-verify");
        if (out.insecure && !(out.caFile.empty() && out.caData.empty()))
            complain(node, "insecure-skip-tls-verify and a certificate authority exclude each other");
        return out;
    }

    [[nodiscard]] User user(const YAML::Node &node) const
    {
        User out;
        out.certFile = path(node, "client-certificate");
        out.certData = decoded(node, "client-certificate-data");
        out.keyFile = path(node, "client-key");
        out.keyData = decoded(node, "client-key-data");
        out.token = text(node, "token");
        out.tokenFile = path(node, "tokenFile");
        out.name = text(node, "username");
        out.password = text(node, "password");
        out.as = text(node, "as");
        out.asUid = text(node, "as-uid");
        out.asGroups = texts(node, "as-groups");
        if (const YAML::Node extra = child(node, "as-user-extra"); extra && !extra.IsNull()) {
            if (!extra.IsMap())
                complain(extra, "as-user-extra must be a map of lists");
            for (const auto &entry : extra) {
                const std::string key = entry.first.Scalar();
                for (const std::string &value : texts(extra, key.c_str()))
                    out.asExtra.emplace_back(key, value);
            }
        }
        if (out.as.empty() && !(out.asGroups.empty() && out.asExtra.empty() && out.asUid.empty()))
            complain(node, "impersonating groups, an uid or extras needs a user to impersonate (as)");
        if (const YAML::Node provider = child(node, "auth-provider"); provider && !provider.IsNull())
            complain(provider, "auth-provider was removed from Kubernetes; use an exec plugin instead");
        if (const YAML::Node plugin = child(node, "exec"); plugin && !plugin.IsNull())
            out.exec = exec(plugin);
        return out;
    }

    [[nodiscard]] ExecPlugin exec(const YAML::Node &node) const
    {
        static constexpr std::string_view kGroup = "client.authentication.k8s.io/";
        ExecPlugin out;
        out.place = at(node);
        out.apiVersion = text(node, "apiVersion");
        const bool v1 = out.apiVersion == std::string(kGroup) + "v1";
        if (!v1 && out.apiVersion != std::string(kGroup) + "v1beta1") {
            complain(node,
                "the plugin's apiVersion \"" + printable(out.apiVersion, 80)
                    + "\" is not client.authentication.k8s.io/v1 or v1beta1");
        }
        out.command = text(node, "command");
        if (out.command.empty())
            complain(node, "the plugin has no command");
        if (out.command.find('/') != std::string::npos)
            out.command = (m_directory / out.command).lexically_normal().string();
        out.arguments = texts(node, "args");
        for (const YAML::Node &variable : list(node, "env")) {
            const std::string name = text(variable, "name");
            if (name.empty() || name.find('=') != std::string::npos)
                complain(variable, "a variable of the plugin has no usable name");
            out.environment.emplace_back(name, text(variable, "value"));
        }
        out.installHint = text(node, "installHint");
        out.provideClusterInfo = flag(node, "provideClusterInfo");
        const std::string mode = text(node, "interactiveMode");
        if (mode.empty() && v1)
            complain(node, "a v1 plugin needs interactiveMode: Never, IfAvailable or Always");
        if (mode == "Never")
            out.interactive = Interactive::Never;
        else if (mode == "IfAvailable")
            out.interactive = Interactive::IfAvailable;
        else if (mode == "Always")
            out.interactive = Interactive::Always;
        else if (!mode.empty())
            complain(child(node, "interactiveMode"), "interactiveMode must be Never, IfAvailable or Always");
        return out;
    }

    [[nodiscard]] Context context(const YAML::Node &node) const
    {
        Context out;
        out.cluster = text(node, "cluster");
        out.user = text(node, "user");
        out.nameSpace = text(node, "namespace");
        return out;
    }

    /// Adds the named entries of `list` that are not known yet.
    template <typename Entry>
    void merge(const YAML::Node &root, const char *listKey, const char *key,
        Entry (Reader::*read)(const YAML::Node &) const, std::map<std::string, Entry> &into) const
    {
        std::map<std::string, Entry> mine;
        for (const YAML::Node &item : list(root, listKey)) {
            const std::string name = text(item, "name");
            if (name.empty())
                complain(item, std::string("an entry of ") + listKey + " has no name");
            Entry entry = (this->*read)(child(item, key));
            entry.place = at(item);
            if (!mine.emplace(name, std::move(entry)).second)
                complain(item, std::string(listKey) + " has two entries called " + printable(name, 80));
        }
        into.merge(mine);
    }

    void mergeInto(const YAML::Node &root, KubeConfig &config) const
    {
        if (!root || root.IsNull())
            return;
        if (!root.IsMap())
            complain(root, "this is no kubeconfig");
        merge(root, "clusters", "cluster", &Reader::cluster, config.clusters);
        merge(root, "users", "user", &Reader::user, config.users);
        merge(root, "contexts", "context", &Reader::context, config.contexts);
        if (config.currentContext.empty())
            config.currentContext = text(root, "current-context");
    }

private:
    std::string m_file;
    std::filesystem::path m_directory;
};

tl::unexpected<Error> bad(const ConfigPlace &place, const std::string &what)
{
    return fail(ErrorKind::BadConfig, "The kubeconfig cannot be used: " + what, place.text(),
        "Correct this line");
}

Result<void> readFile(const std::string &file, KubeConfig &config)
{
    std::error_code problem;
    const auto size = std::filesystem::file_size(file, problem);
    std::ifstream stream(file, std::ios::binary);
    if (problem || !stream)
        return bad({file, 0}, "it cannot be read");
    if (size > kMaxFileBytes)
        return bad({file, 0}, "it is longer than 8 MiB");
    std::stringstream bytes;
    bytes << stream.rdbuf();
    const std::string text = bytes.str();
    if (text.find('\0') != std::string::npos)
        return bad({file, 0}, "it contains a NUL byte");
    try {
        const Reader reader(file);
        reader.mergeInto(YAML::Load(text), config);
    } catch (const Problem &complaint) {
        return bad(complaint.place, complaint.what);
    } catch (const YAML::Exception &exception) {
        return bad({file, exception.mark.line + 1}, printable(exception.msg, 200));
    }
    config.files.push_back(file);
    return {};
}

} // namespace

std::string ConfigPlace::text() const
{
    return line > 0 ? file + ":" + std::to_string(line) : file;
}

Result<KubeConfig> KubeConfig::load(const std::vector<std::string> &files)
{
    KubeConfig config;
    std::string tried;
    for (const std::string &file : files) {
        tried += (tried.empty() ? "" : ", ") + file;
        std::error_code problem;
        if (!std::filesystem::exists(file, problem) && !problem)
            continue;
        if (auto read = readFile(file, config); !read)
            return fail(std::move(read.error()));
    }
    if (config.files.empty()) {
        return fail(ErrorKind::NotFound,
            tried.empty() ? "There is no kubeconfig" : "There is no kubeconfig: " + printable(tried),
            "kubernetes:", "Set KUBECONFIG or add ?kubeconfig=FILE to the URL");
    }
    return config;
}

std::vector<std::string> KubeConfig::defaultFiles()
{
    std::vector<std::string> files;
    const char *list = std::getenv("KUBECONFIG");
    if (list != nullptr && *list != '\0') {
        std::stringstream stream{std::string(list)};
        for (std::string file; std::getline(stream, file, ':');) {
            if (!file.empty())
                files.push_back(file);
        }
        return files;
    }
    const char *home = std::getenv("HOME");
    if (home != nullptr && *home != '\0')
        files.push_back(std::string(home) + "/.kube/config");
    return files;
}

} // namespace tenure::kube
