// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/uri.h"

#include "core/backend/uri_schemes.h"
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>

// No sentence made here quotes anything from before an '@': a mistyped URL must not put a password
// on a screen or into a log either.
namespace tenure
{
namespace
{

tl::unexpected<Error> bad(std::string what, std::string remedy)
{
    return fail(ErrorKind::BadConfig, std::move(what), {}, std::move(remedy));
}

int hexValue(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Result<std::string> decoded(std::string_view text, const char *part)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hexValue(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hexValue(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return bad(std::string("A % in the ") + part + " is not followed by two hex digits",
                "Write %25 for a percent sign");
        }
        if (high == 0 && low == 0)
            return bad(std::string("The ") + part + " contains a NUL byte", "Remove it");
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

/// `text` with everything but unreserved characters and `also` percent-encoded.
std::string encoded(std::string_view text, std::string_view also = {})
{
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    static constexpr std::string_view kPlain
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    std::string out;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos || also.find(c) != std::string_view::npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 0xFU];
    }
    return out;
}

/// The same for people: letters of any script stay readable.
std::string shown(std::string_view text, std::string_view also = {})
{
    if (printable(text, text.size() + 1) != text)
        return encoded(text, also);
    std::string keep(also);
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x80)
            keep += c;
    }
    return encoded(text, keep);
}

bool isSecret(std::string_view parameter)
{
    return parameter == "password" || parameter == "sslpassword";
}

std::optional<std::uint32_t> numberOf(std::string_view text)
{
    std::uint32_t value = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || text.empty())
        return std::nullopt;
    return value;
}

Result<std::pair<std::string, std::uint16_t>> hostAndPort(std::string_view text)
{
    std::string_view host = text;
    std::optional<std::string_view> port;
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos)
            return bad("The bracket of an IPv6 address is not closed", "Write [::1]:6379");
        host = text.substr(1, close - 1);
        const std::string_view rest = text.substr(close + 1);
        if (!rest.empty() && rest.front() != ':')
            return bad("Only a port may follow an IPv6 address", "Write [::1]:6379");
        if (!rest.empty())
            port = rest.substr(1);
    } else if (std::count(text.begin(), text.end(), ':') > 1) {
        return bad("A host has more than one colon", "Put an IPv6 address into brackets: [::1]:6379");
    } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        host = text.substr(0, colon);
        port = text.substr(colon + 1);
    }
    if (host.empty())
        return bad("The host is missing", "Write a host name or an address before the port");
    std::uint16_t number = 0;
    if (port) {
        const auto parsed = numberOf(*port);
        if (!parsed || *parsed < 1 || *parsed > 65535) {
            return bad("The port is not a number from 1 to 65535",
                "Characters such as : / ? # @ in a password are written as %3A %2F %3F %23 %40");
        }
        number = static_cast<std::uint16_t>(*parsed);
    }
    Result<std::string> name = decoded(host, "host");
    if (!name)
        return fail(std::move(name.error()));
    const bool odd = std::any_of(name->begin(), name->end(), [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F || c == '@' || c == '#' || c == '?';
    });
    if (odd)
        return bad("The host contains a character that no host has", "Check it for blanks, # and @");
    return std::pair(*std::move(name), number);
}

class Parser
{
public:
    Parser(const Scheme &scheme, std::string_view rest) : m_scheme(scheme), m_rest(rest) { }

    Result<StoreUri> parse()
    {
        m_uri.scheme = m_scheme.name;
        splitQuery();
        std::optional<Error> error = body();
        if (!error)
            error = parameters();
        if (!error)
            error = meaning();
        if (error)
            return fail(*std::move(error));
        return std::move(m_uri);
    }

private:
    [[nodiscard]] std::string howToWrite() const
    {
        return "Write it like " + std::string(m_scheme.example);
    }

    [[nodiscard]] std::optional<Error> wrong(std::string what) const
    {
        return bad(std::move(what), howToWrite()).value();
    }

    /// The query begins at the first '?' after the credentials; a password may contain one too.
    void splitQuery()
    {
        std::size_t mark = m_rest.find('?');
        const bool credentials = m_scheme.shape == Shape::Hosts || m_scheme.shape == Shape::Socket;
        if (credentials && mark != std::string_view::npos
            && m_rest.substr(0, mark).find('@') == std::string_view::npos) {
            const std::size_t at = m_rest.find('@', mark);
            if (at != std::string_view::npos && m_rest.substr(mark, at - mark).find('=') == std::string_view::npos)
                mark = m_rest.find('?', at);
        }
        if (mark == std::string_view::npos)
            return;
        m_query = m_rest.substr(mark + 1);
        m_rest = m_rest.substr(0, mark);
    }

