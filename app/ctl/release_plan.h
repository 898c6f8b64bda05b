// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/exit_code.h"
#include "core/runtime/operator_gate.h"

#include <optional>
#include <string>

namespace tenure::ctl
{

/// What an outcome means to a script.
[[nodiscard]] Exit exitFor(const ReleaseReport &report);

/// Does what is stored fit what the person said? Nothing: it does. NotFound: nobody holds it.
/// Conflict: somebody else, or another term. A holder with odd bytes may be given as it is shown.
[[nodiscard]] std::optional<Error> mismatch(
    const LeaseRecord &record, const std::string &holder, std::optional<std::uint64_t> token);

[[nodiscard]] Result<OperatorVerb> parseMode(const std::string &mode);

/// "alice@host": who is written into the record and the audit trail.
[[nodiscard]] std::string operatorName();

} // namespace tenure::ctl
