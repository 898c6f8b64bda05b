// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/interrupts.h"
#include "app/ctl/lease_json.h"
#include "app/ctl/release_plan.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/drill/drill.h"
#include "core/runtime/journal_tap.h"

#include <fstream>
#include <iostream>
#include <thread>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

struct DrillOptions {
    Named named;
    std::string act = "ask";
    int times = 1;
    std::string maxGap = "5s";
    std::string hold = "3s";
    int spawn = 0;
    bool processes = false;
    std::string ttl = "5s";
    std::string report;
    std::string reason = "failover drill";
    std::string journal;
    bool yes = false;
    bool json = false;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl drill redis://localhost billing                  ask the leader to step down, once
  tenurectl drill redis://localhost billing --times 10 --max-gap 2s --report drill.md --yes
  tenurectl drill redis://localhost drill/test --spawn 3 --processes --act crash --times 5
                                                             with processes of its own, killed for real

It looks first and says what it will do. --act: ask (default), hold, clear on any leader; pause or
crash only instances that --spawn starts itself, on leases below drill/ (Kubernetes: drill-). Everything is measured by
this machine's one clock. Ctrl-C ends it and leaves the lease clean: no hold, nothing frozen.
Exit code 0 when every failover was within --max-gap, 1 when one was not or it was not run.)";

Result<DrillPlan> planOf(const DrillOptions &options, const std::string &lease)
{
    DrillPlan plan;
    Result<LeaseId> id = LeaseId::parse(lease);
    const Result<Duration> gap = parseDuration(options.maxGap);
    const Result<Duration> hold = parseDuration(options.hold);
    if (!id || !gap || !hold)
        return fail(!id ? id.error() : !gap ? gap.error() : hold.error());
    bool known = false;
    for (const DrillAct act : {DrillAct::Ask, DrillAct::Hold, DrillAct::Clear, DrillAct::Pause, DrillAct::Crash}) {
        if (options.act == drillActWord(act))
            plan.act = act, known = true;
    }
    if (!known)
        return fail(ErrorKind::BadConfig, "--act is ask, hold, clear, pause or crash, not " + options.act);
    if ((plan.act == DrillAct::Pause || plan.act == DrillAct::Crash) && options.spawn < 2)
        return fail(ErrorKind::BadConfig, "Only instances of one's own are paused or crashed", {}, "Add --spawn 3");
    if (options.times < 1 || options.times > 1000)
        return fail(ErrorKind::BadConfig, "--times is 1 to 1000");
    plan.lease = *id;
    plan.times = options.times;
    plan.own = options.spawn;
    plan.maxGap = *gap;
    plan.hold = std::chrono::ceil<Milliseconds>(*hold);
    plan.by = operatorName();
    plan.reason = options.reason;
    return plan;
}

std::string checksText(const std::vector<DrillCheck> &checks, const Output &output)
{
    std::string out;
    for (const DrillCheck &check : checks) {
        const bool good = check.grade == DrillCheck::Grade::Good;
        const bool stop = check.grade == DrillCheck::Grade::Stop;
        out += "  " + output.painted(good ? Ink::Good : stop ? Ink::Critical : Ink::Warning, good ? "ok  " : stop ? "STOP" : "warn") + "  " + check.sentence + "\n";
    }
    return out;
}

Json reportJson(const DrillReport &report)
{
    const auto ms = [](Duration d) { return static_cast<double>(d.count() / 1000) / 1000.0; };
    Json out = {{"type", "drill"}, {"backend", report.backend}, {"lease", textJson(report.plan.lease.name())}, {"act", drillActWord(report.plan.act)},
        {"passed", report.passed()}, {"verdict", report.verdict()}, {"clean", report.clean}, {"aborted", report.aborted},
        {"max_gap_ms", ms(report.plan.maxGap)}, {"worst_gap_ms", ms(report.worstGap())}, {"began", rfc3339(report.began)}, {"rounds", Json::array()}};
    for (const DrillRound &round : report.rounds) {
        out["rounds"].push_back({{"at", rfc3339(round.at)}, {"from", textJson(round.from)}, {"from_token", round.fromToken.value}, {"to", textJson(round.to)},
            {"to_token", round.toToken.value}, {"gap_ms", ms(round.gap)}, {"uncertainty_ms", ms(round.uncertainty)}, {"act_to_taken_ms", ms(round.toTaken)}, {"passed", round.passed}});
    }
    return out;
}

bool writeReport(const std::string &path, const DrillReport &report)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << (path.ends_with(".html") ? drillHtml(report) : drillMarkdown(report));
    return static_cast<bool>(file.flush());
}

