// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/player.h"

#include "core/sim/chaos.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kLongestStep = 10s; ///< when nothing happens

} // namespace

Player::Player(Setup setup, std::uint64_t seed) : m_setup(withChaos(setup, seed)), m_seed(seed)
{
    restart();
}

void Player::restart()
{
    m_world = std::make_unique<World>(m_setup, WorldOptions{.seed = m_seed, .keepLog = true});
    m_done = 0;
}

void Player::perform(const Deed &deed)
{
    if (deed.step)
        m_world->apply(*deed.step);
    else
        m_world->lift(deed.lift);
}

void Player::seek(Duration to)
{
    to = std::clamp<Duration>(to, 0ns, end());
    if (to < now())
        restart();
    while (m_done < m_deeds.size() && m_deeds[m_done].at <= to) {
        m_world->advanceTo(m_deeds[m_done].at);
        perform(m_deeds[m_done++]);
    }
    m_world->advanceTo(to);
}

void Player::stepForward()
{
    const std::size_t lines = m_world->log().size();
    const Duration limit = std::min(end(), now() + kLongestStep);
    while (now() < limit && m_world->log().size() == lines)
        seek(std::min(limit, std::max(m_world->nextAt(), now() + 1ns)));
}

void Player::stepBack()
{
    const std::vector<LogEvent> &log = m_world->log();
    Duration before{};
    for (auto it = log.rbegin(); it != log.rend() && before == 0ns; ++it) {
        if (it->at < now())
            before = it->at;
    }
    seek(before);
}

void Player::record(Deed deed)
{
    fork();
    m_deeds.push_back(std::move(deed));
    perform(m_deeds.back());
    m_done = m_deeds.size();
}

void Player::apply(const Step &step)
{
    record({now(), step});
}

void Player::lift(std::uint64_t fault)
{
    record({now(), std::nullopt, fault});
}

void Player::clearFaults()
{
    Step clear;
    clear.verb = Step::Verb::Clear;
    clear.text = "clear";
    apply(clear);
}

void Player::fork()
{
    m_deeds.resize(std::min(m_deeds.size(), m_done));
}

bool Player::hasFuture() const
{
    return m_done < m_deeds.size();
}

} // namespace tenure::sim
