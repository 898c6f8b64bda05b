// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_settings.h"

#include "core/backend/uri_schemes.h"
#include "core/base/text.h"

#include <algorithm>
#include <libpq-fe.h>
#include <memory>

namespace tenure::postgres
{
namespace
{

/// What we set ourselves, so that its meaning does not depend on who connects.
constexpr std::string_view kOurs[] = {"client_encoding", "application_name",
    "fallback_application_name", "replication", "dbname", "user", "password"};

/// Keywords that the libpq of this machine knows.
const std::vector<std::string> &keywords()
{
    static const std::vector<std::string> all = [] {
        std::vector<std::string> out;
        const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> known(
            PQconndefaults(), PQconninfoFree);
        for (const PQconninfoOption *o = known.get(); o != nullptr && o->keyword != nullptr; ++o)
            out.emplace_back(o->keyword);
        return out;
    }();
    return all;
}

std::optional<Error> parameterProblem(const std::string &name, const std::string &display)
{
    if (std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs)) {
        return fail(ErrorKind::BadConfig, "The parameter " + name + " cannot be set here", display,
            "User, password and database stand in the URL itself; the rest is Tenure's own")
            .value();
    }
    const auto &known = keywords();
    if (std::find(known.begin(), known.end(), name) != known.end())
        return std::nullopt;
    std::vector<std::string_view> names(known.begin(), known.end());
    names.insert(names.end(), {"schema", "mode", "roles"});
    const std::string meant = nearMiss(name, names);
    return fail(ErrorKind::BadConfig,
        "Unknown parameter \"" + printable(name, 40) + "\" for postgresql", display,
        (meant.empty() ? "" : "Did you mean " + meant + "? ")
            + std::string(
                "Known are schema, mode, roles, and what libpq knows (sslmode, service, ...)"))
        .value();
}

/// Lists as libpq takes them: one entry a host, empty where nothing is said.
void addHosts(const StoreUri &uri, Options &options)
{
    if (uri.hosts.empty())
        return;
    std::string hosts;
    std::string ports;
    bool anyPort = false;
    for (const auto &[host, port] : uri.hosts) {
        const char *comma = &host == &uri.hosts.front().first ? "" : ",";
        hosts += comma + host;
        ports += comma + (port != 0 ? std::to_string(port) : std::string());
        anyPort = anyPort || port != 0;
    }
    options.emplace_back("host", hosts);
    if (anyPort)
        options.emplace_back("port", ports);
}

/// "a,b" as a and b. What no text of a server can contain is no name of anything there.
std::vector<std::string> namesIn(std::string_view list)
{
    std::vector<std::string> out;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view name = list.substr(0, comma);
        if (!name.empty() && isUtf8(name) && name.find('\0') == std::string_view::npos)
            out.emplace_back(name);
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return out;
}

std::optional<Error> checkSchema(const std::string &schema, const std::string &display)
{
    constexpr std::size_t kLongestName = 63 - 7; // the channel's name is "tenure_" and this
    if (!schema.empty() && schema.size() <= kLongestName && isUtf8(schema)
        && printable(schema, kLongestName) == schema)
        return std::nullopt;
    return fail(ErrorKind::BadConfig, "The schema's name is not possible", display,
        "Write 1 to 56 bytes without control characters")
        .value();
}

} // namespace

Result<Settings> settingsOf(const StoreUri &uri)
{
    Settings settings;
    settings.display = uri.display();
    addHosts(uri, settings.options);
    if (!uri.path.empty())
        settings.options.emplace_back("dbname", uri.path);
    if (!uri.user.empty())
        settings.options.emplace_back("user", uri.user);
    if (!uri.password.empty())
        settings.options.emplace_back("password", uri.password);
    for (const auto &[name, value] : uri.parameters) {
        if (name == "schema") {
            settings.schema = value;
        } else if (name == "mode") {
            if (value != "table" && value != "advisory") {
                return fail(ErrorKind::BadConfig, "The mode is neither table nor advisory",
                    settings.display, "Write mode=table or mode=advisory");
            }
            settings.mode = value == "table" ? Mode::Table : Mode::Advisory;
        } else if (name == "roles") {
            settings.roleNames = namesIn(value);
        } else {
            if (auto problem = parameterProblem(name, settings.display))
                return fail(*std::move(problem));
            if (value.find('\0') != std::string::npos)
                return fail(
                    ErrorKind::BadConfig, "A parameter contains a NUL byte", settings.display);
            settings.options.emplace_back(name, value);
        }
    }
    if (auto problem = checkSchema(settings.schema, settings.display))
        return fail(*std::move(problem));
    return settings;
}

std::string quotedName(std::string_view name)
{
    std::string out = "\"";
    for (const char c : name)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

} // namespace tenure::postgres
