// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/churn/alerts.h"

#include <map>
#include <string>
#include <vector>

namespace tenure
{

/// One thing to tell a person: one alert, or several of one rule on one connection.
struct Notice {
    std::string connection;
    std::string rule;
    int priority = 2;
    std::size_t alerts = 0; ///< that are behind it
    LeaseId first; ///< where it began; empty: the connection
    std::string text; ///< "3 leases on prod-eu: Nobody leads for more than 30 s"
    std::string action;
    bool withdraw = false; ///< none of them is new any more: take an earlier notice back
    bool repeated = false; ///< nobody reacted to a priority 1 for half an hour
};

/// Makes few notices of many alerts: waits some seconds for company, tells one rule of one connection
/// at most once a minute, takes back what is no longer so. Pure. One owner, one thread.
class AlertDigest
{
public:
    static constexpr Duration kWait = std::chrono::seconds(5);
    static constexpr Duration kInterval = std::chrono::seconds(60);
    static constexpr Duration kRepeat = std::chrono::minutes(30);

    void take(const std::string& connection, const Alert& alert, Instant now);
    [[nodiscard]] std::vector<Notice> due(Instant now);
    /// When due() has something to say next, if nothing else comes.
    [[nodiscard]] std::optional<Instant> nextDue() const;

private:
    struct Group {
        std::map<std::uint64_t, Alert> firing;
        std::map<std::uint64_t, bool> told; ///< ids that a notice named
        std::optional<Instant> tellAt;
        std::optional<Instant> toldAt;
        LeaseId first;
    };
    std::map<std::pair<std::string, std::string>, Group> m_groups; ///< by connection and rule
};

} // namespace tenure
