// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

namespace tenure::ctl
{

/// Where a long-running command waits: for SIGINT, SIGTERM or SIGHUP (which it takes over from their
/// default while it lives), for a key, for its reader to go away, or for another thread's nudge.
/// Create it before any thread is started, so that all of them leave the signals to it.
class Interrupts
{
public:
    enum class Keys { Ignored, Watched };
    enum class Wake {
        Timeout,
        Nudged,
        Interrupted, ///< a signal asked to end
        Key, ///< something can be read from standard input
        ReaderGone, ///< standard output is closed at the other end
    };

    explicit Interrupts(Keys keys = Keys::Ignored);
    ~Interrupts();
    Interrupts(const Interrupts &) = delete;
    Interrupts &operator=(const Interrupts &) = delete;

    /// Returns the first reason. One thread.
    [[nodiscard]] Wake wait(Duration timeout);
    /// Ends a wait. Any thread.
    void nudge();

private:
    int m_signals = -1;
    int m_nudges = -1;
    Keys m_keys;
};

} // namespace tenure::ctl