    std::optional<Error> body()
    {
        const bool slashes = m_rest.starts_with("//");
        if (slashes)
            m_rest.remove_prefix(2);
        switch (m_scheme.shape) {
        case Shape::Name:
            return set(m_uri.path, m_rest, "name");
        case Shape::File:
            if (m_rest.empty())
                return wrong("The file is missing");
            if (slashes && m_rest.front() != '/')
                return wrong("After two slashes a file needs a third one, or none at all");
            return set(m_uri.path, m_rest, "path");
        case Shape::Socket:
        case Shape::Hosts:
            if (!slashes)
                return wrong("Two slashes are missing after the scheme");
            return credentialsAndPlace();
        case Shape::Context:
            if (!slashes && !m_rest.empty())
                return wrong("Two slashes are missing after the scheme");
            return context();
        }
        return std::nullopt;
    }

    static std::optional<Error> set(std::string &field, std::string_view text, const char *part)
    {
        Result<std::string> value = decoded(text, part);
        if (!value)
            return std::move(value.error());
        field = *std::move(value);
        return std::nullopt;
    }

    std::optional<Error> credentialsAndPlace()
    {
        const bool file = m_scheme.shape == Shape::Socket && m_rest.starts_with('/');
        const std::size_t at = file ? std::string_view::npos : m_rest.rfind('@');
        if (at != std::string_view::npos) {
            const std::string_view who = m_rest.substr(0, at);
            m_rest.remove_prefix(at + 1);
            const std::size_t colon = who.find(':');
            if (auto error = set(m_uri.user, who.substr(0, colon), "user name"))
                return error;
            if (colon != std::string_view::npos) {
                if (auto error = set(m_uri.password, who.substr(colon + 1), "password"))
                    return error;
            }
        }
        if (m_scheme.shape == Shape::Socket) {
            if (!m_rest.starts_with('/') || m_rest.size() == 1)
                return wrong("The path of the socket is missing");
            return set(m_uri.path, m_rest, "path");
        }
        return hostsAndPath();
    }

    std::optional<Error> hostsAndPath()
    {
        const std::size_t slash = std::min(m_rest.find('/'), m_rest.size());
        std::string_view hosts = m_rest.substr(0, slash);
        if (slash < m_rest.size()) {
            if (auto error = set(m_uri.path, m_rest.substr(slash + 1), "path"))
                return error;
        }
        if (hosts.empty() && m_uri.scheme == "postgresql")
            return std::nullopt;
        while (true) {
            const std::size_t comma = std::min(hosts.find(','), hosts.size());
            auto host = hostAndPort(hosts.substr(0, comma));
            if (!host)
                return std::move(host.error());
            m_uri.hosts.push_back(*std::move(host));
            if (comma == hosts.size())
                return std::nullopt;
            hosts.remove_prefix(comma + 1);
        }
    }

    std::optional<Error> context()
    {
        const std::size_t slash = std::min(m_rest.find('/'), m_rest.size());
        if (slash > 0) {
            m_uri.hosts.emplace_back();
            if (auto error = set(m_uri.hosts.front().first, m_rest.substr(0, slash), "context"))
                return error;
        }
        return slash < m_rest.size() ? set(m_uri.path, m_rest.substr(slash + 1), "namespace")
                                     : std::nullopt;
    }

