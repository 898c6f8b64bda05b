// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/work/work_queue.h"

namespace tenure
{

/// A queue in the schema that the URL names, beside its leases, for any number of machines; each call
/// is one statement, judged by the server's clock, and claims pass over what others are claiming
/// (SKIP LOCKED). Connects to nothing yet.
[[nodiscard]] Result<std::unique_ptr<WorkQueue>> makePostgresWorkQueue(
    const StoreUri &uri, const std::string &queue);

} // namespace tenure
