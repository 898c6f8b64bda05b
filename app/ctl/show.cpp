// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/lease_json.h"
#include "app/ctl/lease_page.h"
#include "app/ctl/watch.h"
#include "app/ctl/zone_text.h"
#include "core/base/text.h"
#include "core/observe/fleet.h"

namespace tenure::ctl
{
namespace
{

struct ShowOptions {
    Named named;
    bool watch = false;
    bool json = false;
    std::string journal;
    std::string times;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl show redis://localhost billing/ledger
  tenurectl show redis://localhost billing/ledger --watch        live; q or Ctrl-C ends it
  tenurectl show sqlite:///tmp/l.db nightly --json | jq -r .holder
  if tenurectl show redis://localhost nightly >/dev/null; then echo somebody leads; fi

Exit code 3: nobody leads, or there is no such lease.)";

/// Nothing of it is stored: not even that it was led once.
bool isUnknown(const LeaseRecord &record)
{
    return !record.holder && !record.hold && !record.token && !record.acquiredAt
        && record.raw.empty() && record.note.empty();
}

void print(const ShowOptions &options, Output &output, const std::string &display, const Look &look)
{
    const WallTime wall = SystemClock::instance().wall();
    Fleet fleet;
    (void)fleet.apply({look.record, false, look.serverTime, look.roundTrip, look.receivedAt}, wall);
    const LeaseStatus &status = *fleet.find(look.record.lease);
    const Instant now = BootClock::now();
    if (!options.json) {
        output.write(leasePage(output, display, status, LinkState::Live, now));
        return;
    }
    JsonContext context{display, LinkState::Live, now, wall, {}};
    if (look.serverTime)
        context.serverAhead = *look.serverTime - wall;
    output.line(oneLine(leaseJson(context, status)));
}

Exit show(const ShowOptions &options, Output &output)
{
    const Result<Named> named = sortArguments(options.named, NeedsLease::Yes, environmentUrl());
    if (!named)
        return complain(named.error());
    if (!chooseZone(options.times))
        return complainUsage(kNoSuchZone);
    const Result<LeaseId> lease = LeaseId::parse(*named->lease);
    if (!lease)
        return complain(lease.error());
    if (options.watch) {
        WatchRequest request;
        request.url = *named->url;
        request.only = *lease;
        request.format = options.json ? WatchFormat::JsonLines : WatchFormat::ForPeople;
        request.journal = options.journal;
        return watch(request, output);
    }
    Result<Target> target = openTarget(*named->url);
    if (!target)
        return complain(target.error());
    const std::unique_ptr<LeaseStore> store = target->backend->makeStore();
    const Result<Look> look = readLease(*store, *lease);
    if (!look)
        return complain(look.error());
    if (isUnknown(look->record)) {
        return complain(Error{ErrorKind::NotFound, "There is no lease " + printable(lease->name()),
            target->display, "tenurectl list shows those that there are", {}, {}});
    }
    print(options, output, target->display, *look);
    return look->record.holder ? Exit::Done : Exit::NobodyLeads;
}

} // namespace

void addShowCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<ShowOptions>();
    CommandNode command = app.subcommand("show", "Show one lease in full");
    addUrlAndLease(command, options->named);
    command.flag("--watch,-w", options->watch, "Stay and show every change");
    command.flag("--json", options->json, "JSON; with --watch one object a line");
    command.option("--journal", options->journal, "With --watch: keep what is seen in this file")
        .typeName("FILE");
    addTimesOption(command, options->times);
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return show(*options, output); };
    });
}

} // namespace tenure::ctl
