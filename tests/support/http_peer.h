// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenure
{

/// A scripted HTTP/1.1 server of a test on a free port of 127.0.0.1: real sockets, and answers as odd
/// as a test wants them. Each connection has a thread of its own; destruction ends them all.
class HttpPeer
{
public:
    struct Request {
        std::string method;
        std::string path;
        std::string head; ///< the whole head, as it came
        std::string body;
        int connection = 0; ///< counts up from 1
    };
    /// What a handler may do with its connection.
    class Wire
    {
    public:
        Wire(int fd, const std::atomic<bool> &ending) : m_fd(fd), m_ending(ending) { }
        void write(const std::string &bytes) const;
        /// "HTTP/1.1 <status>", Content-Length and the body.
        void answer(const std::string &status, const std::string &body, const std::string &headers = {}) const;
        /// Blocks until the peer hung up or the server ends.
        void hang() const;
        void hangUp() const; ///< closes both ways, as a crash would
        void tunnelTo(std::uint16_t port) const; ///< copies both ways until one side ends

    private:
        int m_fd;
        const std::atomic<bool> &m_ending;
    };
    using Handler = std::function<void(const Request &, const Wire &)>;

    explicit HttpPeer(Handler handler);
    ~HttpPeer();
    HttpPeer(const HttpPeer &) = delete;
    HttpPeer &operator=(const HttpPeer &) = delete;

    [[nodiscard]] std::uint16_t port() const { return m_port; }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(m_port); }
    [[nodiscard]] std::vector<Request> requests() const;

private:
    void accept();
    void serve(int fd, int number);

    const Handler m_handler;
    int m_listener = -1;
    std::uint16_t m_port = 0;
    std::atomic<bool> m_ending = false;
    mutable std::mutex m_mutex;
    std::vector<Request> m_requests; ///< guarded by m_mutex
    std::vector<int> m_open; ///< guarded by m_mutex
    std::vector<std::thread> m_threads; ///< of the accepting thread
    std::thread m_acceptor;
};

} // namespace tenure
