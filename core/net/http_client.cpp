// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/net/http_client.h"

#include "core/net/connect_error.h"
#include "core/net/http_transfer.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>

namespace tenure
{
namespace
{

constexpr long kConnections = 4; ///< to the server at once; HTTP/2 needs one
constexpr std::size_t kSpareHandles = 64;

std::optional<Error> filesProblem(const HttpTarget &target)
{
    Endpoint files;
    files.host = "host"; // only the files are asked about
    files.tls = true;
    files.display = target.display;
    const HttpTls &tls = target.tls;
    files.caFile = tls.caData.empty() ? tls.caFile : "";
    files.certFile = tls.certData.empty() ? tls.certFile : "";
    files.keyFile = tls.keyData.empty() ? tls.keyFile : "";
    if (auto problem = endpointProblem(files))
        return problem;
    const bool cert = !tls.certData.empty() || !tls.certFile.empty();
    const bool key = !tls.keyData.empty() || !tls.keyFile.empty();
    if (cert == key)
        return std::nullopt;
    return fail(ErrorKind::BadConfig,
        cert ? "A client certificate is given without its key" : "A key is given without its client certificate",
        target.display)
        .value();
}

} // namespace

std::string_view HttpResponse::header(std::string_view name) const
{
    for (const auto &[known, value] : headers) {
        if (known == name)
            return value;
    }
    return {};
}

/// The multi handle and the transfers in it.
class HttpClient::Core
{
public:
    Core(HttpTarget target, HttpPlace place) : m_target(std::move(target)), m_place(std::move(place))
    {
        [[maybe_unused]] static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
        m_multi = makeMulti();
    }
    ~Core()
    {
        m_spare.clear();
        curl_multi_cleanup(m_multi);
    }
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;

    [[nodiscard]] const HttpTarget &target() const { return m_target; }

    std::unique_ptr<HttpTransfer> start(const HttpRequest &request, HttpTransfer::Body body)
    {
        std::unique_ptr<HttpTransfer> transfer;
        if (m_spare.empty()) {
            transfer = std::make_unique<HttpTransfer>(m_target, m_place);
        } else {
            transfer = std::move(m_spare.back());
            m_spare.pop_back();
        }
        transfer->begin(request, body);
        curl_multi_add_handle(m_multi, transfer->easy());
        return transfer;
    }

    void end(std::unique_ptr<HttpTransfer> transfer)
    {
        curl_multi_remove_handle(m_multi, transfer->easy());
        if (m_spare.size() < kSpareHandles)
            m_spare.push_back(std::move(transfer));
    }

    /// Moves every transfer on until `enough` says so. What ended the wait else is returned.
    HttpTransfer::Ending drive(Instant deadline, const std::function<bool()> &enough)
    {
        while (true) {
            if (m_interrupted)
                return HttpTransfer::Ending::Interrupted;
            int running = 0;
            curl_multi_perform(m_multi, &running);
            collect();
            if (enough())
                return HttpTransfer::Ending::ByCurl;
            const auto left = std::chrono::ceil<Milliseconds>(deadline - BootClock::now());
            if (left <= Milliseconds::zero())
                return HttpTransfer::Ending::GaveUp;
            const auto slice = std::min<Milliseconds>(left, std::chrono::seconds(1));
            curl_multi_poll(m_multi, nullptr, 0, static_cast<int>(slice.count()), nullptr);
        }
    }

    void interrupt()
    {
        m_interrupted = true;
        const std::lock_guard lock(m_mutex);
        curl_multi_wakeup(m_multi);
    }

    /// The connections live in the multi handle. Nothing may be in it.
    void disconnect()
    {
        m_spare.clear();
        CURLM *old = makeMulti();
        {
            const std::lock_guard lock(m_mutex);
            std::swap(m_multi, old);
        }
        curl_multi_cleanup(old);
    }

    /// A request of ours got no answer: its connection may be a black hole, and over HTTP/2 it would
    /// be used again. A stream beside it has to find that out by itself.
    void suspect()
    {
        if (streams.empty())
            disconnect();
    }

    std::vector<HttpTransfer *> streams; ///< open ones

private:
    static CURLM *makeMulti()
    {
        CURLM *multi = curl_multi_init();
        curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
        curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, kConnections);
        return multi;
    }

    void collect()
    {
        int queued = 0;
        while (const CURLMsg *message = curl_multi_info_read(m_multi, &queued)) {
            if (message->msg != CURLMSG_DONE)
                continue;
            char *owner = nullptr;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
            reinterpret_cast<HttpTransfer *>(owner)->finished(message->data.result);
        }
    }

    const HttpTarget m_target;
    const HttpPlace m_place;
    std::mutex m_mutex; ///< for interrupt(): m_multi may be replaced
    CURLM *m_multi = nullptr;
    std::vector<std::unique_ptr<HttpTransfer>> m_spare;
    std::atomic<bool> m_interrupted = false;
};

