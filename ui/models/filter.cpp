// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/filter.h"

#include "core/base/time_text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenure::ui
{
namespace
{

constexpr std::size_t kFuzzyAtLeast = 3;
constexpr std::string_view kStates
    = "held, late, overdue, expired, vacant, hold, unknown, churn, abnormal";
constexpr std::string_view kData = "live, polling, stale, connecting, disconnected, denied, paused";

bool contains(std::string_view list, std::string_view word)
{
    while (!list.empty()) {
        const auto comma = list.find(", ");
        if (list.substr(0, comma) == word)
            return true;
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 2);
    }
    return false;
}

std::vector<std::string> split(std::string_view text, char at)
{
    std::vector<std::string> out;
    while (true) {
        const auto found = text.find(at);
        out.emplace_back(text.substr(0, found));
        if (found == std::string_view::npos)
            return out;
        text.remove_prefix(found + 1);
    }
}

/// Words at blanks; a quoted part keeps its blanks.
std::vector<std::string> wordsOf(std::string_view line)
{
    std::vector<std::string> out;
    std::string word;
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if ((c == ' ' || c == '\t') && !quoted) {
            if (!word.empty())
                out.push_back(std::exchange(word, {}));
        } else {
            word += c;
        }
    }
    if (!word.empty())
        out.push_back(word);
    return out;
}

tl::unexpected<FilterError> wrong(std::string token, std::string sentence)
{
    return tl::unexpected<FilterError>(FilterError{std::move(token), std::move(sentence)});
}

/// A plain value is contained, one with ~ in front is fuzzy.
bool textMatches(std::string_view value, std::string_view text)
{
    if (!value.empty() && value.front() == '~')
        return text.find(value.substr(1)) != std::string_view::npos || fuzzyMatch(value.substr(1), text);
    return text.find(value) != std::string_view::npos;
}

bool stateIs(std::string_view value, const FilterFacts &facts)
{
    if (value == "churn")
        return facts.status != nullptr && facts.status->churning;
    if (value == "abnormal")
        return facts.state != LeaseState::Held;
    return value == foldForFilter(stateWord(facts.state));
}

} // namespace

std::string foldForFilter(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

bool fuzzyMatch(std::string_view word, std::string_view text)
{
    if (word.size() < kFuzzyAtLeast)
        return false;
    std::size_t next = 0;
    for (const char c : text) {
        if (next < word.size() && word[next] == c)
            ++next;
    }
    return next == word.size();
}

struct LeaseFilter::Parser {
    std::string typed;

    tl::expected<Clause, FilterError> clause(std::string_view word)
    {
        Clause out;
        if (word.size() > 1 && word.front() == '-') {
            out.negated = true;
            word.remove_prefix(1);
        }
        const auto at = word.find_first_of(":<>=");
        if (at == std::string_view::npos || at == 0)
            return plain(std::move(out), word);
        const std::string key(word.substr(0, at));
        std::string_view rest = word.substr(at);
        if (key == "ttl" || key == "churn" || key == "term")
            return comparison(std::move(out), key, rest);
        if (rest.front() == ':' && named(key, out.field))
            return values(std::move(out), key, rest.substr(1));
        if (word[at] == ':' && key.find('/') == std::string::npos)
            return wrong(typed, "There is no \"" + key
                    + ":\". Known: state, env, conn, name, holder, data, ttl, churn, term.");
        return plain(std::move(out), word); // a name may hold such signs itself
    }

    static bool named(std::string_view key, Field &field)
    {
        constexpr std::array<std::pair<std::string_view, Field>, 6> fields{{{"state", Field::State},
            {"env", Field::Environment}, {"conn", Field::Connection}, {"name", Field::Name},
            {"holder", Field::Holder}, {"data", Field::Data}}};
        for (const auto &[name, value] : fields) {
            if (name == key) {
                field = value;
                return true;
            }
        }
        return false;
    }

    static tl::expected<Clause, FilterError> plain(Clause out, std::string_view word)
    {
        out.field = Field::Text;
        out.values.emplace_back(word);
        return out;
    }

    tl::expected<Clause, FilterError> values(Clause out, const std::string &key, std::string_view rest)
    {
        out.values = split(rest, '|');
        for (const std::string &value : out.values) {
            if (value.empty() || value == "~")
                return wrong(typed, "\"" + key + ":\" needs a value after the colon.");
            if (out.field == Field::State && !contains(kStates, value))
                return wrong(typed, "There is no state \"" + value + "\". Known: " + std::string(kStates) + ".");
            if (out.field == Field::Data && !contains(kData, value))
                return wrong(typed, "There is no data \"" + value + "\". Known: " + std::string(kData) + ".");
        }
        return out;
    }

    tl::expected<Clause, FilterError> comparison(Clause out, const std::string &key, std::string_view rest)
    {
        out.field = key == "ttl" ? Field::Ttl : key == "churn" ? Field::Churn : Field::Term;
        const bool orEqual = rest.size() > 1 && rest[1] == '=';
        const char sign = rest.front();
        rest.remove_prefix(orEqual && sign != ':' ? 2 : 1);
        out.compare = sign == '<' ? (orEqual ? Compare::LessEqual : Compare::Less)
            : sign == '>'         ? (orEqual ? Compare::GreaterEqual : Compare::Greater)
                                  : Compare::Equal;
        if (out.field == Field::Ttl) {
            const auto parsed = parseDuration(rest);
            if (!parsed)
                return wrong(typed, "ttl needs a time, as in ttl<5s.");
            out.duration = *parsed;
            return out;
        }
        std::string_view digits = rest;
        if (out.field == Field::Churn) {
            const auto slash = rest.find('/');
            digits = rest.substr(0, slash);
            const auto window = parseDuration(slash == std::string_view::npos ? "10m" : rest.substr(slash + 1));
            if (!window || *window <= Duration::zero())
                return wrong(typed, "churn needs a number of changes and a time, as in churn>3/10m.");
            out.duration = *window;
        }
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.number);
        if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
            return wrong(typed, out.field == Field::Term
                    ? "term needs a number, as in term>100."
                    : "churn needs a number of changes and a time, as in churn>3/10m.");
        return out;
    }
};

