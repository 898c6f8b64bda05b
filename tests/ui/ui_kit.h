// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"
#include "core/base/clock.h"
#include "ui/bridge/session.h"

#include <QTimer>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure::test
{

/// The longest time that the event loop did not come round, while this lives.
class LatencyMeter
{
public:
    LatencyMeter()
    {
        m_last = BootClock::now();
        QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] {
            const Instant now = BootClock::now();
            m_worst = std::max<Duration>(m_worst, now - m_last);
            m_last = now;
        });
        m_timer.start(std::chrono::milliseconds(5));
    }
    [[nodiscard]] Duration worst() const { return std::max<Duration>(m_worst, BootClock::now() - m_last); }

private:
    QTimer m_timer;
    Instant m_last;
    Duration m_worst{};
};

/// A server that takes connections and never says a word: a blackhole on loopback.
class SilentServer
{
public:
    SilentServer()
    {
        m_socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto *raw = reinterpret_cast<sockaddr *>(&address);
        if (::bind(m_socket, raw, size) != 0 || ::listen(m_socket, 64) != 0
            || ::getsockname(m_socket, raw, &size) != 0)
            throw std::runtime_error("no loopback port");
        m_port = ntohs(address.sin_port);
    }
    ~SilentServer() { ::close(m_socket); }
    SilentServer(const SilentServer &) = delete;
    SilentServer &operator=(const SilentServer &) = delete;
    [[nodiscard]] int port() const { return m_port; }

private:
    int m_socket = -1;
    int m_port = 0;
};

/// A backend whose every call hangs until its deadline, or until the gate opens.
class HungBackend final : public Backend
{
public:
    struct Gate {
        std::mutex mutex;
        std::condition_variable changed;
        bool open = false; ///< guarded by mutex
        int waiting = 0; ///< guarded by mutex
        void wait(Instant deadline)
        {
            std::unique_lock lock(mutex);
            ++waiting;
            changed.notify_all();
            changed.wait_for(lock, deadline - BootClock::now(), [this] { return open; });
        }
        [[nodiscard]] int calls()
        {
            const std::lock_guard lock(mutex);
            return waiting;
        }
    };
    HungBackend() { m_traits.scheme = m_traits.display = "hung:"; }
    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<Store>(m_traits, m_gate);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override { return nullptr; }
    [[nodiscard]] Gate &gate() const { return *m_gate; }

private:
    struct Store final : LeaseStore {
        Store(const StoreTraits &traitsUsed, std::shared_ptr<Gate> gateUsed)
            : storeTraits(traitsUsed), gate(std::move(gateUsed))
        {
        }
        [[nodiscard]] const StoreTraits &traits() const override { return storeTraits; }
        [[nodiscard]] std::vector<Result<Reply>> execute(
            std::span<const Command> commands, Instant deadline) override
        {
            gate->wait(deadline);
            return {commands.size(), fail(ErrorKind::Unavailable, "no answer", "hung:")};
        }
        [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override
        {
            gate->wait(deadline);
            return fail(ErrorKind::Unavailable, "no answer", "hung:");
        }
        [[nodiscard]] Result<std::string> init(bool, Instant) override { return std::string(); }
        StoreTraits storeTraits;
        std::shared_ptr<Gate> gate;
    };
    StoreTraits m_traits;
    std::shared_ptr<Gate> m_gate = std::make_shared<Gate>();
};

inline ui::ConnectionProfile profileOf(const char *name, ui::Environment environment)
{
    ui::ConnectionProfile profile;
    profile.id = profile.name = QLatin1String(name);
    profile.url = QStringLiteral("memory:");
    profile.environment = environment;
    return profile;
}

inline LeaseId leaseNamed(const char *name)
{
    return LeaseId::observed(name);
}

} // namespace tenure::test
