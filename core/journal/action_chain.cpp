// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/action_chain.h"

#include "core/base/sha256.h"

namespace tenure
{

std::string chainedHash(const std::string& before, const JournalAction& action)
{
    std::string all;
    const auto add = [&all](const std::string& field) {
        all += std::to_string(field.size()) + ":" + field + ",";
    };
    add(before);
    add(std::to_string(action.id));
    add(std::to_string(action.intent));
    add(std::to_string(action.at.time_since_epoch().count()));
    for (const std::string* field : {&action.by, &action.lease.connection, &action.lease.lease.name(),
             &action.verb, &action.expected, &action.reason, &action.outcome, &action.sentence})
        add(*field);
    return sha256Hex(all);
}

} // namespace tenure
