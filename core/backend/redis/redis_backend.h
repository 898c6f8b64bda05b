// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"

namespace tenure
{

/// Leases in Redis 6 or newer (DESIGN.md section 4): redis, rediss, redis+unix, redis+sentinel.
[[nodiscard]] Result<std::shared_ptr<const Backend>> makeRedisBackend(const StoreUri &uri);

} // namespace tenure
