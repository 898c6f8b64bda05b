// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/script_reader.h"

#include "core/base/time_text.h"
#include "core/lease/identity.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

constexpr int kMostInstances = 400;

std::optional<ClientKind> clientNamed(std::string_view word)
{
    for (int i = 0; i <= static_cast<int>(ClientKind::NoElection); ++i) {
        if (word == clientWord(static_cast<ClientKind>(i)))
            return static_cast<ClientKind>(i);
    }
    return std::nullopt;
}

bool isWorkMetric(Metric metric)
{
    return metric >= Metric::UnsafeWrites && metric <= Metric::ItemsDone;
}

bool isNumber(std::string_view text)
{
    return !text.empty() && text.size() <= 6 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

} // namespace

std::vector<Word> wordsOf(std::string_view line, int column)
{
    std::vector<Word> out;
    std::size_t i = 0;
    while (i < line.size()) {
        if (line[i] == ' ' || line[i] == '\t') {
            ++i;
            continue;
        }
        const std::size_t begin = i;
        std::string text;
        bool quoted = false;
        for (; i < line.size() && (quoted || (line[i] != ' ' && line[i] != '\t')); ++i) {
            if (line[i] == '"')
                quoted = !quoted;
            else
                text += line[i];
        }
        out.push_back({text, column + static_cast<int>(begin)});
    }
    return out;
}

std::optional<std::pair<std::string, Word>> keyOf(const Word &word)
{
    const std::size_t sign = word.text.find('=');
    if (sign == std::string::npos)
        return std::nullopt;
    return std::pair(word.text.substr(0, sign),
        Word{word.text.substr(sign + 1), word.column + static_cast<int>(sign) + 1});
}

void ScriptReader::problem(int line, int column, std::string what)
{
    m_problems.push_back({line, column, std::move(what)});
}

void ScriptReader::beginVariant(const std::string &name, int line, int column)
{
    const auto same = [&name](const Draft &draft) { return draft.setup.variant == name; };
    if (name.empty())
        problem(line, column, "A variant needs a name");
    if (std::any_of(m_variants.begin(), m_variants.end(), same))
        problem(line, column, "There are two variants \"" + name + "\"");
    Draft draft = m_base;
    draft.given.clear();
    draft.setup.variant = name;
    m_variants.push_back(std::move(draft));
    m_draft = &m_variants.back();
}

void ScriptReader::read(std::string_view line, int lineNumber, int column)
{
    m_line = lineNumber;
    const Words words = wordsOf(line, column);
    if (words.empty() || words.front().text.front() == '#')
        return;
    const std::string &verb = words.front().text;
    if (verb == "set")
        return readSet(words);
    if (verb == "spawn")
        return readSpawn(words);
    if (verb == "queue")
        return readQueue(words);
    if (verb == "at")
        return readAt(words);
    if (verb == "expect")
        return readExpect(words);
    if (verb == "card")
        return readCard(words, 0ns);
    if (verb == "variant") {
        std::string name;
        for (std::size_t i = 1; i < words.size(); ++i)
            name += (i > 1 ? " " : "") + words[i].text;
        return beginVariant(name, lineNumber, column);
    }
    if (auto step = readStep(words, 0)) // a step without a time happens at once
        m_draft->setup.steps.push_back(std::move(*step)), m_draft->steps.push_back({m_line, column});
}

bool ScriptReader::once(const std::string &key, const Word &word)
{
    const auto [place, fresh] = m_draft->given.try_emplace(key, Place{m_line, word.column});
    if (!fresh)
        fail(word, key + " was set before, in line " + std::to_string(place->second.line));
    return fresh;
}

void ScriptReader::readSet(const Words &words)
{
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto key = keyOf(words[i]);
        if (!key)
            fail(words[i], "\"" + words[i].text + "\" is not of the form key=value");
        else if (once(key->first, words[i]) && !setKey(key->first, key->second))
            fail(words[i], "There is no setting \"" + key->first + "\"");
    }
}

