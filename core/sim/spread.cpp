// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/spread.h"

#include "core/base/time_text.h"

#include <cmath>

namespace tenure::sim
{
namespace
{

/// e^x by range reduction and its series, with nothing that two machines round differently.
double plainExp(double x)
{
    constexpr double kLn2 = 0.693147180559945309417;
    const double turns = std::floor(x / kLn2 + 0.5);
    const double rest = x - turns * kLn2;
    double sum = 1;
    for (int n = 18; n >= 1; --n)
        sum = 1 + sum * rest / n;
    return std::ldexp(sum, static_cast<int>(turns));
}

/// A standard normal number as the sum of twelve uniform ones (Irwin and Hall): good to +-6 sigma.
double plainNormal(Random &random)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i)
        sum += random.uniform();
    return sum;
}

Duration scaled(Duration value, std::int64_t numerator, std::int64_t denominator)
{
    const std::int64_t whole = value.count() / denominator;
    const std::int64_t rest = value.count() % denominator;
    return Duration(whole * numerator + rest * numerator / denominator);
}

} // namespace

Duration Spread::draw(Random &random) const
{
    if (m_sigma > 0) {
        const double factor = plainExp(m_sigma * plainNormal(random));
        return Duration(static_cast<Duration::rep>(static_cast<double>(m_low.count()) * factor));
    }
    if (m_high <= m_low)
        return m_low;
    const auto width = static_cast<std::uint64_t>((m_high - m_low).count()) + 1;
    return m_low + Duration(static_cast<Duration::rep>(random.below(width)));
}

std::string Spread::text() const
{
    if (m_sigma > 0)
        return "about " + durationText(m_low);
    if (m_low == m_high)
        return durationText(m_low);
    return durationText(m_low) + " to " + durationText(m_high);
}

Instant NodeClock::at(Duration world) const
{
    return Instant(m_local + scaled(world - m_world, m_rate, kTrueRate));
}

Duration NodeClock::worldAt(Instant local) const
{
    Duration world = m_world + scaled(local.time_since_epoch() - m_local, kTrueRate, m_rate);
    while (at(world) < local)
        ++world;
    return world;
}

void NodeClock::setRate(Duration world, std::int64_t ratePpm)
{
    m_local = at(world).time_since_epoch();
    m_world = world;
    m_rate = ratePpm;
}

Random streamOf(std::uint64_t seed, std::uint64_t number)
{
    return Random(Random(seed * 0x9E3779B97F4A7C15U + number).next());
}

} // namespace tenure::sim
