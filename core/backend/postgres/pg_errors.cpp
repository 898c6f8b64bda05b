// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_errors.h"

#include "core/base/text.h"

#include <array>

namespace tenure::postgres
{
namespace
{

using enum ErrorKind;
using enum Recovery;

/// What a SQLSTATE, or a whole class of them (two characters), means. The first that fits counts.
struct Meaning {
    std::string_view code;
    ErrorKind kind;
    Recovery recovery;
    const char *what;
    const char *remedy;
    bool quote = false; ///< the server's own sentence says which object
};

constexpr std::array kMeanings{
    Meaning{"25006", Unavailable, Reconnect, "The server takes no writes: a standby, or read-only",
        "Connect to the primary, or name all hosts with target_session_attrs=read-write"},
    Meaning{
        "57P03", Unavailable, Reconnect, "The server is starting up or shutting down", "", true},
    Meaning{"57P01", Unavailable, Reconnect, "The server ended the session", "", true},
    Meaning{"57P02", Unavailable, Reconnect, "The server crashed and ended the session", ""},
    Meaning{"57P04", BadConfig, Reconnect, "The database was dropped", ""},
    Meaning{
        "57P05", Unavailable, Reconnect, "The server ended the session because it was idle", ""},
    Meaning{"25P0", Unavailable, Reconnect, "The server ended the session", "", true},
    Meaning{
        "57014", Unavailable, AtOnce, "The statement was cancelled, by its timeout or by hand", ""},
    Meaning{"55P03", Unavailable, AtOnce, "Another transaction kept the row or its table locked",
        "Look for it in pg_stat_activity"},
    Meaning{
        "40003", OutcomeUnknown, AtOnce, "The server does not know whether it was carried out", ""},
    Meaning{"40", Unavailable, AtOnce, "Another transaction came in between", ""},
    Meaning{"53300", Unavailable, Backoff, "The server has no room for another session",
        "Raise max_connections or close sessions"},
    Meaning{"53100", Unavailable, Backoff, "The server's disk is full", "Free space on the server"},
    Meaning{"53", Unavailable, Backoff, "The server is short of resources", "", true},
    Meaning{"58030", Unavailable, Backoff, "The server cannot read or write its files",
        "Look at the server's disk and log", true},
    Meaning{"28", Rejected, Backoff, "The server refused the user name or the password",
        "Check user and password, .pgpass, and the server's pg_hba.conf", true},
    Meaning{"3D000", BadConfig, Backoff, "There is no such database", "Check the URL's path", true},
    Meaning{"42501", Denied, Backoff, "The right for this is missing",
        "tenurectl init URL --dry-run shows which role needs which right", true},
    Meaning{"42P01", BadConfig, Backoff, "The table of leases does not exist there",
        "Make it with tenurectl init URL, or correct schema=", true},
    Meaning{"3F000", BadConfig, Backoff, "The schema does not exist",
        "Make it with tenurectl init URL, or correct schema=", true},
    Meaning{"42", BadConfig, Backoff, "The table of leases is not as this version needs it",
        "tenurectl init URL --dry-run shows how it must be", true},
    Meaning{"22", BadConfig, Backoff, "The database cannot keep such a value",
        "Its encoding should be UTF8", true},
    Meaning{"0A000", Unsupported, Backoff, "The server cannot do this", "", true},
    Meaning{"08P01", Unsupported, Backoff,
        "What answers does not speak the protocol as a server does", "", true},
    Meaning{"08", Unavailable, Reconnect, "The connection failed", "", true},
    Meaning{"26000", Unavailable, Reconnect, "A proxy gave the session to somebody else", ""},
    Meaning{"XX00", Corrupt, Backoff, "The server reports damaged data", "Look at its log", true},
};

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// The sentence alone: no severity, no SQLSTATE, no LOCATION line, no newline.
std::string sentenceOf(std::string_view message)
{
    for (const char *extra : {"\nLOCATION:", "\nLINE "})
        message = message.substr(0, message.find(extra));
    if (const std::string code = sqlstateIn(message); !code.empty())
        message = message.substr(message.find(code) + code.size() + 1);
    for (const std::string_view severity : {"ERROR:", "FATAL:", "PANIC:"}) {
        if (message.starts_with(severity))
            message.remove_prefix(severity.size());
    }
    std::string line;
    for (const char c : message) {
        if (c == '\n' || c == '\r')
            line += line.empty() || line.back() == ' ' ? "" : " ";
        else if (c != ' ' || (!line.empty() && line.back() != ' '))
            line += c;
    }
    while (!line.empty() && line.back() == ' ')
        line.pop_back();
    return printable(line, 300);
}

Error made(ErrorKind kind, Recovery recovery, std::string what, const std::string &where,
    std::string remedy = {})
{
    Error error;
    error.kind = kind;
    error.recovery = recovery;
    error.what = std::move(what);
    error.where = where;
    error.remedy = std::move(remedy);
    return error;
}

} // namespace

Error errorOf(std::string_view sqlstate, std::string_view message, const std::string &where)
{
    const std::string sentence = sentenceOf(message);
    for (const Meaning &meaning : kMeanings) {
        if (!sqlstate.starts_with(meaning.code))
            continue;
        std::string what = meaning.what;
        if (meaning.quote && !sentence.empty())
            what += ": " + sentence;
        return made(meaning.kind, meaning.recovery, std::move(what), where, meaning.remedy);
    }
    return made(Unavailable, Backoff, "The server answered: " + sentence, where);
}

Error connectError(std::string_view message, const std::string &where)
{
    if (const std::string code = sqlstateIn(message); !code.empty())
        return errorOf(code, message, where);
    const std::string sentence = sentenceOf(message);
    if (contains(message, "does not match host name")) {
        return made(Rejected, Backoff, "The certificate is for another name: " + sentence, where,
            "Connect by a name of the certificate; sslmode=verify-full checks it");
    }
    if (contains(message, "certificate verify failed")) {
        return made(Rejected, Backoff, "The server's certificate is not trusted: " + sentence,
            where, "Set sslrootcert= to the file of the authority that signed it");
    }
    if (contains(message, "certificate") || contains(message, "private key")) {
        return made(contains(message, "alert") ? Rejected : BadConfig, Backoff,
            "A certificate cannot be used: " + sentence, where,
            "Check sslrootcert=, sslcert= and sslkey=");
    }
    if (contains(message, "does not support SSL")) {
        return made(BadConfig, Backoff, "The server does not speak TLS", where,
            "Set sslmode=disable or prefer, or turn TLS on at the server");
    }
    if (contains(message, "no password supplied") || contains(message, "password")) {
        return made(Rejected, Backoff, "The server wants a password", where,
            "Set TENURE_PASSWORD, the connection's password or .pgpass");
    }
    if (contains(message, "session is read-only") || contains(message, "session is not read-only")
        || contains(message, "server is in hot standby")
        || contains(message, "not in hot standby")) {
        return made(Unavailable, Reconnect,
            "No host has the role that target_session_attrs asks for: " + sentence, where);
    }
    if (contains(message, "could not translate host name")) {
        return made(Unavailable, Backoff, "There is no such host: " + sentence, where,
            "Check the name and the name server");
    }
    if (contains(message, "service file") || contains(message, "definition of service")
        || contains(message, "invalid ") || contains(message, "unrecognized")) {
        return made(
            BadConfig, Backoff, "The connection's settings are not possible: " + sentence, where);
    }
    return made(Unavailable, Backoff,
        "The connection did not come about" + (sentence.empty() ? "" : ": " + sentence), where,
        "Is the server running, and is the address right?");
}

Error brokenConnection(std::string_view message, const std::string &where)
{
    const std::string sentence = sentenceOf(message);
    return made(Unavailable, Reconnect,
        "The connection broke" + (sentence.empty() ? "" : ": " + sentence), where);
}

Error noAnswer(const std::string &where)
{
    return made(Unavailable, Reconnect, "The server did not answer in time", where,
        "Check the network and the server's load; pg_locks shows whether a table is locked");
}

std::string sqlstateIn(std::string_view message)
{
    constexpr std::size_t kLength = 5;
    const auto inCode = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); };
    for (std::size_t at = message.find(':'); at != std::string_view::npos;
         at = message.find(':', at + 1)) {
        if (at < kLength + 1 || at + 1 >= message.size() || message[at + 1] != ' ')
            continue;
        const std::string_view code = message.substr(at - kLength, kLength);
        bool digits = false;
        bool all = message[at - kLength - 1] == ' ';
        for (const char c : code) {
            all = all && inCode(c);
            digits = digits || (c >= '0' && c <= '9');
        }
        if (all && digits)
            return std::string(code);
    }
    return {};
}

bool isDataError(std::string_view sqlstate)
{
    return sqlstate.starts_with("22");
}

} // namespace tenure::postgres
