// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/alert_outlet.h"

#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/net/http_client.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostWaiting = 1000;
constexpr std::size_t kMostAtOnce = 50;
constexpr int kTries = 4;
constexpr Duration kCallTimeout = 10s;
constexpr Duration kAgain = 60s;

Json text(const std::string& bytes)
{
    return isUtf8(bytes) ? bytes : printable(bytes, bytes.size() * 4);
}

const char* eventWord(AlertState state)
{
    switch (state) {
    case AlertState::Firing:
        return "trigger";
    case AlertState::Acknowledged:
        return "acknowledge";
    case AlertState::Snoozed:
        return "shelve";
    case AlertState::Returned:
    case AlertState::Resolved:
        return "resolve";
    }
    return "";
}

const char* severityWord(int priority)
{
    return priority <= 1 ? "critical" : priority == 2 ? "warning" : "info";
}

std::string line(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool isTransient(int status)
{
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

} // namespace

struct AlertOutlet::Place {
    std::unique_ptr<HttpClient> client;
    std::string path;
};

std::string OutletMessage::dedupKey() const
{
    return "tenure/" + sha256Hex(connection + "\n" + alert.rule + "\n" + alert.lease.name()).substr(0, 32);
}

bool OutletMessage::isOver() const
{
    return alert.state == AlertState::Returned || alert.state == AlertState::Resolved;
}

std::string OutletMessage::webhookBody(const std::string& source) const
{
    Json out;
    out["v"] = 1;
    out["event"] = eventWord(alert.state);
    out["dedup_key"] = dedupKey();
    out["source"] = text(source);
    out["connection"] = text(connection);
    out["lease"] = alert.lease.name().empty() ? Json(nullptr) : text(alert.lease.name());
    out["rule"] = alert.rule;
    out["priority"] = alert.priority;
    out["severity"] = severityWord(alert.priority);
    out["state"] = alertStateWord(alert.state);
    out["text"] = text(alert.text);
    out["action"] = text(alert.action);
    out["count"] = alert.count;
    out["first_at"] = rfc3339(firstAt);
    out["last_at"] = rfc3339(lastAt);
    out["by"] = alert.by.empty() ? Json(nullptr) : text(alert.by);
    out["reason"] = alert.reason.empty() ? Json(nullptr) : text(alert.reason);
    return line(out);
}

std::string OutletMessage::alertmanagerEntry(const std::string& source) const
{
    Json out;
    out["labels"] = {{"alertname", "Tenure_" + alert.rule}, {"severity", severityWord(alert.priority)},
        {"connection", text(connection)}, {"rule", alert.rule}};
    if (!alert.lease.name().empty())
        out["labels"]["lease"] = text(alert.lease.name());
    out["annotations"] = {{"summary", text(alert.text)}, {"action", text(alert.action)}, {"source", text(source)}};
    out["startsAt"] = rfc3339(firstAt);
    if (isOver())
        out["endsAt"] = rfc3339(lastAt);
    return line(out);
}

std::string webhookSignature(const std::string& secret, const std::string& timestamp, const std::string& body)
{
    return "sha256=" + hmacSha256Hex(secret, timestamp + "." + body);
}

Result<std::unique_ptr<AlertOutlet>> AlertOutlet::make(OutletSettings settings, const Clock& clock)
{
    const std::size_t scheme = settings.url.find("://");
    const bool web = settings.url.starts_with("http://") || settings.url.starts_with("https://");
    if (!web)
        return fail(ErrorKind::BadConfig, "Alerts can only be sent to http: and https: addresses");
    const std::size_t slash = std::min(settings.url.find('/', scheme + 3), settings.url.size());
    auto place = std::make_unique<Place>();
    place->path = settings.url.substr(slash);
    HttpTarget target;
    target.url = settings.url.substr(0, slash);
    target.display = target.url; // a hook's path may be its secret
    if (settings.kind == OutletSettings::Kind::Alertmanager) {
        while (place->path.ends_with('/'))
            place->path.pop_back();
        place->path += "/api/v2/alerts";
    }
    if (place->path.empty())
        place->path = "/";
    auto client = HttpClient::make(std::move(target));
    if (!client)
        return fail(client.error());
    place->client = std::move(*client);
    return std::unique_ptr<AlertOutlet>(new AlertOutlet(std::move(settings), std::move(place), clock));
}

AlertOutlet::AlertOutlet(OutletSettings settings, std::unique_ptr<Place> place, const Clock& clock)
    : m_settings(std::move(settings)), m_clock(clock), m_place(std::move(place)), m_thread([this] { run(); })
{
}

AlertOutlet::~AlertOutlet()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_place->client->interrupt();
    m_wake.notify_one();
    m_thread.join();
}

