// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal.h"
#include "core/journal/journal_export.h"

#include <istream>

#include <nlohmann/json.hpp>

namespace tenure
{
namespace
{

using Json = nlohmann::json;

/// A clock that stands, so that a stored moment comes back as it was.
class StillClock final : public Clock
{
public:
    [[nodiscard]] Instant now() const override { return m_now; }
    [[nodiscard]] WallTime wall() const override { return m_wall; }
    [[nodiscard]] Instant at(WallTime wall) const { return m_now + (wall - m_wall); }

private:
    const Instant m_now = BootClock::now();
    const WallTime m_wall = SystemClock::instance().wall();
};

std::optional<WallTime> timeOf(const Json& json)
{
    return json.is_string() ? parseRfc3339(json.get<std::string>()) : std::nullopt;
}

std::string textOf(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<TransitionKind> kindOf(const std::string& word)
{
    for (int i = 0; i <= static_cast<int>(TransitionKind::Deleted); ++i) {
        if (word == transitionWord(static_cast<TransitionKind>(i)))
            return static_cast<TransitionKind>(i);
    }
    return std::nullopt;
}

bool takeTransition(const Json& object, const std::string& connection, const StillClock& clock, Journal& journal)
{
    const auto kind = kindOf(textOf(object, "kind"));
    const auto at = object.contains("at") ? timeOf(object["at"]) : std::nullopt;
    const std::string lease = textOf(object, "lease");
    if (!kind || !at || lease.empty())
        return false;
    Transition t;
    t.lease = LeaseId::observed(lease);
    t.kind = *kind;
    t.at = clock.at(*at);
    t.oldHolder = textOf(object, "old_holder");
    t.newHolder = textOf(object, "new_holder");
    t.explanation = textOf(object, "explanation");
    if (object.contains("token") && object["token"].is_number_unsigned())
        t.token = FencingToken{object["token"].get<std::uint64_t>()};
    if (object.contains("gap_ms") && object["gap_ms"].is_number_integer())
        t.gap = Milliseconds(object["gap_ms"].get<std::int64_t>());
    if (object.contains("server_time"))
        t.serverTime = timeOf(object["server_time"]);
    t.inBlindSpot = object.value("observed", true) == false;
    journal.append(connection, t);
    return true;
}

bool takeObserved(const Json& object, const std::string& connection, const StillClock& clock, Journal& journal)
{
    const auto from = object.contains("from") ? timeOf(object["from"]) : std::nullopt;
    const auto to = object.contains("to") ? timeOf(object["to"]) : std::nullopt;
    if (!from || !to || *to < *from)
        return false;
    journal.observed(connection, clock.at(*from), std::chrono::milliseconds(1));
    journal.observed(connection, clock.at(*to), *to - *from + std::chrono::milliseconds(1));
    return true;
}

} // namespace

std::optional<WallTime> parseRfc3339(const std::string& text)
{
    int y = 0;
    unsigned month = 0;
    unsigned day = 0;
    int h = 0;
    int m = 0;
    int s = 0;
    int read = 0;
    if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d%n", &y, &month, &day, &h, &m, &s, &read) != 6
        || text.empty() || text.back() != 'Z')
        return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year(y), std::chrono::month(month), std::chrono::day(day)};
    if (!date.ok())
        return std::nullopt;
    std::int64_t micro = 0;
    std::int64_t unit = 100'000;
    for (std::size_t i = static_cast<std::size_t>(read) + 1; i < text.size() - 1; ++i, unit /= 10) {
        if (text[i] < '0' || text[i] > '9')
            return std::nullopt;
        micro += (text[i] - '0') * unit;
    }
    return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(h) + std::chrono::minutes(m)
        + std::chrono::seconds(s) + std::chrono::microseconds(micro);
}

Result<Imported> importLines(std::istream& lines, const std::string& path)
{
    const StillClock clock;
    Journal::Options options;
    options.path = path;
    options.ageLimit = std::chrono::hours(24 * 36500); // old on purpose
    Journal journal(options, clock);
    Imported imported;
    std::string text;
    while (std::getline(lines, text)) {
        const Json object = Json::parse(text, nullptr, false);
        if (text.empty())
            continue;
        bool taken = false;
        if (object.is_object()) {
            std::string connection = textOf(object, "connection");
            if (connection.empty())
                connection = textOf(object, "backend");
            const std::string type = textOf(object, "type");
            if (!connection.empty() && type == "transition")
                taken = takeTransition(object, connection, clock, journal);
            else if (!connection.empty() && type == "observed")
                taken = takeObserved(object, connection, clock, journal);
        }
        ++(taken ? imported.taken : imported.passedOver);
        if (imported.taken % 50'000 == 49'999 && !journal.flush(std::chrono::minutes(1)))
            break;
    }
    if (!journal.flush(std::chrono::minutes(1))) {
        return fail(ErrorKind::Unavailable, "The journal could not be written: " + journal.status().sentence,
            path);
    }
    return imported;
}

} // namespace tenure