    std::optional<Error> parameters()
    {
        const bool quotable = m_query.find('@') == std::string_view::npos;
        while (!m_query.empty()) {
            const std::size_t end = std::min(m_query.find('&'), m_query.size());
            const std::string_view item = m_query.substr(0, end);
            m_query.remove_prefix(std::min(end + 1, m_query.size()));
            if (item.empty())
                continue;
            const std::size_t equals = std::min(item.find('='), item.size());
            std::string name;
            std::string value;
            if (auto error = set(name, item.substr(0, equals), "parameter"))
                return error;
            if (auto error = set(value, item.substr(std::min(equals + 1, item.size())), "parameter"))
                return error;
            if (auto error = unknownParameter(name, quotable))
                return error;
            if (!m_uri.parameters.emplace(name, std::move(value)).second)
                return wrong("The parameter " + name + " is given twice");
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Error> unknownParameter(const std::string &name, bool quotable) const
    {
        const auto &known = m_scheme.parameters;
        if (m_scheme.anyParameter || std::find(known.begin(), known.end(), name) != known.end())
            return std::nullopt;
        std::string what = "Unknown parameter";
        if (quotable)
            what += " \"" + printable(name, 40) + "\"";
        what += " for " + m_uri.scheme;
        if (known.empty())
            return bad(std::move(what), "It takes none: " + howToWrite()).value();
        const std::string meant = nearMiss(name, known);
        return bad(std::move(what),
            (meant.empty() ? "" : "Did you mean " + meant + "? ") + "Known ones: " + joined(known))
            .value();
    }

    /// What the pieces must be for this scheme.
    [[nodiscard]] std::optional<Error> meaning() const
    {
        if (!m_uri.scheme.starts_with("redis"))
            return std::nullopt;
        if (m_uri.scheme == "redis+sentinel") {
            if (m_uri.path.empty())
                return wrong("The name of the master is missing");
        } else if (m_uri.scheme != "redis+unix") {
            if (m_uri.hosts.size() > 1)
                return wrong("Only one host is possible here");
            if (!m_uri.path.empty() && !numberOf(m_uri.path))
                return wrong("The database after the host is not a number");
            if (!m_uri.path.empty() && m_uri.parameters.count("db") != 0)
                return wrong("The database is given twice, as path and as db=");
        }
        for (const char *name : {"db", "waitReplicas"}) {
            const auto found = m_uri.parameters.find(name);
            if (found != m_uri.parameters.end() && !numberOf(found->second))
                return wrong(std::string("The parameter ") + name + " is not a number");
        }
        return std::nullopt;
    }

    const Scheme &m_scheme;
    std::string_view m_rest;
    std::string_view m_query;
    StoreUri m_uri;
};

using Writer = std::string (*)(std::string_view, std::string_view);

std::string written(const StoreUri &uri, Writer write, bool secrets)
{
    const Scheme *scheme = schemeNamed(uri.scheme);
    const Shape shape = scheme != nullptr ? scheme->shape : Shape::Hosts;
    std::string out = uri.scheme + ":";
    const bool relative = shape == Shape::File && !uri.path.starts_with('/');
    const bool bare = shape == Shape::Context && uri.hosts.empty() && uri.path.empty();
    if (shape != Shape::Name && !relative && !bare)
        out += "//";
    if (!uri.user.empty() || !uri.password.empty()) {
        out += write(uri.user, {});
        if (!uri.password.empty())
            out += ":" + (secrets ? write(uri.password, {}) : std::string("***"));
        out += "@";
    }
    for (std::size_t i = 0; i < uri.hosts.size(); ++i) {
        const auto &[host, port] = uri.hosts[i];
        const bool brackets = shape == Shape::Hosts && host.find(':') != std::string::npos;
        out += i == 0 ? "" : ",";
        out += brackets ? "[" + write(host, ":") + "]" : write(host, {});
        if (port != 0)
            out += ":" + std::to_string(port);
    }
    if ((shape == Shape::Hosts || shape == Shape::Context) && !uri.path.empty())
        out += "/";
    out += write(uri.path, "/");
    char mark = '?';
    for (const auto &[name, value] : uri.parameters) {
        out += std::exchange(mark, '&') + write(name, {}) + "=";
        out += secrets || !isSecret(name) ? write(value, "/:,") : std::string("***");
    }
    return out;
}

} // namespace

Result<StoreUri> StoreUri::parse(std::string_view text)
{
    if (text.empty())
        return bad("The URL is empty", "Write one like redis://host:6379 or sqlite:///path/leases.db");
    if (text.find('\0') != std::string_view::npos)
        return bad("The URL contains a NUL byte", "Remove it");
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        const auto known = schemeOf(text);
        return bad("The URL has no scheme",
            known ? "Write it like " + std::string((*known)->example)
                  : "Write it like redis://host:6379 or sqlite:///path/leases.db");
    }
    const auto scheme = schemeOf(text.substr(0, colon));
    if (!scheme)
        return fail(scheme.error());
    return Parser(**scheme, text.substr(colon + 1)).parse();
}

std::string StoreUri::display() const
{
    return written(*this, shown, false);
}

std::string StoreUri::secretText() const
{
    return written(*this, encoded, true);
}

std::string StoreUri::parameter(const std::string &name, std::string fallback) const
{
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::move(fallback) : found->second;
}

} // namespace tenure
