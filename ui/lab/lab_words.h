// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "core/runtime/local_instances.h"

#include <QString>

namespace tenure::ui
{

/// The lab's words, apart from its widgets. Pure.

/// "● LEADER", "○ follower", "○ follower of B": what the instance itself believes.
[[nodiscard]] QString beliefText(const InstanceView &view);
/// "holds it", "drill-b holds it", "nobody", "? not observed": what the backend says.
[[nodiscard]] QString truthText(const InstanceView &view, const LeaseStatus *status, bool fresh);
/// The instance is wrong about itself: it believes to lead and does not, or the other way round.
[[nodiscard]] bool isMistaken(const InstanceView &view, const LeaseStatus *status, bool fresh);
/// "paused, 6.2 s left", "cut off", "crashed"; empty for a sound one.
[[nodiscard]] QString faultText(const InstanceView &view, Instant now);
[[nodiscard]] QString lifeText(const InstanceView &view);

} // namespace tenure::ui
