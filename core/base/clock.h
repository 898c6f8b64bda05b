// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <mutex>

namespace tenure
{

using Duration = std::chrono::nanoseconds;
using Milliseconds = std::chrono::milliseconds;

/// The machine's boot clock (CLOCK_BOOTTIME): monotonic, and it counts the time a machine slept, so
/// that a lease held by a laptop that was closed is known to be over the moment it wakes.
struct BootClock {
    using duration = Duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<BootClock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};

/// A local moment. Never leaves the machine: clocks of two machines are never compared.
using Instant = BootClock::time_point;

/// A moment by a server's clock (or ours, for display only). Microseconds since the Unix epoch, UTC.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

/// Where time comes from. Everything that waits or judges is handed one; tests and simulations hand
/// in their own. Callable from any thread.
class Clock
{
public:
    Clock() = default;
    Clock(const Clock &) = delete;
    Clock &operator=(const Clock &) = delete;
    virtual ~Clock() = default;
    [[nodiscard]] virtual Instant now() const = 0;
    /// For display and for noticing that the wall clock jumped; never for judging a lease.
    [[nodiscard]] virtual WallTime wall() const = 0;
};

class SystemClock final : public Clock
{
public:
    [[nodiscard]] Instant now() const override { return BootClock::now(); }
    [[nodiscard]] WallTime wall() const override;
    /// The one stateless instance, for composition roots.
    static const SystemClock &instance();
};

/// A clock that moves only when told to. Callable from any thread.
class ManualClock final : public Clock
{
public:
    [[nodiscard]] Instant now() const override;
    [[nodiscard]] WallTime wall() const override;
    void advance(Duration by);
    /// A step of the wall clock alone, as an administrator or NTP would make it.
    void stepWall(Duration by);

private:
    mutable std::mutex m_mutex;
    Instant m_now{std::chrono::hours(1)};
    WallTime m_wall{std::chrono::microseconds(1'750'000'000'000'000)};
};

} // namespace tenure
