// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_feed.h"

#include "core/backend/kubernetes/kube_legacy.h"
#include "core/base/random.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr Duration kCallWithin = 10s;
constexpr Duration kSilence = 2s; ///< then a proof of life is asked for ...
constexpr Duration kPingWithin = 2s; ///< ... and must come so soon
constexpr Milliseconds kFirstBackoff{100};
constexpr Milliseconds kLongestBackoff{5000};
constexpr Milliseconds kDeniedPause{60'000}; ///< rights do not change by asking
constexpr std::size_t kPage = 500;
constexpr std::size_t kLongestLine = std::size_t{4} * 1024 * 1024;
/// The server ends a watch after so long, and it is resumed; short where a dead connection could not
/// be told from a quiet one (HTTP/1.1).
constexpr int kWatchSeconds = 300;
constexpr int kShortWatchSeconds = 20;

std::string textIn(const Json &map, const char *key)
{
    const auto found = map.find(key);
    return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error expired(const Settings &settings)
{
    Error error = fail(ErrorKind::Unavailable, "The watch's position is too old", settings.display).value();
    error.recovery = Recovery::AtOnce;
    return error;
}

} // namespace

void KubeFeed::start(Sink sink)
{
    stop();
    m_sink = std::move(sink);
    m_stopping = false;
    m_thread = std::thread([this] { run(); });
}

void KubeFeed::stop()
{
    if (!m_thread.joinable())
        return;
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
        if (m_api != nullptr)
            m_api->interrupt();
    }
    m_wake.notify_all();
    m_thread.join();
}

void KubeFeed::emit(FeedEvent event)
{
    event.at = BootClock::now();
    if (!m_stopping)
        m_sink(event);
}

void KubeFeed::run()
{
    Random random(systemEntropy());
    Milliseconds backoff = kFirstBackoff;
    while (!m_stopping) {
        m_wasOpen = false;
        const Error why = session();
        m_view->streamEnded();
        if (m_wasOpen)
            backoff = kFirstBackoff;
        if (why.recovery != Recovery::AtOnce || !m_wasOpen) {
            FeedEvent closed;
            closed.kind = FeedEvent::Kind::Closed;
            closed.error = why;
            emit(std::move(closed));
        }
        auto wait = std::chrono::duration_cast<Milliseconds>(backoff * (0.5 + random.uniform() / 2));
        if (why.kind == ErrorKind::Denied || why.kind == ErrorKind::BadConfig)
            wait = kDeniedPause;
        wait = std::max(wait, why.retryAfter.value_or(Milliseconds(0)));
        backoff = std::min<Milliseconds>(backoff * 2, kLongestBackoff);
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, wait, [this] { return m_stopping.load(); });
    }
}

Error KubeFeed::session()
{
    Api api(m_settings);
    struct Known { // for stop(), while the client lives
        KubeFeed &feed;
        Known(KubeFeed &f, Api *a) : feed(f) { set(a); }
        ~Known()
        {
            for (Channel &channel : feed.m_channels) {
                channel.stream.reset(); // before its client
                channel.buffer.clear();
            }
            set(nullptr);
        }
        Known(const Known &) = delete;
        Known &operator=(const Known &) = delete;
        void set(Api *a) const
        {
            const std::lock_guard lock(feed.m_mutex);
            feed.m_api = a;
        }
    } const known(*this, &api);
    if (m_stopping)
        return {};
    if (m_channels.empty()) {
        auto scopes = scopesOf(api, BootClock::now() + kCallWithin);
        if (!scopes)
            return scopes.error();
        for (std::string &scope : *scopes)
            m_channels.emplace_back().scope = std::move(scope);
    }
    for (Channel &channel : m_channels) {
        if (auto ready = prepare(channel); !ready) {
            if (ready.error().kind == ErrorKind::Denied)
                m_channels.clear(); // rights may have changed: find out anew
            return ready.error();
        }
    }
    opened();
    const auto ended = listen();
    return ended ? Error() : ended.error();
}

