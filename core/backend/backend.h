// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/feed.h"
#include "core/backend/store.h"
#include "core/backend/uri.h"

#include <memory>

namespace tenure
{

/// One place of leases, ready to be connected to: makes stores and feeds that share settings, each
/// with a connection of its own. Copyable by shared_ptr; callable from any thread; holds no
/// connection itself.
class Backend
{
public:
    Backend() = default;
    Backend(const Backend &) = delete;
    Backend &operator=(const Backend &) = delete;
    virtual ~Backend() = default;

    [[nodiscard]] virtual const StoreTraits &traits() const = 0;
    [[nodiscard]] virtual std::unique_ptr<LeaseStore> makeStore() const = 0;
    /// Nothing when the backend cannot push; observers then poll and say so.
    [[nodiscard]] virtual std::unique_ptr<LeaseFeed> makeFeed() const = 0;
};

/// Opens nothing, connects to nothing. BadConfig: what is wrong with the URL and how it is written.
/// Unsupported: a known scheme whose backend this build does not have.
[[nodiscard]] Result<std::shared_ptr<const Backend>> makeBackend(const StoreUri &uri);

} // namespace tenure
