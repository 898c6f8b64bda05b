// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <map>
#include <set>
#include <vector>

namespace tenure
{

/// What is known of every lease of one connection: a reducer from observations to status and
/// transitions. Pure: no clock, no I/O. One owner, one thread.
class Fleet
{
public:
    /// Takes in one look; returns the transitions that follow from it (none for a mere renewal).
    /// Several transitions that happened between two looks are told as what can be known ("at
    /// least").
    std::vector<Transition> apply(const Observation& observation, WallTime wall);
    /// Lets time pass: leases that ran out unrenewed while the link was fresh become Expired here,
    /// not at the next look. Returns their transitions. `linkFresh` false does nothing.
    std::vector<Transition> tick(Instant now, WallTime wall, bool linkFresh);
    /// Nobody looked from `from` to `until`: noted on every lease.
    void noteBlindSpot(Instant from, Instant until);
    /// Marks or unmarks a lease as churning (the rules decide).
    void setChurning(const LeaseId& lease, bool churning);
    void forget(const LeaseId& lease);

    [[nodiscard]] const LeaseStatus* find(const LeaseId& lease) const;
    [[nodiscard]] const std::map<LeaseId, LeaseStatus>& all() const { return m_leases; }
    /// The leases touched since the last call, for deltas.
    [[nodiscard]] std::vector<LeaseId> takeTouched();
    /// The earliest moment at which tick() would find something to do.
    [[nodiscard]] std::optional<Instant> nextExpiry() const;

private:
    void schedule(const LeaseStatus& status);
    void unschedule(const LeaseId& lease);

    std::map<LeaseId, LeaseStatus> m_leases;
    /// When to look at a lease's expiry: one entry a lease, never later than its expiry.
    std::set<std::pair<Instant, LeaseId>> m_expiries;
    std::map<LeaseId, Instant> m_scheduled; ///< its entry in m_expiries
    std::set<LeaseId> m_touched;
    std::uint64_t m_transitions = 0;
};

} // namespace tenure
