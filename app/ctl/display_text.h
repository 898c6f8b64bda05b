// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::ctl
{

/// How many terminal cells valid UTF-8 takes: East Asian and emoji two, combining marks none.
[[nodiscard]] std::size_t displayWidth(std::string_view text);

enum class Align { Left, Right };

/// `text` in exactly `width` cells: padded, or cut with "…" (an ellipsis).
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width, Align align = Align::Left);
/// `text` in at most `width` cells.
[[nodiscard]] std::string cut(std::string_view text, std::size_t width);

} // namespace tenure::ctl
