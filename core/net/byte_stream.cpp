// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/net/byte_stream.h"

#include "core/net/connect_error.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tenure
{
namespace
{

constexpr std::size_t kChunk = 64 * 1024;

/// Time left, never negative.
Duration left(Instant deadline)
{
    return std::max<Duration>(deadline - BootClock::now(), Duration::zero());
}

struct EasyDeleter {
    void operator()(CURL *handle) const { curl_easy_cleanup(handle); }
};
struct MultiDeleter {
    void operator()(CURLM *handle) const { curl_multi_cleanup(handle); }
};
struct ListDeleter {
    void operator()(curl_slist *list) const { curl_slist_free_all(list); }
};

void initCurl()
{
    [[maybe_unused]] static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
}

class CurlStream final : public ByteStream
{
public:
    explicit CurlStream(Endpoint endpoint) : m_endpoint(std::move(endpoint))
    {
        initCurl();
        m_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        m_easy.reset(curl_easy_init());
        m_multi.reset(curl_multi_init());
    }

    ~CurlStream() override
    {
        if (m_multi && m_easy)
            curl_multi_remove_handle(m_multi.get(), m_easy.get());
        if (m_wake >= 0)
            close(m_wake);
    }

    Result<void> open(Instant deadline, const std::atomic<bool> *cancelled);
    [[nodiscard]] Result<void> write(std::span<const char> bytes, Instant deadline) override;
    [[nodiscard]] Result<void> read(std::string &into, Instant deadline) override;
    void interrupt() override
    {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(m_wake, &one, sizeof one);
    }

private:
    void configure();
    [[nodiscard]] Result<void> wait(short events, Instant deadline) const;
    [[nodiscard]] tl::unexpected<Error> broken(CURLcode code, const char *verb);

    const Endpoint m_endpoint;
    int m_wake = -1;
    std::array<char, CURL_ERROR_SIZE> m_message{};
    std::unique_ptr<curl_slist, ListDeleter> m_connectTo;
    std::unique_ptr<CURLM, MultiDeleter> m_multi; ///< owns the connection; goes after m_easy
    std::unique_ptr<CURL, EasyDeleter> m_easy;
    curl_socket_t m_socket = CURL_SOCKET_BAD;
    bool m_heard = false; ///< the peer has said something
};

std::string bracketed(const std::string &host)
{
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

void CurlStream::configure()
{
    CURL *easy = m_easy.get();
    const std::string host = m_endpoint.host.empty() ? "localhost" : m_endpoint.host;
    const std::string name = m_endpoint.serverName.empty() ? host : m_endpoint.serverName;
    const std::string port = std::to_string(m_endpoint.port == 0 ? 1 : m_endpoint.port);
    const std::string scheme = m_endpoint.tls ? "https://" : "http://";
    const std::string url = scheme + bracketed(name) + ":" + port + "/";
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); // not even one of the environment
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, m_message.data());
    if (!m_endpoint.unixPath.empty()) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, m_endpoint.unixPath.c_str());
    } else if (name != host) {
        const std::string route = "::" + bracketed(host) + ":" + port;
        m_connectTo.reset(curl_slist_append(nullptr, route.c_str()));
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, m_connectTo.get());
    }
    if (!m_endpoint.tls)
        return;
    curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, m_endpoint.verify ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, m_endpoint.verify ? 2L : 0L);
    if (!m_endpoint.caFile.empty())
        curl_easy_setopt(easy, CURLOPT_CAINFO, m_endpoint.caFile.c_str());
    if (!m_endpoint.certFile.empty())
        curl_easy_setopt(easy, CURLOPT_SSLCERT, m_endpoint.certFile.c_str());
    if (!m_endpoint.keyFile.empty())
        curl_easy_setopt(easy, CURLOPT_SSLKEY, m_endpoint.keyFile.c_str());
}

