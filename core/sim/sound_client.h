// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/client.h"

namespace tenure::sim
{

/// The shell around decide() that core/runtime's elector is in real life.
class SoundClient final : public Client
{
public:
    SoundClient(const ClientTiming &timing, Plant plant, ClientHost &host);
    void start() override { feed({.kind = Event::Kind::Start}); }
    void timer() override { feed({.kind = Event::Kind::Timer}); }
    void answered(const Ask &ask, const StoreAnswer &answer, Instant sentAt) override;
    void pushedFree() override { feed({.kind = Event::Kind::PushFree}); }
    void handlersDone() override { feed({.kind = Event::Kind::HandlersDone}); }
    void giveBack() override { feed({.kind = Event::Kind::ReleaseAsked}); }
    void stop() override { feed({.kind = Event::Kind::StopAsked}); }
    [[nodiscard]] Instant believesUntil() const override { return m_state.validUntil; }
    [[nodiscard]] Instant wakeAt() const override { return m_state.wakeAt; }
    [[nodiscard]] FencingToken token() const override { return m_state.token; }
    [[nodiscard]] std::uint64_t serial() const override { return m_serial; }
    [[nodiscard]] std::string phase() const override { return phaseName(m_state.phase); }
    [[nodiscard]] const ElectionState &state() const { return m_state; }

private:
    void feed(Event event);
    [[nodiscard]] bool judgesItself() const { return m_expiry == Expiry::Observed; }
    /// Expiry::Observed: what is left of the record by one's own clock.
    [[nodiscard]] Duration leftOf(const StoreAnswer &answer);
    void perform(const Action &action);

    const ElectionRules m_rules;
    const Plant m_plant;
    const Expiry m_expiry;
    ClientHost &m_host;
    ElectionState m_state;
    std::uint64_t m_serial = 0;
    /// Expiry::Observed: the record as last seen, and since when it has been so.
    struct Observed {
        std::uint64_t version = 0;
        Instant since;
        Duration ttl{};
        [[nodiscard]] bool isOver(Instant now) const { return version != 0 && now - since >= ttl; }
    } m_observed;
};

} // namespace tenure::sim
