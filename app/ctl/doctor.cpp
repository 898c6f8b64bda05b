// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/doctor_steps.h"
#include "app/ctl/lease_json.h"
#include "core/base/text.h"

namespace tenure::ctl
{
namespace
{

struct DoctorOptions {
    Named named;
    bool json = false;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl doctor redis://localhost                 can I reach it, sign in, is it fast enough
  tenurectl doctor redis://localhost billing/ledger  also: does this lease's ttl fit
  TENURE_PASSWORD=... tenurectl doctor rediss://user@redis.example:6380

It looks only: nothing is written. Exit code 5: denied, 6: unreachable.)";

const char *glyphOf(StepResult result)
{
    switch (result) {
    case StepResult::Good:
        return "\u2713";
    case StepResult::Warning:
        return "!";
    case StepResult::Bad:
        return "\u2716";
    case StepResult::Skipped:
        return "\u2013";
    }
    return "";
}

const char *wordOf(StepResult result)
{
    switch (result) {
    case StepResult::Good:
        return "good";
    case StepResult::Warning:
        return "warning";
    case StepResult::Bad:
        return "bad";
    case StepResult::Skipped:
        return "skipped";
    }
    return "";
}

Ink inkOf(StepResult result)
{
    switch (result) {
    case StepResult::Good:
        return Ink::Good;
    case StepResult::Warning:
        return Ink::Warning;
    case StepResult::Bad:
        return Ink::Critical;
    case StepResult::Skipped:
        return Ink::Muted;
    }
    return Ink::Normal;
}

Exit doctor(const DoctorOptions &options, Output &output)
{
    const Result<Named> named = sortArguments(options.named, NeedsLease::Optional, environmentUrl());
    if (!named)
        return complain(named.error());
    std::optional<LeaseId> lease;
    if (named->lease) {
        const Result<LeaseId> parsed = LeaseId::parse(*named->lease);
        if (!parsed)
            return complain(parsed.error());
        lease = *parsed;
    }
    Json steps = Json::array();
    const Exit code = examine(*named->url, lease, [&](const Step &step) {
        if (options.json) {
            steps.push_back({{"step", step.name}, {"result", wordOf(step.result)},
                {"detail", textJson(step.detail)}, {"remedy", textJson(step.remedy)}});
            return;
        }
        const std::string name = step.name + std::string(step.name.size() < 12 ? 12 - step.name.size() : 1, ' ');
        output.line(output.painted(inkOf(step.result), glyphOf(step.result)) + " " + name
            + printable(step.detail, 2000));
        if (!step.remedy.empty())
            output.line(std::string(14, ' ') + "\u2192 " + printable(step.remedy, 2000));
    });
    if (options.json)
        output.line(oneLine({{"exit", static_cast<int>(code)}, {"steps", steps}}));
    return code;
}

} // namespace

void addDoctorCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<DoctorOptions>();
    CommandNode command = app.subcommand("doctor", "Check a connection step by step");
    addUrlAndLease(command, options->named);
    command.flag("--json", options->json, "The steps as a JSON object");
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return doctor(*options, output); };
    });
}

} // namespace tenure::ctl
