// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure
{

/// How a target's TLS is set up. PEM text (`...Data`) goes before a file of the same purpose.
struct HttpTls {
    std::string caData, caFile; ///< trusted instead of the system's authorities; default: the system's
    std::string certData, certFile; ///< client certificate, with its chain
    std::string keyData, keyFile;
    std::string serverName; ///< SNI and certificate name; default: the URL's host
    bool verify = true; ///< false is shown in red wherever the connection is shown
};

/// One server: every request of a client goes there and nowhere else.
struct HttpTarget {
    std::string url; ///< "https://host:port/prefix"; no credentials, query or fragment
    HttpTls tls;
    /// "http://proxy:3128", also https: and socks5:. Absent: HTTPS_PROXY, HTTP_PROXY and NO_PROXY of
    /// the environment, never for a loopback address. Empty: none, whatever the environment says.
    std::optional<std::string> proxy;
    std::string display; ///< for errors, without secrets
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
    std::string method = "GET";
    std::string path; ///< after the target's prefix, percent-encoded, with its query: "/api?limit=5"
    HttpHeaders headers;
    std::string body;
    std::size_t maxBody = std::size_t{64} * 1024 * 1024; ///< a longer answer is Corrupt
};

/// What a server said; a status of 400 or 500 is an answer too, and so is a redirect (none is ever
/// followed).
struct HttpResponse {
    int status = 0;
    HttpHeaders headers; ///< names in lower case
    std::string body;
    Instant sentAt; ///< read before the request was written
    Instant receivedAt;
    Duration settingUp{}; ///< of the time between: what a new connection took; zero on an old one
    std::optional<WallTime> date; ///< the Date header: the server's clock, one second coarse
    std::optional<Milliseconds> retryAfter; ///< Retry-After, in seconds or as a date

    /// Empty when absent. `name` in lower case.
    [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// A response that goes on: its body arrives in pieces (a watch). Belongs to the client that opened
/// it, is used on the client's thread, and must be gone before the client.
class HttpStream
{
public:
    HttpStream() = default;
    HttpStream(const HttpStream &) = delete;
    HttpStream &operator=(const HttpStream &) = delete;
    virtual ~HttpStream() = default;
    /// Status and headers; for any other status than 200 the body is the whole (bounded) text.
    [[nodiscard]] virtual const HttpResponse &response() const = 0;
    /// Appends what has arrived to `into`, waiting until `deadline` for the first byte.
    enum class Got { Bytes, Nothing, End };
    /// Nothing: the deadline passed, the stream stands. End: the server ended it properly.
    /// Unavailable: it broke, or the client was interrupted.
    [[nodiscard]] virtual Result<Got> read(std::string &into, Instant deadline) = 0;
    /// Requests that the client sends beside it travel over the very same connection (HTTP/2), so an
    /// answered one proves that the stream's connection lives.
    [[nodiscard]] virtual bool sharesConnection() const = 0;
};

/// HTTP/1.1 and HTTP/2 to one server, with connections kept alive, over libcurl (nothing outside
/// core/net knows). One owner, one thread, except interrupt(). Every call ends by its deadline. It
/// never follows a redirect, keeps no cookies and asks no netrc.
///
/// Errors: Unavailable (refused, reset, timed out before the request was written), OutcomeUnknown
/// (any method but GET whose answer did not come though it may have been written), Rejected (TLS: a
/// certificate does not fit or ours is wanted), BadConfig (URL, PEM, files), Corrupt (an answer
/// beyond `maxBody`, or no HTTP). A kept-alive connection that turns out to be dead is replaced once,
/// silently; a request may then have reached the server twice.
class HttpClient
{
public:
    /// BadConfig: the URL, a file or PEM text is of no use.
    [[nodiscard]] static Result<std::unique_ptr<HttpClient>> make(HttpTarget target);

    HttpClient(const HttpClient &) = delete;
    HttpClient &operator=(const HttpClient &) = delete;
    ~HttpClient();

    [[nodiscard]] const HttpTarget &target() const;
    [[nodiscard]] Result<HttpResponse> send(const HttpRequest &request, Instant deadline);
    /// All at once, over HTTP/2 as parallel streams of one connection; one result a request.
    [[nodiscard]] std::vector<Result<HttpResponse>> sendAll(
        std::span<const HttpRequest> requests, Instant deadline);
    /// Sends and waits for the headers. Errors as for a GET.
    [[nodiscard]] Result<std::unique_ptr<HttpStream>> open(const HttpRequest &request, Instant deadline);
    /// Returns when one of the open streams has something to read, at `deadline`, or when interrupted.
    void waitAny(Instant deadline);
    /// Makes the call under way, and every later one, fail with Unavailable at once. Any thread.
    void interrupt();
    /// Drops every connection; the next call opens a fresh one. No stream may be open.
    void disconnect();

    class Core;

private:
    explicit HttpClient(std::unique_ptr<Core> core);
    std::unique_ptr<Core> m_core;
};

/// `text` with everything but unreserved characters percent-encoded, for a path segment or a query.
[[nodiscard]] std::string percentEncoded(std::string_view text);

} // namespace tenure
