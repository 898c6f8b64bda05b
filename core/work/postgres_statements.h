// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/work/work_queue.h"

#include <string>

namespace tenure
{

/// The queue's statements for one schema. $1 is always the queue's name.
struct PostgresWorkStatements {
    explicit PostgresWorkStatements(const std::string &schema);
    std::string init, makeQueue, guard, raiseFence, insert, findKeys, settle, bury, reclaim, retry, counts;
    [[nodiscard]] std::string claim(std::size_t limit) const;
    [[nodiscard]] std::string items(ItemState state) const;

private:
    std::string m_claim, m_items;
};

} // namespace tenure
