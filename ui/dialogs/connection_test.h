// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace tenure::ui
{

/// One line of a connection test, as it is told to a person.
struct TestStep {
    enum class State { Passed, Noted, Failed, Skipped };
    State state = State::Passed;
    std::string title; ///< "Sign-in"
    std::string detail; ///< what was found, or what is wrong and what to do
};

/// Tries a connection step by step: URL, connect, sign-in, server, notes, clock offset, round trip,
/// leases. Looking only; blocks at most about `limit`, so for a thread of its own. `tell` is called
/// there for each step, in order; none after `cancel` is set.
void runConnectionTest(const std::string &url, const std::string &password, const std::string &glob,
    Duration limit, const std::atomic<bool> &cancel, const std::function<void(TestStep)> &tell);

} // namespace tenure::ui
