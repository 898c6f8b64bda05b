// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/resp_connection.h"

#include "core/backend/redis/redis_errors.h"
#include "core/base/text.h"

#include <hiredis/hiredis.h>

#include <charconv>

namespace tenure::redis
{
namespace
{

struct ReplyDeleter {
    void operator()(redisReply *reply) const { freeReplyObject(reply); }
};

RespValue valueOf(const redisReply &reply)
{
    RespValue value;
    switch (reply.type) {
    case REDIS_REPLY_STATUS:
        value.type = RespValue::Type::Status;
        value.text.assign(reply.str, static_cast<std::size_t>(reply.len));
        break;
    case REDIS_REPLY_ERROR:
        value.type = RespValue::Type::Error;
        value.text.assign(reply.str, static_cast<std::size_t>(reply.len));
        break;
    case REDIS_REPLY_STRING:
        value.type = RespValue::Type::String;
        value.text.assign(reply.str, static_cast<std::size_t>(reply.len));
        break;
    case REDIS_REPLY_INTEGER:
        value.type = RespValue::Type::Integer;
        value.number = reply.integer;
        break;
    case REDIS_REPLY_ARRAY:
        value.type = RespValue::Type::Array;
        value.items.reserve(reply.elements);
        for (std::size_t i = 0; i < reply.elements; ++i)
            value.items.push_back(valueOf(*reply.element[i]));
        break;
    default:
        break;
    }
    return value;
}

std::string infoField(std::string_view info, std::string_view name)
{
    const std::string key = "\n" + std::string(name) + ":";
    const std::size_t at = info.find(key);
    if (at == std::string_view::npos)
        return {};
    const std::size_t from = at + key.size();
    return std::string(info.substr(from, info.find_first_of("\r\n", from) - from));
}

} // namespace

struct RespConnection::Reader {
    Reader() : reader(redisReaderCreate()) { }
    ~Reader() { redisReaderFree(reader); }
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    redisReader *reader;
};

void Pipeline::add(const std::vector<std::string_view> &args)
{
    // RESP's request form is an array of bulk strings; hiredis' formatter would copy it twice.
    m_bytes += '*' + std::to_string(args.size()) + "\r\n";
    for (const std::string_view arg : args) {
        m_bytes += '$' + std::to_string(arg.size()) + "\r\n";
        m_bytes.append(arg);
        m_bytes += "\r\n";
    }
    ++m_count;
}

RespConnection::RespConnection(std::unique_ptr<ByteStream> stream, std::string display)
    : m_stream(std::move(stream)), m_reader(std::make_unique<Reader>()),
      m_display(std::move(display))
{
}

RespConnection::~RespConnection() = default;

Result<std::unique_ptr<RespConnection>> RespConnection::openPlain(
    const Endpoint &endpoint, Instant deadline, const std::atomic<bool> *cancelled)
{
    auto stream = ByteStream::connect(endpoint, deadline, cancelled);
    if (!stream)
        return fail(std::move(stream.error()));
    return std::unique_ptr<RespConnection>(
        new RespConnection(std::move(*stream), endpoint.display));
}

Result<std::unique_ptr<RespConnection>> RespConnection::open(const Endpoint &endpoint,
    const Login &login, Instant deadline, const std::atomic<bool> *cancelled)
{
    auto connection = openPlain(endpoint, deadline, cancelled);
    if (!connection)
        return connection;
    if (auto done = (*connection)->login(login, deadline); !done)
        return fail(std::move(done.error()));
    return connection;
}

Result<void> RespConnection::login(const Login &login, Instant deadline)
{
    Pipeline hello;
    const bool auth = !login.password.empty() || !login.user.empty();
    if (auth && login.user.empty())
        hello.add({"AUTH", login.password});
    else if (auth)
        hello.add({"AUTH", login.user, login.password});
    const std::string database = std::to_string(login.database);
    if (login.database != 0)
        hello.add({"SELECT", database});
    hello.add({"CLIENT", "SETNAME", "tenure"});
    hello.add({"INFO", "server"});
    auto answers = ask(hello, deadline);
    if (!answers)
        return fail(std::move(answers.error()));
    std::size_t next = 0;
    for (const bool asked : {auth, login.database != 0}) {
        if (asked && answers->at(next).isError())
            return fail(errorOf(answers->at(next).text, m_display));
        next += asked ? 1 : 0;
    }
    const RespValue &info = answers->back();
    if (info.isError()) {
        Error error = errorOf(info.text, m_display);
        if (error.kind == ErrorKind::Denied)
            return {}; // a narrow ACL: known stays false
        return fail(std::move(error));
    }
    m_info.version = infoField(info.text, "redis_version");
    if (m_info.version.empty()) {
        return fail(ErrorKind::BadConfig, "The server is not Redis", m_display,
            "Check the host and the port");
    }
    m_info.known = true;
    m_info.runId = infoField(info.text, "run_id");
    m_info.mode = infoField(info.text, "redis_mode");
    m_info.readAt = BootClock::now();
    const std::string uptime = infoField(info.text, "uptime_in_seconds");
    std::int64_t seconds = 0;
    std::from_chars(uptime.data(), uptime.data() + uptime.size(), seconds);
    m_info.uptime = std::chrono::seconds(seconds);
    return {};
}

Result<void> RespConnection::send(const Pipeline &pipeline, Instant deadline)
{
    return m_stream->write(pipeline.bytes(), deadline);
}

Result<RespValue> RespConnection::receive(Instant deadline)
{
    while (true) {
        void *raw = nullptr;
        const bool sound = redisReaderGetReply(m_reader->reader, &raw) == REDIS_OK;
        const std::unique_ptr<redisReply, ReplyDeleter> reply(static_cast<redisReply *>(raw));
        if (!sound) {
            return fail(ErrorKind::BadConfig,
                "The server is not Redis: it answered \"" + printable(m_firstBytes, 80) + "\"",
                m_display, "Check the host and the port");
        }
        if (reply)
            return valueOf(*reply);
        m_inbox.clear();
        if (auto got = m_stream->read(m_inbox, deadline); !got)
            return fail(std::move(got.error()));
        if (m_firstBytes.empty())
            m_firstBytes = m_inbox.substr(0, 60);
        redisReaderFeed(m_reader->reader, m_inbox.data(), m_inbox.size());
    }
}

Result<std::vector<RespValue>> RespConnection::ask(const Pipeline &pipeline, Instant deadline)
{
    if (auto sent = send(pipeline, deadline); !sent)
        return fail(std::move(sent.error()));
    std::vector<RespValue> answers;
    answers.reserve(pipeline.count());
    while (answers.size() < pipeline.count()) {
        auto answer = receive(deadline);
        if (!answer)
            return fail(std::move(answer.error()));
        answers.push_back(std::move(*answer));
    }
    return answers;
}

} // namespace tenure::redis
