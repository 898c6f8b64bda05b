// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/tcp_proxy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <list>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure::test
{
namespace
{

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// One direction: what was read and may be written once its moment has come.
struct Pipe {
    struct Piece {
        Instant due;
        std::string bytes;
    };
    std::deque<Piece> waiting;
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
    if (n > 0)
        pipe.waiting.push_back({BootClock::now() + delay, std::string(buffer.data(), static_cast<std::size_t>(n))});
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
        connection.down.waiting.clear();
    alive = writeDue(connection.up, connection.server) && alive;
    alive = writeDue(connection.down, connection.client) && alive;
    connection.over = !alive;
}

void acceptOne(int listener, std::uint16_t serverPort, TcpProxy::Mode mode, std::list<Connection> &connections)
{
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0)
        return;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(serverPort);
    const bool connected = mode != TcpProxy::Mode::Refuse
        && connect(server, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0;
    if (!connected) {
        closeWithReset(client);
        close(server);
        return;
    }
    connections.push_back({client, server, {}, {}, false});
}

} // namespace

TcpProxy::TcpProxy(std::uint16_t serverPort)
    : m_serverPort(serverPort), m_listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
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
        const short wanted = mode == Mode::HalfOpen ? 0 : POLLIN;
        std::vector<pollfd> fds{{m_listener, POLLIN, 0}, {m_wake, POLLIN, 0}};
        for (const Connection &connection : connections) {
            fds.push_back({connection.client, wanted, 0});
            fds.push_back({connection.server, wanted, 0});
        }
        poll(fds.data(), fds.size(), mode == Mode::HalfOpen ? 20 : 2);
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
            acceptOne(m_listener, m_serverPort, mode, connections);
    }
    for (const Connection &connection : connections) {
        close(connection.client);
        close(connection.server);
    }
}

} // namespace tenure::test
