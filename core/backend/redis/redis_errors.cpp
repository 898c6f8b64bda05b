// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_errors.h"

#include "core/base/text.h"

#include <array>

namespace tenure::redis
{
namespace
{

struct Meaning {
    std::string_view code;
    ErrorKind kind;
    Recovery recovery;
    const char *what;
    const char *remedy;
};

using enum ErrorKind;
using enum Recovery;

constexpr std::array kMeanings{
    Meaning{"READONLY", Unavailable, Reconnect, "The server is a replica and takes no writes",
        "Connect to the master, or through Sentinel"},
    Meaning{"LOADING", Unavailable, Reconnect, "The server is still loading its data", ""},
    Meaning{"MASTERDOWN", Unavailable, Reconnect, "The replica has lost its master", ""},
    Meaning{"CLUSTERDOWN", Unavailable, Reconnect, "The cluster is down", ""},
    Meaning{"TRYAGAIN", Unavailable, AtOnce, "The cluster is moving this key", ""},
    Meaning{"BUSY", Unavailable, Backoff, "The server is busy with somebody's script",
        "SCRIPT KILL on the server ends it"},
    Meaning{"UNKILLABLE", Unavailable, Backoff, "The server is busy with somebody's script", ""},
    Meaning{"NOREPLICAS", Unavailable, Backoff, "The server has too few replicas to take writes",
        "Look at min-replicas-to-write and at the replicas"},
    Meaning{"OOM", Unavailable, Backoff, "The server's memory is full and it takes no writes",
        "Raise maxmemory or free memory"},
    Meaning{"MISCONF", Unavailable, Backoff, "The server cannot save to disk and takes no writes",
        "Look at the server's disk and log"},
    Meaning{"MOVED", Unsupported, Backoff, "The server is a node of a Redis Cluster",
        "Use a stand-alone server or Sentinel"},
    Meaning{"ASK", Unsupported, Backoff, "The server is a node of a Redis Cluster",
        "Use a stand-alone server or Sentinel"},
    Meaning{"CROSSSLOT", BadConfig, Backoff,
        "The name's braces put its two keys into different slots", "Choose a name without braces"},
    Meaning{"NOAUTH", Rejected, Backoff, "The server wants a password",
        "Set TENURE_PASSWORD or the connection's password"},
    Meaning{"WRONGPASS", Rejected, Backoff, "The server refused the user name or the password",
        "Check the user and the password"},
    Meaning{"NOPERM", Denied, Backoff, "The server's ACL does not permit this",
        "See ACL LIST on the server"},
    Meaning{"WRONGTYPE", BadConfig, Backoff, "There is a key of another type under this name",
        "Choose another lease name or prefix; nothing was overwritten"},
};

bool isWordEdge(std::string_view text, std::size_t at)
{
    if (at >= text.size())
        return true;
    const char c = text[at];
    return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_';
}

/// `code` as the first word, or behind the "-" or ": " with which a script's error quotes another.
bool says(std::string_view message, std::string_view code)
{
    if (message.starts_with(code) && isWordEdge(message, code.size()))
        return true;
    if (!message.starts_with("ERR"))
        return false;
    for (std::size_t at = message.find(code); at != std::string_view::npos;
         at = message.find(code, at + 1)) {
        const bool quoted
            = at > 0 && (message[at - 1] == '-' || (at > 1 && message[at - 2] == ':'));
        if (quoted && isWordEdge(message, at + code.size()))
            return true;
    }
    return false;
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// What only says ERR.
Error plainError(std::string_view message)
{
    Error error;
    error.what = "The server answered: " + printable(message, 300);
    if (contains(message, "max number of clients")) {
        error.what = "The server has no room for another client";
        error.remedy = "Raise maxclients or close connections";
        error.recovery = Reconnect;
    } else if (contains(message, "without any password configured")) {
        error.kind = Rejected;
        error.what = "The server has no password, but one was given";
        error.remedy = "Connect without a password";
    } else if (contains(message, "invalid password")) {
        error.kind = Rejected;
        error.what = "The server refused the password";
    } else if (contains(message, "DB index") || contains(message, "invalid DB")) {
        error.kind = BadConfig;
        error.what = "The server has no database of this number";
        error.remedy = "Check db=";
    } else if (contains(message, "unknown command")
        || contains(message, "This instance has cluster")) {
        error.kind = Unsupported;
    }
    return error;
}

} // namespace

Error errorOf(std::string_view message, const std::string &where)
{
    Error error;
    bool known = false;
    for (const Meaning &meaning : kMeanings) {
        if (!says(message, meaning.code))
            continue;
        error.kind = meaning.kind;
        error.recovery = meaning.recovery;
        error.what = meaning.what;
        error.remedy = meaning.remedy;
        if (error.kind == Denied) // the server's own sentence says which command or key
            error.what += ": " + printable(message, 300);
        known = true;
        break;
    }
    if (!known)
        error = plainError(message);
    error.where = where;
    return error;
}

bool isNoScript(std::string_view message)
{
    return says(message, "NOSCRIPT");
}

} // namespace tenure::redis
