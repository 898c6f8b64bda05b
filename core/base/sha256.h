// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace tenure
{

/// SHA-256 (FIPS 180-4) as 64 lower-case hex digits. For chains and signatures, not for passwords.
[[nodiscard]] std::string sha256Hex(std::string_view bytes);
/// HMAC-SHA-256 (RFC 2104) as 64 lower-case hex digits.
[[nodiscard]] std::string hmacSha256Hex(std::string_view key, std::string_view message);

} // namespace tenure
