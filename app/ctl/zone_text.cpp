// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/zone_text.h"

#include "core/base/time_text.h"
#include "core/churn/rules.h"

#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kMomentLength = 10; ///< "02:13:45.1"

std::optional<Zone> &chosen()
{
    static std::optional<Zone> zone;
    return zone;
}

Zone zone()
{
    if (!chosen())
        chosen() = settingsZone();
    return *chosen();
}

std::string local(WallTime when, const char *format)
{
    const std::time_t seconds = std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(std::chrono::floor<std::chrono::seconds>(when)));
    std::tm parts{};
    localtime_r(&seconds, &parts);
    std::array<char, 80> text{};
    return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

std::string localStamp(WallTime when)
{
    const std::string utc = rfc3339(when); // its decimals are those of every zone
    const auto dot = utc.find('.');
    const std::string decimals = dot == std::string::npos ? std::string() : utc.substr(dot, utc.size() - dot - 1);
    return local(when, "%Y-%m-%d %H:%M:%S") + decimals + local(when, " %Z");
}

/// Seconds of the day of "02:13:45.1" at `at`; nothing when no moment stands there.
std::optional<int> momentAt(const std::string &text, std::size_t at)
{
    constexpr std::string_view kShape = "00:00:00.0";
    if (at + kMomentLength > text.size() || (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0))
        return std::nullopt;
    for (std::size_t i = 0; i < kMomentLength; ++i) {
        const bool digit = std::isdigit(static_cast<unsigned char>(text[at + i])) != 0;
        if (kShape[i] == '0' ? !digit : text[at + i] != kShape[i])
            return std::nullopt;
    }
    const auto two = [&](std::size_t from) { return (text[at + from] - '0') * 10 + (text[at + from + 1] - '0'); };
    return two(0) * 3600 + two(3) * 60 + two(6);
}

} // namespace

std::optional<Zone> zoneNamed(const std::string &word)
{
    if (word == "utc")
        return Zone::Utc;
    if (word == "local")
        return Zone::Local;
    return word == "both" ? std::optional(Zone::Both) : std::nullopt;
}

Zone settingsZone()
{
    std::ifstream file(std::filesystem::path(RuleBook::defaultPath()).parent_path() / "settings.json");
    const auto settings = nlohmann::json::parse(file, nullptr, false);
    if (!settings.is_object() || !settings.contains("times") || !settings["times"].is_string())
        return Zone::Utc;
    return zoneNamed(settings["times"].get<std::string>()).value_or(Zone::Utc);
}

void addTimesOption(CommandNode &command, std::string &times)
{
    command.option("--times", times, "utc, local or both; default as the console is set").typeName("ZONE");
}

bool chooseZone(const std::string &times)
{
    if (times.empty())
        return true;
    const auto zone = zoneNamed(times);
    if (zone)
        chosen() = zone;
    return zone.has_value();
}

std::string stampText(WallTime when)
{
    switch (zone()) {
    case Zone::Utc:
        break;
    case Zone::Local:
        return localStamp(when);
    case Zone::Both:
        return rfc3339(when) + " (" + local(when, "%H:%M:%S %Z") + ")";
    }
    return rfc3339(when);
}

std::string clockStamp(WallTime when)
{
    switch (zone()) {
    case Zone::Utc:
        break;
    case Zone::Local:
        return local(when, "%H:%M:%S %Z");
    case Zone::Both:
        return clockText(when) + " UTC (" + local(when, "%H:%M:%S %Z") + ")";
    }
    return clockText(when) + " UTC";
}

std::string zoned(const std::string &sentence, WallTime near)
{
    if (zone() == Zone::Utc)
        return sentence;
    std::string out;
    for (std::size_t i = 0; i < sentence.size(); ++i) {
        const auto ofDay = momentAt(sentence, i);
        if (!ofDay) {
            out += sentence[i];
            continue;
        }
        WallTime moment = std::chrono::floor<std::chrono::days>(near) + std::chrono::seconds(*ofDay);
        if (moment > near + 60s)
            moment -= 24h;
        const std::string here = local(moment, "%H:%M:%S") + sentence.substr(i + 8, 2);
        out += zone() == Zone::Local ? here : sentence.substr(i, kMomentLength) + " / " + here;
        i += kMomentLength - 1;
    }
    return out;
}

} // namespace tenure::ctl
