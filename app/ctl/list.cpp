// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/lease_json.h"
#include "app/ctl/lease_table.h"
#include "app/ctl/watch.h"
#include "app/ctl/zone_text.h"
#include "core/base/text.h"
#include "core/observe/fleet.h"

#include <array>

namespace tenure::ctl
{
namespace
{

struct ListOptions {
    Named named;
    std::string filter = "*";
    bool watch = false;
    bool json = false;
    std::string journal;
    std::string times;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl list redis://localhost                      every lease, the worst first
  tenurectl list redis://localhost --filter 'billing/*' only these names (* and ?)
  tenurectl list demo: --watch                          live; q or Ctrl-C ends it
  tenurectl list sqlite:///tmp/l.db --json | jq '.[] | select(.state != "held")'
  tenurectl list redis://localhost --watch | tee changes.log    one line a change

States: HELD, LATE (a renewal is missing), OVERDUE, EXPIRED and VACANT (nobody leads),
HOLD (an operator keeps it free), UNKNOWN (not to be known now).)";

/// All leases as one answer saw them.
struct Census {
    Fleet fleet;
    std::optional<Duration> serverAhead;
    Instant now;
};

Result<void> takePage(Census &census, const Reply &reply, Instant sentAt)
{
    const Instant receivedAt = BootClock::now();
    const WallTime wall = SystemClock::instance().wall();
    const Duration roundTrip = receivedAt - sentAt;
    if (reply.serverTime)
        census.serverAhead = *reply.serverTime - (wall - std::chrono::floor<std::chrono::microseconds>(roundTrip / 2));
    for (const LeaseRecord &record : reply.records)
        (void)census.fleet.apply({record, false, reply.serverTime, roundTrip, receivedAt}, wall);
    return {};
}

Result<Census> takeCensus(LeaseStore &store, const std::string &glob)
{
    Census census;
    List page;
    page.glob = glob;
    do {
        const std::array<Command, 1> commands{page};
        const Instant sentAt = BootClock::now();
        const std::vector<Result<Reply>> replies = store.execute(commands, sentAt + kCallTimeout);
        if (!replies.front())
            return fail(replies.front().error());
        takePage(census, *replies.front(), sentAt);
        page.cursor = replies.front()->cursor;
    } while (!page.cursor.empty());
    census.now = BootClock::now();
    return census;
}

void printJson(Output &output, const std::string &display, const Census &census)
{
    const JsonContext context{display, LinkState::Live, census.now, SystemClock::instance().wall(),
        census.serverAhead};
    std::string text = "[";
    const char *separator = "\n";
    for (const auto &[lease, status] : census.fleet.all()) {
        text += separator + oneLine(leaseJson(context, status));
        separator = ",\n";
    }
    output.write(text + "\n]\n");
}

void printTable(Output &output, const std::string &display, const Census &census, const std::string &glob)
{
    std::vector<const LeaseStatus *> leases;
    for (const auto &[lease, status] : census.fleet.all())
        leases.push_back(&status);
    if (leases.empty()) {
        output.line(glob == "*"
                ? "No leases on " + display + " yet. Start one: tenurectl campaign " + shellQuoted(display) + " NAME"
                : "No lease matches " + printable(glob) + " on " + display);
        return;
    }
    const LeaseTable table(leases, LinkState::Live, census.now);
    output.write(table.text(output, output.size().columns, 0, table.size()) + "\n"
        + countsText(table.counts()) + " on " + display + "\n");
}

Exit list(const ListOptions &options, Output &output)
{
    const Result<Named> named = sortArguments(options.named, NeedsLease::No, environmentUrl());
    if (!named)
        return complain(named.error());
    if (!chooseZone(options.times))
        return complainUsage(kNoSuchZone);
    if (options.watch) {
        WatchRequest request;
        request.url = *named->url;
        request.glob = options.filter;
        request.format = options.json ? WatchFormat::JsonLines : WatchFormat::ForPeople;
        request.journal = options.journal;
        return watch(request, output);
    }
    Result<Target> target = openTarget(*named->url);
    if (!target)
        return complain(target.error());
    const std::unique_ptr<LeaseStore> store = target->backend->makeStore();
    const Result<Census> census = takeCensus(*store, options.filter);
    if (!census)
        return complain(census.error());
    if (options.json)
        printJson(output, target->display, *census);
    else
        printTable(output, target->display, *census, options.filter);
    return Exit::Done;
}

} // namespace

void addListCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<ListOptions>();
    CommandNode command = app.subcommand("list", "Show all leases and who holds them");
    addUrl(command, options->named);
    command.option("--filter", options->filter, "Only names that match (* and ?)")
        .typeName("GLOB");
    command.flag("--watch,-w", options->watch, "Stay and show every change");
    command.flag("--json", options->json, "JSON; with --watch one object a line");
    command.option("--journal", options->journal, "With --watch: keep what is seen in this file")
        .typeName("FILE");
    addTimesOption(command, options->times);
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return list(*options, output); };
    });
}

} // namespace tenure::ctl
