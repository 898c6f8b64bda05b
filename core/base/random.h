// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace tenure
{

/// A small seeded generator (SplitMix64, Steele et al. 2014): the same seed gives the same numbers on
/// every machine and compiler, which the standard distributions do not promise. Not for secrets.
/// One owner, one thread.
class Random
{
public:
    explicit Random(std::uint64_t seed) : m_state(seed) { }
    std::uint64_t next()
    {
        std::uint64_t z = (m_state += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    /// Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
    /// Uniform in [0, bound); 0 for bound 0.
    std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
    bool chance(double probability) { return uniform() < probability; }

private:
    std::uint64_t m_state;
};

/// 64 bits from the kernel, to seed a Random or to make an identity unique.
[[nodiscard]] std::uint64_t systemEntropy();

/// `value` as 16 lower-case hex digits.
[[nodiscard]] std::string hex64(std::uint64_t value);

} // namespace tenure
