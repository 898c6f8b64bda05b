// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "core/runtime/operator_gate.h"

namespace tenure::ctl
{
namespace
{

struct InitOptions {
    Named named;
    bool dryRun = false;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl init sqlite:///var/lib/app/leases.db --dry-run     what would be made
  tenurectl init sqlite:///var/lib/app/leases.db
  tenurectl init postgresql://admin@db/app --dry-run           the tables, and who may do what

Candidates on SQLite or Redis make what they need by themselves. Tables in PostgreSQL are made by
init alone, with the rights of three roles: tenure_elector, tenure_viewer, tenure_operator.)";

Exit init(const InitOptions &options, Output &output)
{
    const Result<Named> named = sortArguments(options.named, NeedsLease::No, environmentUrl());
    if (!named)
        return complain(named.error());
    const Result<Target> target = openTarget(*named->url);
    if (!target)
        return complain(target.error());
    OperatorGate gate(target->backend, SystemClock::instance(), {});
    if (!options.dryRun)
        gate.allowWrites(std::chrono::minutes(1));
    const Result<std::string> done = gate.init(options.dryRun);
    if (!done)
        return complain(done.error());
    output.line(*done);
    return Exit::Done;
}

} // namespace

void addInitCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<InitOptions>();
    CommandNode command = app.subcommand("init", "Make what must exist first, such as a table");
    addUrl(command, options->named);
    command.flag("--dry-run", options->dryRun, "Show it, make nothing");
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return init(*options, output); };
    });
}

} // namespace tenure::ctl
