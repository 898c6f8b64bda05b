// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/work/work_queue.h"

namespace tenure
{

/// The queue of that name where the URL says: sqlite and postgresql. Connects to nothing yet.
/// Unsupported: a store without queues.
[[nodiscard]] Result<std::unique_ptr<WorkQueue>> openWorkQueue(const StoreUri &uri, const std::string &queue);

} // namespace tenure
