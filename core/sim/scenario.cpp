// SPDX-License-Identifier: GPL-3.0-or-later
// What can only be judged of a scenario as a whole, and where scenarios come from.
#include "core/sim/script_reader.h"

#include "core/base/time_text.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kLongest = 48h;
constexpr std::size_t kMostBytes = 256 * 1024;

bool takesAnyTiming(ClientKind kind)
{
    return kind != ClientKind::Sound && kind != ClientKind::IgnoresLoss;
}

/// "key:" at the start of the first line that says anything: YAML.
bool looksLikeYaml(std::string_view text)
{
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string::npos || line[begin] == '#')
            continue;
        const std::string first = line.substr(begin, line.find_first_of(" \t", begin) - begin);
        return first == "---" || first.ends_with(":");
    }
    return true;
}

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

Error problemsAsError(const std::vector<Problem> &problems, const std::string &where)
{
    std::string all;
    for (const Problem &problem : problems)
        all += (all.empty() ? "" : "; ") + problem.text();
    return fail(ErrorKind::BadConfig, all, where).value();
}

} // namespace

void ScriptReader::check(Draft &draft)
{
    Setup &setup = draft.setup;
    const auto known = [&setup](const std::string &name) {
        return name == "leader" || name == "follower" || std::any_of(setup.instances.begin(), setup.instances.end(), [&name](const InstanceSpec &spec) { return spec.name == name; });
    };
    if (setup.instances.empty())
        problem(1, 1, "There are no instances: spawn some");
    if (setup.length <= 0ns || setup.length > kLongest)
        problem(1, 1, "A run lasts up to " + durationText(kLongest) + ", not " + durationText(setup.length));
    for (const auto &[name, place] : draft.names) {
        if (!known(name))
            problem(place.line, place.column, "There is no instance \"" + name + "\"");
    }
    for (const auto &[metric, place] : draft.workMetrics) {
        if (setup.work.items == 0)
            problem(place.line, place.column, std::string(metricName(metric)) + " needs a queue, and there is none");
    }
    for (std::size_t i = 0; i < setup.steps.size(); ++i) {
        const Step &step = setup.steps[i];
        const Place &place = draft.steps[i];
        if (step.at >= setup.length)
            problem(place.line, place.column, durationText(step.at) + " is after the end of the run at " + durationText(setup.length));
        else if (step.at + step.span > setup.length)
            problem(place.line, place.column, "\"" + step.text + "\" would end at " + durationText(step.at + step.span) + ", after the end of the run at " + durationText(setup.length));
    }
    const bool sound = std::any_of(setup.instances.begin(), setup.instances.end(), [](const InstanceSpec &s) { return !takesAnyTiming(s.client); });
    const bool others = std::any_of(setup.instances.begin(), setup.instances.end(), [](const InstanceSpec &s) { return takesAnyTiming(s.client); });
    if (others && setup.expiry == Expiry::Observed)
        problem(std::max(1, draft.timing.line), std::max(1, draft.timing.column), "clock=observed is for sound clients only");
    const Result<Timing> timing = Timing::make(setup.lease);
    if (!timing && (sound || setup.lease.ttl <= 0ns))
        problem(std::max(1, draft.timing.line), std::max(1, draft.timing.column), timing.error().what);
    std::stable_sort(setup.steps.begin(), setup.steps.end(), [](const Step &a, const Step &b) { return a.at < b.at; });
}

ParsedScenario ScriptReader::finish(Scenario head)
{
    for (Card &card : m_base.cards)
        head.cards.push_back(std::move(card));
    std::vector<Draft *> drafts;
    for (Draft &variant : m_variants)
        drafts.push_back(&variant);
    if (drafts.empty())
        drafts.push_back(&m_base);
    for (Draft *draft : drafts) {
        check(*draft);
        head.runs.push_back(draft->setup);
    }
    std::stable_sort(m_problems.begin(), m_problems.end(), [](const Problem &a, const Problem &b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); });
    // What is wrong in the base is wrong in every variant: once is enough.
    m_problems.erase(std::unique(m_problems.begin(), m_problems.end(), [](const Problem &a, const Problem &b) { return a.text() == b.text(); }), m_problems.end());
    return {std::move(head), std::move(m_problems)};
}

ParsedScenario parseScenario(std::string_view text)
{
    ScriptReader reader;
    Scenario head;
    if (text.size() > kMostBytes) {
        reader.problem(1, 1, "A scenario has at most 256 kB");
        return {head, reader.problems()};
    }
    if (looksLikeYaml(text)) {
        readYaml(text, reader, head);
    } else {
        std::istringstream lines{std::string(text)};
        int number = 0;
        for (std::string line; std::getline(lines, line);)
            reader.read(line, ++number, 1);
    }
    return reader.finish(std::move(head));
}

Result<Step> parseStep(std::string_view line, const Setup &setup)
{
    ScriptReader reader;
    reader.m_base.setup = setup;
    reader.m_base.setup.steps.clear();
    reader.m_line = 1;
    std::vector<Word> words = wordsOf(line, 1);
    if (words.size() > 2 && words.front().text == "at")
        words.erase(words.begin(), words.begin() + 2);
    std::optional<Step> step;
    if (words.empty())
        reader.problem(1, 1, "Nothing was written");
    else
        step = reader.readStep(words, 0);
    reader.m_base.setup.steps.clear();
    reader.check(reader.m_base);
    if (!step || !reader.m_problems.empty())
        return fail(problemsAsError(reader.m_problems, {}));
    return *step;
}

Result<Scenario> loadScenario(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text(kMostBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    if (text.empty())
        return fail(ErrorKind::NotFound, "The scenario cannot be read, or it is empty", path);
    ParsedScenario parsed = parseScenario(text);
    if (!parsed.problems.empty())
        return fail(problemsAsError(parsed.problems, path));
    if (parsed.scenario.id.empty())
        parsed.scenario.id = path.substr(path.find_last_of('/') + 1);
    return std::move(parsed.scenario);
}

Result<Scenario> scenarioNamed(std::string_view name)
{
    const std::string wanted = lower(name);
    std::string all;
    for (const CatalogueEntry &entry : catalogue()) {
        ParsedScenario parsed = parseScenario(entry.text);
        const bool meant = lower(parsed.scenario.code) == wanted || parsed.scenario.id == wanted || entry.file == wanted;
        if (meant && !parsed.problems.empty())
            return fail(problemsAsError(parsed.problems, std::string(entry.file)));
        if (meant)
            return std::move(parsed.scenario);
        all += (all.empty() ? "" : ", ") + parsed.scenario.code + " " + parsed.scenario.id;
    }
    return fail(ErrorKind::NotFound, "There is no scenario \"" + std::string(name) + "\"", {}, "There are: " + all);
}

} // namespace tenure::sim
