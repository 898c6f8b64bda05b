// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <functional>

namespace tenure::ui
{

/// Runs `job` on a thread of its own and forgets it: for the end of things whose destructors wait for
/// a hung backend, which the GUI thread never does. Any thread.
void retire(std::function<void()> job);

/// At the end of main: waits until all retired jobs are done, at most `limit`. False when some still
/// run; the process then has to leave without running destructors.
[[nodiscard]] bool finishRetired(Duration limit);

} // namespace tenure::ui
