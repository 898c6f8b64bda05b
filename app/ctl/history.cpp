// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/zone_text.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/journal/incident_report.h"
#include "core/journal/journal.h"
#include "core/journal/journal_export.h"

#include <fstream>
#include <iostream>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

struct HistoryOptions {
    std::string journal = Journal::defaultPath();
    std::string lease = "*";
    std::string connection;
    std::string since = "24h";
    std::string until;
    std::string report;
    std::string import;
    std::string times;
    bool json = false;
    bool csv = false;
    bool verify = false;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl history                                     the changes of the last day, and a summary
  tenurectl history --lease 'billing/*' --since 1h
  tenurectl history --since 2026-11-29T02:00:00Z --until 2026-11-29T02:30:00Z --report incident.html
  tenurectl history --csv > changes.csv                 safe to open in a spreadsheet
  tenurectl history --json | jq 'select(.type == "transition")'
  tenurectl history --verify                            was what operators did changed afterwards?
  tenurectl history --journal theirs.db                 somebody else's journal
  tenurectl history --import theirs.jsonl --journal theirs.db    from their --json into a journal

The console keeps the journal; without it: tenurectl list URL --watch --journal FILE
Times are of the clock of the machine that watched; in UTC, or as the console's settings or --times say.
What programs read (--json, --csv, --report) is always UTC with Z.)";

Result<WallTime> moment(const std::string &text, WallTime now)
{
    if (const auto time = parseRfc3339(text))
        return *time;
    const auto ago = parseDuration(text);
    if (ago)
        return now - std::chrono::floor<std::chrono::microseconds>(*ago);
    return fail(ErrorKind::BadConfig, "\"" + printable(text, 60) + "\" is no moment", {},
        "Write a duration such as 1h, or 2026-11-29T02:13:44Z");
}

/// What was asked, understood.
struct Asked {
    JournalFilter filter;
    TimeWindow window;
    std::vector<JournalConnection> connections;

    [[nodiscard]] std::string name(const std::string &id) const
    {
        for (const JournalConnection &one : connections) {
            if (one.id == id)
                return one.name;
        }
        return id;
    }
};

Result<Asked> understand(JournalQuery &query, const HistoryOptions &options)
{
    Asked asked;
    const WallTime now = SystemClock::instance().wall();
    const auto from = moment(options.since, now);
    const auto to = options.until.empty() ? Result<WallTime>(now) : moment(options.until, now);
    if (!from || !to)
        return fail(from ? to.error() : from.error());
    if (*to <= *from)
        return fail(ErrorKind::BadConfig, "--until must be later than --since");
    asked.window = {*from, *to};
    asked.filter.glob = options.lease;
    asked.filter.from = *from;
    asked.filter.to = *to;
    auto connections = query.connections();
    if (!connections)
        return fail(connections.error());
    asked.connections = std::move(*connections);
    if (options.connection.empty())
        return asked;
    for (const JournalConnection &one : asked.connections) {
        if (one.id == options.connection || one.name == options.connection)
            asked.filter.connection = one.id;
    }
    if (asked.filter.connection.empty())
        return fail(ErrorKind::NotFound, "The journal knows no connection " + printable(options.connection, 80));
    return asked;
}

Exit showSummary(JournalQuery &query, const Asked &asked, Output &output)
{
    const auto sum = query.summary(asked.filter, asked.window);
    if (!sum)
        return complain(sum.error());
    output.line(std::to_string(sum->transitions) + " changes of leadership on " + std::to_string(sum->leases)
        + " leases, " + durationText(sum->leaderless) + " without a leader in all, the longest gap "
        + durationText(sum->longestGap) + "; " + std::to_string(sum->actions) + " operator actions, "
        + std::to_string(sum->alerts) + " alerts; " + durationText(sum->observed) + " observed");
    return Exit::Done;
}

Exit showForPeople(JournalQuery &query, const Asked &asked, Output &output)
{
    const auto told = eachEvent(query, asked.filter, [&](const JournalEvent &event) {
        return output.line(output.painted(Ink::Muted, stampText(event.at)) + "  " + asked.name(event.lease.connection)
            + "  " + printable(event.lease.lease.name()) + "  " + transitionWord(event.kind) + ": "
            + zoned(event.explanation, event.at) + (event.inBlindSpot ? " (while nobody looked)" : ""));
    });
    if (!told)
        return complain(told.error());
    const auto actions = query.actions(asked.filter, 0, 1000);
    if (!actions)
        return complain(actions.error());
    for (auto action = actions->rbegin(); action != actions->rend(); ++action) {
        output.line(stampText(action->at) + "  " + asked.name(action->lease.connection) + "  "
            + printable(action->lease.lease.name()) + "  " + printable(action->by) + " "
            + output.painted(Ink::Strong, action->verb) + ", expecting " + printable(action->expected)
            + (action->outcome.empty() ? ", because \"" + printable(action->reason) + "\""
                                       : " -> " + action->outcome + " " + action->sentence));
    }
    return output.isOpen() ? showSummary(query, asked, output) : Exit::Done;
}

