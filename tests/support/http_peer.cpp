// SPDX-License-Identifier: GPL-3.0-or-later
#include "http_peer.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure
{
namespace
{

constexpr int kSliceMs = 20; ///< how soon an ending is noticed

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

bool readable(int fd, int ms)
{
    pollfd one{fd, POLLIN, 0};
    return poll(&one, 1, ms) > 0;
}

std::size_t bodyLength(const std::string &head)
{
    std::string lower = head;
    std::transform(lower.begin(), lower.end(), lower.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    const std::size_t at = lower.find("content-length:");
    return at == std::string::npos ? 0 : std::stoul(lower.substr(at + 15));
}

} // namespace

void HttpPeer::Wire::write(const std::string &bytes) const
{
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t n = send(m_fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        sent += static_cast<std::size_t>(n);
    }
}

void HttpPeer::Wire::answer(
    const std::string &status, const std::string &body, const std::string &headers) const
{
    write("HTTP/1.1 " + status + "\r\n" + headers
        + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

void HttpPeer::Wire::hang() const
{
    std::array<char, 256> bytes{};
    while (!m_ending) {
        if (readable(m_fd, kSliceMs) && recv(m_fd, bytes.data(), bytes.size(), 0) <= 0)
            return;
    }
}

void HttpPeer::Wire::hangUp() const
{
    shutdown(m_fd, SHUT_RDWR);
}

void HttpPeer::Wire::tunnelTo(std::uint16_t port) const
{
    const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    std::array<char, 16384> bytes{};
    bool open = connect(other, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0;
    while (open && !m_ending) {
        std::array<pollfd, 2> both{pollfd{m_fd, POLLIN, 0}, pollfd{other, POLLIN, 0}};
        poll(both.data(), both.size(), kSliceMs);
        for (std::size_t i = 0; i < 2 && open; ++i) {
            if (both[i].revents == 0)
                continue;
            const ssize_t n = recv(both[i].fd, bytes.data(), bytes.size(), 0);
            open = n > 0
                && send(both[1 - i].fd, bytes.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL) == n;
        }
    }
    close(other);
    hangUp();
}

HttpPeer::HttpPeer(Handler handler) : m_handler(std::move(handler))
{
    m_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    auto *raw = reinterpret_cast<sockaddr *>(&address);
    socklen_t size = sizeof address;
    if (bind(m_listener, raw, size) == 0 && listen(m_listener, 64) == 0
        && getsockname(m_listener, raw, &size) == 0)
        m_port = ntohs(address.sin_port);
    m_acceptor = std::thread([this] { accept(); });
}

HttpPeer::~HttpPeer()
{
    m_ending = true;
    m_acceptor.join();
    close(m_listener);
}

void HttpPeer::accept()
{
    int number = 0;
    while (!m_ending) {
        if (!readable(m_listener, kSliceMs))
            continue;
        const int fd = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        {
            const std::lock_guard lock(m_mutex);
            m_open.push_back(fd);
        }
        m_threads.emplace_back([this, fd, n = ++number] { serve(fd, n); });
    }
    {
        const std::lock_guard lock(m_mutex);
        for (const int fd : m_open)
            shutdown(fd, SHUT_RDWR);
    }
    for (std::thread &thread : m_threads)
        thread.join();
    for (const int fd : m_open)
        close(fd);
}

void HttpPeer::serve(int fd, int number)
{
    std::string bytes;
    std::array<char, 16384> chunk{};
    const auto more = [&] {
        const ssize_t n = recv(fd, chunk.data(), chunk.size(), 0);
        if (n > 0)
            bytes.append(chunk.data(), static_cast<std::size_t>(n));
        return n > 0;
    };
    while (!m_ending) {
        std::size_t end = bytes.find("\r\n\r\n");
        while (end == std::string::npos) {
            if (!more())
                return;
            end = bytes.find("\r\n\r\n");
        }
        Request request;
        request.connection = number;
        request.head = bytes.substr(0, end + 2);
        const std::size_t length = bodyLength(request.head);
        while (bytes.size() < end + 4 + length) {
            if (!more())
                return;
        }
        request.body = bytes.substr(end + 4, length);
        bytes.erase(0, end + 4 + length);
        request.method = request.head.substr(0, request.head.find(' '));
        const std::size_t path = request.method.size() + 1;
        request.path = request.head.substr(path, request.head.find(' ', path) - path);
        {
            const std::lock_guard lock(m_mutex);
            m_requests.push_back(request);
        }
        m_handler(request, Wire(fd, m_ending));
    }
}

std::vector<HttpPeer::Request> HttpPeer::requests() const
{
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

} // namespace tenure
