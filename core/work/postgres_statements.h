// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace tenure
{

/// The queue's statements for one schema. $1 is always the queue's name.
struct PostgresWorkStatements {
    explicit PostgresWorkStatements(const std::string &schema);
    std::string init, makeQueue, guard, raiseFence, insert, findKeys, claim, settle, bury, reclaim, retry,
        counts, items;
};

} // namespace tenure
