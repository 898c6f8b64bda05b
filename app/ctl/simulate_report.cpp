// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/simulate_report.h"

#include "app/ctl/lease_json.h"
#include "core/base/random.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::ctl
{
namespace
{

using sim::Metric;

std::string padded(std::string text, std::size_t width)
{
    // Widths count characters: our own texts have none beyond ASCII.
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

std::string columnHead(const std::string &variant)
{
    return variant.empty() ? "value" : variant;
}

/// Metrics that say something in at least one of the runs.
template <typename Says>
std::vector<Metric> telling(Says &&says)
{
    std::vector<Metric> out;
    for (std::size_t i = 0; i < sim::kMetrics; ++i) {
        if (says(static_cast<Metric>(i)))
            out.push_back(static_cast<Metric>(i));
    }
    return out;
}

std::string head(const sim::Scenario &scenario)
{
    std::string out = "SIM  ";
    out += scenario.code.empty() ? "" : scenario.code + "  ";
    return out + (scenario.title.empty() ? scenario.id : scenario.title) + "\n";
}

void addVerdicts(std::string &out, const std::string &variant, const std::vector<sim::Verdict> &verdicts, const Output &output)
{
    for (const sim::Verdict &verdict : verdicts) {
        const std::string word = !verdict.judged ? output.painted(Ink::Muted, "....")
            : verdict.passed ? output.painted(Ink::Good, "pass") : output.painted(Ink::Critical, "FAIL");
        out += "  " + word + "  " + (variant.empty() ? "" : variant + ": ") + verdict.expectation.text;
        if (!verdict.judged)
            out += "   (of many runs: use --seeds)";
        else if (!verdict.passed || verdict.expectation.ofRuns)
            out += "   it was " + verdict.actual;
        out += "\n";
    }
}

Json metricJson(Metric metric, std::int64_t value)
{
    return sim::isTime(metric) ? Json(static_cast<double>(value / 1000) / 1000.0) : Json(value);
}

std::string metricKey(Metric metric)
{
    return std::string(sim::metricName(metric)) + (sim::isTime(metric) ? "_ms" : "");
}

Json verdictsJson(const std::vector<sim::Verdict> &verdicts)
{
    Json out = Json::array();
    for (const sim::Verdict &verdict : verdicts) {
        out.push_back({{"expect", verdict.expectation.text}, {"passed", verdict.judged ? Json(verdict.passed) : Json(nullptr)},
            {"actual", verdict.actual}});
    }
    return out;
}

Json headJson(const sim::Scenario &scenario)
{
    return {{"type", "simulation"}, {"simulated", true}, {"code", scenario.code}, {"name", scenario.id}, {"title", scenario.title}};
}

template <typename Runs>
bool noneFailed(const Runs &runs)
{
    return std::all_of(runs.begin(), runs.end(), [](const auto &run) {
        return std::all_of(run.verdicts.begin(), run.verdicts.end(), [](const sim::Verdict &v) { return v.passed; });
    });
}

} // namespace

bool allPassed(const std::vector<SingleRun> &runs) { return noneFailed(runs); }

bool allPassed(const std::vector<ManyRuns> &runs)
{
    return noneFailed(runs)
        && std::all_of(runs.begin(), runs.end(), [](const ManyRuns &run) { return run.result.failures == 0; });
}

std::string scenarioLine(const sim::Scenario &scenario)
{
    return padded(scenario.code, 5) + padded(scenario.id, 24) + scenario.title + "\n";
}

std::string scenarioJson(const sim::Scenario &scenario)
{
    Json out = headJson(scenario);
    out["type"] = "scenario";
    out["teach"] = scenario.teach;
    Json variants = Json::array();
    for (const sim::Setup &setup : scenario.runs)
        variants.push_back(setup.variant);
    out["variants"] = variants;
    return oneLine(out) + "\n";
}

std::string singleText(const sim::Scenario &scenario, std::uint64_t seed, const std::vector<SingleRun> &runs, const Output &output)
{
    std::string out = head(scenario) + "seed " + std::to_string(seed) + "\n\n" + padded("", 32);
    std::size_t width = 16;
    for (const SingleRun &run : runs)
        width = std::max(width, run.variant.size() + 2);
    for (const SingleRun &run : runs)
        out += padded(columnHead(run.variant), width);
    out += "\n";
    const auto says = [&runs](Metric metric) {
        return std::any_of(runs.begin(), runs.end(), [metric](const SingleRun &run) { return run.score[metric] != 0; });
    };
    for (const Metric metric : telling(says)) {
        out += padded(sim::metricTitle(metric), 32);
        for (const SingleRun &run : runs)
            out += padded(sim::metricText(metric, run.score[metric]), width);
        out += "\n";
    }
    out += padded("event log", 32);
    for (const SingleRun &run : runs)
        out += padded(hex64(run.logHash), width);
    out += "\n\n";
    for (const SingleRun &run : runs) {
        addVerdicts(out, run.variant, run.verdicts, output);
        if (!run.violation.empty())
            out += "  note  " + (run.variant.empty() ? "" : run.variant + ": ") + run.violation + "\n";
    }
    return out;
}

std::string singleJson(const sim::Scenario &scenario, std::uint64_t seed, const std::vector<SingleRun> &runs)
{
    Json out = headJson(scenario);
    out["seed"] = seed;
    out["passed"] = allPassed(runs);
    out["runs"] = Json::array();
    for (const SingleRun &run : runs) {
        Json metrics = Json::object();
        for (std::size_t i = 0; i < sim::kMetrics; ++i)
            metrics[metricKey(static_cast<Metric>(i))] = metricJson(static_cast<Metric>(i), run.score.values[i]);
        out["runs"].push_back({{"variant", run.variant}, {"metrics", metrics}, {"violation", textJson(run.violation)},
            {"log_hash", hex64(run.logHash)}, {"expectations", verdictsJson(run.verdicts)}});
    }
    return oneLine(out) + "\n";
}

std::string manyText(const sim::Scenario &scenario, std::uint64_t firstSeed, const std::vector<ManyRuns> &runs, const Output &output)
{
    std::string out = head(scenario);
    for (const ManyRuns &run : runs) {
        out += "\n" + (run.variant.empty() ? "" : run.variant + ", ") + std::to_string(run.result.scores.size()) + " runs from seed "
            + std::to_string(firstSeed) + "\n";
        out += padded("", 32) + padded("least", 12) + padded("5 %", 12) + padded("median", 12) + padded("95 %", 12) + "most\n";
        for (const Metric metric : telling([&run](Metric m) { return run.result.band(m).most != 0; })) {
            const sim::SearchResult::Band band = run.result.band(metric);
            out += padded(sim::metricTitle(metric), 32);
            for (const std::int64_t value : {band.least, band.p5, band.p50, band.p95})
                out += padded(sim::metricText(metric, value), 12);
            out += sim::metricText(metric, band.most) + "\n";
        }
        addVerdicts(out, {}, run.verdicts, output);
        if (!run.result.smallest)
            continue;
        const sim::Failure &failure = *run.result.smallest;
        out += output.painted(Ink::Critical, "  " + std::to_string(run.result.failures) + " runs failed") + ", the first with seed "
            + std::to_string(failure.seed) + ": " + failure.what + "\n";
        out += "  it takes " + std::to_string(failure.steps.size()) + " of its " + std::to_string(failure.stepsBefore) + " steps:\n";
        for (const sim::Step &step : failure.steps)
            out += "    at " + durationText(step.at) + "  " + step.text + "\n";
    }
    return out;
}

std::string manyJson(const sim::Scenario &scenario, std::uint64_t firstSeed, const std::vector<ManyRuns> &runs)
{
    Json out = headJson(scenario);
    out["first_seed"] = firstSeed;
    out["passed"] = allPassed(runs);
    out["runs"] = Json::array();
    for (const ManyRuns &run : runs) {
        Json metrics = Json::object();
        for (std::size_t i = 0; i < sim::kMetrics; ++i) {
            const auto metric = static_cast<Metric>(i);
            const sim::SearchResult::Band band = run.result.band(metric);
            metrics[metricKey(metric)] = {{"least", metricJson(metric, band.least)}, {"p5", metricJson(metric, band.p5)},
                {"p50", metricJson(metric, band.p50)}, {"p95", metricJson(metric, band.p95)}, {"most", metricJson(metric, band.most)}};
        }
        Json one = {{"variant", run.variant}, {"seeds", run.result.scores.size()}, {"failures", run.result.failures},
            {"metrics", metrics}, {"expectations", verdictsJson(run.verdicts)}, {"smallest_failure", nullptr}};
        if (run.result.smallest) {
            Json steps = Json::array();
            for (const sim::Step &step : run.result.smallest->steps)
                steps.push_back({{"at_ms", step.at.count() / 1'000'000}, {"step", step.text}});
            one["smallest_failure"] = {{"seed", run.result.smallest->seed}, {"what", run.result.smallest->what}, {"steps", steps}};
        }
        out["runs"].push_back(one);
    }
    return oneLine(out) + "\n";
}

} // namespace tenure::ctl
