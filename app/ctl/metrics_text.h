// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runtime/monitor.h"

#include <map>
#include <string>
#include <vector>

namespace tenure::ctl
{

/// What is counted of one connection, put together from its monitor's deltas. One thread at a time.
class MetricsSource
{
public:
    explicit MetricsSource(std::string display) : m_display(std::move(display)) { }
    void take(const FleetDelta &delta);

private:
    friend class MetricsText;
    /// Counters of one lease; they only grow.
    struct Counted {
        std::uint64_t transitions = 0;
        Duration silent{}; ///< of times without a leader that are over
        Duration told{}; ///< never tell less
    };
    std::string m_display;
    std::map<LeaseId, LeaseStatus> m_leases;
    std::map<LeaseId, Counted> m_counted;
    std::map<std::uint64_t, Alert> m_alerts;
    LinkStatus m_link;
};

/// One answer in Prometheus' text format (version 0.0.4). Names and units as its conventions want:
/// base units, `_total` for counters, `_ratio` from 0 to 1, `_info` with the value 1. What is not
/// known now is left out, never told as it was: of leases behind stale data only the counters.
class MetricsText
{
public:
    explicit MetricsText(Instant now) : m_now(now) { }
    [[nodiscard]] std::string of(std::vector<MetricsSource> &sources, const std::string &version);

private:
    struct Family {
        const char *name;
        const char *type;
        const char *help;
    };
    void begin(const Family &family);
    void sample(const char *name, const std::string &labels, double value);
    template <typename Value>
    void leases(const Family &family, std::vector<MetricsSource> &sources, bool onlyFresh, Value value);
    template <typename Value>
    void connections(const Family &family, std::vector<MetricsSource> &sources, Value value);
    void gauges(std::vector<MetricsSource> &sources);
    void counters(std::vector<MetricsSource> &sources);
    void alerts(std::vector<MetricsSource> &sources);

    Instant m_now;
    std::string m_text;
};

} // namespace tenure::ctl
