// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_export.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tenure
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr std::size_t kPage = 1000;
constexpr std::size_t kMostDeeds = 100'000;

std::string nameOf(const std::vector<JournalConnection>& connections, const std::string& id)
{
    for (const JournalConnection& one : connections) {
        if (one.id == id)
            return one.name;
    }
    return id;
}

/// The parts of the window that are in none of `blind`.
std::vector<TimeWindow> observedParts(TimeWindow window, const std::vector<TimeWindow>& blind)
{
    std::vector<TimeWindow> out;
    WallTime at = window.from;
    for (const TimeWindow& stretch : blind) {
        if (stretch.from > at)
            out.push_back({at, stretch.from});
        at = stretch.to;
    }
    if (at < window.to)
        out.push_back({at, window.to});
    return out;
}

Json text(const std::string& bytes)
{
    if (bytes.empty())
        return nullptr;
    return isUtf8(bytes) ? bytes : printable(bytes, bytes.size() * 4);
}

Json milliseconds(const std::optional<Duration>& duration)
{
    return duration ? Json(std::chrono::floor<Milliseconds>(*duration).count()) : Json(nullptr);
}

Json time(const std::optional<WallTime>& at)
{
    return at ? Json(rfc3339(*at)) : Json(nullptr);
}

Json token(FencingToken value)
{
    return value ? Json(value.value) : Json(nullptr);
}

