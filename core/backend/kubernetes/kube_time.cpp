// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_time.h"

#include <array>
#include <cstdio>

namespace tenure::kube
{
namespace
{

/// Eats `count` digits.
std::optional<int> digits(std::string_view &text, std::size_t count)
{
    if (text.size() < count)
        return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (text[i] < '0' || text[i] > '9')
            return std::nullopt;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool eat(std::string_view &text, std::string_view any)
{
    if (text.empty() || any.find(text.front()) == std::string_view::npos)
        return false;
    text.remove_prefix(1);
    return true;
}

/// Microseconds of ".123456789"; digits beyond the sixth are dropped.
std::optional<int> fraction(std::string_view &text)
{
    if (!eat(text, "."))
        return 0;
    int micros = 0;
    int place = 100'000;
    bool any = false;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        micros += (text.front() - '0') * place;
        place /= 10;
        text.remove_prefix(1);
        any = true;
    }
    return any ? std::optional(micros) : std::nullopt;
}

std::optional<std::chrono::minutes> offset(std::string_view &text)
{
    if (eat(text, "Zz"))
        return std::chrono::minutes(0);
    const bool west = !text.empty() && text.front() == '-';
    if (!eat(text, "+-"))
        return std::nullopt;
    const auto hours = digits(text, 2);
    if (!hours || !eat(text, ":"))
        return std::nullopt;
    const auto minutes = digits(text, 2);
    if (!minutes || *hours > 23 || *minutes > 59)
        return std::nullopt;
    const std::chrono::minutes total(*hours * 60 + *minutes);
    return west ? -total : total;
}

} // namespace

std::optional<WallTime> parseTime(std::string_view text)
{
    using namespace std::chrono;
    const auto y = digits(text, 4);
    if (!y || !eat(text, "-"))
        return std::nullopt;
    const auto mo = digits(text, 2);
    if (!mo || !eat(text, "-"))
        return std::nullopt;
    const auto d = digits(text, 2);
    if (!d || !eat(text, "Tt "))
        return std::nullopt;
    const auto h = digits(text, 2);
    if (!h || !eat(text, ":"))
        return std::nullopt;
    const auto mi = digits(text, 2);
    if (!mi || !eat(text, ":"))
        return std::nullopt;
    const auto s = digits(text, 2);
    const auto us = fraction(text);
    const auto away = offset(text);
    if (!s || !us || !away || !text.empty() || *h > 23 || *mi > 59 || *s > 60)
        return std::nullopt;
    const year_month_day date{
        year(*y), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d))};
    if (!date.ok())
        return std::nullopt;
    return WallTime(sys_days(date)) + hours(*h) + minutes(*mi) + seconds(*s) + microseconds(*us)
        - *away;
}

std::string microTime(WallTime time)
{
    using namespace std::chrono;
    const auto date = floor<days>(time);
    const year_month_day ymd(date);
    const hh_mm_ss<microseconds> clock(time - date);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
        static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
        static_cast<unsigned>(ymd.day()), static_cast<int>(clock.hours().count()),
        static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
        static_cast<int>(clock.subseconds().count()));
    return text.data();
}

} // namespace tenure::kube
