// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace tenure::ctl
{

/// Every living descendant of `ancestor` (not itself, no zombies), from /proc. A process that made a
/// session of its own or whose parents died is still one when `ancestor` is a subreaper.
[[nodiscard]] std::vector<pid_t> descendantsOf(pid_t ancestor);

/// Sends `signal` to every descendant of `ancestor` that is not in the process group `except`.
/// Returns how many there were.
std::size_t signalDescendants(pid_t ancestor, int signal, pid_t except = 0);

/// Where `command` would be executed from, as execvp() finds it; empty with errno set when nowhere.
[[nodiscard]] std::string executableOf(const std::string &command);

} // namespace tenure::ctl