Result<void> CurlStream::open(Instant deadline, const std::atomic<bool> *cancelled)
{
    if (!m_easy || !m_multi || m_wake < 0)
        return fail(ErrorKind::Unavailable, "No connection could be prepared", m_endpoint.display);
    if (auto problem = endpointProblem(m_endpoint))
        return fail(*std::move(problem));
    configure();
    curl_multi_add_handle(m_multi.get(), m_easy.get());
    int running = 1;
    while (true) {
        curl_multi_perform(m_multi.get(), &running);
        if (running == 0)
            break;
        const auto wait = std::chrono::ceil<Milliseconds>(left(deadline));
        if (wait == Milliseconds::zero() || (cancelled != nullptr && cancelled->load())) {
            return fail(ErrorKind::Unavailable, "The server did not answer in time",
                m_endpoint.display,
                m_endpoint.tls
                    ? "Check the address and the firewall, and whether this port speaks TLS"
                    : "Check the address, the network and the firewall");
        }
        const int slice = static_cast<int>(std::min<Milliseconds>(wait, Milliseconds(50)).count());
        curl_multi_poll(m_multi.get(), nullptr, 0, slice, nullptr);
    }
    int queued = 0;
    const CURLMsg *done = curl_multi_info_read(m_multi.get(), &queued);
    const CURLcode code = done != nullptr ? done->data.result : CURLE_COULDNT_CONNECT;
    if (code != CURLE_OK)
        return fail(connectError(m_endpoint, m_easy.get(), code, m_message.data()));
    curl_easy_getinfo(m_easy.get(), CURLINFO_ACTIVESOCKET, &m_socket);
    if (m_socket == CURL_SOCKET_BAD)
        return fail(ErrorKind::Unavailable, "The connection closed at once", m_endpoint.display);
    return {};
}

Result<void> CurlStream::wait(short events, Instant deadline) const
{
    const auto ns = left(deadline).count();
    const timespec timeout{
        static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    std::array<pollfd, 2> fds{pollfd{m_socket, events, 0}, pollfd{m_wake, POLLIN, 0}};
    const int ready = ppoll(fds.data(), fds.size(), &timeout, nullptr);
    if (ready > 0 && fds[1].revents != 0)
        return fail(ErrorKind::Unavailable, "The connection was given up", m_endpoint.display);
    if (ready == 0 && left(deadline) == Duration::zero()) {
        return fail(
            ErrorKind::Unavailable, "The server did not answer in time", m_endpoint.display);
    }
    return {}; // also on EINTR: the caller tries again
}

tl::unexpected<Error> CurlStream::broken(CURLcode code, const char *verb)
{
    Error error = streamError(
        m_endpoint, code, m_message.data(), verb, m_heard ? PeerHeard::Yes : PeerHeard::No);
    return fail(std::move(error));
}

Result<void> CurlStream::write(std::span<const char> bytes, Instant deadline)
{
    while (!bytes.empty()) {
        std::size_t sent = 0;
        m_message[0] = '\0';
        const CURLcode code = curl_easy_send(m_easy.get(), bytes.data(), bytes.size(), &sent);
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return broken(code, "sending");
        bytes = bytes.subspan(sent);
        if (code == CURLE_AGAIN) {
            if (auto waited = wait(POLLOUT, deadline); !waited)
                return waited;
        }
    }
    return {};
}

Result<void> CurlStream::read(std::string &into, Instant deadline)
{
    const std::size_t before = into.size();
    while (true) {
        into.resize(before + kChunk);
        std::size_t got = 0;
        m_message[0] = '\0';
        const CURLcode code = curl_easy_recv(m_easy.get(), into.data() + before, kChunk, &got);
        into.resize(before + got);
        if (code == CURLE_OK && got > 0) {
            m_heard = true;
            return {};
        }
        if (code != CURLE_AGAIN)
            return broken(code, "reading");
        if (auto waited = wait(POLLIN, deadline); !waited)
            return waited;
    }
}

} // namespace

Result<std::unique_ptr<ByteStream>> ByteStream::connect(
    const Endpoint &endpoint, Instant deadline, const std::atomic<bool> *cancelled)
{
    auto stream = std::make_unique<CurlStream>(endpoint);
    if (auto opened = stream->open(deadline, cancelled); !opened)
        return fail(std::move(opened.error()));
    return stream;
}

} // namespace tenure
