// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace tenure::postgres
{

/// The server's error, by its SQLSTATE, as what the caller can do about it. `message` is the
/// server's own sentence (any language). `where` without secrets.
[[nodiscard]] Error errorOf(
    std::string_view sqlstate, std::string_view message, const std::string &where);

/// A connection that did not come about, by libpq's text with verbose errors: the SQLSTATE in it if
/// the server spoke, otherwise what TLS, the network or the local files said.
[[nodiscard]] Error connectError(std::string_view message, const std::string &where);

/// The connection is gone; nobody knows what became of a statement that was under way.
[[nodiscard]] Error brokenConnection(std::string_view message, const std::string &where);

/// The deadline passed first.
[[nodiscard]] Error noAnswer(const std::string &where);

/// The SQLSTATE inside a verbose error text ("FATAL:  28P01: ..."), or an empty text.
[[nodiscard]] std::string sqlstateIn(std::string_view message);

/// The values themselves were the fault (encoding, length, range): only this command is affected.
[[nodiscard]] bool isDataError(std::string_view sqlstate);

} // namespace tenure::postgres