std::string line(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

std::string csvField(const std::string& bytes)
{
    std::string out = printable(bytes, bytes.size() * 10 + 16);
    if (!out.empty() && std::string_view("=+-@\t\r").find(out.front()) != std::string_view::npos)
        out.insert(out.begin(), '\'');
    if (out.find_first_of(",\"\r\n;") == std::string::npos)
        return out;
    std::string quoted = "\"";
    for (const char c : out)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string eventCsvHeader()
{
    return "at,server_time,connection,lease,change,old_holder,new_holder,token,gap_ms,observed,explanation";
}

std::string eventCsvLine(const JournalEvent& event, const std::string& connection)
{
    std::string out = rfc3339(event.at);
    const auto add = [&out](const std::string& field) { out += "," + csvField(field); };
    add(event.serverTime ? rfc3339(*event.serverTime) : std::string());
    add(connection);
    add(event.lease.lease.name());
    add(transitionWord(event.kind));
    add(event.oldHolder);
    add(event.newHolder);
    add(event.token ? std::to_string(event.token.value) : std::string());
    add(event.gap ? std::to_string(std::chrono::floor<Milliseconds>(*event.gap).count()) : std::string());
    add(event.inBlindSpot ? "no" : "yes");
    add(event.explanation);
    return out;
}

std::string eventJsonLine(const JournalEvent& event, const std::string& connection)
{
    Json out;
    out["v"] = 1;
    out["type"] = "transition";
    out["id"] = event.id;
    out["connection"] = text(connection);
    out["lease"] = text(event.lease.lease.name());
    out["kind"] = transitionWord(event.kind);
    out["old_holder"] = text(event.oldHolder);
    out["new_holder"] = text(event.newHolder);
    out["token"] = token(event.token);
    out["gap_ms"] = milliseconds(event.gap);
    out["server_time"] = time(event.serverTime);
    out["at"] = rfc3339(event.at);
    out["observed"] = !event.inBlindSpot;
    out["explanation"] = text(event.explanation);
    return line(out);
}

std::string actionJsonLine(const JournalAction& action, const std::string& connection)
{
    Json out;
    out["v"] = 1;
    out["type"] = "action";
    out["id"] = action.id;
    out["intent"] = action.intent == 0 ? Json(nullptr) : Json(action.intent);
    out["at"] = rfc3339(action.at);
    out["by"] = text(action.by);
    out["connection"] = text(connection);
    out["lease"] = text(action.lease.lease.name());
    out["verb"] = action.verb;
    out["expected"] = text(action.expected);
    out["reason"] = text(action.reason);
    out["outcome"] = text(action.outcome);
    out["sentence"] = text(action.sentence);
    out["hash"] = action.hash;
    return line(out);
}

std::string alertJsonLine(const JournalAlert& alert, const std::string& connection)
{
    Json steps = Json::array();
    for (const AlertStep& step : alert.steps) {
        steps.push_back({{"at", rfc3339(step.at)}, {"state", alertStateWord(step.state)},
            {"by", text(step.by)}, {"reason", text(step.reason)}, {"until", time(step.until)}});
    }
    Json out;
    out["v"] = 1;
    out["type"] = "alert";
    out["id"] = alert.id;
    out["connection"] = text(connection);
    out["lease"] = text(alert.lease.lease.name());
    out["rule"] = alert.rule;
    out["priority"] = alert.priority;
    out["state"] = alertStateWord(alert.state);
    out["text"] = text(alert.text);
    out["action"] = text(alert.action);
    out["count"] = alert.count;
    out["first_at"] = rfc3339(alert.firstAt);
    out["last_at"] = rfc3339(alert.lastAt);
    out["steps"] = std::move(steps);
    return line(out);
}

std::string observedJsonLine(const std::string& connection, const TimeWindow& window)
{
    return line({{"v", 1}, {"type", "observed"}, {"connection", text(connection)},
        {"from", rfc3339(window.from)}, {"to", rfc3339(window.to)}});
}

Result<void> eachEvent(JournalQuery& query, const JournalFilter& filter,
    const std::function<bool(const JournalEvent&)>& take)
{
    // Pages come newest first; each is cut off from the newer ones by its own time.
    std::vector<std::uint64_t> ends{0};
    while (true) {
        const auto page = query.events(filter, ends.back(), kPage);
        if (!page)
            return fail(page.error());
        if (page->size() < kPage)
            break;
        ends.push_back(page->back().id);
    }
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
        auto page = query.events(filter, *end, kPage);
        if (!page)
            return fail(page.error());
        std::reverse(page->begin(), page->end());
        for (const JournalEvent& event : *page) {
            if (!take(event))
                return {};
        }
    }
    return {};
}

Result<void> eachCsvLine(
    JournalQuery& query, const JournalFilter& filter, const std::function<bool(const std::string&)>& take)
{
    const auto connections = query.connections();
    if (!connections)
        return fail(connections.error());
    if (!take(eventCsvHeader()))
        return {};
    return eachEvent(query, filter, [&](const JournalEvent& event) {
        return take(eventCsvLine(event, nameOf(*connections, event.lease.connection)));
    });
}

Result<void> eachJsonLine(JournalQuery& query, const JournalFilter& filter, TimeWindow window,
    const std::function<bool(const std::string&)>& take)
{
    const auto connections = query.connections();
    if (!connections)
        return fail(connections.error());
    bool goesOn = true;
    for (const JournalConnection& one : *connections) {
        if (!filter.connection.empty() && filter.connection != one.id)
            continue;
        const auto blind = query.notObserved(one.id, window);
        if (!blind)
            return fail(blind.error());
        for (const TimeWindow& part : observedParts(window, *blind))
            goesOn = goesOn && take(observedJsonLine(one.name, part));
    }
    const auto told = eachEvent(query, filter, [&](const JournalEvent& event) {
        goesOn = goesOn && take(eventJsonLine(event, nameOf(*connections, event.lease.connection)));
        return goesOn;
    });
    if (!told)
        return told;
    const auto actions = query.actions(filter, 0, kMostDeeds);
    const auto alerts = query.alerts(filter, 0, kMostDeeds);
    if (!actions || !alerts)
        return fail(!actions ? actions.error() : alerts.error());
    for (auto action = actions->rbegin(); goesOn && action != actions->rend(); ++action)
        goesOn = take(actionJsonLine(*action, nameOf(*connections, action->lease.connection)));
    for (auto alert = alerts->rbegin(); goesOn && alert != alerts->rend(); ++alert)
        goesOn = take(alertJsonLine(*alert, nameOf(*connections, alert->lease.connection)));
    return {};
}

} // namespace tenure