void AlertOutlet::tell(const std::string& connection, const Alert& alert)
{
    const WallTime wall = m_clock.wall();
    const Instant now = m_clock.now();
    const auto at = [&](Instant moment) { return wall - std::chrono::floor<std::chrono::microseconds>(now - moment); };
    OutletMessage message{connection, alert, at(alert.firstAt), at(alert.lastAt)};
    const std::string key = message.dedupKey();
    {
        const std::lock_guard lock(m_mutex);
        const auto told = m_told.find(key);
        if (told != m_told.end() ? told->second == alert.state : message.isOver())
            return;
        m_told[key] = alert.state;
        if (message.isOver())
            m_told.erase(key);
        if (m_settings.kind == OutletSettings::Kind::Alertmanager) {
            // Acknowledging and shelving are Alertmanager's own business: it knows firing and over.
            m_lasting.insert_or_assign(key, message);
            if (message.isOver())
                m_lasting.erase(key);
        }
        if (m_waiting.size() >= kMostWaiting) {
            ++m_status.failed;
            m_waiting.pop_front();
        }
        m_waiting.push_back(std::move(message));
        m_status.waiting = m_waiting.size();
    }
    m_wake.notify_one();
}

OutletStatus AlertOutlet::status() const
{
    const std::lock_guard lock(m_mutex);
    return m_status;
}

std::vector<OutletMessage> AlertOutlet::nextBatch()
{
    std::vector<OutletMessage> batch;
    std::unique_lock lock(m_mutex);
    const auto news = [this] { return m_stopping || !m_waiting.empty(); };
    const bool came = m_wake.wait_for(lock, kAgain, news);
    if (m_stopping)
        return batch;
    if (!came) { // Alertmanager lets an alert end that it is not told of for some minutes
        for (const auto& [key, message] : m_lasting)
            batch.push_back(message);
        return batch;
    }
    const bool together = m_settings.kind == OutletSettings::Kind::Alertmanager;
    const std::size_t many = together ? std::min(m_waiting.size(), kMostAtOnce) : 1;
    batch.assign(m_waiting.begin(), m_waiting.begin() + static_cast<std::ptrdiff_t>(many));
    m_waiting.erase(m_waiting.begin(), m_waiting.begin() + static_cast<std::ptrdiff_t>(many));
    return batch;
}

void AlertOutlet::run()
{
    while (true) {
        const std::vector<OutletMessage> batch = nextBatch();
        {
            const std::lock_guard lock(m_mutex);
            if (m_stopping)
                return;
        }
        if (!batch.empty())
            deliver(batch);
    }
}

void AlertOutlet::deliver(const std::vector<OutletMessage>& batch)
{
    Duration pause = m_settings.firstPause;
    for (int attempt = 1; !tryOnce(batch); ++attempt) {
        std::unique_lock lock(m_mutex);
        if (attempt == kTries) {
            m_status.failed += batch.size();
            m_status.waiting = m_waiting.size();
            return;
        }
        if (m_wake.wait_for(lock, pause, [this] { return m_stopping; }))
            return;
        pause *= 4;
    }
}

void AlertOutlet::settle(std::size_t count, const std::string& problem)
{
    const std::lock_guard lock(m_mutex);
    (problem.empty() ? m_status.delivered : m_status.failed) += count;
    m_status.lastProblem = problem;
    m_status.waiting = m_waiting.size();
}

bool AlertOutlet::tryOnce(const std::vector<OutletMessage>& batch)
{
    HttpRequest request;
    request.method = "POST";
    request.path = m_place->path;
    request.maxBody = std::size_t{64} * 1024;
    request.headers = {{"Content-Type", "application/json"}, {"User-Agent", "tenure"}};
    if (m_settings.kind == OutletSettings::Kind::Webhook) {
        request.body = batch.front().webhookBody(m_settings.source);
        const std::string stamp = rfc3339(m_clock.wall());
        request.headers.emplace_back("X-Tenure-Timestamp", stamp);
        if (!m_settings.secret.empty()) {
            request.headers.emplace_back(
                "X-Tenure-Signature", webhookSignature(m_settings.secret, stamp, request.body));
        }
    } else {
        for (const OutletMessage& message : batch)
            request.body += (request.body.empty() ? "[" : ",") + message.alertmanagerEntry(m_settings.source);
        request.body += "]";
    }
    const auto answer = m_place->client->send(request, BootClock::now() + kCallTimeout);
    if (answer && answer->status / 100 == 2) {
        settle(batch.size(), {});
        return true;
    }
    const std::string problem = !answer ? answer.error().text()
        : answer->status / 100 == 3
        ? "It answered with a redirect, which is never followed: name the final address"
        : "It answered with status " + std::to_string(answer->status);
    const bool again = answer ? isTransient(answer->status)
                              : answer.error().kind == ErrorKind::Unavailable
            || answer.error().kind == ErrorKind::OutcomeUnknown;
    if (!again) {
        settle(batch.size(), problem);
        return true;
    }
    const std::lock_guard lock(m_mutex);
    m_status.lastProblem = problem;
    return false;
}

} // namespace tenure