/// False: no such setting. A value that is not understood has its own problem.
bool ScriptReader::setKey(const std::string &key, const Word &value)
{
    Setup &setup = m_draft->setup;
    const auto time = [&](auto &&put) {
        if (const auto parsed = duration(value, value.text))
            put(*parsed);
        return true;
    };
    const auto choice = [&](std::initializer_list<std::pair<const char *, int>> choices, auto &&put) {
        for (const auto &[name, number] : choices) {
            if (value.text == name)
                return put(number), true;
        }
        fail(value, "\"" + value.text + "\" is not a choice of " + key);
        return true;
    };
    const auto share = [&](Share &out) {
        if (const auto parsed = millionths(value, value.text, "%"))
            out.ppm = *parsed;
        return true;
    };
    if (key == "ttl" || key == "renew" || key == "deadline") {
        m_draft->timing = {m_line, value.column};
        return time([&](Duration d) { key == "ttl" ? void(setup.lease.ttl = d) : key == "renew" ? void(setup.lease.renewEvery = d) : void(setup.lease.renewDeadline = d); });
    }
    if (key == "retry")
        return time([&](Duration d) { setup.retry = d; });
    if (key == "length")
        return time([&](Duration d) { setup.length = d; });
    if (key == "start")
        return time([&](Duration d) { setup.startWithin = d; });
    if (key == "chaos")
        return time([&](Duration d) { setup.chaosEvery = d; });
    if (key == "jitter")
        return share(setup.jitter);
    if (key == "spread")
        return share(setup.clockSpread);
    if (key == "drop")
        return share(setup.network.drop);
    if (key == "duplicate")
        return share(setup.network.duplicate);
    if (key == "latency") {
        if (const auto parsed = spread(value, value.text))
            setup.network.latency = *parsed;
        return true;
    }
    if (key == "tokens")
        return choice({{"counter", 0}, {"time", 1}}, [&](int n) { setup.tokens = n == 0 ? Tokens::Counter : Tokens::Time; });
    if (key == "push")
        return choice({{"off", 0}, {"on", 1}}, [&](int n) { setup.push = n == 1; });
    if (key == "clock")
        return choice({{"server", 0}, {"observed", 1}}, [&](int n) { setup.expiry = n == 1 ? Expiry::Observed : Expiry::Server; });
    if (key == "console")
        return choice({{"off", 0}, {"honest", 1}, {"gullible", 2}}, [&](int n) { setup.console = static_cast<Watcher>(n); });
    return false;
}

void ScriptReader::readSpawn(const Words &words)
{
    std::vector<Word> names;
    ClientKind client = ClientKind::Sound;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto key = keyOf(words[i]);
        if (!key) {
            names.push_back(words[i]);
        } else if (key->first != "client") {
            fail(words[i], "spawn knows client=..., not \"" + key->first + "\"");
        } else if (const auto kind = clientNamed(key->second.text)) {
            client = *kind;
        } else {
            fail(key->second, "There is no client \"" + key->second.text + "\"");
        }
    }
    auto &all = m_draft->setup.instances;
    const bool inVariant = m_draft != &m_base;
    if (names.empty())
        fail(words.front(), "spawn needs a name or a number of instances");
    const auto add = [&](const std::string &name, const Word &word) {
        const auto known = std::find_if(all.begin(), all.end(), [&](const InstanceSpec &spec) { return spec.name == name; });
        if (known == all.end())
            all.push_back({name, client});
        else if (inVariant)
            known->client = client; // the same instance, made otherwise
        else
            fail(word, "There is an instance \"" + name + "\" already");
    };
    for (const Word &name : names) {
        const int many = isNumber(name.text) ? std::stoi(name.text) : 0;
        const bool special = name.text == "leader" || name.text == "follower" || name.text == "store" || name.text == "console";
        if (many > kMostInstances)
            fail(name, "At most " + std::to_string(kMostInstances) + " instances");
        else if (many == 0 && (special || isNumber(name.text) || !HolderId::parse(name.text)))
            fail(name, "\"" + name.text + "\" cannot be the name of an instance");
        else if (many == 0)
            add(name.text, name);
        for (int n = 1; n <= std::min(many, kMostInstances); ++n)
            add("n" + std::to_string(n), name);
    }
}

void ScriptReader::readQueue(const Words &words)
{
    WorkSpec &work = m_draft->setup.work;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto key = keyOf(words[i]);
        if (!key || !once("queue " + key->first, words[i])) {
            if (!key)
                fail(words[i], "\"" + words[i].text + "\" is not of the form key=value");
            continue;
        }
        const Word &value = key->second;
        if (key->first == "items") {
            if (isNumber(value.text))
                work.items = std::stoi(value.text);
            else
                fail(value, "\"" + value.text + "\" is not a number of items");
        } else if (key->first == "work") {
            if (const auto time = spread(value, value.text))
                work.time = *time;
        } else if (key->first == "check") {
            if (const auto every = duration(value, value.text); every && *every > 0ns)
                work.check = *every;
            else if (every)
                fail(value, "The work must ask now and then: check is longer than 0");
        } else if (key->first == "idempotent") {
            work.idempotent = onOff(value, value.text).value_or(false);
        } else if (key->first == "fencing") {
            work.fencing = onOff(value, value.text).value_or(false) ? Fencing::On : Fencing::Off;
        } else {
            fail(words[i], "The queue has no setting \"" + key->first + "\"");
        }
    }
}

