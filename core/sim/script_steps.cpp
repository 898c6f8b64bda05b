// SPDX-License-Identifier: GPL-3.0-or-later
// What can stand after "at TIME", and the values in it.
#include "core/sim/script_reader.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;
using Verb = Step::Verb;

struct StepWord {
    const char *word;
    Verb verb;
    enum class Needs { Instance, Store, Link, Nothing, Share } needs;
    enum class Span { None, Must, May } span;
};

constexpr StepWord kSteps[] = {
    {"pause", Verb::Pause, StepWord::Needs::Instance, StepWord::Span::Must},
    {"hang", Verb::Hang, StepWord::Needs::Instance, StepWord::Span::Must},
    {"crash", Verb::Crash, StepWord::Needs::Instance, StepWord::Span::May},
    {"kill", Verb::Crash, StepWord::Needs::Instance, StepWord::Span::May},
    {"restart", Verb::Restart, StepWord::Needs::Instance, StepWord::Span::May},
    {"stop", Verb::Stop, StepWord::Needs::Instance, StepWord::Span::None},
    {"handover", Verb::HandOver, StepWord::Needs::Instance, StepWord::Span::None},
    {"cut", Verb::Cut, StepWord::Needs::Link, StepWord::Span::Must},
    {"latency", Verb::Latency, StepWord::Needs::Store, StepWord::Span::Must},
    {"drop", Verb::Drop, StepWord::Needs::Share, StepWord::Span::Must},
    {"duplicate", Verb::Duplicate, StepWord::Needs::Share, StepWord::Span::Must},
    {"reorder", Verb::Reorder, StepWord::Needs::Share, StepWord::Span::Must},
    {"skew", Verb::Skew, StepWord::Needs::Instance, StepWord::Span::May},
    {"drift", Verb::Drift, StepWord::Needs::Instance, StepWord::Span::May},
    {"failover", Verb::FailoverStore, StepWord::Needs::Store, StepWord::Span::May},
    {"clear", Verb::Clear, StepWord::Needs::Nothing, StepWord::Span::None},
};

} // namespace

std::optional<Duration> ScriptReader::duration(const Word &word, std::string_view text)
{
    const Result<Duration> parsed = parseDuration(text);
    if (parsed)
        return *parsed;
    fail(word, parsed.error().what);
    return std::nullopt;
}

/// "20%", "0.6x": exact millionths.
std::optional<std::int64_t> ScriptReader::millionths(const Word &word, std::string_view text, std::string_view unit)
{
    const bool percent = unit == "%";
    const std::string_view number = text.substr(0, text.size() - std::min(text.size(), unit.size()));
    const std::size_t point = number.find('.');
    const std::string whole(number.substr(0, point));
    std::string part(point == std::string_view::npos ? std::string_view() : number.substr(point + 1));
    const auto digits = [](const std::string &s) { return s.find_first_not_of("0123456789") == std::string::npos; };
    if (!text.ends_with(unit) || whole.empty() || whole.size() > 4 || part.size() > 6 || !digits(whole) || !digits(part)) {
        fail(word, "\"" + std::string(text) + "\" is not a number with " + std::string(unit));
        return std::nullopt;
    }
    part.resize(6, '0');
    const std::int64_t value = std::stoll(whole) * 1'000'000 + std::stoll(part);
    if (percent && value > 100'000'000) {
        fail(word, std::string(text) + " is more than all");
        return std::nullopt;
    }
    return percent ? value / 100 : value;
}

std::optional<bool> ScriptReader::onOff(const Word &word, std::string_view text)
{
    if (text != "on" && text != "off") {
        fail(word, "\"" + std::string(text) + "\" is neither on nor off");
        return std::nullopt;
    }
    return text == "on";
}

