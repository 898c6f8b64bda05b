// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/metrics_server.h"

#include "core/base/clock.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kPatience = 2s;
constexpr std::size_t kMostRequest = 16 * 1024;

bool waitFor(int file, short events, Instant deadline)
{
    const auto left = std::chrono::ceil<Milliseconds>(deadline - BootClock::now()).count();
    pollfd one{file, events, 0};
    return left > 0 && poll(&one, 1, static_cast<int>(left)) == 1 && (one.revents & events) != 0;
}

/// The request up to its empty line; empty when it did not come in time.
std::string readRequest(int client, Instant deadline)
{
    std::string request;
    std::array<char, 2048> part{};
    while (request.size() < kMostRequest && request.find("\r\n\r\n") == std::string::npos) {
        if (!waitFor(client, POLLIN, deadline))
            return {};
        const ssize_t n = recv(client, part.data(), part.size(), MSG_DONTWAIT);
        if (n <= 0)
            return {};
        request.append(part.data(), static_cast<std::size_t>(n));
    }
    return request;
}

void writeAll(int client, std::string_view text, Instant deadline)
{
    while (!text.empty() && waitFor(client, POLLOUT, deadline)) {
        const ssize_t n = send(client, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n <= 0)
            return;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
}

std::string response(const char *status, const char *type, const std::string &body)
{
    return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type
        + "\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nContent-Length: "
        + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string addressOf(int socket)
{
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    std::array<char, 128> host{};
    std::array<char, 16> port{};
    // The socket API takes every family's address through one type.
    auto *address = reinterpret_cast<sockaddr *>(&bound);
    if (getsockname(socket, address, &size) != 0
        || getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
               NI_NUMERICHOST | NI_NUMERICSERV)
            != 0)
        return {};
    const std::string name = host.data();
    return (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port.data();
}

} // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(
    const std::string &listen, std::function<std::string()> answer)
{
    const std::size_t colon = listen.rfind(':');
    std::string host = colon == std::string::npos ? std::string() : listen.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    if (host.empty())
        return fail(ErrorKind::BadConfig, "--listen needs HOST:PORT", listen, "For example 127.0.0.1:9468");
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo *found = nullptr;
    if (const int code = getaddrinfo(host.c_str(), listen.substr(colon + 1).c_str(), &hints, &found); code != 0)
        return fail(ErrorKind::BadConfig, std::string("No such address: ") + gai_strerror(code), listen);
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
    const int file = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (file < 0 || bind(file, found->ai_addr, found->ai_addrlen) != 0 || ::listen(file, 32) != 0) {
        const int code = errno;
        if (file >= 0)
            close(file);
        return fail(code == EACCES ? ErrorKind::Denied : ErrorKind::Unavailable,
            std::string("It cannot be listened there: ") + std::strerror(code), listen, "Choose another port");
    }
    return std::unique_ptr<MetricsServer>(new MetricsServer(file, addressOf(file), std::move(answer)));
}

MetricsServer::MetricsServer(int socket, std::string address, std::function<std::string()> answer)
    : m_socket(socket), m_stop(eventfd(0, EFD_CLOEXEC)), m_address(std::move(address)),
      m_answer(std::move(answer)), m_thread([this] { run(); })
{
}

MetricsServer::~MetricsServer()
{
    const std::uint64_t one = 1;
    static_cast<void>(!write(m_stop, &one, sizeof one));
    m_thread.join();
    close(m_socket);
    close(m_stop);
}

void MetricsServer::run()
{
    while (true) {
        std::array<pollfd, 2> files{{{m_socket, POLLIN, 0}, {m_stop, POLLIN, 0}}};
        poll(files.data(), files.size(), -1);
        if ((files[1].revents & POLLIN) != 0)
            return;
        const int client = accept4(m_socket, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0)
            continue;
        serve(client);
        close(client);
    }
}

void MetricsServer::serve(int client)
{
    const Instant deadline = BootClock::now() + kPatience;
    const std::string request = readRequest(client, deadline);
    const std::string_view line = std::string_view(request).substr(0, request.find("\r\n"));
    if (line.empty())
        return;
    const bool head = line.starts_with("HEAD ");
    if (!head && !line.starts_with("GET ")) {
        writeAll(client, response("405 Method Not Allowed", "text/plain", "Only GET\n"), deadline);
        return;
    }
    const std::string_view path = line.substr(head ? 5 : 4);
    const std::string_view name = path.substr(0, path.find_first_of(" ?"));
    std::string answer;
    if (name == "/metrics")
        answer = response("200 OK", "text/plain; version=0.0.4; charset=utf-8", m_answer());
    else if (name == "/")
        answer = response("200 OK", "text/plain", "tenurectl metrics: see /metrics\n");
    else
        answer = response("404 Not Found", "text/plain", "See /metrics\n");
    if (head)
        answer.resize(answer.find("\r\n\r\n") + 4);
    writeAll(client, answer, BootClock::now() + kPatience);
}

} // namespace tenure::ctl
