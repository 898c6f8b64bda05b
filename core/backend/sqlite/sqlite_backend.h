// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"

namespace tenure
{

/// Leases in one SQLite file, for the processes of one machine. Server time is this machine's boot
/// clock with the boot id beside it: a wall clock step changes nothing, a reboot ends every lease.
[[nodiscard]] Result<std::shared_ptr<const Backend>> makeSqliteBackend(const StoreUri &uri);

} // namespace tenure