void ScriptReader::readAt(const Words &words)
{
    if (words.size() < 3)
        return fail(words.front(), "It is \"at TIME VERB ...\"");
    const auto at = duration(words[1], words[1].text);
    if (!at)
        return;
    if (words[2].text == "card")
        return readCard(Words(words.begin() + 2, words.end()), *at);
    auto step = readStep(words, 2);
    if (!step)
        return;
    step->at = *at;
    m_draft->setup.steps.push_back(std::move(*step));
    m_draft->steps.push_back({m_line, words[1].column});
}

void ScriptReader::readCard(const Words &words, Duration at)
{
    Card card{.at = at};
    bool answers = false;
    bool strange = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].text == "=")
            answers = true;
        else if (i == 1)
            card.question = words[i].text;
        else if (!answers)
            card.choices.push_back(words[i].text);
        else if (std::find(card.choices.begin(), card.choices.end(), words[i].text) == card.choices.end())
            fail(words[i], "\"" + words[i].text + "\" is none of the choices"), strange = true;
        else
            card.right.push_back(words[i].text);
    }
    if (strange)
        return;
    if (card.choices.size() < 2 || card.right.empty())
        return fail(words.front(), "It is card \"QUESTION?\" CHOICE CHOICE ... = RIGHT");
    m_base.cards.push_back(std::move(card));
}

void ScriptReader::readExpect(const Words &words)
{
    if (words.size() < 4)
        return fail(words.front(), "It is \"expect METRIC == VALUE\" or \"expect METRIC in LOW..HIGH\"");
    const auto metric = metricNamed(words[1].text);
    if (!metric)
        return fail(words[1], "There is no metric \"" + words[1].text + "\"");
    Expectation expectation{.metric = *metric};
    if (!readBounds(words, expectation))
        return;
    for (std::size_t i = 1; i < words.size(); ++i)
        expectation.text += (i > 1 ? " " : "") + words[i].text;
    if (isWorkMetric(*metric))
        m_draft->workMetrics.emplace_back(*metric, Place{m_line, words[1].column});
    m_draft->setup.expect.push_back(std::move(expectation));
}

/// OP VALUE, or in LOW..HIGH, and perhaps "in 20%..45% of runs".
bool ScriptReader::readBounds(const Words &words, Expectation &expectation)
{
    const bool time = isTime(expectation.metric);
    const auto value = [&](const Word &word, std::string_view text) -> std::optional<std::int64_t> {
        if (time) {
            const auto parsed = duration(word, text);
            return parsed ? std::optional(parsed->count()) : std::nullopt;
        }
        if (isNumber(text))
            return std::stoll(std::string(text));
        fail(word, "\"" + std::string(text) + "\" is not a number");
        return std::nullopt;
    };
    const std::string &op = words[2].text;
    const std::size_t dots = words[3].text.find("..");
    if (op == "in" && dots != std::string::npos) {
        const auto low = value(words[3], std::string_view(words[3].text).substr(0, dots));
        const auto high = value(words[3], std::string_view(words[3].text).substr(dots + 2));
        if (!low || !high)
            return false;
        expectation.low = *low;
        expectation.high = *high;
    } else {
        const auto bound = value(words[3], words[3].text);
        if (!bound)
            return false;
        const bool below = op == "<" || op == "<=";
        const bool above = op == ">" || op == ">=";
        if (!below && !above && op != "==")
            return fail(words[2], "\"" + op + "\" is none of == < <= > >= in"), false;
        expectation.low = below ? 0 : *bound + (op == ">" ? 1 : 0);
        expectation.high = above ? INT64_MAX : *bound - (op == "<" ? 1 : 0);
    }
    if (expectation.low > expectation.high)
        return fail(words[3], "Nothing can be within " + words[3].text), false;
    if (words.size() == 4)
        return true;
    const bool share = words.size() == 8 && words[4].text == "in" && words[6].text == "of" && words[7].text == "runs";
    const std::size_t middle = share ? words[5].text.find("..") : std::string::npos;
    if (middle == std::string::npos)
        return fail(words[4], "After the bounds may stand only \"in LOW%..HIGH% of runs\""), false;
    const auto low = millionths(words[5], std::string_view(words[5].text).substr(0, middle), "%");
    const auto high = millionths(words[5], std::string_view(words[5].text).substr(middle + 2), "%");
    if (!low || !high)
        return false;
    expectation.ofRuns = {static_cast<int>(*low / 10'000), static_cast<int>(*high / 10'000)};
    return true;
}

} // namespace tenure::sim
