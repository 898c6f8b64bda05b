// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/foreign_verbs.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenure
{
namespace
{

/// Does it take part in Kubernetes' coordinated leader election?
bool coordinated(const LeaseRecord &record)
{
    return std::any_of(record.facts.begin(), record.facts.end(),
        [](const RecordFact &fact) { return fact.name == "strategy"; });
}

} // namespace

std::string whyNotReleased(const LeaseRecord &record, OperatorVerb verb)
{
    const std::string &kind = record.kind;
    if (kind == "quartz") {
        return "A member of a Quartz cluster is no leader, and its locks last as long as a "
               "transaction: "
               "stop the member, the others take its work over";
    }
    if (kind == "node heartbeat" || kind == "API server")
        return "This Lease is a sign of life, not an election: nobody else would take it";
    if (kind == "endpoints" || kind == "configmap") {
        return "This election is kept in an annotation that its holder rewrites with each renewal: no "
               "write can be made sure to meet its very term. Restart the holder, the others take over";
    }
    switch (verb) {
    case OperatorVerb::Ask:
        if (kind == "client-go" && coordinated(record))
            break; // a leader that is not preferred gives way
        if (kind == "vault")
            return "Vault is asked with its own command: vault operator step-down";
        if (kind == "advisory")
            return "A session understands no request: ask the people who run it, or clear to end "
                   "the session";
        if (kind != "tenure" && kind != "river") {
            return "A holder of the format \"" + printable(kind, 40)
                + "\" understands no request; hold or clear instead";
        }
        break;
    case OperatorVerb::Hold:
        if (kind == "advisory")
            return "An advisory lock lives with its session: nobody can hold it for a time; clear "
                   "ends the session";
        if (kind == "pglock")
            return "This format knows no time, so a hold would keep nobody out; clear instead";
        break;
    case OperatorVerb::Clear:
        if (kind == "vault" && !record.hold)
            return "Vault would take it again by itself within 5 s: hold it, or run vault operator "
                   "step-down";
        if (kind == "advisory" && record.version.empty())
            return "It is not one session of a client, seen with its start, that holds it: nothing "
                   "is ended";
        break;
    }
    return {};
}

} // namespace tenure
