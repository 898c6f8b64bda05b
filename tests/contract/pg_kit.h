// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/postgres_backend.h"
#include "core/runtime/monitor.h"
#include "postgres_server.h"
#include "tests/support/election_kit.h"

#include <map>
#include <mutex>

namespace tenure::test
{

inline std::shared_ptr<const Backend> backendOf(const StoreUri &uri)
{
    return makePostgresBackend(uri).value();
}

inline void makeTable(const StoreUri &uri)
{
    const auto made = backendOf(uri)->makeStore()->init(false, BootClock::now() + std::chrono::seconds(10));
    if (!made)
        qFatal("%s", made.error().text().c_str());
}

/// Two candidates of one lease, each with a backend of its own as two processes have, and a watch.
struct Pair {
    Pair(const StoreUri &uri, Milliseconds ttl, const char *one = "a", const char *other = "b")
        : a(backendOf(uri), one, ttl), b(backendOf(uri), other, ttl), watch({&a.elector, &b.elector})
    {
    }
    [[nodiscard]] bool oneLeads() const { return a.elector.isLeader() != b.elector.isLeader(); }
    [[nodiscard]] bool nobodyLeads() const { return !a.elector.isLeader() && !b.elector.isLeader(); }
    [[nodiscard]] std::size_t losses() const { return a.diary.count(false) + b.diary.count(false); }
    [[nodiscard]] FencingToken token() const
    {
        return std::max(a.elector.token(), b.elector.token());
    }
    /// What either of them says is wrong.
    [[nodiscard]] std::optional<Error> trouble() const
    {
        auto error = a.elector.report().error;
        return error ? error : b.elector.report().error;
    }
    void start()
    {
        a.elector.start();
        b.elector.start();
    }
    Candidate a, b;
    BelieverWatch watch;
};

/// What the console knows of a connection: its monitor's last word.
class Screen
{
public:
    explicit Screen(const StoreUri &uri) : m_monitor(backendOf(uri), options(), SystemClock::instance(),
        [this](const FleetDelta &delta) { take(delta); })
    {
        m_monitor.start();
    }
    ~Screen() { m_monitor.stop(); }
    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;

    [[nodiscard]] LinkStatus link() const
    {
        const std::lock_guard lock(m_mutex);
        return m_link;
    }
    [[nodiscard]] LinkState state() const { return linkStateAt(link(), BootClock::now()); }
    /// As the freshness chip writes it, with the reason as its tip tells it.
    [[nodiscard]] std::string text() const
    {
        const LinkStatus now = link();
        return linkText(now, BootClock::now()) + "; " + now.pushHow + (now.error ? "; " + now.error->text() : "");
    }
    [[nodiscard]] std::optional<LeaseStatus> lease(const std::string &name = "billing/scheduler") const
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_leases.find(LeaseId::observed(name));
        return found == m_leases.end() ? std::nullopt : std::optional(found->second);
    }
    /// As a row of the fleet shows it.
    [[nodiscard]] LeaseState leaseState() const
    {
        const auto seen = lease();
        return seen ? stateAt(*seen, state(), BootClock::now()) : LeaseState::Unknown;
    }

private:
    static Monitor::Options options()
    {
        Monitor::Options out;
        out.probeEvery = std::chrono::milliseconds(500);
        out.callTimeout = std::chrono::milliseconds(1500);
        return out;
    }
    void take(const FleetDelta &delta)
    {
        const std::lock_guard lock(m_mutex);
        if (delta.reset)
            m_leases.clear();
        for (const LeaseStatus &status : delta.changed)
            m_leases.insert_or_assign(status.record.lease, status);
        for (const LeaseId &gone : delta.removed)
            m_leases.erase(gone);
        m_link = delta.link;
    }

    mutable std::mutex m_mutex;
    LinkStatus m_link; ///< guarded by m_mutex
    std::map<LeaseId, LeaseStatus> m_leases; ///< guarded by m_mutex
    Monitor m_monitor; ///< last: it ends first
};

} // namespace tenure::test
