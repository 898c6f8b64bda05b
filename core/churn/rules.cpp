// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/churn/rules.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

namespace tenure
{
namespace
{

using Json = nlohmann::ordered_json;

/// Collects every problem, so that a person corrects a file once.
struct Problems {
    std::string all;
    void add(const std::string& where, const std::string& what)
    {
        all += (all.empty() ? "" : "; ") + where + ": " + what;
    }
};

double secondsOf(const Json& value)
{
    if (value.is_number())
        return value.get<double>();
    const auto duration = value.is_string() ? parseDuration(value.get<std::string>())
                                            : Result<Duration>(fail(ErrorKind::BadConfig, ""));
    return duration ? std::chrono::duration<double>(*duration).count() : NAN;
}

void takeThreshold(RuleSetting& setting, const ThresholdDefinition& known, const Json& value,
    const std::string& where, Problems& problems)
{
    const double number = known.unit == ThresholdUnit::Seconds ? secondsOf(value)
        : value.is_number()                                     ? value.get<double>()
                                                                : NAN;
    const double most = known.unit == ThresholdUnit::Share ? 1.0 : 1e7;
    if (!(number >= 0 && number <= most)) {
        const char* wanted = known.unit == ThresholdUnit::Seconds
            ? "a duration such as \"10m\""
            : known.unit == ThresholdUnit::Share ? "a share from 0 to 1" : "a number";
        problems.add(where, std::string("\"") + known.key + "\" must be " + wanted);
        return;
    }
    setting.thresholds[known.key] = number;
}

void takeKey(RuleSetting& setting, const RuleDefinition& rule, const std::string& key, const Json& value,
    const std::string& where, Problems& problems)
{
    if (key == "rule")
        return;
    if (key == "lease" && value.is_string()) {
        setting.glob = value.get<std::string>();
        return;
    }
    if (key == "on" && value.is_boolean()) {
        setting.on = value.get<bool>();
        return;
    }
    if (key == "priority" && value.is_number_integer() && value.get<int>() >= 1 && value.get<int>() <= 5) {
        setting.priority = value.get<int>();
        return;
    }
    if (key == "known-holders" && value.is_array() && rule.id == RuleId::UnknownHolder) {
        for (const Json& one : value) {
            if (one.is_string())
                setting.knownHolders.push_back(one.get<std::string>());
        }
        return;
    }
    const auto known = std::find_if(rule.thresholds.begin(), rule.thresholds.end(),
        [&](const ThresholdDefinition& one) { return key == one.key; });
    if (known != rule.thresholds.end())
        takeThreshold(setting, *known, value, where, problems);
    else
        problems.add(where, "\"" + printable(key, 40) + "\" is unknown, or its value is of no use");
}

Json settingJson(const RuleSetting& setting)
{
    const RuleDefinition& rule = definitionOf(setting.rule);
    Json out = {{"rule", rule.name}, {"lease", setting.glob}};
    if (setting.on)
        out["on"] = *setting.on;
    if (setting.priority)
        out["priority"] = *setting.priority;
    for (const auto& [key, value] : setting.thresholds)
        out[key] = value;
    if (!setting.knownHolders.empty())
        out["known-holders"] = setting.knownHolders;
    return out;
}

} // namespace

Result<RuleBook> RuleBook::parse(const std::string& text)
{
    const Json all = Json::parse(text, nullptr, false);
    if (all.is_discarded() || !all.is_object())
        return fail(ErrorKind::BadConfig, "The rules are no JSON object");
    if (all.value("version", 1) > 1) {
        return fail(ErrorKind::Unsupported, "A newer version of Tenure wrote these rules", {},
            "Install it, or name another file");
    }
    Problems problems;
    std::vector<RuleSetting> settings;
    const Json rules = all.contains("rules") ? all["rules"] : Json::array();
    if (!rules.is_array())
        problems.add("rules", "must be a list");
    std::size_t number = 0;
    for (const Json& one : rules) {
        const std::string where = "rule " + std::to_string(++number);
        const Json name = one.is_object() && one.contains("rule") ? one["rule"] : Json();
        const RuleDefinition* rule = name.is_string() ? ruleNamed(name.get<std::string>()) : nullptr;
        if (rule == nullptr) {
            problems.add(where, "names no known rule"
                    + (name.is_string() ? ": " + printable(name.get<std::string>(), 60) : std::string()));
            continue;
        }
        RuleSetting setting;
        setting.rule = rule->id;
        for (const auto& [key, value] : one.items())
            takeKey(setting, *rule, key, value, where, problems);
        settings.push_back(std::move(setting));
    }
    if (!problems.all.empty())
        return fail(ErrorKind::BadConfig, problems.all);
    return RuleBook(std::move(settings));
}

std::string RuleBook::json() const
{
    Json rules = Json::array();
    for (const RuleSetting& setting : m_settings)
        rules.push_back(settingJson(setting));
    const Json all = {{"version", 1}, {"rules", std::move(rules)}};
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string RuleBook::defaultPath()
{
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && *config == '/')
        return std::string(config) + "/tenure/rules.json";
    const char* home = std::getenv("HOME");
    return std::string(home != nullptr ? home : "") + "/.config/tenure/rules.json";
}

Result<RuleBook> RuleBook::load(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        if (errno == ENOENT)
            return RuleBook();
        return fail(ErrorKind::Denied, std::string("The rules cannot be read: ") + std::strerror(errno), path);
    }
    std::ostringstream text;
    text << file.rdbuf();
    Result<RuleBook> book = parse(text.str());
    if (!book)
        book.error().where = path;
    return book;
}

Result<void> RuleBook::save(const std::string& path) const
{
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
        ::mkdir(path.substr(0, slash).c_str(), 0700);
    const std::string fresh = path + ".new-" + std::to_string(::getpid());
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << json();
    file.close();
    if (!file || std::rename(fresh.c_str(), path.c_str()) != 0) {
        const std::string why = std::strerror(errno);
        ::unlink(fresh.c_str());
        return fail(ErrorKind::Denied, "The rules could not be saved: " + why, path);
    }
    return {};
}

RuleValues RuleBook::valuesFor(const std::string& lease) const
{
    RuleValues out;
    for (const RuleDefinition& rule : ruleCatalogue()) {
        RuleValue& value = out[static_cast<std::size_t>(rule.id)];
        value.on = rule.on;
        value.priority = rule.priority;
        for (std::size_t i = 0; i < rule.thresholds.size(); ++i)
            value.thresholds[i] = rule.thresholds[i].standard;
    }
    for (const RuleSetting& setting : m_settings) {
        if (!globMatch(setting.glob, lease))
            continue;
        RuleValue& value = out[static_cast<std::size_t>(setting.rule)];
        value.on = setting.on.value_or(value.on);
        value.priority = setting.priority.value_or(value.priority);
        if (!setting.knownHolders.empty())
            value.knownHolders = setting.knownHolders;
        const auto& known = definitionOf(setting.rule).thresholds;
        for (std::size_t i = 0; i < known.size(); ++i) {
            if (const auto found = setting.thresholds.find(known[i].key); found != setting.thresholds.end())
                value.thresholds[i] = found->second;
        }
    }
    return out;
}

bool RuleBook::differsByLease() const
{
    return std::any_of(m_settings.begin(), m_settings.end(),
        [](const RuleSetting& setting) { return setting.glob != "*"; });
}

} // namespace tenure
