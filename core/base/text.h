// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace tenure
{

/// True for well-formed UTF-8 (no overlong forms, surrogates or values past U+10FFFF).
[[nodiscard]] bool isUtf8(std::string_view bytes);

/// Any bytes as one printable line: control characters, line separators, bidirectional overrides and
/// bytes that are not UTF-8 become `\n`, `\t`, `\xNN` or `\u{N}`; more than `maxBytes` is cut at a
/// character with "...". What a person sees of foreign values always passes through here.
[[nodiscard]] std::string printable(std::string_view bytes, std::size_t maxBytes = 512);

/// Shell-like glob over bytes: `*` any run, `?` one byte, everything else itself. Linear time.
[[nodiscard]] bool globMatch(std::string_view pattern, std::string_view text);

/// `text` in single quotes for a POSIX shell, unchanged when it needs none.
[[nodiscard]] std::string shellQuoted(std::string_view text);

} // namespace tenure
