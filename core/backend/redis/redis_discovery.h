// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/redis/redis_commands.h"

namespace tenure::redis
{

/// One page of leases, ours and others', found by SCAN (never KEYS) with plain reads. A page ends
/// after `pageSize` leases or a budget of time, whichever is first; its cursor is SCAN's.
[[nodiscard]] Result<Reply> listPage(
    RespConnection &connection, const Settings &settings, const List &list, Instant deadline);

} // namespace tenure::redis
