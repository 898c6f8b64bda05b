// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/time_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;
constexpr Duration kLongest = std::chrono::hours(24 * 3653);

std::optional<Duration> unitOf(std::string_view text)
{
    struct Unit {
        std::string_view name;
        Duration length;
    };
    static constexpr std::array<Unit, 7> kUnits{{{"ns", 1ns}, {"us", 1us}, {"ms", 1ms}, {"s", 1s},
        {"m", 1min}, {"h", 1h}, {"d", 24h}}};
    for (const Unit &unit : kUnits) {
        if (unit.name == text)
            return unit.length;
    }
    return std::nullopt;
}

tl::unexpected<Error> badDuration(std::string_view text, const std::string &why)
{
    return fail(ErrorKind::BadConfig, "\"" + std::string(text) + "\" is not a duration: " + why, {},
        "Write a number with a unit, such as 15s, 250ms or 1m30s");
}

template <typename... Args>
std::string formatted(const char *format, Args... args)
{
    std::array<char, 64> buffer{};
    const int n = std::snprintf(buffer.data(), buffer.size(), format, args...);
    return std::string(buffer.data(), static_cast<std::size_t>(n));
}

} // namespace

Result<Duration> parseDuration(std::string_view text)
{
    if (text == "0")
        return Duration::zero();
    if (text.empty())
        return badDuration(text, "it is empty");
    if (text.front() == '-')
        return badDuration(text, "it is negative");
    long double total = 0;
    std::string_view rest = text;
    while (!rest.empty()) {
        double number = 0;
        const auto [end, error] = std::from_chars(
            rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
        if (error != std::errc() || !std::isfinite(number) || number < 0)
            return badDuration(text, "it does not start with a number");
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        const std::size_t letters = std::min(rest.find_first_of("0123456789."), rest.size());
        if (letters == 0)
            return badDuration(text, "the unit is missing");
        const auto unit = unitOf(rest.substr(0, letters));
        if (!unit)
            return badDuration(text, "the unit is not one of ns, us, ms, s, m, h, d");
        total += static_cast<long double>(number) * static_cast<long double>(unit->count());
        rest.remove_prefix(letters);
    }
    if (total > static_cast<long double>(kLongest.count()))
        return badDuration(text, "it is longer than ten years");
    return Duration(static_cast<Duration::rep>(total + 0.5L)); // 4.1 s is not a nanosecond less
}

std::string durationText(Duration duration)
{
    constexpr Duration tenth = std::chrono::microseconds(100);
    if (duration != Duration::zero() && std::chrono::abs(duration) < tenth)
        return "< 0.1 ms";
    if (duration < Duration::zero())
        return std::string("-").append(durationText(-duration));
    const auto ms = std::chrono::duration_cast<Milliseconds>(duration).count();
    if (ms == 0 && duration >= tenth) // a hand-over in memory: "0 ms" would look like a fault
        return formatted("0.%lld ms", static_cast<long long>(duration / tenth));
    if (ms < 1000)
        return formatted("%lld ms", static_cast<long long>(ms));
    if (ms < 10'000)
        return formatted("%lld.%lld s", static_cast<long long>(ms / 1000), static_cast<long long>(ms % 1000 / 100));
    const long long s = ms / 1000;
    if (s < 60)
        return formatted("%lld s", s);
    if (s < 3600)
        return formatted("%lld m %02lld s", s / 60, s % 60);
    if (s < 86400)
        return formatted("%lld h %02lld m", s / 3600, s % 3600 / 60);
    return formatted("%lld d %02lld h", s / 86400, s % 86400 / 3600);
}

std::string rfc3339(WallTime time)
{
    const auto ms = std::chrono::floor<Milliseconds>(time);
    const auto day = std::chrono::floor<std::chrono::days>(ms);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(ms - day);
    return formatted("%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
        static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
}

std::string clockText(WallTime time)
{
    return rfc3339(time).substr(11, 8);
}

} // namespace tenure
