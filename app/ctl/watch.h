// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/exit_code.h"
#include "app/ctl/output.h"
#include "core/lease/identity.h"

#include <optional>
#include <string>

namespace tenure::ctl
{

enum class WatchFormat {
    ForPeople, ///< a live screen on a terminal, one line a change otherwise
    JsonLines, ///< one object a line
};

struct WatchRequest {
    std::string url;
    std::string glob = "*";
    std::optional<LeaseId> only; ///< one lease in full, instead of all that match
    WatchFormat format = WatchFormat::ForPeople;
    std::string journal; ///< keep what is seen in this file; empty: nowhere
};

/// Watches until q, Ctrl-C, SIGTERM or the reader's end. Fails at once when the first connection
/// does; afterwards it reconnects for ever and says so.
Exit watch(const WatchRequest &request, Output &output);

} // namespace tenure::ctl
