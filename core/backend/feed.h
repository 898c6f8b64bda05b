// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/lease/identity.h"

#include <functional>
#include <string>

namespace tenure
{

/// What a backend pushes.
struct FeedEvent {
    enum class Kind {
        Opened, ///< the stream stands; `detail` says how ("channel", "channel and keyspace events")
        Alive, ///< proof of life of the stream, nothing else
        Changed, ///< re-read this lease: it was gained, renewed, asked, held or something unknown
        Released, ///< this lease is free now: a waiting candidate tries at once
        Closed, ///< the stream broke, see `error`; what happens until Opened is not observed
    };
    Kind kind = Kind::Alive;
    LeaseId lease; ///< Changed, Released; an empty name means "any"
    std::string detail;
    Error error; ///< Closed
    bool renewals = false; ///< Opened: the stream also tells renewals (keyspace events, in-process)
    Instant at; ///< received
};

/// Push from a backend, on a thread and connection of its own. It reconnects by itself with backoff
/// until stopped. Looking only: it never changes a server's settings (P8).
class LeaseFeed
{
public:
    using Sink = std::function<void(const FeedEvent &)>;

    LeaseFeed() = default;
    LeaseFeed(const LeaseFeed &) = delete;
    LeaseFeed &operator=(const LeaseFeed &) = delete;
    virtual ~LeaseFeed() = default; ///< stops
    /// `sink` is called on the feed's thread; never after stop() returned.
    virtual void start(Sink sink) = 0;
    virtual void stop() = 0;
};

} // namespace tenure
