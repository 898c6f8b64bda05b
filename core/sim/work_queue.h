// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/identity.h"
#include "core/sim/setup.h"

#include <map>
#include <vector>

namespace tenure::sim
{

/// One item of the queue, for people.
struct WorkItem {
    enum class State { Pending, Processing, Done } state = State::Pending;
    int by = -1; ///< who works on it or did it
    FencingToken token;
    std::uint64_t serial = 0;
    std::vector<std::pair<int, FencingToken>> effects; ///< who had an effect, in order
};

/// The resource that leaders write to. With fencing on it refuses a token below the largest that it
/// has seen; with fencing off it takes everything, as most resources do.
class WorkQueue
{
public:
    WorkQueue(const WorkSpec &spec, Scorecard &score) : m_spec(spec), m_score(score), m_items(static_cast<std::size_t>(spec.items)) { }

    enum class Answer { Done, Refused, Empty };
    /// The next item to work on: one that nobody has, else one that an earlier term left.
    [[nodiscard]] Answer claim(int who, FencingToken token, std::uint64_t serial, int &item);
    /// The next item that `who` has not worked on: for somebody who goes through the whole list alone.
    [[nodiscard]] Answer next(int who, int &item);
    /// The item's effect on the world. Answers Done also when a key made it harmless.
    [[nodiscard]] Answer effect(int who, FencingToken token, std::uint64_t serial, int item);
    [[nodiscard]] Answer acknowledge(FencingToken token, std::uint64_t serial, int item);
    [[nodiscard]] const std::vector<WorkItem> &items() const { return m_items; }
    [[nodiscard]] FencingToken largest() const { return m_largest; }
    /// The last effect came from a leader that another had followed.
    [[nodiscard]] bool lastWasStale() const { return m_lastWasStale; }

private:
    [[nodiscard]] bool fenced(FencingToken token, std::uint64_t serial);

    const WorkSpec m_spec;
    Scorecard &m_score;
    std::vector<WorkItem> m_items;
    std::size_t m_firstOpen = 0; ///< all before are done
    std::map<int, std::size_t> m_own; ///< how far those are who go through the list alone
    FencingToken m_largest;
    std::uint64_t m_latest = 0; ///< the latest grant that asked for anything here
    bool m_lastWasStale = false;
};

} // namespace tenure::sim
