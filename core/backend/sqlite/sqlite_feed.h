// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/feed.h"

#include <memory>
#include <string>

namespace tenure
{

/// Watches the file's directory (inotify) and tells each lease that was written. A file that does not
/// exist yet is waited for. Looking only.
[[nodiscard]] std::unique_ptr<LeaseFeed> makeSqliteFeed(std::string path);

} // namespace tenure