/// Watches from where it broke off, or from a fresh list where that is too long ago.
Result<void> KubeFeed::prepare(Channel &channel)
{
    const bool resumed = !channel.version.empty();
    if (!resumed) {
        if (auto listed = relist(channel); !listed)
            return listed;
    }
    auto watching = watch(channel);
    if (watching || !resumed)
        return watching;
    if (watching.error().recovery != Recovery::AtOnce) {
        // A server whose store went back knows nothing of our position, and says so in many ways.
        if (watching.error().kind != ErrorKind::Denied && !watching.error().retryAfter)
            channel.version.clear();
        return watching;
    }
    if (auto listed = relist(channel); !listed)
        return listed;
    return watch(channel);
}

Result<void> KubeFeed::relist(Channel &channel)
{
    channel.version.clear();
    std::set<std::string> there;
    std::string next;
    LeasePage page;
    do {
        auto got = leasePage(*m_api, *m_view, channel.scope, next, kPage, BootClock::now() + kCallWithin);
        if (!got)
            return fail(std::move(got.error()));
        page = *std::move(got);
        for (const LeasePage::Row &row : page.rows) {
            there.insert(row.key);
            if (row.change == View::Change::Changed)
                tell(row.key);
        }
        next = page.next;
    } while (!next.empty() && !m_stopping);
    channel.version = page.resourceVersion;
    for (const std::string &key : m_view->present()) {
        const bool mine = channel.scope.empty() || key.starts_with(channel.scope + "/");
        if (!mine || there.count(key) != 0)
            continue;
        const auto seen = m_view->find(key);
        if (!seen || !seen->object || !isShown(*seen->object, *m_settings) || isLegacy(seen->object->leaseClass))
            continue;
        if (m_view->noteAbsent(key, page.heard) == View::Change::Changed)
            tell(key);
    }
    return {};
}

Result<void> KubeFeed::watch(Channel &channel)
{
    for (const int seconds : {kWatchSeconds, kShortWatchSeconds}) {
        const std::string path = leasesPath(channel.scope) + scopeQuery(*m_settings, channel.scope)
            + "watch=1&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(seconds)
            + "&resourceVersion=" + percentEncoded(channel.version);
        channel.stream.reset();
        channel.buffer.clear();
        auto stream = m_api->open(jsonRequest("GET", path), BootClock::now() + kCallWithin);
        if (!stream)
            return fail(std::move(stream.error()));
        const HttpResponse &response = (*stream)->response();
        if (response.status == 410)
            return fail(expired(*m_settings));
        if (response.status != 200)
            return fail(errorOf(response, {"watch", "leases", channel.scope}, *m_settings));
        m_view->noteClock(Heard::of(response));
        m_proven = response.sentAt;
        channel.stream = *std::move(stream);
        if (channel.stream->sharesConnection())
            break;
    }
    return {};
}

void KubeFeed::opened()
{
    m_wasOpen = true;
    m_view->streamProven(m_proven);
    FeedEvent event;
    event.kind = FeedEvent::Kind::Opened;
    event.detail = m_channels.size() == 1 ? std::string("watch")
                                          : "watch of " + std::to_string(m_channels.size()) + " namespaces";
    event.renewals = true;
    emit(std::move(event));
}

Result<void> KubeFeed::listen()
{
    while (!m_stopping) {
        m_api->waitAny(m_proven + kSilence);
        for (Channel &channel : m_channels) {
            if (auto read = readFrom(channel); !read)
                return read;
        }
        if (m_stopping || BootClock::now() < m_proven + kSilence)
            continue;
        if (auto alive = ping(); !alive)
            return alive;
    }
    return {};
}

Result<void> KubeFeed::readFrom(Channel &channel)
{
    auto got = channel.stream->read(channel.buffer, BootClock::now());
    if (!got)
        return fail(std::move(got.error()));
    if (*got == HttpStream::Got::Nothing)
        return {};
    if (*got == HttpStream::Got::Bytes) {
        m_proven = BootClock::now();
        m_view->streamProven(m_proven);
        return takeLines(channel);
    }
    auto again = watch(channel); // the server ended it in time, as asked
    if (!again && again.error().recovery == Recovery::AtOnce) {
        if (auto listed = relist(channel); !listed)
            return listed;
        again = watch(channel);
    }
    return again;
}

