// SPDX-License-Identifier: GPL-3.0-or-later
// How a Lease is told: as a record, with what is odd about it.
#include "core/backend/kubernetes/kube_legacy.h"
#include "core/backend/kubernetes/kube_time.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::kube
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kWorthTelling = 1500ms; ///< skew beyond what the clocks' grain explains
constexpr std::int64_t kOddSeconds = 24LL * 3600; ///< a longer duration is nobody's intention

const char *kindOf(const LeaseObject &object)
{
    switch (object.leaseClass) {
    case LeaseClass::NodeHeartbeat:
        return "node heartbeat";
    case LeaseClass::ApiServer:
        return "API server";
    case LeaseClass::Endpoints:
        return "endpoints";
    case LeaseClass::ConfigMap:
        return "configmap";
    case LeaseClass::Election:
        break;
    }
    const bool vacant = !object.held() && object.token;
    return object.ours() || vacant ? "tenure" : "client-go";
}

/// client-go's controllers call themselves "<host name>_<uuid>", and in a pod the host name is the pod's.
std::string podOf(const LeaseObject &object)
{
    const std::string &holder = *object.holder;
    const std::size_t mark = holder.rfind('_');
    constexpr std::size_t kUuid = 36;
    if (object.ours() || mark == std::string::npos || mark == 0 || holder.size() - mark - 1 != kUuid)
        return {};
    const std::string_view uuid = std::string_view(holder).substr(mark + 1);
    if (uuid.find_first_not_of("0123456789abcdef-") != std::string_view::npos)
        return {};
    return holder.substr(0, mark);
}

void addFact(LeaseRecord &record, const char *name, std::string value)
{
    if (!value.empty())
        record.facts.push_back({name, std::move(value)});
}

std::string skewText(Duration skew)
{
    const Duration size = skew < Duration::zero() ? -skew : skew;
    return durationText(size) + (skew > Duration::zero() ? " ahead of" : " behind") + " the API server (+-1 s)";
}

/// What is odd about it, one sentence.
std::string oddity(const LeaseObject &object, const Seen &seen)
{
    if (object.held() && !object.durationSeconds)
        return "it names no duration: when its holder's time is up cannot be known";
    if (object.held() && *object.durationSeconds <= 0)
        return "its duration is not positive";
    if (object.held() && *object.durationSeconds > kOddSeconds)
        return "its duration of " + std::to_string(*object.durationSeconds) + " s is longer than a day";
    if (object.held() && !parseTime(object.renewTime))
        return "it names no renewTime that can be read";
    const auto renewed = parseTime(object.renewTime);
    static const WallTime kBeforeLeases = *parseTime("2015-01-01T00:00:00Z");
    const bool future = renewed && seen.serverTime && *renewed > *seen.serverTime + std::chrono::hours(24);
    if (object.held() && renewed && (future || *renewed < kBeforeLeases))
        return "its renewTime (" + printable(object.renewTime, 40) + ") is nowhere near the server's clock";
    if (seen.skew && (*seen.skew > kWorthTelling || *seen.skew < -kWorthTelling) && object.held())
        return "its holder's clock is " + skewText(*seen.skew);
    return {};
}

void addFacts(const LeaseObject &object, const Seen &seen, LeaseRecord &record)
{
    addFact(record, "namespace", object.nameSpace);
    if (isLegacy(object.leaseClass))
        addFact(record, "kept in", "an annotation, as before there were Leases; looked at only, and polled for");
    if (object.held())
        addFact(record, "pod", podOf(object));
    addFact(record, "owner", object.owner);
    addFact(record, "written by", object.writer);
    addFact(record, "strategy", object.strategy);
    addFact(record, "preferred holder", object.preferredHolder);
    addFact(record, "renew time", object.renewTime);
    addFact(record, "acquire time", object.acquireTime);
    if (seen.skew && object.held())
        addFact(record, "holder's clock", skewText(*seen.skew));
    if (!seen.observed && seen.age)
        addFact(record, "age", "about " + durationText(*seen.age) + " when first seen, estimated by the server's clock (+-1 s)");
    if (!record.holder && !record.hold && object.held())
        addFact(record, "last holder", *object.holder);
}

/// Time left; nothing when it cannot be known. Zero when it is over.
std::optional<Duration> leftOf(const Seen &seen, Instant now, Judge judge)
{
    const auto duration = seen.object->duration();
    if (!duration)
        return std::nullopt;
    Duration elapsed = now - seen.changedAt;
    if (judge == Judge::ByAnyClue && !seen.observed && seen.age)
        elapsed += std::max<Duration>(*seen.age - 1s, Duration::zero()); // the clocks' grain
    return std::max<Duration>(*duration - elapsed, Duration::zero());
}

void tellHolder(const Seen &seen, Instant now, Judge judge, LeaseRecord &record)
{
    const LeaseObject &object = *seen.object;
    const auto left = leftOf(seen, now, judge);
    if (left && *left == Duration::zero())
        return;
    if (object.ours() && !object.nonce && object.holder->starts_with(kHoldPrefix)) {
        record.hold = OperatorHold{object.holder->substr(kHoldPrefix.size()),
            std::chrono::ceil<Milliseconds>(left.value_or(Duration::zero()))};
        record.version = *object.holder;
        return;
    }
    record.holder = object.holder;
    record.remaining = left;
    if (const auto duration = object.duration())
        record.ttl = std::chrono::duration_cast<Milliseconds>(*duration);
    record.acquiredAt = seen.acquiredAt;
    record.renewedAt = seen.renewedAt;
    if (object.ours()) {
        record.nonce = object.nonce;
        record.stepDownAsked = object.asked();
    }
}

} // namespace

LeaseRecord recordOf(
    const LeaseId &lease, const Seen &seen, Instant now, Judge judge, ReadDepth depth)
{
    LeaseRecord record;
    record.lease = lease;
    if (!seen.object)
        return record;
    const LeaseObject &object = *seen.object;
    record.kind = kindOf(object);
    if (record.kind == "tenure")
        record.token = object.token;
    if (object.transitions && *object.transitions >= 0)
        record.transitions = static_cast<std::uint64_t>(*object.transitions);
    if (object.held())
        tellHolder(seen, now, judge, record);
    else
        record.released = object.cleared.empty() || object.cleared != object.acquireTime;
    if (depth == ReadDepth::Remaining)
        return record;
    if (record.version.empty()) {
        record.version = object.uid + " " + std::to_string(object.transitions.value_or(0)) + " " + object.acquireTime;
    }
    addFacts(object, seen, record);
    record.note = oddity(object, seen);
    record.raw = object.yaml;
    for (const std::string &candidate : seen.candidates) {
        if (record.holder != candidate) // the leader stands, too
            record.candidates.push_back(candidate);
    }
    return record;
}

} // namespace tenure::kube
