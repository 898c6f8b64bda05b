// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/memory/memory_backend.h"

namespace tenure
{

/// Push from a server in this process: Opened at once, every change in order, Alive each quiet second.
[[nodiscard]] std::unique_ptr<LeaseFeed> makeMemoryFeed(std::shared_ptr<MemoryServer> server);

} // namespace tenure
