// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/event_log.h"

#include "core/base/time_text.h"

namespace tenure::sim
{
namespace
{

std::string jsonText(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

std::string nameOf(int node, const std::vector<std::string> &names)
{
    return node < 0 ? std::string() : names[static_cast<std::size_t>(node)];
}

} // namespace

const char *kindWord(LogEvent::Kind kind)
{
    switch (kind) {
    case LogEvent::Kind::Held:
        return "held";
    case LogEvent::Kind::Renewed:
        return "renew";
    case LogEvent::Kind::Released:
        return "released";
    case LogEvent::Kind::Expired:
        return "expired";
    case LogEvent::Kind::Cleared:
        return "cleared";
    case LogEvent::Kind::Lost:
        return "lost";
    case LogEvent::Kind::Believes:
        return "believes";
    case LogEvent::Kind::Doubts:
        return "doubts";
    case LogEvent::Kind::Works:
        return "works";
    case LogEvent::Kind::Rests:
        return "rests";
    case LogEvent::Kind::Fault:
        return "fault";
    case LogEvent::Kind::Healed:
        return "healed";
    case LogEvent::Kind::Life:
        return "life";
    case LogEvent::Kind::Effect:
        return "effect";
    case LogEvent::Kind::Stale:
        return "stale";
    case LogEvent::Kind::Rejected:
        return "rejected";
    case LogEvent::Kind::Operator:
        return "operator";
    case LogEvent::Kind::Violation:
        return "violation";
    }
    return "?";
}

std::string jsonLine(const LogEvent &event, const std::vector<std::string> &names)
{
    std::string out = "{\"v\":1,\"t_mono_ns\":" + std::to_string(event.at.count());
    out += ",\"conn\":\"SIM\",\"lease\":\"sim\",\"kind\":";
    out += jsonText(kindWord(event.kind));
    if (event.node >= 0)
        out += ",\"holder\":" + jsonText(nameOf(event.node, names));
    if (event.token)
        out += ",\"term\":" + std::to_string(event.token.value);
    if (event.item >= 0)
        out += ",\"item\":" + std::to_string(event.item);
    out += ",\"evidence\":\"sim\"";
    if (!event.detail.empty())
        out += ",\"detail\":" + jsonText(event.detail);
    return out + '}';
}

std::string logText(const LogEvent &event, const std::vector<std::string> &names)
{
    const std::int64_t ms = event.at.count() / 1'000'000;
    const std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
    std::string out = std::to_string(ms / 1000) + "." + fraction + " s  ";
    if (event.node >= 0)
        out += nameOf(event.node, names) + "  ";
    out += kindWord(event.kind);
    if (event.token)
        out += ", token " + std::to_string(event.token.value);
    if (event.item >= 0)
        out += ", item " + std::to_string(event.item);
    if (!event.detail.empty())
        out += ": " + event.detail;
    return out;
}

std::uint64_t logHash(const std::vector<LogEvent> &log, const std::vector<std::string> &names)
{
    std::uint64_t hash = 0xCBF29CE484222325U;
    const auto take = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001B3U; };
    for (const LogEvent &event : log) {
        for (const char c : jsonLine(event, names))
            take(static_cast<unsigned char>(c));
        take('\n');
    }
    return hash;
}

} // namespace tenure::sim