Exit showCsv(JournalQuery &query, const Asked &asked, Output &output)
{
    const auto told = eachCsvLine(query, asked.filter, [&](const std::string &line) { return output.line(line); });
    return told ? Exit::Done : complain(told.error());
}

/// When was observed, what changed, what people did, alerts: everything that --import can use and more.
Exit showJson(JournalQuery &query, const Asked &asked, Output &output)
{
    const auto told = eachJsonLine(
        query, asked.filter, asked.window, [&](const std::string &line) { return output.line(line); });
    return told ? Exit::Done : complain(told.error());
}

Exit writeReport(JournalQuery &query, const Asked &asked, const std::string &path, Output &output)
{
    const auto ends = [&](const char *with) { return path.ends_with(with); };
    if (!ends(".md") && !ends(".html") && !ends(".svg"))
        return complainUsage("--report writes FILE.md, FILE.html or FILE.svg");
    const auto report = gatherIncident(query, asked.filter, asked.window);
    if (!report)
        return complain(report.error());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << (ends(".md")          ? incidentMarkdown(*report)
                 : ends(".html") ? incidentHtml(*report)
                                 : incidentSvg(*report));
    file.close();
    if (!file)
        return complain(fail(ErrorKind::Denied, "The report could not be written", path).value());
    output.line("Written to " + path);
    return Exit::Done;
}

Exit verify(JournalQuery &query, Output &output)
{
    const auto check = query.verify();
    if (!check)
        return complain(check.error());
    output.line(check->sentence);
    if (check->sound && check->actions > 0)
        output.line("Newest hash: " + check->head + "  (noted elsewhere, it also proves that nothing was cut off)");
    return check->sound ? Exit::Done : Exit::Failed;
}

Exit import(const HistoryOptions &options, Output &output)
{
    std::ifstream file(options.import, std::ios::binary);
    if (!file)
        return complain(fail(ErrorKind::NotFound, "The file cannot be read", options.import).value());
    const auto imported = importLines(file, options.journal);
    if (!imported)
        return complain(imported.error());
    output.line(std::to_string(imported->taken) + " lines taken into " + options.journal + ", "
        + std::to_string(imported->passedOver) + " passed over");
    return imported->taken > 0 ? Exit::Done : Exit::Failed;
}

Exit history(const HistoryOptions &options, Output &output)
{
    if (!options.import.empty()) {
        if (options.journal == Journal::defaultPath())
            return complainUsage("--import needs --journal FILE: somebody else's history stays out of your own");
        return import(options, output);
    }
    if (!chooseZone(options.times))
        return complainUsage(kNoSuchZone);
    auto query = JournalQuery::open(options.journal);
    if (!query)
        return complain(query.error());
    for (const std::string &note : query->notes())
        std::cerr << "tenurectl: " << note << "\n";
    if (options.verify)
        return verify(*query, output);
    const auto asked = understand(*query, options);
    if (!asked)
        return asked.error().kind == ErrorKind::BadConfig ? complainUsage(asked.error().text())
                                                          : complain(asked.error());
    if (!options.report.empty())
        return writeReport(*query, *asked, options.report, output);
    if (options.csv)
        return showCsv(*query, *asked, output);
    return options.json ? showJson(*query, *asked, output) : showForPeople(*query, *asked, output);
}

} // namespace

void addHistoryCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<HistoryOptions>();
    CommandNode command = app.subcommand("history", "Show what happened: changes, gaps, operators, alerts");
    command.option("--lease", options->lease, "Only names that match (* and ?)").typeName("GLOB");
    command.option("--connection", options->connection, "Only this connection (name or id)").typeName("NAME");
    command.option("--since", options->since, "From then on: 1h, or a time; default 24h").typeName("TIME");
    command.option("--until", options->until, "Until then; default now").typeName("TIME");
    addTimesOption(command, options->times);
    const CommandOption json = command.flag("--json", options->json, "One JSON object a line");
    command.flag("--csv", options->csv, "CSV, safe for spreadsheets").excludes(json);
    command.option("--report", options->report, "Write an incident report: FILE.md, .html or .svg")
        .typeName("FILE");
    command.flag("--verify", options->verify, "Check the chain of operators' actions");
    command.option("--import", options->import, "Take the lines of a --json export into --journal")
        .typeName("FILE");
    command.option("--journal", options->journal, "The journal to read; default the user's own")
        .typeName("FILE");
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return history(*options, output); };
    });
}

} // namespace tenure::ctl