/// Own candidates, once one of them leads.
Result<std::unique_ptr<LocalInstances>> spawned(const DrillOptions &options, const DrillPlan &plan, const std::string &url, const Target &target)
{
    if (options.spawn == 0)
        return std::unique_ptr<LocalInstances>();
    const Result<Duration> ttl = parseDuration(options.ttl);
    if (!ttl)
        return fail(ttl.error());
    const Result<Timing> timing = Timing::make({.ttl = *ttl}, target.backend->traits().limits);
    if (!timing)
        return fail(timing.error());
    const Result<StoreUri> uri = StoreUri::parse(url);
    auto out = std::make_unique<LocalInstances>(target.backend, SystemClock::instance(),
        uri ? processPlaceOf(*uri) : std::nullopt); // a password from the environment reaches them the same way
    const auto as = options.processes ? LocalInstances::As::Process : LocalInstances::As::Threads;
    for (int i = 0; i < std::min(options.spawn, 50); ++i) {
        if (auto id = out->spawn(plan.lease, *timing, {}, LocalInstances::Scope::DrillOnly, as); !id)
            return fail(id.error());
    }
    const Instant until = BootClock::now() + *ttl + 3s;
    while (BootClock::now() < until) {
        for (const InstanceView &view : out->views()) {
            if (view.report.believes)
                return out;
        }
        std::this_thread::sleep_for(20ms);
    }
    return out; // another leads: preflight says what that means
}

DrillReport carryOut(Drill &drill, const DrillOptions &options, Output &output, Interrupts &interrupts)
{
    std::atomic<bool> cancel = false;
    std::atomic<bool> ended = false;
    DrillReport report;
    std::jthread worker([&] {
        int number = 0;
        report = drill.run([&](const DrillRound &round) {
            ++number;
            if (!options.json)
                output.line("  " + std::to_string(number) + "  " + printable(round.from) + " -> " + round.sentence + (round.passed ? "" : "  FAIL"));
        }, cancel);
        ended = true;
        interrupts.nudge();
    });
    while (!ended) {
        const Interrupts::Wake wake = interrupts.wait(60s);
        if (wake == Interrupts::Wake::Interrupted || wake == Interrupts::Wake::ReaderGone)
            cancel = true;
    }
    worker.join();
    return report;
}

bool agreed(const Output &output, const DrillPlan &plan)
{
    if (!output.canAsk())
        return false;
    std::cout << "This " << drillActWord(plan.act) << "s the leader of " << printable(plan.lease.name()) << " " << plan.times << " times. Type the lease's name to go on: " << std::flush;
    std::string line;
    return std::getline(std::cin, line) && line == plan.lease.name();
}

Exit runDrill(const DrillOptions &options, Output &output)
{
    const Result<Named> named = sortArguments(options.named, NeedsLease::Yes, environmentUrl());
    if (!named)
        return complain(named.error());
    const Result<DrillPlan> plan = planOf(options, *named->lease);
    if (!plan)
        return complain(plan.error());
    if (!options.yes && !output.canAsk())
        return complainUsage("Nobody can be asked here. Add --yes to drill without a question");
    Interrupts interrupts;
    const Result<Target> target = openTarget(*named->url);
    if (!target)
        return complain(target.error());
    const auto instances = spawned(options, *plan, *named->url, *target);
    if (!instances)
        return complain(instances.error());
    std::shared_ptr<Journal> journal;
    if (!target->demo) { // a demo world ends with this command: nothing to remember
        Journal::Options where;
        where.path = options.journal;
        journal = std::make_shared<Journal>(where);
        journal->describe({target->display, target->display, target->display});
    }
    OperatorGate gate(target->backend, SystemClock::instance(),
        journal ? journaledAudit(journal, target->display, {}) : OperatorGate::Audit());
    Drill drill(target->backend, gate, instances->get(), SystemClock::instance(), *plan);
    if (!options.json)
        output.write("Drill: " + options.act + " the leader of " + printable(plan->lease.name()) + " on " + target->display + "\n" + checksText(drill.preflight(), output));
    if (!options.yes && !agreed(output, *plan)) {
        output.line("Nothing was done.");
        return Exit::Failed;
    }
    gate.allowWrites(24h);
    const DrillReport report = carryOut(drill, options, output, interrupts);
    output.line(options.json ? oneLine(reportJson(report)) : report.verdict());
    if (!options.report.empty() && !writeReport(options.report, report))
        std::fprintf(stderr, "tenurectl: the report could not be written to %s\n", options.report.c_str());
    if (report.passed())
        return Exit::Done;
    return report.error ? exitFor(report.error->kind) : Exit::Failed;
}

} // namespace

void addDrillCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<DrillOptions>();
    CommandNode command = app.subcommand("drill", "Fail a lease over on purpose and measure it");
    addUrlAndLease(command, options->named);
    command.option("--act", options->act, "ask (default), hold, clear, pause or crash").typeName("ACT");
    command.option("--times", options->times, "How often; default: 1").typeName("N");
    command.option("--max-gap", options->maxGap, "Longest time without a leader; default: 5s").typeName("TIME");
    command.option("--hold", options->hold, "hold: how long nobody leads; ask: how long the holder stays out; default: 3s").typeName("TIME");
    command.option("--spawn", options->spawn, "Start so many instances of its own first").typeName("N");
    command.flag("--processes", options->processes, "Start them as processes: pause is SIGSTOP, crash SIGKILL");
    command.option("--ttl", options->ttl, "Of those; default: 5s").typeName("TIME");
    command.option("--report", options->report, "Write a report, .md or .html").typeName("FILE");
    command.option("--reason", options->reason, "Why, for the audit trail").typeName("TEXT");
    command.option("--journal", options->journal, "Where it is noted; default the user's journal").typeName("FILE");
    command.flag("--yes,-y", options->yes, "Do not ask");
    command.flag("--json", options->json, "One JSON object at the end");
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return runDrill(*options, output); };
    });
}

} // namespace tenure::ctl
