// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/output.h"
#include "core/runtime/monitor.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenure::ctl
{

/// All that a watch knows, put together from the monitor's deltas.
struct WatchState {
    std::string display; ///< URL without secrets
    std::optional<LeaseId> only;
    std::map<LeaseId, LeaseStatus> leases;
    std::map<std::uint64_t, Alert> alerts; ///< firing or acknowledged
    std::deque<Transition> recent; ///< the last 100, newest first
    LinkStatus link;
    bool complete = false; ///< every lease was seen at least once
    bool capped = false;

    void take(const FleetDelta &delta);
};

/// One way of showing it. One thread.
class WatchView
{
public:
    WatchView() = default;
    WatchView(const WatchView &) = delete;
    WatchView &operator=(const WatchView &) = delete;
    virtual ~WatchView() = default;
    /// `state` has taken `delta` in already.
    virtual void show(const WatchState &state, const FleetDelta &delta) = 0;
    /// Several times a second, also when nothing changed.
    virtual void tick(const WatchState &) { }
    /// Something was typed; false: end.
    virtual bool key(const WatchState &) { return true; }
};

[[nodiscard]] std::unique_ptr<WatchView> makeJsonView(Output &output);
/// One line a transition, for pipes and logs.
[[nodiscard]] std::unique_ptr<WatchView> makeLineView(Output &output);
/// A screen that is painted in place; leaves the terminal as it was.
[[nodiscard]] std::unique_ptr<WatchView> makeScreenView(Output &output);

} // namespace tenure::ctl
