// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/lease_json.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <cctype>

namespace tenure::ctl
{
namespace
{

Json millisecondsJson(std::optional<Duration> duration)
{
    if (!duration)
        return nullptr;
    return std::chrono::floor<Milliseconds>(*duration).count();
}

Json timeJson(std::optional<WallTime> time)
{
    if (!time)
        return nullptr;
    return rfc3339(*time);
}

Json tokenJson(FencingToken token)
{
    if (!token)
        return nullptr;
    return token.value;
}

WallTime wallOf(const JsonContext &context, Instant moment)
{
    return context.wall + std::chrono::floor<std::chrono::microseconds>(moment - context.now);
}

std::string freshnessOf(LinkState state)
{
    std::string word = linkWord(state);
    std::transform(word.begin(), word.end(), word.begin(),
        [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word;
}

Json holdJson(const std::optional<OperatorHold> &hold)
{
    if (!hold)
        return nullptr;
    return {{"by", textJson(hold->by)}, {"remaining_ms", hold->remaining.count()}};
}

Json candidatesJson(const std::vector<std::string> &candidates)
{
    if (candidates.empty())
        return nullptr;
    Json out = Json::array();
    for (const std::string &candidate : candidates)
        out.push_back(textJson(candidate));
    return out;
}

/// A list, not an object: a name may come twice ("waits").
Json factsJson(const std::vector<RecordFact> &facts)
{
    if (facts.empty())
        return nullptr;
    Json out = Json::array();
    for (const RecordFact &fact : facts)
        out.push_back({{"name", textJson(fact.name)}, {"value", textJson(fact.value)}});
    return out;
}

} // namespace

Json textJson(const std::string &text)
{
    if (text.empty())
        return nullptr;
    return isUtf8(text) ? text : printable(text, text.size() * 4);
}

Json leaseJson(const JsonContext &context, const LeaseStatus &status)
{
    const LeaseRecord &record = status.record;
    const WallTime seen = wallOf(context, status.seenAt);
    const std::optional<Duration> left = remainingAt(status, context.link, context.now);
    Json out;
    out["backend"] = context.backend;
    out["lease"] = textJson(record.lease.name());
    out["kind"] = record.kind;
    out["state"] = stateJson(stateAt(status, context.link, context.now));
    out["holder"] = record.holder ? textJson(*record.holder) : Json(nullptr);
    out["token"] = tokenJson(record.token);
    out["ttl_ms"] = millisecondsJson(record.ttl);
    out["remaining_ms"] = millisecondsJson(left);
    // Rounded up: never more certain than we are.
    out["uncertainty_ms"]
        = left ? Json(std::chrono::ceil<Milliseconds>(status.uncertainty).count()) : Json(nullptr);
    out["acquired_at"] = timeJson(record.acquiredAt);
    out["renewed_at"] = timeJson(record.renewedAt);
    out["transitions"] = record.transitions ? Json(*record.transitions) : Json(nullptr);
    out["server_time"] = context.serverAhead
        ? timeJson(seen + std::chrono::floor<std::chrono::microseconds>(*context.serverAhead))
        : Json(nullptr);
    out["observed_at"] = rfc3339(seen);
    out["freshness"] = freshnessOf(context.link);
    out["candidates"] = candidatesJson(record.candidates);
    out["hold"] = holdJson(record.hold);
    out["note"] = textJson(record.note);
    out["facts"] = factsJson(record.facts);
    return out;
}

Json transitionJson(const JsonContext &context, const Transition &transition)
{
    Json out;
    out["type"] = "transition";
    out["backend"] = context.backend;
    out["lease"] = textJson(transition.lease.name());
    out["kind"] = transitionWord(transition.kind);
    out["old_holder"] = textJson(transition.oldHolder);
    out["new_holder"] = textJson(transition.newHolder);
    out["token"] = tokenJson(transition.token);
    out["gap_ms"] = millisecondsJson(transition.gap);
    out["server_time"] = timeJson(transition.serverTime);
    out["at"] = rfc3339(transition.wall);
    out["observed"] = !transition.inBlindSpot;
    out["explanation"] = textJson(transition.explanation);
    return out;
}

Json alertJson(const JsonContext &context, const Alert &alert)
{
    Json out;
    out["type"] = "alert";
    out["backend"] = context.backend;
    out["lease"] = textJson(alert.lease.name());
    out["rule"] = alert.rule;
    out["priority"] = alert.priority;
    out["state"] = alertStateWord(alert.state);
    out["text"] = textJson(alert.text);
    out["action"] = textJson(alert.action);
    out["count"] = alert.count;
    out["first_at"] = rfc3339(wallOf(context, alert.firstAt));
    out["last_at"] = rfc3339(wallOf(context, alert.lastAt));
    return out;
}

std::string oneLine(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace tenure::ctl