/// "200ms", "0.2s..3s", "lognormal(3.3s,0.8)"; with `rising` also "0.2s->3s".
std::optional<Spread> ScriptReader::spread(const Word &word, std::string_view text, bool *rising)
{
    constexpr std::string_view kLogNormal = "lognormal(";
    if (text.starts_with(kLogNormal) && text.ends_with(")")) {
        const std::string_view inner = text.substr(kLogNormal.size(), text.size() - kLogNormal.size() - 1);
        const std::size_t comma = inner.find(',');
        const auto median = duration(word, inner.substr(0, comma));
        const auto sigma = millionths(word, comma == std::string_view::npos ? "" : inner.substr(comma + 1), "");
        if (!median || !sigma)
            return std::nullopt;
        return Spread::logNormal(*median, static_cast<double>(*sigma) / 1e6);
    }
    const std::size_t arrow = text.find("->");
    const std::size_t dots = arrow == std::string_view::npos ? text.find("..") : arrow;
    if (arrow != std::string_view::npos && !rising) {
        fail(word, "A time that rises has no place here");
        return std::nullopt;
    }
    if (rising)
        *rising = arrow != std::string_view::npos;
    const auto low = duration(word, text.substr(0, dots));
    const auto high = dots == std::string_view::npos ? low : duration(word, text.substr(dots + 2));
    if (!low || !high)
        return std::nullopt;
    if (*low > *high) {
        fail(word, "\"" + std::string(text) + "\" goes from more to less");
        return std::nullopt;
    }
    return Spread::uniform(*low, *high);
}

void ScriptReader::speaksOf(const Word &word, const std::string &name)
{
    m_draft->names.emplace_back(name, Place{m_line, word.column});
}

/// "A->store", "A<-queue", "A--store", "console--store".
bool ScriptReader::readCut(Step &step, const Word &word)
{
    for (const auto &[sign, way] : {std::pair("->", Step::Way::To), std::pair("<-", Step::Way::From), std::pair("--", Step::Way::Both)}) {
        const std::size_t at = word.text.find(sign);
        if (at == std::string::npos)
            continue;
        step.target = word.text.substr(0, at);
        step.peer = word.text.substr(at + 2);
        step.way = way;
        if (step.peer != "store" && step.peer != "queue")
            return fail(word, "A link leads to the store or the queue, not to \"" + step.peer + "\""), false;
        if (step.target != "console")
            speaksOf(word, step.target);
        return true;
    }
    return fail(word, "A link is written A->store (requests), A<-store (answers) or A--store (both)"), false;
}

bool ScriptReader::readStoreStep(Step &step, const Words &words, std::size_t at)
{
    if (at >= words.size() || words[at].text != "store")
        return fail(words[std::min(at, words.size() - 1)], "Expected \"store\" here"), false;
    step.target = "store";
    if (step.verb != Verb::Latency)
        return true;
    if (at + 1 >= words.size())
        return fail(words[at], "How long? Write latency store 0.2s..3s for 15s"), false;
    const auto latency = spread(words[at + 1], words[at + 1].text, &step.rising);
    step.spread = latency.value_or(Spread());
    return latency.has_value();
}