namespace
{

class Stream final : public HttpStream
{
public:
    Stream(HttpClient::Core &core, const HttpRequest &request) : m_core(core), m_request(request)
    {
        m_transfer = m_core.start(m_request, HttpTransfer::Body::Stream);
        m_core.streams.push_back(m_transfer.get());
    }
    ~Stream() override
    {
        std::erase(m_core.streams, m_transfer.get());
        m_core.end(std::move(m_transfer));
    }

    Result<void> waitForHeaders(Instant deadline)
    {
        const auto ending = m_core.drive(
            deadline, [&] { return m_transfer->done() || m_transfer->headersComplete(); });
        if (!m_transfer->headersComplete())
            return fail(m_transfer->error(ending));
        m_response = m_transfer->response();
        m_response.body.clear();
        m_response.receivedAt = BootClock::now();
        if (m_response.status == 200)
            return {};
        const auto end = m_core.drive(deadline, [&] { return m_transfer->done(); });
        if (!m_transfer->done())
            return fail(m_transfer->error(end));
        m_transfer->take(m_response.body);
        return {};
    }

    [[nodiscard]] const HttpResponse &response() const override { return m_response; }
    [[nodiscard]] bool sharesConnection() const override { return m_transfer->isHttp2(); }

    Result<Got> read(std::string &into, Instant deadline) override
    {
        HttpResponse &response = m_transfer->response();
        const auto ending = m_core.drive(
            deadline, [&] { return m_transfer->done() || !response.body.empty(); });
        if (m_transfer->take(into))
            return Got::Bytes;
        if (m_transfer->done() && m_transfer->code() == CURLE_OK)
            return Got::End;
        if (m_transfer->done() || ending == HttpTransfer::Ending::Interrupted) {
            Error error = m_transfer->error(ending);
            error.recovery = Recovery::Reconnect;
            return fail(std::move(error));
        }
        return Got::Nothing;
    }

private:
    HttpClient::Core &m_core;
    const HttpRequest m_request;
    std::unique_ptr<HttpTransfer> m_transfer;
    HttpResponse m_response;
};

} // namespace

HttpClient::HttpClient(std::unique_ptr<Core> core) : m_core(std::move(core)) { }
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::make(HttpTarget target)
{
    auto place = HttpPlace::of(target);
    if (!place)
        return fail(std::move(place.error()));
    if (auto problem = filesProblem(target))
        return fail(*std::move(problem));
    return std::unique_ptr<HttpClient>(
        new HttpClient(std::make_unique<Core>(std::move(target), *std::move(place))));
}

const HttpTarget &HttpClient::target() const
{
    return m_core->target();
}

Result<HttpResponse> HttpClient::send(const HttpRequest &request, Instant deadline)
{
    return std::move(sendAll({&request, 1}, deadline).front());
}

std::vector<Result<HttpResponse>> HttpClient::sendAll(
    std::span<const HttpRequest> requests, Instant deadline)
{
    std::vector<std::unique_ptr<HttpTransfer>> transfers;
    transfers.reserve(requests.size());
    for (const HttpRequest &request : requests)
        transfers.push_back(m_core->start(request, HttpTransfer::Body::Whole));
    std::size_t ended = 0; // of the first ones, in their order
    const auto ending = m_core->drive(deadline, [&] {
        while (ended < transfers.size() && transfers[ended]->done())
            ++ended;
        return ended == transfers.size();
    });
    std::vector<Result<HttpResponse>> out;
    out.reserve(requests.size());
    for (auto &transfer : transfers) {
        out.push_back(transfer->result(transfer->done() ? HttpTransfer::Ending::ByCurl : ending));
        m_core->end(std::move(transfer));
    }
    if (ending == HttpTransfer::Ending::GaveUp)
        m_core->suspect();
    return out;
}

Result<std::unique_ptr<HttpStream>> HttpClient::open(const HttpRequest &request, Instant deadline)
{
    auto stream = std::make_unique<Stream>(*m_core, request);
    if (auto opened = stream->waitForHeaders(deadline); !opened)
        return fail(std::move(opened.error()));
    return stream;
}

void HttpClient::waitAny(Instant deadline)
{
    m_core->drive(deadline, [this] {
        return std::any_of(m_core->streams.begin(), m_core->streams.end(),
            [](HttpTransfer *stream) { return stream->done() || !stream->response().body.empty(); });
    });
}

void HttpClient::interrupt()
{
    m_core->interrupt();
}

void HttpClient::disconnect()
{
    m_core->disconnect();
}

std::string percentEncoded(std::string_view text)
{
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    static constexpr std::string_view kPlain
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    std::string out;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
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

} // namespace tenure
