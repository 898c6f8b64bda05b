// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/churn/alerts.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace tenure
{

/// Where alerts are sent to.
struct OutletSettings {
    enum class Kind {
        Webhook, ///< one JSON object a change of state, signed
        Alertmanager, ///< /api/v2/alerts of Prometheus' Alertmanager
    } kind = Kind::Webhook;
    std::string url; ///< Webhook: the whole address. Alertmanager: its root, "http://am:9093"
    std::string secret; ///< Webhook: key of the HMAC; empty: not signed. Never logged
    std::string source; ///< who sends: "tenure@laptop"
    Duration firstPause{std::chrono::seconds(1)}; ///< between tries; four times as long each time
};

struct OutletStatus {
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0; ///< given up: refused, redirected, or no answer after all tries
    std::uint64_t waiting = 0;
    std::string lastProblem; ///< one sentence without secrets; empty after a success
};

/// What is sent for one alert. Pure.
struct OutletMessage {
    std::string connection;
    Alert alert;
    WallTime firstAt, lastAt;
    [[nodiscard]] std::string dedupKey() const; ///< the same for every change of one cause
    [[nodiscard]] bool isOver() const;
    /// {"v":1,"event":"trigger|acknowledge|shelve|resolve","dedup_key":...}
    [[nodiscard]] std::string webhookBody(const std::string& source) const;
    /// One entry of the list that Alertmanager takes; with endsAt once it is over.
    [[nodiscard]] std::string alertmanagerEntry(const std::string& source) const;
};

/// `X-Tenure-Signature: sha256=<hex>` of "timestamp.body": a receiver checks both, and the age.
[[nodiscard]] std::string webhookSignature(
    const std::string& secret, const std::string& timestamp, const std::string& body);

/// Sends alerts on a thread of its own: bounded queue, three tries more with growing pauses after no
/// answer, 429 or 5xx; a redirect is never followed, and a refusal is final. Changes of one alert
/// arrive in order. Alertmanager is told again of what lasts, each minute. Any thread.
class AlertOutlet
{
public:
    /// BadConfig: no http: or https: address.
    [[nodiscard]] static Result<std::unique_ptr<AlertOutlet>> make(
        OutletSettings settings, const Clock& clock = SystemClock::instance());
    /// Does not wait for what is not sent yet; a call under way is cut off.
    ~AlertOutlet();
    AlertOutlet(const AlertOutlet&) = delete;
    AlertOutlet& operator=(const AlertOutlet&) = delete;

    /// Tells a change; further matches of a firing alert are no change. Never blocks.
    void tell(const std::string& connection, const Alert& alert);
    [[nodiscard]] OutletStatus status() const;

private:
    struct Place;
    AlertOutlet(OutletSettings settings, std::unique_ptr<Place> place, const Clock& clock);
    void run();
    [[nodiscard]] std::vector<OutletMessage> nextBatch();
    void deliver(const std::vector<OutletMessage>& batch);
    /// True: done with it, for good or ill.
    [[nodiscard]] bool tryOnce(const std::vector<OutletMessage>& batch);
    void settle(std::size_t count, const std::string& problem);

    const OutletSettings m_settings;
    const Clock& m_clock;
    const std::unique_ptr<Place> m_place; ///< the client and its path; the outlet's thread only
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    // Guarded by m_mutex:
    std::deque<OutletMessage> m_waiting;
    std::map<std::string, OutletMessage> m_lasting; ///< Alertmanager: by key, until over
    std::map<std::string, AlertState> m_told; ///< last state told, by key
    OutletStatus m_status;
    bool m_stopping = false;
    std::thread m_thread;
};

} // namespace tenure
