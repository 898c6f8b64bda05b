// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::kube
{

/// Standard base64; white space between is ignored (YAML folds long lines). Nothing for anything else.
[[nodiscard]] std::optional<std::string> base64Decoded(std::string_view text);
[[nodiscard]] std::string base64Encoded(std::string_view bytes);

} // namespace tenure::kube
