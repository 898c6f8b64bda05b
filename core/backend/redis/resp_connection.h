// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/net/byte_stream.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::redis
{

/// One RESP2 answer.
struct RespValue {
    enum class Type { Nil, Status, Error, Integer, String, Array };
    Type type = Type::Nil;
    std::string text; ///< Status, Error, String
    std::int64_t number = 0; ///< Integer
    std::vector<RespValue> items; ///< Array

    [[nodiscard]] bool isError() const { return type == Type::Error; }
    [[nodiscard]] bool isString() const { return type == Type::String; }
};

/// A pipeline under construction: commands in their wire form.
class Pipeline
{
public:
    void add(const std::vector<std::string_view> &args);
    [[nodiscard]] const std::string &bytes() const { return m_bytes; }
    [[nodiscard]] std::size_t count() const { return m_count; }

private:
    std::string m_bytes;
    std::size_t m_count = 0;
};

/// Who to be and where, after connecting.
struct Login {
    std::string user, password;
    unsigned database = 0;
};

/// What INFO server said; empty when an ACL forbids it.
struct ServerInfo {
    std::string runId, version, mode;
    std::chrono::seconds uptime{0};
    Instant readAt; ///< when the answer was here
    bool known = false;
};

/// A Redis connection: hiredis as the codec over a ByteStream. One owner, one thread, except
/// interrupt(). After any error of send() or receive() it is dead: destroy it.
class RespConnection
{
public:
    /// Connects, authenticates, selects, reads INFO server. Errors: those of ByteStream::connect;
    /// Rejected, Denied, BadConfig (no such database, not a Redis server).
    [[nodiscard]] static Result<std::unique_ptr<RespConnection>> open(const Endpoint &endpoint,
        const Login &login, Instant deadline, const std::atomic<bool> *cancelled = nullptr);
    /// Connects and nothing else, for sentinels.
    [[nodiscard]] static Result<std::unique_ptr<RespConnection>> openPlain(
        const Endpoint &endpoint, Instant deadline, const std::atomic<bool> *cancelled = nullptr);
    ~RespConnection();
    RespConnection(const RespConnection &) = delete;
    RespConnection &operator=(const RespConnection &) = delete;

    [[nodiscard]] Result<void> send(const Pipeline &pipeline, Instant deadline);
    /// The next answer; an Error answer is a value, not a failure.
    [[nodiscard]] Result<RespValue> receive(Instant deadline);
    /// send() and all answers.
    [[nodiscard]] Result<std::vector<RespValue>> ask(const Pipeline &pipeline, Instant deadline);
    void interrupt() { m_stream->interrupt(); }
    [[nodiscard]] const ServerInfo &info() const { return m_info; }
    [[nodiscard]] const std::string &display() const { return m_display; }
    /// Scripts this connection has sent as a whole, by their address.
    std::vector<const void *> scriptsSent;

private:
    struct Reader;
    RespConnection(std::unique_ptr<ByteStream> stream, std::string display);
    [[nodiscard]] Result<void> login(const Login &login, Instant deadline);

    std::unique_ptr<ByteStream> m_stream;
    std::unique_ptr<Reader> m_reader;
    std::string m_display;
    std::string m_inbox;
    std::string m_firstBytes; ///< to quote when it is no Redis
    ServerInfo m_info;
};

} // namespace tenure::redis
