// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/base/clock.h"

#include <memory>
#include <string>
#include <vector>

namespace tenure
{

/// More queues than a person would look through.
inline constexpr std::size_t kMaxQueueNames = 1000;

/// Which queues a store has. Looks only: makes no file, no table, no row. Keeps its connection between
/// calls and opens another when that one broke. One owner, one thread at a time.
class QueueNames
{
public:
    QueueNames() = default;
    QueueNames(const QueueNames &) = delete;
    QueueNames &operator=(const QueueNames &) = delete;
    virtual ~QueueNames() = default;

    /// In the order of names, at most kMaxQueueNames. NotFound: no queue was ever made here. Blocks
    /// at most until `deadline`.
    [[nodiscard]] virtual Result<std::vector<std::string>> read(Instant deadline) = 0;
};

/// Connects to nothing yet. Refuses the stores that openWorkQueue() refuses, in the same words.
[[nodiscard]] Result<std::unique_ptr<QueueNames>> openQueueNames(const StoreUri &uri);

} // namespace tenure
