// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/work/work_queue.h"

namespace tenure
{

/// A queue in an SQLite file, for the processes of one machine; the file may hold leases as well.
/// Timeouts are judged by the boot clock with the boot id beside it: after a reboot every claim is over
/// and every delay has passed. Opens nothing yet.
[[nodiscard]] Result<std::unique_ptr<WorkQueue>> makeSqliteWorkQueue(
    const StoreUri &uri, const std::string &queue);

} // namespace tenure