tl::expected<LeaseFilter, FilterError> LeaseFilter::parse(std::string_view line)
{
    LeaseFilter out;
    for (const std::string &word : wordsOf(line)) {
        Parser parser{word};
        auto clause = parser.clause(foldForFilter(word));
        if (!clause)
            return tl::unexpected<FilterError>(clause.error());
        out.m_terms.push_back(std::move(*clause));
    }
    return out;
}

bool LeaseFilter::matches(const FilterFacts &facts) const
{
    return std::all_of(m_terms.begin(), m_terms.end(),
        [&](const Clause &clause) { return holds(clause, facts) != clause.negated; });
}

bool LeaseFilter::dependsOnTime() const
{
    return std::any_of(m_terms.begin(), m_terms.end(), [](const Clause &clause) {
        return clause.field == Field::Ttl || clause.field == Field::Churn || clause.field == Field::Data;
    });
}

bool LeaseFilter::holds(const Clause &clause, const FilterFacts &facts)
{
    const auto any = [&](auto &&test) { return std::any_of(clause.values.begin(), clause.values.end(), test); };
    const auto compare = [&](auto left, auto right) {
        switch (clause.compare) {
        case Compare::Less:
            return left < right;
        case Compare::LessEqual:
            return left <= right;
        case Compare::Equal:
            return left == right;
        case Compare::GreaterEqual:
            return left >= right;
        case Compare::Greater:
            break;
        }
        return left > right;
    };
    switch (clause.field) {
    case Field::Text:
        return any([&](const std::string &v) {
            return facts.name.find(v) != std::string_view::npos
                || facts.holder.find(v) != std::string_view::npos || fuzzyMatch(v, facts.name);
        });
    case Field::Name:
        return any([&](const std::string &v) { return textMatches(v, facts.name); });
    case Field::Holder:
        return any([&](const std::string &v) { return textMatches(v, facts.holder); });
    case Field::Connection:
        return any([&](const std::string &v) { return textMatches(v, facts.connection); });
    case Field::Environment:
        return any([&](const std::string &v) { return facts.environment.starts_with(v) || v.starts_with(facts.environment); });
    case Field::State:
        return any([&](const std::string &v) { return stateIs(v, facts); });
    case Field::Data:
        return any([&](const std::string &v) { return v == foldForFilter(linkWord(facts.link)); });
    case Field::Ttl: {
        const auto left = facts.status == nullptr ? std::nullopt : remainingAt(*facts.status, facts.link, facts.now);
        return left && compare(*left, clause.duration);
    }
    case Field::Churn:
        return facts.status != nullptr
            && compare(std::uint64_t(facts.status->transitionsSince(facts.now - clause.duration)), clause.number);
    case Field::Term:
        break;
    }
    return facts.status != nullptr && compare(facts.status->record.token.value, clause.number);
}

} // namespace tenure::ui
