// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/world.h"

namespace tenure::sim
{

/// A world for the search: `instances` sound electors, a network that loses, doubles and reorders,
/// clocks that differ by just under what is allowed, and a random fault every 2 s or so.
[[nodiscard]] Setup chaosSetup(int instances, Duration length = std::chrono::seconds(90));

/// The faults that befall `setup` under `seed`: a function of both. They end early enough for the
/// world to heal before its end.
[[nodiscard]] std::vector<Step> chaosSteps(const Setup &setup, std::uint64_t seed);

/// `setup` with the random faults of `seed` among its steps, when it wants any.
[[nodiscard]] Setup withChaos(const Setup &setup, std::uint64_t seed);

} // namespace tenure::sim