std::optional<Step> ScriptReader::readStep(const Words &words, std::size_t first)
{
    Step step;
    const std::string &verb = words[first].text;
    for (std::size_t i = first; i < words.size(); ++i)
        step.text += (i > first ? " " : "") + words[i].text;
    const auto is = [&](std::size_t i, const char *text) { return first + i < words.size() && words[first + i].text == text; };
    const auto whole = [&](std::size_t count, Verb meant, const char *target) -> std::optional<Step> {
        if (words.size() != first + count) {
            fail(words[first + count], "\"" + words[first + count].text + "\" has no meaning here");
            return std::nullopt;
        }
        step.verb = meant;
        step.target = target;
        return step;
    };
    if (verb == "release" && is(1, "by") && is(2, "operator")) {
        step.guarded = !is(3, "unguarded");
        return whole(step.guarded ? 3 : 4, Verb::OperatorClear, "operator");
    }
    if (verb == "operator" && is(1, "looks"))
        return whole(2, Verb::OperatorLook, "operator");
    if ((verb == "hang" || verb == "restart") && is(1, "store")) {
        step.verb = verb == "hang" ? Verb::HangStore : Verb::RestartStore;
        step.target = "store";
        if (!readStepRest(step, words, first + 2))
            return std::nullopt;
        if (step.verb == Verb::HangStore && step.span == 0ns)
            return fail(words[first], "Every fault ends: say for how long"), std::nullopt;
        return step;
    }
    const auto *known = std::find_if(std::begin(kSteps), std::end(kSteps), [&](const StepWord &s) { return verb == s.word; });
    if (known == std::end(kSteps))
        return fail(words[first], "There is no verb \"" + verb + "\""), std::nullopt;
    step.verb = known->verb;
    std::size_t next = first + 1;
    if (known->needs != StepWord::Needs::Nothing && next >= words.size())
        return fail(words[first], verb + " what?"), std::nullopt;
    switch (known->needs) {
    case StepWord::Needs::Instance:
        step.target = words[next].text;
        speaksOf(words[next++], step.target);
        break;
    case StepWord::Needs::Link:
        if (!readCut(step, words[next++]))
            return std::nullopt;
        break;
    case StepWord::Needs::Store:
        if (!readStoreStep(step, words, next))
            return std::nullopt;
        next += step.verb == Verb::Latency ? 2 : 1;
        break;
    case StepWord::Needs::Share: {
        const auto share = millionths(words[next], words[next].text, "%");
        if (!share)
            return std::nullopt;
        step.share = {*share};
        step.target = "store";
        ++next;
        break;
    }
    case StepWord::Needs::Nothing:
        break;
    }
    if (!readStepRest(step, words, next))
        return std::nullopt;
    if (known->span == StepWord::Span::Must && step.span == 0ns)
        return fail(words[first], "Every fault ends: say for how long"), std::nullopt;
    if (known->span == StepWord::Span::None && step.span > 0ns)
        return fail(words[first], verb + " does not last"), std::nullopt;
    return step;
}

/// Durations, "for", and what single verbs know besides.
bool ScriptReader::readStepRest(Step &step, const Words &words, std::size_t first)
{
    bool amount = step.verb != Verb::Skew && step.verb != Verb::Drift && step.verb != Verb::FailoverStore;
    for (std::size_t i = first; i < words.size(); ++i) {
        const Word &word = words[i];
        const auto key = keyOf(word);
        if (word.text == "for" && i + 1 < words.size())
            continue;
        if (step.verb == Verb::Crash && word.text == "mid-item") {
            step.midItem = true;
        } else if (step.verb == Verb::RestartStore && word.text == "empty") {
            step.empty = true;
        } else if (step.verb == Verb::Skew && !amount) {
            const bool back = word.text.starts_with("-");
            const auto by = duration(word, std::string_view(word.text).substr(back || word.text.starts_with("+") ? 1 : 0));
            if (!by)
                return false;
            step.amount = back ? -*by : *by;
            amount = true;
        } else if (step.verb == Verb::Drift && !amount) {
            const auto rate = millionths(word, word.text, "x");
            if (!rate)
                return false;
            if (*rate < 100'000 || *rate > 10'000'000)
                return fail(word, "A clock runs at 0.1x to 10x"), false;
            step.ratePpm = *rate;
            amount = true;
        } else if (step.verb == Verb::FailoverStore && key && key->first == "lag") {
            const auto lag = duration(key->second, key->second.text);
            if (!lag)
                return false;
            if (*lag > std::chrono::seconds(30))
                return fail(key->second, "A replica lags at most 30 s here"), false;
            step.amount = *lag;
            amount = true;
        } else if (step.span == 0ns) {
            const auto span = duration(word, word.text);
            if (!span)
                return false;
            step.span = *span;
        } else {
            return fail(word, "\"" + word.text + "\" has no meaning here"), false;
        }
    }
    if (!amount)
        fail(words[first - 1], step.verb == Verb::FailoverStore ? "How much is lost? Write lag=300ms" : "By how much?");
    return amount;
}

} // namespace tenure::sim
