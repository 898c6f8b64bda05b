// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"

namespace tenure
{

/// Leases in PostgreSQL 12 or newer (DESIGN.md section 4), on a table of ours or, with
/// mode=advisory, as session locks.
[[nodiscard]] Result<std::shared_ptr<const Backend>> makePostgresBackend(const StoreUri &uri);

} // namespace tenure
