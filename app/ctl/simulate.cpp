// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/interrupts.h"
#include "app/ctl/simulate_report.h"
#include "core/sim/search.h"

#include <atomic>
#include <fstream>
#include <thread>

#include <unistd.h>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

struct SimulateOptions {
    std::string what;
    std::optional<std::uint64_t> seed;
    std::optional<std::uint64_t> seeds;
    std::string log;
    bool list = false;
    bool json = false;
};

constexpr std::uint64_t kMostSeeds = 10'000'000;

constexpr const char *kExamples = R"(
Examples:
  tenurectl simulate --list                       what there is to be seen
  tenurectl simulate gc-pause                     one run, judged by its expectations
  tenurectl simulate D3 --seed 42 --log run.jsonl and everything that happened, a line each
  tenurectl simulate D3 --seeds 1000              the bands of a thousand runs, on all cores
  tenurectl simulate chaos --seeds 10000          random faults: the smallest seed that breaks a promise
  tenurectl simulate my-drill.yaml                a scenario of your own

A run is a pure function of scenario and seed: the same on every machine. With several variants
(fencing off and on) all are run. Exit code 0 when every expectation holds, 1 when one does not,
2 when the scenario has a mistake (named with line and column), 3 when there is none of that name.)";

Result<sim::Scenario> open(const std::string &what)
{
    const bool isFile = what.find('/') != std::string::npos || what.ends_with(".yaml") || what.ends_with(".drill")
        || access(what.c_str(), R_OK) == 0;
    return isFile ? sim::loadScenario(what) : sim::scenarioNamed(what);
}

Exit list(const SimulateOptions &options, Output &output)
{
    for (const sim::CatalogueEntry &entry : sim::catalogue()) {
        const sim::Scenario scenario = sim::parseScenario(entry.text).scenario;
        if (!output.write(options.json ? scenarioJson(scenario) : scenarioLine(scenario)))
            break;
    }
    return Exit::Done;
}

/// One run of each variant, with its log where that was asked for.
Exit runSingle(const SimulateOptions &options, const sim::Scenario &scenario, Output &output)
{
    std::ofstream log;
    if (!options.log.empty()) {
        log.open(options.log, std::ios::binary | std::ios::trunc);
        if (!log)
            return complainUsage("Cannot write " + options.log);
    }
    const std::uint64_t seed = options.seed.value_or(1);
    std::vector<SingleRun> runs;
    for (const sim::Setup &setup : scenario.runs) {
        sim::World world(sim::withChaos(setup, seed), {.seed = seed, .keepLog = true});
        world.finish();
        for (const sim::LogEvent &event : world.log())
            log << sim::jsonLine(event, world.names()) << '\n';
        const sim::Scorecard score = world.scorecard();
        runs.push_back({setup.variant, score, world.violation(), sim::logHash(world.log(), world.names()),
            sim::judge(setup.expect, std::span(&score, 1))});
    }
    output.write(options.json ? singleJson(scenario, seed, runs) : singleText(scenario, seed, runs, output));
    return allPassed(runs) ? Exit::Done : Exit::Failed;
}

/// Says on a terminal how far it is.
class Progress
{
public:
    explicit Progress(std::uint64_t all) : m_all(all) { }
    void tell(std::uint64_t done)
    {
        const std::uint64_t percent = done * 100 / m_all;
        if (!m_shown || percent == m_last.exchange(percent))
            return;
        std::fprintf(stderr, "\r%3llu %% of %llu runs", static_cast<unsigned long long>(percent), static_cast<unsigned long long>(m_all));
    }
    ~Progress()
    {
        if (m_shown)
            std::fputs("\r                              \r", stderr);
    }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

private:
    const std::uint64_t m_all;
    const bool m_shown = isatty(STDERR_FILENO) == 1;
    std::atomic<std::uint64_t> m_last = 1000;
};

Exit runMany(const SimulateOptions &options, const sim::Scenario &scenario, Output &output)
{
    Interrupts interrupts;
    std::atomic<bool> cancel = false;
    std::atomic<bool> ended = false;
    std::jthread watcher([&] {
        while (!ended) {
            const Interrupts::Wake wake = interrupts.wait(60s);
            if (wake == Interrupts::Wake::Interrupted || wake == Interrupts::Wake::ReaderGone)
                cancel = true;
            if (cancel)
                return;
        }
    });
    std::vector<ManyRuns> runs;
    for (const sim::Setup &setup : scenario.runs) {
        Progress progress(*options.seeds);
        sim::SearchOptions how;
        how.firstSeed = options.seed.value_or(1);
        how.seeds = *options.seeds;
        how.cancel = &cancel;
        how.progress = [&progress](std::uint64_t done) { progress.tell(done); };
        sim::SearchResult result = sim::search(setup, how);
        if (result.cancelled)
            break;
        std::vector<sim::Verdict> verdicts = sim::judge(setup.expect, result.scores);
        runs.push_back({setup.variant, std::move(result), std::move(verdicts)});
    }
    ended = true;
    interrupts.nudge();
    watcher.join();
    if (cancel) {
        std::fputs("tenurectl: interrupted, nothing is known of the runs that are missing\n", stderr);
        return Exit::Failed;
    }
    const std::uint64_t first = options.seed.value_or(1);
    output.write(options.json ? manyJson(scenario, first, runs) : manyText(scenario, first, runs, output));
    return allPassed(runs) ? Exit::Done : Exit::Failed;
}

Exit simulate(const SimulateOptions &options, Output &output)
{
    if (options.list)
        return list(options, output);
    if (options.what.empty())
        return complainUsage("The scenario is missing: a file or a name. tenurectl simulate --list shows all");
    if (options.seeds && (*options.seeds == 0 || *options.seeds > kMostSeeds))
        return complainUsage("--seeds wants 1 to 10000000");
    const Result<sim::Scenario> scenario = open(options.what);
    if (!scenario)
        return complain(scenario.error());
    return options.seeds ? runMany(options, *scenario, output) : runSingle(options, *scenario, output);
}

} // namespace

void addSimulateCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<SimulateOptions>();
    CommandNode command = app.subcommand("simulate", "Run a scenario in virtual time, once or under many seeds");
    command.option("SCENARIO", options->what, "A file, or a name from --list").typeName("");
    command.option("--seed", options->seed, "Which run; default: 1. With --seeds: the first").typeName("N");
    command.option("--seeds", options->seeds, "How many runs").typeName("N");
    command.option("--log", options->log, "Write every event of the run, one JSON object a line").typeName("FILE");
    command.flag("--list", options->list, "List the scenarios that come with Tenure");
    command.flag("--json", options->json, "One JSON object");
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return simulate(*options, output); };
    });
}

} // namespace tenure::ctl
