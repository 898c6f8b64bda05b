// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/run_guardian.h"

#include <csignal>

namespace tenure::ctl
{

/// What the guardian is told, one datagram an order.
struct GuardOrder {
    enum class Kind { Begin, Extend, Pass, Kill };
    Kind kind = Kind::Begin;
    GuardLimits limits;
    std::uint64_t token = 0;
    int signal = 0;
    Terminal terminal = Terminal::Leave;
};

/// The guardian's life, in its own process with one thread. `original` is the signal mask for COMMAND.
[[noreturn]] void runGuardian(int socket, const GuardedCommand &command, const sigset_t &original);

} // namespace tenure::ctl
