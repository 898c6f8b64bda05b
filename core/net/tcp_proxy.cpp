// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/net/tcp_proxy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Milliseconds kConnectWithin{3000};
constexpr std::size_t kMostWaiting = std::size_t{1} * 1024 * 1024; ///< then the sender has to wait
constexpr int kDueTick = 2; ///< ms; how exactly what is held back is sent

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A connected socket, or -1. Ends early when `wake` becomes readable.
int connected(int family, const sockaddr *address, socklen_t size, int wake)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    bool done = connect(fd, address, size) == 0;
    if (!done && (errno == EINPROGRESS || errno == EAGAIN)) {
        std::array<pollfd, 2> fds{{{fd, POLLOUT, 0}, {wake, POLLIN, 0}}};
        int error = 1;
        socklen_t length = sizeof error;
        done = poll(fds.data(), fds.size(), static_cast<int>(kConnectWithin.count())) > 0 && fds[0].revents != 0
            && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
    }
    if (!done) {
        close(fd);
        return -1;
    }
    const int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    const int now = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now); // no such thing on a unix socket
    return fd;
}

int connectTo(const TcpProxy::Server &server, int wake)
{
    if (!server.unixPath.empty()) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (server.unixPath.size() >= sizeof address.sun_path)
            return -1;
        std::memcpy(address.sun_path, server.unixPath.c_str(), server.unixPath.size());
        return connected(AF_UNIX, reinterpret_cast<const sockaddr *>(&address), sizeof address, wake);
    }
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    if (getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &wanted, &found) != 0)
        return -1;
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
    for (const addrinfo *one = found; one != nullptr; one = one->ai_next) {
        if (const int fd = connected(one->ai_family, one->ai_addr, one->ai_addrlen, wake); fd >= 0)
            return fd;
    }
    return -1;
}

/// One direction: what was read and may be written once its moment has come.
struct Pipe {
    struct Piece {
        Instant due;
        std::string bytes;
    };
    std::deque<Piece> waiting;
    std::size_t bytes = 0;
    [[nodiscard]] bool isFull() const { return bytes >= kMostWaiting; }
};

struct Connection {
    int client = -1;
    int server = -1;
    Pipe up, down;
    bool over = false;
};

void closeWithReset(int fd)
{
    const linger now{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

bool readInto(Pipe &pipe, int fd, Milliseconds delay)
{
    std::array<char, 16384> buffer{};
    const ssize_t n = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
        const auto size = static_cast<std::size_t>(n);
        pipe.waiting.push_back({BootClock::now() + delay, std::string(buffer.data(), size)});
        pipe.bytes += size;
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

bool writeDue(Pipe &pipe, int fd)
{
    while (!pipe.waiting.empty() && pipe.waiting.front().due <= BootClock::now()) {
        std::string &bytes = pipe.waiting.front().bytes;
        const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        bytes.erase(0, static_cast<std::size_t>(n));
        pipe.bytes -= static_cast<std::size_t>(n);
        if (!bytes.empty())
            return true;
        pipe.waiting.pop_front();
    }
    return true;
}

void serve(Connection &connection, const pollfd &client, const pollfd &server, TcpProxy::Mode mode,
    Milliseconds delay)
{
    if (mode == TcpProxy::Mode::HalfOpen)
        return;
    bool alive = true;
    if (client.revents != 0)
        alive = readInto(connection.up, connection.client, delay);
    if (server.revents != 0)
        alive = readInto(connection.down, connection.server, delay) && alive;
    if (mode == TcpProxy::Mode::SwallowReplies)
        connection.down = {};
    alive = writeDue(connection.up, connection.server) && alive;
    alive = writeDue(connection.down, connection.client) && alive;
    connection.over = !alive;
}

void acceptOne(int listener, const TcpProxy::Server &to, TcpProxy::Mode mode, int wake, std::list<Connection> &connections)
{
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0)
        return;
    const int server = mode != TcpProxy::Mode::Refuse ? connectTo(to, wake) : -1;
    if (server < 0)
        return closeWithReset(client);
    const int now = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
    connections.push_back({client, server, {}, {}, false});
}

} // namespace

TcpProxy::TcpProxy(Server server)
    : m_server(std::move(server)), m_listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      m_wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(m_listener, reinterpret_cast<sockaddr *>(&address), size) == 0 && listen(m_listener, 64) == 0
        && getsockname(m_listener, reinterpret_cast<sockaddr *>(&address), &size) == 0) {
        m_port = ntohs(address.sin_port);
    }
    m_thread = std::thread([this] { run(); });
}

TcpProxy::~TcpProxy()
{
    m_ended = true;
    eventfd_write(m_wake, 1);
    m_thread.join();
    close(m_listener);
    close(m_wake);
}

void TcpProxy::setMode(Mode mode)
{
    m_mode = mode;
    m_cut = m_cut || mode == Mode::Refuse;
    eventfd_write(m_wake, 1);
}

void TcpProxy::setDelay(Milliseconds delay)
{
    m_delayMs = delay.count();
    eventfd_write(m_wake, 1);
}

void TcpProxy::cut()
{
    m_cut = true;
    eventfd_write(m_wake, 1);
}

void TcpProxy::run()
{
    std::list<Connection> connections;
    while (!m_ended) {
        const Mode mode = m_mode;
        // A half-open connection is not looked at: its bytes stay in the kernel until it heals.
        std::vector<pollfd> fds{{m_listener, POLLIN, 0}, {m_wake, POLLIN, 0}};
        int timeout = -1;
        for (const Connection &connection : connections) {
            const bool halfOpen = mode == Mode::HalfOpen;
            fds.push_back({halfOpen || connection.up.isFull() ? -1 : connection.client, POLLIN, 0});
            fds.push_back({halfOpen || connection.down.isFull() ? -1 : connection.server, POLLIN, 0});
            if (!halfOpen && connection.up.bytes + connection.down.bytes > 0)
                timeout = kDueTick;
        }
        poll(fds.data(), fds.size(), timeout);
        eventfd_t count = 0;
        eventfd_read(m_wake, &count);
        const bool cutNow = m_cut.exchange(false);
        std::size_t at = 2;
        for (Connection &connection : connections) {
            serve(connection, fds[at], fds[at + 1], mode, Milliseconds(m_delayMs.load()));
            connection.over = connection.over || cutNow;
            at += 2;
        }
        connections.remove_if([](const Connection &connection) {
            if (connection.over) {
                closeWithReset(connection.client);
                closeWithReset(connection.server);
            }
            return connection.over;
        });
        if ((fds[0].revents & POLLIN) != 0)
            acceptOne(m_listener, m_server, mode, m_wake, connections);
    }
    for (const Connection &connection : connections) {
        close(connection.client);
        close(connection.server);
    }
}

} // namespace tenure
