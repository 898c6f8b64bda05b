// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/interrupts.h"
#include "app/ctl/lease_json.h"
#include "app/ctl/release_plan.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/observe/fleet.h"
#include "core/runtime/journal_tap.h"

#include <future>
#include <iostream>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

struct ReleaseOptions {
    Named named;
    std::string holder;
    std::optional<std::uint64_t> token;
    std::string mode = "ask";
    std::string hold = "15s";
    std::string reason;
    std::string wait = "30s";
    std::string journal = Journal::defaultPath();
    bool dryRun = false;
    bool yes = false;
    bool json = false;
};

constexpr const char *kExamples = R"(
Modes, the gentlest first:
  ask    ask the holder to drain and give the lease back; only Tenure's own electors obey
  hold   take the lease over for --hold, so that nobody leads meanwhile, then let all race
  clear  take it away at once: two may lead until the old holder's next renewal

Examples:
  tenurectl show redis://localhost billing                  who holds it, under which token
  tenurectl release redis://localhost billing --holder w1_host-17-0f... --reason INC-4711
  tenurectl release redis://localhost billing --holder w1 --mode clear --dry-run

It is refused unless the holder (and the token, if given) is still what you said: exit code 4.
What is told at the end is what happened: taken by another, still vacant, taken again by the same.)";

/// What is known before anything is asked or sent.
struct Prepared {
    Target target;
    LeaseStatus status;
    ReleasePlan plan;
};

Result<ReleasePlan> planOf(const ReleaseOptions &options, const Named &named)
{
    const Result<LeaseId> lease = LeaseId::parse(*named.lease);
    const Result<OperatorVerb> verb = parseMode(options.mode);
    const Result<Duration> hold = parseDuration(options.hold);
    const Result<Duration> wait = parseDuration(options.wait);
    if (!lease)
        return fail(lease.error());
    if (!verb)
        return fail(verb.error());
    if (!hold)
        return fail(hold.error());
    if (!wait)
        return fail(wait.error());
    if (*hold < 1ms || *hold > 24h)
        return fail(ErrorKind::BadConfig, "--hold must be between 1ms and 24h");
    ReleasePlan plan;
    plan.verb = *verb;
    plan.lease = *lease;
    plan.duration = std::chrono::ceil<Milliseconds>(*hold);
    plan.by = operatorName();
    plan.reason = options.reason.empty() ? "none given" : options.reason;
    plan.wait = *wait;
    return plan;
}

Result<Prepared> prepare(const ReleaseOptions &options)
{
    const Result<Named> named = sortArguments(options.named, NeedsLease::Yes, environmentUrl());
    if (!named)
        return fail(named.error());
    Result<ReleasePlan> plan = planOf(options, *named);
    if (!plan)
        return fail(plan.error());
    Result<Target> target = openTarget(*named->url);
    if (!target)
        return fail(target.error());
    const std::unique_ptr<LeaseStore> store = target->backend->makeStore();
    const Result<Look> look = readLease(*store, plan->lease);
    if (!look)
        return fail(look.error());
    std::optional<Error> problem = mismatch(look->record, options.holder, options.token);
    if (problem) {
        problem->where = target->display;
        return fail(*problem);
    }
    Fleet fleet;
    (void)fleet.apply({look->record, false, look->serverTime, look->roundTrip, look->receivedAt},
        SystemClock::instance().wall());
    plan->kind = look->record.kind;
    plan->expected = look->record.seen();
    return Prepared{std::move(*target), *fleet.find(plan->lease), std::move(*plan)};
}

std::string forecastText(const Prepared &prepared, const ReleaseForecast &forecast)
{
    const LeaseRecord &record = prepared.status.record;
    std::string text = "You will end the hold of " + printable(*record.holder, 255) + " on "
        + printable(record.lease.name()) + " (" + prepared.target.display;
    if (record.token)
        text += ", token " + std::to_string(record.token.value);
    text += ").\n";
    for (const std::string &sentence : forecast.sentences)
        text += "  - " + printable(sentence, 1000) + "\n";
    return text;
}

/// Typing the name makes one look at it once more.
bool agreed(Output &output, const ReleaseOptions &options, const Prepared &prepared)
{
    const std::string name = printable(prepared.plan.lease.name());
    output.write("Type " + name + " to " + options.mode + ", anything else to leave it: ");
    std::string typed;
    std::getline(std::cin, typed);
    return typed == name;
}

