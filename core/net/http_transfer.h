// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/net/http_client.h"

#include <curl/curl.h>

#include <array>

namespace tenure
{

/// Where a target's URL leads, taken apart once.
struct HttpPlace {
    std::string scheme; ///< "http" or "https"
    std::string host; ///< [::1] without brackets
    std::string port;
    std::string authority; ///< host:port as the URL has it
    std::string prefix; ///< path without a slash at the end

    /// BadConfig when it is no http or https URL, or carries credentials, a query or a fragment.
    [[nodiscard]] static Result<HttpPlace> of(const HttpTarget &target);
    [[nodiscard]] bool isLoopback() const;
};

/// One request on one easy handle: sets it up, takes in what arrives, and judges how it ended. Stays
/// where it is while the handle is in a multi handle, which calls back into it.
class HttpTransfer
{
public:
    enum class Body {
        Whole, ///< more than the request's maxBody ends it
        Stream, ///< more than that pauses it until take()
    };

    HttpTransfer(const HttpTarget &target, const HttpPlace &place);
    ~HttpTransfer();
    HttpTransfer(const HttpTransfer &) = delete;
    HttpTransfer &operator=(const HttpTransfer &) = delete;

    /// `request` must live as long as the transfer is under way.
    void begin(const HttpRequest &request, Body body);
    void finished(CURLcode code); ///< told by the owner of the multi handle
    [[nodiscard]] bool done() const { return m_done; }
    [[nodiscard]] CURLcode code() const { return m_code; }
    [[nodiscard]] bool headersComplete() const { return m_headersComplete; }
    [[nodiscard]] CURL *easy() const { return m_easy; }
    [[nodiscard]] HttpResponse &response() { return m_response; }
    /// What the end means for the caller; `gaveUp` when no end came by the deadline.
    enum class Ending { ByCurl, GaveUp, Interrupted };
    [[nodiscard]] Result<HttpResponse> result(Ending ending);
    [[nodiscard]] Error error(Ending ending) const;
    /// Moves what a stream has buffered to the end of `into` and lets it go on.
    bool take(std::string &into);
    [[nodiscard]] bool isHttp2() const;

private:
    static std::size_t onBody(char *bytes, std::size_t size, std::size_t count, void *self);
    static std::size_t onHeader(char *bytes, std::size_t size, std::size_t count, void *self);
    void setUrl(const HttpRequest &request);
    void setTls();
    void setProxy();
    void setHeaders(const HttpRequest &request);
    void setMethod(const HttpRequest &request);
    void takeHeader(std::string_view line);
    [[nodiscard]] bool mayHaveBeenSent() const;

    const HttpTarget &m_target;
    const HttpPlace &m_place;
    CURL *m_easy = nullptr;
    curl_slist *m_headerList = nullptr;
    curl_slist *m_connectTo = nullptr;
    std::array<char, CURL_ERROR_SIZE> m_message{};
    HttpResponse m_response;
    std::size_t m_maxBody = 0;
    Body m_body = Body::Whole;
    bool m_reading = true; ///< the method is GET or HEAD
    bool m_headersComplete = false;
    bool m_tooLong = false;
    bool m_paused = false;
    bool m_done = false;
    CURLcode m_code = CURLE_OK;
};

} // namespace tenure
