// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>

namespace tenure
{

/// Where a stream goes and how it is secured.
struct Endpoint {
    std::string host; ///< name or address; empty with `unixPath`
    std::uint16_t port = 0;
    std::string unixPath;
    bool tls = false;
    std::string serverName; ///< SNI and certificate name; default: host
    std::string caFile; ///< default: the system's
    std::string certFile, keyFile; ///< client certificate
    bool verify = true; ///< false is shown in red wherever the connection is shown
    std::string display; ///< for errors, without secrets
};

/// A connected byte stream over TCP, a unix socket or TLS (libcurl CONNECT_ONLY underneath; nothing
/// outside core/net knows). One owner, one thread, except interrupt(). Every call ends by its
/// deadline. After any error the stream is dead: destroy it. The process ignores SIGPIPE.
class ByteStream
{
public:
    ByteStream() = default;
    ByteStream(const ByteStream &) = delete;
    ByteStream &operator=(const ByteStream &) = delete;
    virtual ~ByteStream() = default;

    /// Unavailable (refused, reset, no such host, timed out), Rejected (the server's certificate
    /// does not fit or it wants ours; the sentence names which name was expected and which were
    /// offered). `cancelled`, when given, ends the attempt within about 50 ms after it became true.
    [[nodiscard]] static Result<std::unique_ptr<ByteStream>> connect(
        const Endpoint &endpoint, Instant deadline, const std::atomic<bool> *cancelled = nullptr);

    /// Sends all of `bytes`.
    [[nodiscard]] virtual Result<void> write(std::span<const char> bytes, Instant deadline) = 0;
    /// Appends at least one byte to `into`. Unavailable when the peer closed (Recovery::Reconnect)
    /// or the deadline passed (Recovery::Backoff).
    [[nodiscard]] virtual Result<void> read(std::string &into, Instant deadline) = 0;
    /// Makes a blocked read or write return Unavailable soon. Any thread.
    virtual void interrupt() = 0;
};

} // namespace tenure