void tell(Output &output, const ReleaseOptions &options, const ReleasePlan &plan, const ReleaseReport &report)
{
    if (!options.json) {
        output.line(report.sentence);
        return;
    }
    Json line = {{"type", report.final ? "outcome" : "progress"}, {"outcome", outcomeWord(report.outcome)},
        {"lease", textJson(plan.lease.name())}, {"mode", options.mode},
        {"expected_holder", textJson(plan.expected.holder)}};
    const bool led = report.record && report.record->holder;
    line["holder"] = led ? textJson(*report.record->holder) : Json(nullptr);
    line["token"] = led && report.record->token ? Json(report.record->token.value) : Json(nullptr);
    line["after_ms"] = std::chrono::floor<Milliseconds>(report.after).count();
    line["sentence"] = textJson(report.sentence);
    output.line(oneLine(line));
}

/// Carries it out on a thread of its own, so that Ctrl-C ends the watching (never the write).
ReleaseReport carryOut(OperatorGate &gate, const ReleaseOptions &options, const ReleasePlan &plan,
    Output &output, Interrupts &interrupts)
{
    std::atomic<bool> cancel = false;
    std::atomic<bool> ended = false;
    std::future<ReleaseReport> work = std::async(std::launch::async, [&] {
        ReleaseReport report = gate.release(
            plan,
            [&](const ReleaseReport &progress) {
                if (!progress.final)
                    tell(output, options, plan, progress);
            },
            &cancel);
        ended = true;
        interrupts.nudge();
        return report;
    });
    while (!ended) {
        const Interrupts::Wake wake = interrupts.wait(60s);
        if (wake == Interrupts::Wake::Interrupted || wake == Interrupts::Wake::ReaderGone) {
            cancel = true;
            break;
        }
    }
    return work.get();
}

/// Nothing for a demo: what is simulated stays out of the user's history.
std::shared_ptr<Journal> openJournal(const ReleaseOptions &options, const Target &target)
{
    if (target.demo)
        return nullptr;
    Journal::Options where;
    where.path = options.journal;
    auto journal = std::make_shared<Journal>(where);
    journal->describe({target.display, target.display, target.display});
    return journal;
}

Exit release(const ReleaseOptions &options, Output &output)
{
    if (!options.yes && !options.dryRun && !output.canAsk())
        return complainUsage("Nobody can be asked here. Add --yes to release without a question, or --dry-run");
    // Before any thread, which a demo world starts.
    Interrupts interrupts;
    const Result<Prepared> prepared = prepare(options);
    if (!prepared)
        return complain(prepared.error());
    const ReleasePlan &plan = prepared->plan;
    const ReleaseForecast forecast = forecastRelease(prepared->target.backend->traits(),
        prepared->status, plan.verb, plan.duration, BootClock::now());
    if (!forecast.possible)
        return complain(Error{ErrorKind::Unsupported, forecast.why, prepared->target.display, {}, {}, {}});
    // A dry run's own sentence says all of it again.
    if (!options.json && !options.dryRun)
        output.write(forecastText(*prepared, forecast));
    if (options.dryRun) {
        const ReleaseReport report
            = OperatorGate(prepared->target.backend, SystemClock::instance(), {}).dryRun(plan);
        tell(output, options, plan, report);
        return exitFor(report);
    }
    if (!options.yes && !agreed(output, options, *prepared)) {
        output.line("Nothing was sent.");
        return Exit::Failed;
    }
    const std::shared_ptr<Journal> journal = openJournal(options, prepared->target);
    OperatorGate gate(prepared->target.backend, SystemClock::instance(),
        journal ? journaledAudit(journal, prepared->target.display, {}) : OperatorGate::Audit());
    gate.allowWrites(plan.wait + 1min);
    const ReleaseReport report = carryOut(gate, options, plan, output, interrupts);
    tell(output, options, plan, report);
    if (journal && journal->status().state != JournalState::Writing)
        std::cerr << "tenurectl: this release is not in the journal: " << journal->status().sentence << "\n";
    return exitFor(report);
}

} // namespace

void addReleaseCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<ReleaseOptions>();
    CommandNode command = app.subcommand("release", "Take a lease from its holder, on purpose");
    addUrlAndLease(command, options->named);
    command.option("--holder", options->holder, "Who holds it now, as list shows it")
        .typeName("HOLDER").required();
    command.option("--token", options->token, "Under which token it is held now").typeName("N");
    command.option("--mode", options->mode, "ask (default), hold or clear").typeName("MODE");
    command.option("--hold", options->hold, "hold: how long nobody leads; ask: how long the holder stays out; default: 15s")
        .typeName("TIME");
    command.option("--reason", options->reason, "Why, for the audit trail").typeName("TEXT");
    command.option("--wait", options->wait, "How long to watch what comes of it; default: 30s")
        .typeName("TIME");
    command.option("--journal", options->journal, "Where the release is noted; default the user's journal")
        .typeName("FILE");
    command.flag("--dry-run", options->dryRun, "Say what would happen, send nothing");
    command.flag("--yes,-y", options->yes, "Do not ask");
    command.flag("--json", options->json, "The outcome as a JSON object");
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return release(*options, output); };
    });
}

} // namespace tenure::ctl
