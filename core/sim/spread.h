// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/random.h"

#include <string>

namespace tenure::sim
{

/// A length of time that is drawn anew for each message or piece of work. The same numbers on every
/// machine: whole numbers, and for the lognormal only operations that IEEE 754 rounds in one way (the
/// room is compiled without contraction), never the library's exp().
class Spread
{
public:
    Spread() = default;
    [[nodiscard]] static Spread fixed(Duration value) { return {value, value, 0}; }
    [[nodiscard]] static Spread uniform(Duration low, Duration high) { return {low, high, 0}; }
    /// Median and the standard deviation of the logarithm.
    [[nodiscard]] static Spread logNormal(Duration median, double sigma) { return {median, median, sigma}; }

    [[nodiscard]] Duration draw(Random &random) const;
    [[nodiscard]] Duration low() const { return m_low; }
    [[nodiscard]] Duration high() const { return m_high; }
    [[nodiscard]] bool isZero() const { return m_high == Duration::zero(); }
    [[nodiscard]] std::string text() const; ///< "0.2 ms to 3 s"

private:
    Spread(Duration low, Duration high, double sigma) : m_low(low), m_high(high), m_sigma(sigma) { }
    Duration m_low{};
    Duration m_high{};
    double m_sigma = 0;
};

/// A share in millionths, so that chance needs no floating point.
struct Share {
    std::int64_t ppm = 0;
    [[nodiscard]] bool happens(Random &random) const
    {
        return ppm > 0 && static_cast<std::int64_t>(random.below(1'000'000)) < ppm;
    }
};

/// A clock that runs beside the world's: at a rate of its own that may change. Exact whole numbers.
class NodeClock
{
public:
    static constexpr std::int64_t kTrueRate = 1'000'000; ///< local millionths a world second
    explicit NodeClock(Duration offset = {}) : m_local(offset) { }

    [[nodiscard]] Instant at(Duration world) const;
    /// The first world moment at which this clock shows `local` or later.
    [[nodiscard]] Duration worldAt(Instant local) const;
    void setRate(Duration world, std::int64_t ratePpm);
    [[nodiscard]] std::int64_t rate() const { return m_rate; }

private:
    Duration m_world{}; ///< since then this rate holds,
    Duration m_local{}; ///< when it showed this
    std::int64_t m_rate = kTrueRate;
};

/// Stream `number` of `seed`: what one part of the world draws does not move what another draws.
[[nodiscard]] Random streamOf(std::uint64_t seed, std::uint64_t number);

} // namespace tenure::sim
