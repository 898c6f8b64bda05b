// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/election/election.h"
#include "core/sim/sim_store.h"

#include <memory>

namespace tenure::sim
{

/// What a client can do to its world.
class ClientHost
{
public:
    ClientHost() = default;
    ClientHost(const ClientHost &) = delete;
    ClientHost &operator=(const ClientHost &) = delete;
    virtual ~ClientHost() = default;
    [[nodiscard]] virtual Instant now() const = 0; ///< its own boot clock
    [[nodiscard]] virtual Duration wall() const = 0; ///< its own wall clock
    [[nodiscard]] virtual Random &random() = 0;
    virtual void send(const Ask &ask) = 0;
    virtual void gained() = 0;
    virtual void lost(LossReason reason) = 0; ///< Client::handlersDone follows when the work has stopped
    virtual void stopped() = 0;
};

/// One candidate in virtual time. Told what happens, asked what it believes; never waits.
class Client
{
public:
    Client() = default;
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    virtual ~Client() = default;

    virtual void start() = 0;
    virtual void timer() = 0;
    /// `sentAt`: its own clock before it asked.
    virtual void answered(const Ask &ask, const StoreAnswer &answer, Instant sentAt) = 0;
    virtual void pushedFree() { }
    virtual void handlersDone() { }
    virtual void workDone() { } ///< an item was finished
    virtual void giveBack() = 0; ///< and stay out for a moment
    virtual void stop() = 0;

    [[nodiscard]] virtual Instant believesUntil() const = 0; ///< isLeader() is now < this
    [[nodiscard]] virtual Instant wakeAt() const = 0; ///< Instant::max(): never
    [[nodiscard]] virtual FencingToken token() const = 0;
    [[nodiscard]] virtual std::uint64_t serial() const = 0; ///< which grant it works under
    [[nodiscard]] virtual std::string phase() const = 0;
};

/// What clients are told of the timing.
struct ClientTiming {
    Timing timing;
    Duration ttl{};
    Duration renewEvery{};
    Duration deadline{}; ///< as it was asked for, also when it is not possible for sound clients
    Duration retry{};
    Share jitter;
    Expiry expiry = Expiry::Server;
};

[[nodiscard]] std::unique_ptr<Client> makeClient(
    ClientKind kind, const ClientTiming &timing, Plant plant, ClientHost &host);

} // namespace tenure::sim
