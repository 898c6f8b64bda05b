// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <optional>
#include <string>
#include <vector>

namespace tenure
{

/// Rights that a release by hand needs and whoever is signed in here lacks.
struct MissingRights {
    std::string what; ///< "missing `patch leases` in billing"; empty: nothing that is known of
    std::string forAdmin; ///< to be sent to who grants them: what, for whom, and the commands for it
    bool operator==(const MissingRights &) const = default;
};

/// What the backend itself wrote down about a lease.
struct BackendEvent {
    std::optional<WallTime> at; ///< server time
    std::string by; ///< who reported it
    std::string text; ///< raw bytes; display through printable()
    bool operator==(const BackendEvent &) const = default;
};

/// What a person who opens a lease wants to know beside its record. It is asked for when the lease is
/// opened, not watched.
struct LeaseAside {
    MissingRights release;
    std::vector<BackendEvent> events; ///< newest first, only the latest
    std::string noEvents; ///< why they cannot be read, a sentence; empty: they can, or there are none here
    bool operator==(const LeaseAside &) const = default;
};

} // namespace tenure
