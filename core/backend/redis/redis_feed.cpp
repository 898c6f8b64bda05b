// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_feed.h"

#include "core/backend/redis/redis_errors.h"
#include "core/base/random.h"

#include <algorithm>

namespace tenure::redis
{
namespace
{

constexpr auto kConnectWithin = std::chrono::seconds(5);
constexpr auto kIdle = std::chrono::seconds(5); ///< then a PING, answered within the same time
constexpr auto kLongestBackoff = std::chrono::milliseconds(5000);
constexpr std::string_view kKeyspace = "__keyspace@";
constexpr std::string_view kEvents = ":events";

bool hasAny(const std::string &flags, const char *wanted)
{
    return flags.find('A') != std::string::npos || flags.find_first_of(wanted) != std::string::npos;
}

} // namespace

void RedisFeed::start(Sink sink)
{
    stop();
    m_sink = std::move(sink);
    m_stopping = false;
    m_thread = std::thread([this] { run(); });
}

void RedisFeed::stop()
{
    if (!m_thread.joinable())
        return;
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
        if (m_connection != nullptr)
            m_connection->interrupt();
    }
    m_wake.notify_all();
    m_thread.join();
}

void RedisFeed::emit(FeedEvent event)
{
    event.at = BootClock::now();
    if (!m_stopping)
        m_sink(event);
}

void RedisFeed::run()
{
    Random random(systemEntropy());
    Milliseconds backoff(100);
    while (!m_stopping) {
        m_wasOpen = false;
        const auto ended = listen();
        if (m_wasOpen)
            backoff = Milliseconds(100);
        FeedEvent closed;
        closed.kind = FeedEvent::Kind::Closed;
        if (!ended)
            closed.error = ended.error();
        emit(std::move(closed));
        const auto wait
            = std::chrono::duration_cast<Milliseconds>(backoff * (0.5 + random.uniform() / 2));
        backoff = std::min<Milliseconds>(backoff * 2, kLongestBackoff);
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, wait, [this] { return m_stopping.load(); });
    }
}

Result<void> RedisFeed::listen()
{
    auto made = connectTo(*m_settings, BootClock::now() + kConnectWithin, &m_stopping);
    if (!made)
        return fail(std::move(made.error()));
    RespConnection &connection = **made;
    struct Known { // for stop(), while the connection lives
        RedisFeed &feed;
        explicit Known(RedisFeed &f, RespConnection *c) : feed(f) { set(c); }
        ~Known() { set(nullptr); }
        Known(const Known &) = delete;
        Known &operator=(const Known &) = delete;
        void set(RespConnection *c) const
        {
            const std::lock_guard lock(feed.m_mutex);
            feed.m_connection = c;
        }
    } const known(*this, &connection);
    if (m_stopping)
        return {};
    if (auto subscribed = subscribe(connection); !subscribed)
        return fail(std::move(subscribed.error()));
    bool pinged = false;
    while (!m_stopping) {
        auto message = connection.receive(BootClock::now() + kIdle);
        if (message) {
            pinged = false;
            deliver(*message);
            continue;
        }
        if (pinged || message.error().recovery == Recovery::Reconnect || m_stopping)
            return fail(std::move(message.error()));
        pinged = true;
        Pipeline ping;
        ping.add({"PING"});
        if (auto sent = connection.send(ping, BootClock::now() + kIdle); !sent)
            return sent;
    }
    return {};
}

Result<bool> RedisFeed::subscribe(RespConnection &connection)
{
    const std::string prefix = globEscaped(m_settings->keys.prefix());
    const std::string untagged = "{" + prefix + "*}:tenure:events";
    const std::string tagged = prefix + "*:tenure:term:events";
    const std::string keyspace = std::string(kKeyspace) + std::to_string(m_settings->login.database)
        + "__:" + prefix + "*";
    const Instant deadline = BootClock::now() + kConnectWithin;
    Pipeline question;
    question.add({"CONFIG", "GET", "notify-keyspace-events"});
    auto config = connection.ask(question, deadline);
    if (!config)
        return fail(std::move(config.error()));
    const RespValue &flags = config->front();
    const bool told = flags.items.size() == 2;
    const std::string set = told ? flags.items[1].text : std::string();
    const bool on = told && set.find('K') != std::string::npos;
    const bool renewals = on && hasAny(set, "g") && hasAny(set, "x");

    Pipeline pipeline;
    pipeline.add({"PSUBSCRIBE", untagged});
    pipeline.add({"PSUBSCRIBE", tagged});
    if (on || !told) // not told: they show themselves if they are on
        pipeline.add({"PSUBSCRIBE", keyspace});
    if (auto sent = connection.send(pipeline, deadline); !sent)
        return fail(std::move(sent.error()));
    bool keyspaceDenied = false;
    std::vector<RespValue> early;
    for (std::size_t confirmed = 0; confirmed < pipeline.count();) {
        auto answer = connection.receive(deadline);
        if (!answer)
            return fail(std::move(answer.error()));
        if (answer->isError() && confirmed < 2)
            return fail(errorOf(answer->text, m_settings->display));
        if (!answer->items.empty() && answer->items[0].text == "pmessage") {
            early.push_back(std::move(*answer));
            continue;
        }
        keyspaceDenied = keyspaceDenied || answer->isError();
        ++confirmed;
    }
    m_sawKeyspace = on && !keyspaceDenied;
    opened(m_sawKeyspace, renewals && m_sawKeyspace);
    for (const RespValue &message : early)
        deliver(message);
    return renewals;
}

void RedisFeed::opened(bool keyspace, bool renewals)
{
    m_wasOpen = true;
    FeedEvent event;
    event.kind = FeedEvent::Kind::Opened;
    event.detail = keyspace ? "channel and keyspace events" : "channel";
    event.renewals = renewals;
    emit(std::move(event));
}

void RedisFeed::deliver(const RespValue &message)
{
    FeedEvent event;
    if (message.items.size() != 4 || message.items[0].text != "pmessage") {
        emit(std::move(event)); // a pong: Alive
        return;
    }
    const std::string &channel = message.items[2].text;
    const std::string &body = message.items[3].text;
    std::optional<std::string> key;
    bool released = false;
    if (channel.starts_with(kKeyspace)) {
        if (!m_sawKeyspace) {
            m_sawKeyspace = true;
            opened(true, true);
        }
        const std::string_view name = std::string_view(channel).substr(channel.find("__:") + 3);
        if (Keys::keyOfCompanion(name))
            return;
        key = std::string(name);
        released = body == "expired" || body == "del" || body == "evicted";
    } else if (channel.ends_with(kEvents)) {
        key = Keys::keyOfCompanion(
            std::string_view(channel).substr(0, channel.size() - kEvents.size()));
        released = body == "released";
    }
    const auto name = key ? m_settings->keys.nameOf(*key) : std::nullopt;
    if (!name)
        return;
    event.kind = released ? FeedEvent::Kind::Released : FeedEvent::Kind::Changed;
    event.lease = LeaseId::observed(*name);
    emit(std::move(event));
}

} // namespace tenure::redis
