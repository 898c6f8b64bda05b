// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"
#include "core/churn/alerts.h"
#include "core/observe/fleet.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenure
{

/// What changed since the last delta. Values only.
struct FleetDelta {
    bool reset = false; ///< forget everything told before
    std::vector<LeaseStatus> changed;
    std::vector<LeaseId> removed;
    std::vector<Transition> transitions;
    std::vector<Alert> alerts; ///< new or changed
    std::vector<Shelf> shelves; ///< all that stand now, whenever `alerts` is not empty
    LinkStatus link;
    std::uint64_t scanned = 0; ///< keys or rows looked at by discovery
    bool complete = false; ///< discovery went through everything at least once
    bool capped = false; ///< more leases than Options::limit
    std::uint64_t refreshes = 0; ///< how many refresh() calls are fully answered
};

/// Watches the leases of one backend: discovery, push, adaptive polling, freshness, churn. One
/// thread and two connections (store, feed) of its own; reconnects for ever with backoff and never
/// blocks its caller. Looking only (P8).
class Monitor
{
public:
    struct Options {
        std::string glob = "*"; ///< which names
        std::vector<LeaseId> only; ///< when not empty: just these, no discovery
        Duration probeEvery = std::chrono::seconds(2);
        Duration minimumPoll = std::chrono::milliseconds(
            250); ///< one lease is not read more often, but near its expiry
        std::size_t limit = 20000;
        Duration rediscoverEvery = std::chrono::seconds(10);
        Duration callTimeout = std::chrono::seconds(3);
        RuleBook rules;
        bool simulated = false;
    };
    using Sink = std::function<void(FleetDelta)>;

    /// `sink` runs on the monitor's thread, at most 20 times a second, never after stop() returned.
    Monitor(std::shared_ptr<const Backend> backend, Options options, const Clock& clock, Sink sink);
    ~Monitor(); ///< stops
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    void start();
    /// Bounded by the call timeout.
    void stop();
    /// A verified re-read of everything (F5); also tries a broken connection at once.
    void refresh();
    /// The lease a person looks at: read at least every 500 ms.
    void focus(const LeaseId& lease);
    void setRules(RuleBook rules);
    /// As AlertRules does. A shelving without a reason does nothing.
    void acknowledge(std::uint64_t alert, const std::string& by = {});
    void shelve(std::uint64_t alert, Duration duration, const std::string& by, const std::string& reason);
    void snooze(std::uint64_t alert, Duration duration) { shelve(alert, duration, {}, "snoozed"); }
    void shelveAll(const std::string& rule, const std::string& glob, Duration duration,
        const std::string& by, const std::string& reason);
    void unshelve(std::uint64_t shelf);

private:
    struct Core;
    std::unique_ptr<Core> m_core;
};

} // namespace tenure
