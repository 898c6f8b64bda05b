// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <string>

namespace tenure
{

/// One observation placed in local time: the server answered somewhere within the round trip, so
/// its moment is the middle of it, plus or minus half of it. Refers to the observation;
/// short-lived.
class Look
{
public:
    explicit Look(const Observation& observation);
    [[nodiscard]] const Observation& observation() const { return m_observation; }
    [[nodiscard]] const LeaseRecord& record() const { return m_observation.record; }
    [[nodiscard]] Instant middle() const { return m_middle; }
    [[nodiscard]] Duration uncertainty() const { return m_uncertainty; }
    /// A moment by the server's clock as a local one: the server's clock is compared with itself
    /// only.
    [[nodiscard]] std::optional<Instant> local(std::optional<WallTime> server) const;
    /// Does anybody hold the lease in this look?
    [[nodiscard]] bool held() const { return !m_observation.absent && record().holder.has_value(); }
    [[nodiscard]] bool onHold() const { return !m_observation.absent && record().hold.has_value(); }
    /// The local moment at which the present holder (or hold) runs out.
    [[nodiscard]] std::optional<Instant> expiresAt() const;

private:
    const Observation& m_observation;
    Instant m_middle;
    Duration m_uncertainty{};
};

/// Is the look's term the very one that `status` knows?
[[nodiscard]] bool isSameTerm(const LeaseStatus& status, const Look& look);
/// Takes in a renewal, if the look shows one: by the server's own renewal time, else by an expiry
/// that moved by more than two looks can be wrong.
void noteRenewal(LeaseStatus& status, const Look& look);
/// Replaces record and timing by what the look shows. Transitions are judged before, on the old
/// ones.
void takeIn(LeaseStatus& status, const Look& look);

// ---- The evidence in words (fleet_words.cpp). `status` is as it was before the look.
// ----------------

[[nodiscard]] std::string appearedText(const Look& look);
[[nodiscard]] std::string acquiredText(
    const LeaseStatus& status, const Look& look, const Transition& t);
[[nodiscard]] std::string takenOverText(
    const LeaseStatus& status, const Look& look, const Transition& t);
[[nodiscard]] std::string endedText(
    const LeaseStatus& status, const Look& look, const Transition& t);
[[nodiscard]] std::string expiredText(const LeaseStatus& status);
[[nodiscard]] std::string heldText(const LeaseStatus& status, const Look& look);

} // namespace tenure
