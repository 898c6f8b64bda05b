// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/memory/memory_backend.h"
#include "core/runtime/local_instances.h"

#include <memory>
#include <thread>

namespace tenure
{

/// The embedded demo (`demo:`): a memory server with a few services' leases, their candidates, and a
/// slow, repeating story (a graceful handover, a crash, a flapping pair, a lease nobody takes), so
/// that the console and the terminal twin have something true to show with no server at all.
class DemoWorld
{
public:
    explicit DemoWorld(const Clock &clock = SystemClock::instance(), std::uint64_t seed = 42);
    ~DemoWorld(); ///< ends the story and all candidates
    DemoWorld(const DemoWorld &) = delete;
    DemoWorld &operator=(const DemoWorld &) = delete;

    [[nodiscard]] std::shared_ptr<const Backend> backend() const { return m_backend; }
    [[nodiscard]] LocalInstances &instances() { return *m_instances; }
    /// Returns when every lease of the demo has had its first leader (usually within 20 ms), or after
    /// `limit`: whoever looks only once should see the whole world.
    void waitUntilLed(Duration limit) const;

private:
    struct Story;

    std::shared_ptr<MemoryServer> m_server;
    std::shared_ptr<const Backend> m_backend;
    std::unique_ptr<LocalInstances> m_instances;
    std::jthread m_story;
};

} // namespace tenure
