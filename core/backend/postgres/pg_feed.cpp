// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_feed.h"

#include "core/backend/postgres/pg_pooler.h"
#include "core/base/random.h"

#include <algorithm>

namespace tenure::postgres
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kConnectWithin = 5s;
constexpr Duration kIdle = 3s; ///< then a question, answered within the same time
constexpr Milliseconds kFirstBackoff = 100ms;
constexpr Milliseconds kLongestBackoff = 5000ms;
constexpr Milliseconds kHopeless = 30'000ms; ///< until the next try where LISTEN cannot work

constexpr const char *kAreYouThere = "SELECT pg_backend_pid(), EXISTS (SELECT FROM "
                                     "pg_listening_channels() AS c(name) WHERE c.name = $1)";

} // namespace

void PgFeed::start(Sink sink)
{
    stop();
    m_sink = std::move(sink);
    m_stopping = false;
    m_thread = std::thread([this] { run(); });
}

void PgFeed::stop()
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

void PgFeed::emit(FeedEvent event)
{
    event.at = BootClock::now();
    if (!m_stopping)
        m_sink(event);
}

void PgFeed::run()
{
    Random random(systemEntropy());
    Milliseconds backoff = kFirstBackoff;
    while (!m_stopping) {
        m_wasOpen = false;
        const auto ended = watch();
        if (m_wasOpen)
            backoff = kFirstBackoff;
        FeedEvent closed;
        closed.kind = FeedEvent::Kind::Closed;
        if (!ended)
            closed.error = ended.error();
        const bool hopeless = !ended && ended.error().kind == ErrorKind::Unsupported;
        emit(std::move(closed));
        const auto wait = std::chrono::duration_cast<Milliseconds>(
            (hopeless ? kHopeless : backoff) * (0.5 + random.uniform() / 2));
        backoff = std::min(backoff * 2, kLongestBackoff);
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, wait, [this] { return m_stopping.load(); });
    }
}

Result<void> PgFeed::watch()
{
    auto made = PgConnection::open(
        m_shared->settings, "feed", BootClock::now() + kConnectWithin, &m_stopping);
    if (!made)
        return fail(std::move(made.error()));
    PgConnection &connection = **made;
    struct Known { // for stop(), while the connection lives
        PgFeed &feed;
        explicit Known(PgFeed &f, PgConnection *c) : feed(f) { set(c); }
        ~Known() { set(nullptr); }
        Known(const Known &) = delete;
        Known &operator=(const Known &) = delete;
        void set(PgConnection *c) const
        {
            const std::lock_guard lock(feed.m_mutex);
            feed.m_connection = c;
        }
    } const known(*this, &connection);
    if (m_stopping)
        return {};
    if (auto listening = listenOn(connection); !listening)
        return listening;
    m_wasOpen = true;
    FeedEvent opened;
    opened.kind = FeedEvent::Kind::Opened;
    opened.detail = "LISTEN " + m_shared->statements.channel;
    emit(std::move(opened));
    while (!m_stopping) {
        const auto heard = connection.receive(BootClock::now() + kIdle);
        if (!heard)
            return fail(heard.error());
        for (const PgNotification &message : *heard)
            deliver(message.payload);
        if (!heard->empty())
            continue;
        if (auto alive = proveLife(connection); !alive)
            return alive;
        emit(FeedEvent());
    }
    return {};
}

Result<void> PgFeed::listenOn(PgConnection &connection)
{
    const Instant deadline = BootClock::now() + kConnectWithin;
    if (connection.server().standby) {
        return fail(ErrorKind::Unsupported, "A standby takes no LISTEN: polling",
            m_shared->settings.display, "Connect to the primary for push");
    }
    const auto shared = sharesSessions(connection, m_shared->settings, deadline);
    if (!shared)
        return fail(shared.error());
    if (*shared) {
        return fail(ErrorKind::Unsupported,
            "LISTEN does not work through this proxy, which pools transactions: polling",
            m_shared->settings.display, "Connect to the server itself, or pool sessions, for push");
    }
    return connection.listen(m_shared->statements.channel, deadline);
}

Result<void> PgFeed::proveLife(PgConnection &connection)
{
    const auto rows
        = connection.ask(kAreYouThere, {m_shared->statements.channel}, BootClock::now() + kIdle);
    if (!rows)
        return fail(rows.error());
    if (rows->number(0, 0) == connection.server().pid && rows->truth(0, 1))
        return {};
    return fail(
        ErrorKind::Unavailable, "The session does not listen any more", m_shared->settings.display);
}

/// "gained:<name>", "asked:...", "held:...", "released:..."; what else there is means nothing here.
void PgFeed::deliver(const std::string &payload)
{
    const std::size_t colon = payload.find(':');
    const std::string what = payload.substr(0, colon);
    FeedEvent event;
    if (colon != std::string::npos) {
        event.kind = what == "released" ? FeedEvent::Kind::Released : FeedEvent::Kind::Changed;
        event.lease = LeaseId::observed(payload.substr(colon + 1));
    }
    emit(std::move(event));
}

} // namespace tenure::postgres
