// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/store.h"
#include "ui/models/lease_source.h"

#include <QTest>

namespace tenure::ui::test
{

using namespace std::chrono_literals;

/// A connection whose leases a test writes down by hand.
class FabricatedSource final : public LeaseSource
{
public:
    FabricatedSource(const Clock &clock, QString id, QString name, Surroundings where)
        : m_clock(clock), m_info{std::move(id), std::move(name), QStringLiteral("redis://redis.internal:6379/0"), where}
    {
        m_link.connected = m_link.everConnected = m_link.pushOpen = true;
        m_link.lastProof = m_link.since = clock.now();
        m_link.simulated = where == Surroundings::Sim;
        m_traits.scheme = "redis";
    }
    ConnectionInfo connection() const override { return m_info; }
    const LinkStatus &link() const override { return m_link; }
    const std::map<LeaseId, LeaseStatus> &leases() const override { return m_leases; }
    const std::vector<Transition> &transitions() const override { return m_transitions; }
    const std::map<std::uint64_t, Alert> &alerts() const override { return m_alerts; }
    const StoreTraits *traits() const override { return &m_traits; }
    bool canWrite() const override { return m_canWrite; }
    void focus(const LeaseId &lease) override { m_focused = lease; }
    void acknowledge(std::uint64_t alert) override
    {
        m_alerts[alert].state = AlertState::Acknowledged;
        Q_EMIT alertsChanged();
    }
    void shelve(std::uint64_t alert, Duration duration, const QString &reason) override
    {
        Alert &shelved = m_alerts[alert];
        shelved.state = AlertState::Snoozed;
        shelved.snoozedUntil = m_clock.now() + duration;
        shelved.reason = reason.toStdString();
        m_shelves.push_back({alert, shelved.rule, shelved.lease.name(), m_clock.now() + duration, m_clock.now(),
            "op1", reason.toStdString(), 1});
        Q_EMIT alertsChanged();
    }
    void unshelve(std::uint64_t shelf) override
    {
        std::erase_if(m_shelves, [&](const Shelf &one) { return one.id == shelf; });
        m_alerts[shelf].state = AlertState::Firing;
        Q_EMIT alertsChanged();
    }
    const std::vector<Shelf> &shelves() const override { return m_shelves; }

    /// Proof of life just now.
    void alive()
    {
        m_link.lastProof = m_clock.now();
        Q_EMIT linkChanged();
    }
    /// A lease of 15 s, renewed `sinceRenewal` ago, usually every 5 s.
    LeaseStatus &held(const std::string &name, const std::string &holder, Duration sinceRenewal = 1s, std::uint64_t token = 118)
    {
        LeaseStatus &status = m_leases[LeaseId::observed(name)];
        status.record.lease = LeaseId::observed(name);
        status.record.holder = holder;
        status.record.token = FencingToken{token};
        status.record.ttl = 15000ms;
        status.record.remaining = 15s - sinceRenewal;
        status.record.raw = holder + "#6f1d2c3b4a5968778695a4b3c2d1e0f1";
        status.seenAt = m_clock.now();
        status.firstSeenAt = m_clock.now() - 1h;
        status.lastRenewalAt = m_clock.now() - sinceRenewal;
        status.expiresAt = status.lastRenewalAt + 15s;
        status.uncertainty = 350us;
        status.roundTrip = 700us;
        status.holderSince = m_clock.now() - 182s;
        status.holderSinceExact = true;
        status.renewInterval = 5s;
        for (int i = 0; i < 48; ++i)
            status.renewals.push_back({status.lastRenewalAt - 5s * (48 - i), 5s, 0.66, false});
        status.renewalsSeen = 48;
        return status;
    }
    LeaseStatus &vacant(const std::string &name, const std::string &last, Duration since)
    {
        LeaseStatus &status = held(name, last);
        status.record.holder.reset();
        status.record.remaining.reset();
        status.record.released = true;
        status.expiresAt.reset();
        status.holderSince = m_clock.now() - since;
        status.terms = {{last, {117}, m_clock.now() - 10min, m_clock.now() - since, true, false},
            {std::string(), {}, m_clock.now() - since, std::nullopt, true, false}};
        status.transitionTimes = {m_clock.now() - 10min, m_clock.now() - since};
        status.transitionsSeen = 2;
        return status;
    }
    void tellAll()
    {
        std::vector<LeaseId> ids;
        for (const auto &[id, status] : m_leases)
            ids.push_back(id);
        Q_EMIT leasesChanged(ids);
    }
    void tell(const std::string &name) { Q_EMIT leasesChanged({LeaseId::observed(name)}); }
    void drop(const std::string &name)
    {
        m_leases.erase(LeaseId::observed(name));
        Q_EMIT leasesRemoved({LeaseId::observed(name)});
    }

    const Clock &m_clock;
    ConnectionInfo m_info;
    LinkStatus m_link;
    StoreTraits m_traits;
    std::map<LeaseId, LeaseStatus> m_leases;
    std::vector<Transition> m_transitions;
    std::map<std::uint64_t, Alert> m_alerts;
    std::vector<Shelf> m_shelves;
    bool m_canWrite = false;
    LeaseId m_focused;
};

} // namespace tenure::ui::test
