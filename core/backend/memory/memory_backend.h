// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"

#include <memory>
#include <string>

namespace tenure
{

/// The embedded server behind `memory:` and `demo:`: leases in a map, judged by the clock it is given
/// (its "server time"). Any thread. Used by tests and simulations with a clock of theirs, where each
/// call is one atomic step.
class MemoryServer
{
public:
    explicit MemoryServer(const Clock &clock);
    ~MemoryServer();
    MemoryServer(const MemoryServer &) = delete;
    MemoryServer &operator=(const MemoryServer &) = delete;

    /// One command, carried out now. Never blocks on anything but a mutex.
    [[nodiscard]] Result<Reply> apply(const Command &command);
    /// As a server that lost power with nothing on disk: leases gone, tokens still only grow (they
    /// start at server time), nobody acquires until every lease it may have forgotten has run out.
    void restartEmpty();
    /// Called after each change, with no lock held, on the thread that changed.
    [[nodiscard]] std::uint64_t subscribe(LeaseFeed::Sink sink);
    void unsubscribe(std::uint64_t id);
    [[nodiscard]] std::string epoch() const;
    /// Server time (its own wall clock).
    [[nodiscard]] WallTime now() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// A backend over a server in this process; `name` only for display ("memory:name").
[[nodiscard]] std::shared_ptr<const Backend> makeMemoryBackend(
    std::shared_ptr<MemoryServer> server, std::string display);

} // namespace tenure
