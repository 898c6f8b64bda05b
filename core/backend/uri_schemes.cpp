// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/uri_schemes.h"

#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace tenure
{
namespace
{

const std::vector<Scheme> &schemes()
{
    static const std::vector<std::string_view> redis{
        "prefix", "db", "ca", "cert", "key", "sni", "insecure", "waitReplicas"};
    static const std::vector<std::string_view> tls{"ca", "cert", "key", "insecure"};
    static const std::vector<Scheme> all{
        {"memory", Shape::Name, "memory:", {}},
        {"demo", Shape::Name, "demo:", {}},
        {"sqlite", Shape::File, "sqlite:///var/lib/leases.db", {}},
        {"redis", Shape::Hosts, "redis://host:6379/0", redis},
        {"rediss", Shape::Hosts, "rediss://host:6379/0", redis},
        {"redis+unix", Shape::Socket, "redis+unix:///run/redis.sock", redis},
        {"redis+sentinel", Shape::Hosts, "redis+sentinel://host1:26379,host2/master", redis},
        {"postgresql", Shape::Hosts, "postgresql://host/database", {}, true},
        {"kubernetes", Shape::Context, "kubernetes://context/namespace", {"kubeconfig", "namespaces", "show", "via"}},
        {"etcd", Shape::Hosts, "etcd://host1,host2/prefix", tls},
        {"etcds", Shape::Hosts, "etcds://host1,host2/prefix", tls},
    };
    return all;
}

/// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t corner = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t change = corner + (a[i] == b[j] ? 0 : 1);
            corner = row[j + 1];
            row[j + 1] = std::min({change, row[j] + 1, corner + 1});
        }
    }
    return row.back();
}

} // namespace

const Scheme *schemeNamed(std::string_view name)
{
    for (const Scheme &scheme : schemes()) {
        if (scheme.name == name)
            return &scheme;
    }
    return nullptr;
}

std::string joined(const std::vector<std::string_view> &names)
{
    std::string out;
    for (const std::string_view name : names)
        out += (out.empty() ? "" : ", ") + std::string(name);
    return out;
}

std::string nearMiss(std::string_view wrong, const std::vector<std::string_view> &names)
{
    std::string best;
    std::size_t least = std::min<std::size_t>(3, wrong.size());
    for (const std::string_view name : names) {
        const std::size_t d = distance(wrong, name);
        if (d < least) {
            least = d;
            best = name;
        }
    }
    return best;
}

Result<const Scheme *> schemeOf(std::string_view typed)
{
    std::string lower(typed);
    std::transform(lower.begin(), lower.end(), lower.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    if (lower == "postgres")
        lower = "postgresql";
    if (const Scheme *scheme = schemeNamed(lower))
        return scheme;
    std::vector<std::string_view> names;
    for (const Scheme &scheme : schemes())
        names.push_back(scheme.name);
    const bool plain = !lower.empty()
        && lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+.-") == std::string::npos;
    const std::string meant = lower == "k8s" ? "kubernetes" : nearMiss(lower, names);
    return fail(ErrorKind::BadConfig,
        plain ? "Unknown scheme \"" + printable(lower, 40) + "\"" : "The URL has no known scheme", {},
        (meant.empty() ? "" : "Did you mean " + meant + "? ") + "Known ones: " + joined(names));
}

} // namespace tenure
