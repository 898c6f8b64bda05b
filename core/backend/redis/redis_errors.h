// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace tenure::redis
{

/// A server's error reply ("READONLY You can't write...") as what the caller can do about it. Also
/// when the code is wrapped inside a script's error, as Redis 6 does. `where` without secrets.
[[nodiscard]] Error errorOf(std::string_view message, const std::string &where);

/// True when the script must be sent as a whole.
[[nodiscard]] bool isNoScript(std::string_view message);

} // namespace tenure::redis
