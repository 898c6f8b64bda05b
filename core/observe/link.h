// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <optional>
#include <string>

namespace tenure
{

/// How a connection's data may be believed (UX.md section 1).
enum class LinkState { Connecting, Live, Polling, Stale, Disconnected, Denied, Paused };

/// The health of one connection, as values that do not age by themselves; linkStateAt() judges
/// them.
struct LinkStatus {
    bool connected = false; ///< the last call succeeded
    bool everConnected = false;
    bool paused = false; ///< a person froze the view
    bool pushOpen = false; ///< the feed stands
    bool simulated = false; ///< the demo world: SIM is shown beside the state
    std::string pushHow; ///< "channel and keyspace events", or why there is no push
    Duration pollEvery{std::chrono::seconds(2)}; ///< longest time between two looks at one lease
    Duration staleAfter{std::chrono::seconds(5)};
    Instant lastProof; ///< last answer or proof of life
    Instant since; ///< since when connected or disconnected
    std::optional<Error> error; ///< of the last failure, kept until the next success
    int attempt = 0; ///< failed attempts in a row
    std::optional<Instant> nextTry;
    std::optional<Duration> roundTrip;
    /// Server's wall clock minus ours at the same moment; for a banner, never for a countdown.
    std::optional<Duration> skew;
    std::string server; ///< "Redis 7.0.15, standalone"
    std::string epoch;
    bool operator==(const LinkStatus&) const = default;
};

[[nodiscard]] LinkState linkStateAt(const LinkStatus& link, Instant now);
/// "LIVE", "POLLING", "STALE", "CONNECTING", "DISCONNECTED", "DENIED", "PAUSED".
[[nodiscard]] const char* linkWord(LinkState state);
/// With age: "LIVE 0.3 s", "STALE 7.2 s", "DISCONNECTED 41 s, next try in 4.0 s".
[[nodiscard]] std::string linkText(const LinkStatus& link, Instant now);
/// May a state word or a countdown be shown as true? (R1, P10)
[[nodiscard]] bool isFresh(LinkState state);

} // namespace tenure
