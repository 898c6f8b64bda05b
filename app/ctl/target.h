// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"
#include "core/runtime/demo_world.h"

#include <memory>
#include <optional>
#include <string>

namespace tenure::ctl
{

/// What the person named: a place of leases and perhaps one lease. With TENURE_URL set, the URL may
/// be left out and a lone argument is the lease.
struct Named {
    std::optional<std::string> url;
    std::optional<std::string> lease;
};

enum class NeedsLease { No, Optional, Yes };

/// Sorts out the arguments. `environmentUrl` is TENURE_URL, nothing when unset or empty. BadConfig:
/// one sentence about what is missing.
[[nodiscard]] Result<Named> sortArguments(
    Named typed, NeedsLease needs, const std::optional<std::string> &environmentUrl);
[[nodiscard]] std::optional<std::string> environmentUrl();

/// An opened URL. `demo:` brings a world of its own, which ends with this.
struct Target {
    std::string display; ///< without secrets
    std::unique_ptr<DemoWorld> demo;
    std::shared_ptr<const Backend> backend;
};

/// Connects to nothing yet. The password comes from TENURE_PASSWORD when the URL has none.
[[nodiscard]] Result<Target> openTarget(const std::string &url);

/// Longest time one call of a one-shot command may take.
inline constexpr Duration kCallTimeout = std::chrono::seconds(5);

/// One lease as it is now. NotFound when the backend knows nothing of it is not an error here: the
/// record then has no holder.
struct Look {
    LeaseRecord record;
    std::optional<WallTime> serverTime;
    Duration roundTrip{};
    Instant receivedAt;
};
[[nodiscard]] Result<Look> readLease(LeaseStore &store, const LeaseId &lease);

} // namespace tenure::ctl
