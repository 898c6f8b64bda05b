// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/process_tree.h"
#include "app/ctl/run_session.h"
#include "app/ctl/timing_options.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <cerrno>
#include <cstring>

namespace tenure::ctl
{
namespace
{

struct RunOptions {
    Named named;
    std::vector<std::string> words; ///< COMMAND ARG...
    std::string id = "tenurectl";
    TimingOptions timing;
    bool once = false;
    std::string every;
    bool againAfterFailure = false;
    bool ifLeader = false;
    std::string onLost;
    std::string killAfter = "30s";
    bool verbose = false;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl run redis://localhost billing -- ./worker --config w.yaml
  tenurectl run sqlite:///var/lib/app/leases.db nightly --once --every 20h -- ./report.sh
  tenurectl run redis://localhost cleanup --if-leader -- ./cleanup || test $? = 3

It waits until it leads, runs COMMAND in a process group of its own, and ends with COMMAND's exit code
(128 + N when a signal N ended it; 126 or 127 when it cannot be run). COMMAND gets TENURE_LEASE,
TENURE_HOLDER and TENURE_TOKEN: hand the token to every resource that can refuse an older one.
When leadership is lost, COMMAND and all that it started get SIGTERM at the renew deadline and SIGKILL
before the lease's validity ends, also when tenurectl itself is stopped, hung or killed; exit code 7.
SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to COMMAND; when it ended, the lease
is given back. What COMMAND leaves running in the background ends with it.

--once begins no more than one run in the fleet in each period (--every, 1h unless told otherwise): the
mark is a lease named LEASE@once in the same store, ended by the store's clock. A run that is not due
ends with exit code 0 and does nothing. --if-leader does nothing and ends with 3 when another leads.)";

Result<Duration> durationOf(const std::string &text, const char *option)
{
    Result<Duration> duration = parseDuration(text);
    if (!duration)
        return fail(ErrorKind::BadConfig, std::string(option) + ": " + duration.error().text());
    return duration;
}

Exit complainAboutCommand(const std::string &command)
{
    const int error = errno;
    (void)complainUsage("COMMAND cannot be run: " + command + ": " + std::strerror(error));
    return static_cast<Exit>(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

Result<RunPlan> planOf(const RunOptions &options, const Named &named)
{
    RunPlan plan;
    plan.asked = BootClock::now();
    const Result<LeaseId> lease = LeaseId::parse(*named.lease);
    if (!lease)
        return fail(lease.error());
    const Result<HolderId> id = HolderId::parse(options.id);
    if (!id)
        return fail(id.error());
    plan.lease = *lease;
    plan.self = HolderId::unique(options.id);
    const Result<Duration> killAfter = durationOf(options.killAfter, "--kill-after");
    if (!killAfter)
        return fail(killAfter.error());
    plan.killAfter = *killAfter;
    if (!options.once && (!options.every.empty() || options.againAfterFailure)) {
        return fail(ErrorKind::BadConfig,
            "--every and --again-after-failure belong to --once, which is missing");
    }
    if (options.once) {
        const Result<Duration> every = durationOf(options.every.empty() ? "1h" : options.every, "--every");
        if (!every)
            return fail(every.error());
        plan.every = *every;
    }
    plan.againAfterFailure = options.againAfterFailure;
    plan.ifLeader = options.ifLeader;
    plan.onLost = options.onLost;
    plan.verbose = options.verbose;
    return plan;
}

/// With the guardian started, which had to come before any thread.
Exit compete(RunPlan plan, const RunOptions &options, const Named &named, Guardian &guardian)
{
    RunSession session(guardian);
    Result<Target> target = openTarget(*named.url);
    if (!target)
        return complain(target.error());
    const Result<Timing> timing = timingOf(options.timing, target->backend->traits().limits);
    if (!timing)
        return complain(timing.error());
    plan.timing = *timing;
    const Result<StoreFacts> facts = target->backend->makeStore()->probe(BootClock::now() + kCallTimeout);
    // What is not there yet, a candidate makes.
    if (!facts && facts.error().kind != ErrorKind::NotFound)
        return complain(facts.error());
    return static_cast<Exit>(session.run(plan, target->backend));
}

Exit run(const RunOptions &options)
{
    const std::vector<std::string> &words = options.words;
    const Result<Named> named = sortArguments(options.named, NeedsLease::Yes, environmentUrl());
    if (!named)
        return complain(named.error());
    const Result<RunPlan> plan = planOf(options, *named);
    if (!plan)
        return complain(plan.error());
    if (words.empty())
        return complainUsage("COMMAND is missing. Write it after --: tenurectl run URL LEASE -- COMMAND");
    const std::string program = executableOf(words.front());
    if (program.empty())
        return complainAboutCommand(words.front());
    GuardedCommand command;
    command.program = program;
    command.words = words;
    command.environment = {"TENURE_LEASE=" + plan->lease.name(), "TENURE_HOLDER=" + plan->self.name()};
    // They speak of this process, not of COMMAND.
    command.withhold = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};
    const auto guardian = Guardian::start(command);
    if (!guardian)
        return complain(guardian.error());
    return compete(*plan, options, *named, **guardian);
}

} // namespace

void addRunCommand(CommandNode &app, Chosen &chosen, std::vector<std::string> words)
{
    auto options = std::make_shared<RunOptions>();
    options->words = std::move(words);
    CommandNode command = app.subcommand("run", "Run a command only while leading: run URL LEASE -- COMMAND");
    addUrlAndLease(command, options->named);
    command.option("--id", options->id, "Who competes; default: tenurectl").typeName("ID");
    addTimingOptions(command, options->timing);
    command.flag("--once", options->once, "Begin one run in the fleet in each period");
    command.option("--every", options->every, "The period of --once; default: 1h").typeName("TIME");
    command.flag("--again-after-failure", options->againAfterFailure,
        "With --once: a run that failed does not count");
    command.flag("--if-leader", options->ifLeader, "Try once; exit code 3 when another leads");
    command.option("--on-lost", options->onLost, "Shell command to run after a loss, when COMMAND is gone")
        .typeName("CMD");
    command.option("--kill-after", options->killAfter,
               "How long COMMAND may take to end after a signal; default: 30s")
        .typeName("TIME");
    command.flag("-v,--verbose", options->verbose, "Say on stderr what happens");
    command.footer(kExamples);
    command.onChosen([options, &chosen] { chosen = [options](Output &) { return run(*options); }; });
}

} // namespace tenure::ctl
