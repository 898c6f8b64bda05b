// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"

#include <atomic>
#include <memory>

namespace tenure
{

/// The faults a FaultyBackend is told to show; shared with whoever turns the knobs. Any thread.
struct Faults {
    std::atomic<bool> cutOff = false; ///< nothing arrives and nothing is answered: calls fail at their deadline or at once
    std::atomic<bool> loseReplies = false; ///< requests are carried out, answers never come
    std::atomic<std::int64_t> latencyMs = 0; ///< added to every call
    mutable std::atomic<int> failNext = 0; ///< that many calls fail before being sent; counts down
};

/// Decorates a backend with faults, for tests and for training (leveldb's fault_injection_env idea).
/// While cut off, its feed reports Closed and stays silent.
[[nodiscard]] std::shared_ptr<const Backend> makeFaultyBackend(
    std::shared_ptr<const Backend> real, std::shared_ptr<const Faults> faults, const Clock &clock);

} // namespace tenure