Result<void> KubeFeed::takeLines(Channel &channel)
{
    // The buffer may be replaced underneath when the watch starts anew.
    std::string lines = std::move(channel.buffer);
    channel.buffer.clear();
    const std::size_t last = lines.rfind('\n');
    if (last == std::string::npos) {
        if (lines.size() > kLongestLine)
            return fail(ErrorKind::Corrupt, "A line of the watch has no end", m_settings->display);
        channel.buffer = std::move(lines);
        return {};
    }
    channel.buffer = lines.substr(last + 1);
    std::string_view rest(lines.data(), last + 1);
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        if (end > 0) {
            if (auto taken = take(channel, rest.substr(0, end)); !taken)
                return taken;
        }
        rest.remove_prefix(end + 1);
    }
    return {};
}

Result<void> KubeFeed::take(Channel &channel, std::string_view line)
{
    const Json event = Json::parse(line, nullptr, false);
    if (!event.is_object() || !event.contains("object"))
        return fail(ErrorKind::Corrupt, "The watch said something that is no event", m_settings->display);
    const std::string type = textIn(event, "type");
    const Json &object = event["object"];
    if (type == "ERROR")
        return takeError(channel, object);
    const auto metadata = object.find("metadata");
    if (metadata == object.end() || !metadata->is_object())
        return fail(ErrorKind::Corrupt, "The watch sent an event without an object", m_settings->display);
    channel.version = textIn(*metadata, "resourceVersion");
    if (type == "BOOKMARK") {
        emit({});
        return {};
    }
    auto lease = leaseOf(object, m_settings->display);
    if (!lease)
        return fail(std::move(lease.error()));
    if (!isShown(*lease, *m_settings))
        return {};
    const std::string key = keyOf(*lease);
    Heard heard;
    heard.receivedAt = BootClock::now();
    const View::Change change = type == "DELETED" ? m_view->noteAbsent(key, heard, lease->version)
                                                  : m_view->note(*std::move(lease), heard);
    if (change != View::Change::Older)
        tell(key);
    return {};
}

Result<void> KubeFeed::takeError(Channel &channel, const Json &status)
{
    const int code = status.is_object() ? status.value("code", 0) : 0;
    const std::string reason = status.is_object() ? textIn(status, "reason") : std::string();
    if (code == 410 || reason == "Expired" || reason == "Gone") {
        channel.buffer.clear();
        if (auto listed = relist(channel); !listed)
            return listed;
        return watch(channel);
    }
    channel.version.clear(); // whatever it is, a fresh list is right
    Error error = fail(ErrorKind::Unavailable,
        "The API server ended the watch: " + printable(status.is_object() ? textIn(status, "message") : "", 300),
        m_settings->display)
                      .value();
    error.recovery = Recovery::Reconnect;
    return fail(std::move(error));
}

/// Over HTTP/2 the answer comes through the very connection of the watch.
Result<void> KubeFeed::ping()
{
    const auto answer = m_api->send(jsonRequest("GET", "/version"), BootClock::now() + kPingWithin);
    if (!answer) {
        Error error = answer.error();
        error.what = "The watch gives no sign of life: " + error.what;
        error.recovery = Recovery::Reconnect;
        return fail(std::move(error));
    }
    if (answer->status != 200)
        return fail(errorOf(*answer, {"get", "version", ""}, *m_settings));
    m_view->noteClock(Heard::of(*answer));
    m_proven = answer->sentAt;
    m_view->streamProven(m_proven);
    emit({}); // Alive
    return {};
}

void KubeFeed::tell(const std::string &key)
{
    const auto seen = m_view->find(key);
    if (!seen)
        return;
    FeedEvent event;
    const bool held = seen->object && seen->object->held();
    event.kind = held ? FeedEvent::Kind::Changed : FeedEvent::Kind::Released;
    event.lease = LeaseId::observed(m_settings->bareNames ? key.substr(key.find('/') + 1) : key);
    emit(std::move(event));
}

} // namespace tenure::kube
