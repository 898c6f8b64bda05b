// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <tl/expected.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace tenure
{

/// What the caller can do about a failure, not where it came from (DESIGN.md section 4).
enum class ErrorKind {
    Conflict, ///< somebody else holds it, or it changed since it was seen: step down, look again
    NotFound, ///< no such lease, key or server object
    Unavailable, ///< not now: retry, as `Error::recovery` says
    OutcomeUnknown, ///< the request may have been carried out: read before acting
    Denied, ///< known, but without the right: a person must grant it
    Rejected, ///< not authenticated: wrong or missing credentials
    BadConfig, ///< what was asked can never work: a person must correct it
    Corrupt, ///< what is stored cannot be understood
    Unsupported, ///< this backend or server cannot do it
};

/// How soon a retry makes sense after `Unavailable`.
enum class Recovery {
    Backoff, ///< exponential backoff with jitter
    AtOnce, ///< retry with jitter on the same connection (busy, serialization failure)
    Reconnect, ///< the connection is gone: a fresh one, at once the first time
};

/// A failure as a value. `what` is one sentence, `where` a URL or path without secrets, `remedy` what
/// a person can do. None of them ever contains a password.
struct Error {
    ErrorKind kind = ErrorKind::Unavailable;
    std::string what;
    std::string where;
    std::string remedy;
    Recovery recovery = Recovery::Backoff;
    std::optional<std::chrono::milliseconds> retryAfter; ///< the server's own wish, if it gave one

    /// "what (where). remedy" for a log line or a terminal.
    [[nodiscard]] std::string text() const
    {
        std::string out = what;
        if (!where.empty())
            out += " (" + where + ")";
        if (!remedy.empty())
            out += ". " + remedy;
        return out;
    }
};

template <typename T>
using Result = tl::expected<T, Error>;

/// Makes a failed Result: `return fail(ErrorKind::Denied, "...", where, "Ask ...");`
[[nodiscard]] inline tl::unexpected<Error> fail(
    ErrorKind kind, std::string what, std::string where = {}, std::string remedy = {})
{
    Error error;
    error.kind = kind;
    error.what = std::move(what);
    error.where = std::move(where);
    error.remedy = std::move(remedy);
    return tl::unexpected<Error>(std::move(error));
}

[[nodiscard]] inline tl::unexpected<Error> fail(Error error)
{
    return tl::unexpected<Error>(std::move(error));
}

} // namespace tenure
