// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/net/http_transfer.h"

#include "core/base/text.h"
#include "core/net/connect_error.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

namespace tenure
{
namespace
{

constexpr std::size_t kMaxHeaderBytes = std::size_t{256} * 1024;

std::string lowered(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    return out;
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<WallTime> dateOf(std::string_view text)
{
    const std::time_t time = curl_getdate(std::string(text).c_str(), nullptr);
    if (time == -1)
        return std::nullopt;
    return WallTime(std::chrono::seconds(time));
}

std::optional<Milliseconds> retryAfterOf(std::string_view text, std::optional<WallTime> date)
{
    constexpr int kMostSeconds = 86'400;
    int seconds = 0;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (problem == std::errc() && stop == text.data() + text.size() && !text.empty())
        return std::chrono::seconds(std::clamp(seconds, 0, kMostSeconds));
    const auto until = dateOf(text);
    if (!until || !date)
        return std::nullopt;
    return std::chrono::duration_cast<Milliseconds>(
        std::clamp<std::chrono::microseconds>(*until - *date, std::chrono::microseconds(0),
            std::chrono::seconds(kMostSeconds)));
}

std::string bracketed(const std::string &host)
{
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

void setBlob(CURL *easy, CURLoption option, const std::string &pem)
{
    curl_blob blob{};
    blob.data = const_cast<char *>(pem.data()); // NOLINT: copied, not written to
    blob.len = pem.size();
    blob.flags = CURL_BLOB_COPY;
    curl_easy_setopt(easy, option, &blob);
}

const char *environment(const char *name)
{
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

/// HTTP's errors speak of no URL parameters: who configured the target knows where it is written.
Error plainRemedy(Error error)
{
    if (error.remedy.find("ca=") != std::string::npos)
        error.remedy = "Configure the certificate authority that signed it";
    else if (error.remedy.find("cert=") != std::string::npos)
        error.remedy = "Check the client certificate and its key";
    else if (error.remedy.find("sni=") != std::string::npos)
        error.remedy = "Connect by a name of the certificate or set the server name to one";
    else if (error.remedy.find("redis") != std::string::npos)
        error.remedy = "Use http:// or the server's TLS port";
    return error;
}

} // namespace

Result<HttpPlace> HttpPlace::of(const HttpTarget &target)
{
    HttpPlace place;
    const auto wrong = [&](const char *what) {
        return fail(ErrorKind::BadConfig, what, target.display, "Write it like https://host:6443");
    };
    const std::size_t colon = target.url.find("://");
    if (colon == std::string::npos)
        return wrong("The server's URL has no http:// or https://");
    place.scheme = lowered(target.url.substr(0, colon));
    if (place.scheme != "http" && place.scheme != "https")
        return wrong("Only http:// and https:// are possible here");
    std::string_view rest = std::string_view(target.url).substr(colon + 3);
    if (rest.find_first_of("?#") != std::string_view::npos)
        return wrong("The server's URL has a query or a fragment");
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    place.authority = rest.substr(0, slash);
    place.prefix = rest.substr(slash);
    while (place.prefix.ends_with('/'))
        place.prefix.pop_back();
    if (place.authority.find('@') != std::string::npos)
        return wrong("The server's URL carries credentials");
    std::string_view host = place.authority;
    const std::size_t close = host.starts_with('[') ? host.find(']') : std::string_view::npos;
    const std::size_t port = host.find(':', close == std::string_view::npos ? 0 : close);
    place.port = port == std::string_view::npos ? (place.scheme == "https" ? "443" : "80")
                                                : std::string(host.substr(port + 1));
    host = host.substr(0, port);
    place.host = close == std::string_view::npos ? host : host.substr(1, close - 1);
    int number = 0;
    const auto read
        = std::from_chars(place.port.data(), place.port.data() + place.port.size(), number);
    if (read.ec != std::errc() || read.ptr != place.port.data() + place.port.size() || number < 1
        || number > 65535)
        return wrong("The port is not a number from 1 to 65535");
    if (place.host.empty() || place.host.find_first_of(" \t\r\n\"\\<>{}|^`%") != std::string::npos)
        return wrong("The server's URL has no usable host");
    return place;
}

bool HttpPlace::isLoopback() const
{
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

HttpTransfer::HttpTransfer(const HttpTarget &target, const HttpPlace &place)
    : m_target(target), m_place(place), m_easy(curl_easy_init())
{
}

HttpTransfer::~HttpTransfer()
{
    curl_easy_cleanup(m_easy);
    curl_slist_free_all(m_headerList);
    curl_slist_free_all(m_connectTo);
}

void HttpTransfer::begin(const HttpRequest &request, Body body)
{
    curl_easy_reset(m_easy);
    m_message[0] = '\0';
    m_response = HttpResponse();
    m_maxBody = request.maxBody;
    m_body = body;
    m_headersComplete = m_tooLong = m_paused = m_done = false;
    m_code = CURLE_OK;
    curl_easy_setopt(m_easy, CURLOPT_PRIVATE, this);
    curl_easy_setopt(m_easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(m_easy, CURLOPT_ERRORBUFFER, m_message.data());
    curl_easy_setopt(m_easy, CURLOPT_WRITEFUNCTION, &HttpTransfer::onBody);
    curl_easy_setopt(m_easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(m_easy, CURLOPT_HEADERFUNCTION, &HttpTransfer::onHeader);
    curl_easy_setopt(m_easy, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(m_easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(m_easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(m_easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(m_easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(m_easy, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(m_easy, CURLOPT_TCP_KEEPINTVL, 5L);
    curl_easy_setopt(m_easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    setUrl(request);
    if (m_place.scheme == "https")
        setTls();
    setProxy();
    setHeaders(request);
    setMethod(request);
    m_response.sentAt = BootClock::now();
}

void HttpTransfer::setUrl(const HttpRequest &request)
{
    const std::string &name = m_target.tls.serverName;
    const bool renamed = m_place.scheme == "https" && !name.empty() && name != m_place.host;
    const std::string authority
        = renamed ? bracketed(name) + ":" + m_place.port : m_place.authority;
    const std::string url = m_place.scheme + "://" + authority + m_place.prefix + request.path;
    curl_easy_setopt(m_easy, CURLOPT_URL, url.c_str());
    if (!renamed)
        return;
    if (m_connectTo == nullptr) {
        const std::string route = "::" + bracketed(m_place.host) + ":" + m_place.port;
        m_connectTo = curl_slist_append(nullptr, route.c_str());
    }
    curl_easy_setopt(m_easy, CURLOPT_CONNECT_TO, m_connectTo);
}

void HttpTransfer::setTls()
{
    const HttpTls &tls = m_target.tls;
    curl_easy_setopt(m_easy, CURLOPT_CERTINFO, 1L);
    curl_easy_setopt(m_easy, CURLOPT_SSL_VERIFYPEER, tls.verify ? 1L : 0L);
    curl_easy_setopt(m_easy, CURLOPT_SSL_VERIFYHOST, tls.verify ? 2L : 0L);
    if (!tls.caData.empty() || !tls.caFile.empty())
        curl_easy_setopt(m_easy, CURLOPT_CAPATH, nullptr); // else the system's count as well
    if (!tls.caData.empty()) {
        curl_easy_setopt(m_easy, CURLOPT_CAINFO, nullptr);
        setBlob(m_easy, CURLOPT_CAINFO_BLOB, tls.caData);
    } else if (!tls.caFile.empty()) {
        curl_easy_setopt(m_easy, CURLOPT_CAINFO, tls.caFile.c_str());
    }
    if (!tls.certData.empty())
        setBlob(m_easy, CURLOPT_SSLCERT_BLOB, tls.certData);
    else if (!tls.certFile.empty())
        curl_easy_setopt(m_easy, CURLOPT_SSLCERT, tls.certFile.c_str());
    if (!tls.keyData.empty())
        setBlob(m_easy, CURLOPT_SSLKEY_BLOB, tls.keyData);
    else if (!tls.keyFile.empty())
        curl_easy_setopt(m_easy, CURLOPT_SSLKEY, tls.keyFile.c_str());
}

void HttpTransfer::setProxy()
{
    if (m_target.proxy) {
        curl_easy_setopt(m_easy, CURLOPT_PROXY, m_target.proxy->c_str());
        if (!m_target.proxy->empty())
            curl_easy_setopt(m_easy, CURLOPT_NOPROXY, "");
        return;
    }
    if (m_place.isLoopback()) {
        curl_easy_setopt(m_easy, CURLOPT_PROXY, "");
        return;
    }
    // curl reads the rest of the environment itself; only the upper-case name for plain HTTP it
    // leaves alone, because a CGI program's environment carries a header of that name.
    const char *upper = environment("HTTP_PROXY");
    if (m_place.scheme == "http" && upper != nullptr && environment("http_proxy") == nullptr
        && environment("REQUEST_METHOD") == nullptr)
        curl_easy_setopt(m_easy, CURLOPT_PROXY, upper);
}

void HttpTransfer::setHeaders(const HttpRequest &request)
{
    curl_slist_free_all(m_headerList);
    m_headerList = curl_slist_append(nullptr, "Expect:");
    if (!m_target.tls.serverName.empty())
        m_headerList = curl_slist_append(m_headerList, ("Host: " + m_place.authority).c_str());
    for (const auto &[name, value] : request.headers) {
        // A line break in a value would become a header of its own.
        if (value.find_first_of("\r\n") == std::string::npos)
            m_headerList = curl_slist_append(m_headerList, (name + ": " + value).c_str());
    }
    curl_easy_setopt(m_easy, CURLOPT_HTTPHEADER, m_headerList);
    curl_easy_setopt(m_easy, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
}

void HttpTransfer::setMethod(const HttpRequest &request)
{
    m_reading = request.method == "GET" || request.method == "HEAD";
    if (request.method == "HEAD") {
        curl_easy_setopt(m_easy, CURLOPT_NOBODY, 1L);
    } else if (request.method == "GET" && request.body.empty()) {
        curl_easy_setopt(m_easy, CURLOPT_HTTPGET, 1L);
    } else {
        curl_easy_setopt(m_easy, CURLOPT_POSTFIELDS, request.body.data());
        curl_easy_setopt(
            m_easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        curl_easy_setopt(m_easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
}

std::size_t HttpTransfer::onBody(char *bytes, std::size_t size, std::size_t count, void *self)
{
    auto &transfer = *static_cast<HttpTransfer *>(self);
    std::string &body = transfer.m_response.body;
    const std::size_t length = size * count;
    if (body.size() + length > transfer.m_maxBody) {
        if (transfer.m_body == Body::Stream && !body.empty()) {
            transfer.m_paused = true;
            return CURL_WRITEFUNC_PAUSE;
        }
        if (transfer.m_body == Body::Whole) {
            transfer.m_tooLong = true;
            return 0;
        }
    }
    body.append(bytes, length);
    return length;
}

std::size_t HttpTransfer::onHeader(char *bytes, std::size_t size, std::size_t count, void *self)
{
    static_cast<HttpTransfer *>(self)->takeHeader(std::string_view(bytes, size * count));
    return size * count;
}

void HttpTransfer::takeHeader(std::string_view line)
{
    line = trimmed(line);
    if (line.starts_with("HTTP/")) { // also the final one after a 1xx
        m_response.headers.clear();
        m_response.status = 0;
        const std::size_t space = line.find(' ');
        if (space != std::string_view::npos)
            std::from_chars(line.data() + space + 1, line.data() + line.size(), m_response.status);
        return;
    }
    if (line.empty()) {
        m_headersComplete = m_response.status >= 200;
        m_response.date = dateOf(m_response.header("date"));
        m_response.retryAfter = retryAfterOf(m_response.header("retry-after"), m_response.date);
        return;
    }
    std::size_t bytes = line.size();
    for (const auto &[name, value] : m_response.headers)
        bytes += name.size() + value.size();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || bytes > kMaxHeaderBytes)
        return;
    m_response.headers.emplace_back(
        lowered(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1))));
}

void HttpTransfer::finished(CURLcode code)
{
    m_done = true;
    m_code = code;
    m_response.receivedAt = BootClock::now();
    long connections = 0;
    curl_off_t ready = 0;
    curl_easy_getinfo(m_easy, CURLINFO_NUM_CONNECTS, &connections);
    if (connections > 0 && curl_easy_getinfo(m_easy, CURLINFO_PRETRANSFER_TIME_T, &ready) == CURLE_OK)
        m_response.settingUp = std::chrono::microseconds(ready);
}

bool HttpTransfer::mayHaveBeenSent() const
{
    curl_off_t ready = 0;
    curl_easy_getinfo(m_easy, CURLINFO_PRETRANSFER_TIME_T, &ready);
    return ready > 0;
}

Result<HttpResponse> HttpTransfer::result(Ending ending)
{
    if (m_done && m_code == CURLE_OK && m_response.status != 0)
        return std::move(m_response);
    return fail(error(ending));
}

Error HttpTransfer::error(Ending ending) const
{
    Endpoint endpoint; // what the sentences speak of
    endpoint.host = m_place.host;
    endpoint.tls = m_place.scheme == "https";
    endpoint.serverName = m_target.tls.serverName;
    endpoint.certFile = m_target.tls.certData.empty() ? m_target.tls.certFile : "data";
    endpoint.display = m_target.display;
    Error error;
    error.where = m_target.display;
    if (m_tooLong) {
        error.kind = ErrorKind::Corrupt;
        error.what = "The answer is longer than " + std::to_string(m_maxBody) + " bytes";
        return error;
    }
    const bool sent = mayHaveBeenSent();
    if (ending == Ending::Interrupted) {
        error.what = "The connection was given up";
    } else if (ending == Ending::GaveUp) {
        error.what = "The server did not answer in time";
        error.remedy = sent ? "" : "Check the address, the network and the firewall";
    } else if (m_code == CURLE_OK) {
        error.kind = ErrorKind::Corrupt;
        error.what = "The server's answer is not HTTP";
    } else if (!sent) {
        error = plainRemedy(connectError(endpoint, m_easy, m_code, m_message.data()));
    } else if (m_code == CURLE_UNSUPPORTED_PROTOCOL || m_code == CURLE_WEIRD_SERVER_REPLY) {
        error.kind = ErrorKind::Corrupt;
        error.what = "The server's answer is not HTTP";
        error.remedy = "Does this port want https://?";
    } else {
        error = plainRemedy(streamError(
            endpoint, m_code, m_message.data(), "waiting for the answer", PeerHeard::Yes));
    }
    if (sent && !m_reading && error.kind == ErrorKind::Unavailable) {
        error.kind = ErrorKind::OutcomeUnknown;
        error.what = "It is not known whether it was carried out: " + error.what;
    }
    return error;
}

bool HttpTransfer::take(std::string &into)
{
    if (m_response.body.empty())
        return false;
    into += m_response.body;
    m_response.body.clear();
    if (m_paused) {
        m_paused = false;
        curl_easy_pause(m_easy, CURLPAUSE_CONT);
    }
    return true;
}

bool HttpTransfer::isHttp2() const
{
    long version = 0;
    curl_easy_getinfo(m_easy, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_2_0;
}

} // namespace tenure
