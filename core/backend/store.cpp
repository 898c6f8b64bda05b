// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/store.h"

namespace tenure
{

const LeaseId *leaseOf(const Command &command)
{
    return std::visit(
        [](const auto &c) -> const LeaseId * {
            if constexpr (std::is_same_v<std::decay_t<decltype(c)>, List>)
                return nullptr;
            else
                return &c.lease;
        },
        command);
}

} // namespace tenure
