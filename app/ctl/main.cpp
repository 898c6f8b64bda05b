// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"

#include <algorithm>
#include <csignal>
#include <exception>

namespace tenure::ctl
{

void addUrl(CommandNode &command, Named &named)
{
    command.option("URL", named.url, "Where the leases are; default: $TENURE_URL").typeName("");
}

void addUrlAndLease(CommandNode &command, Named &named)
{
    addUrl(command, named);
    command.option("LEASE", named.lease, "Name of the lease").typeName("");
}

namespace
{

constexpr const char *kFooter = R"(
Where leases are (URL):
  demo:                                    a small world in this process, nothing needed
  sqlite:///var/lib/app/leases.db          one file, for the processes of one machine
  redis://[user:pass@]host:6379/0          also rediss:// (TLS), redis+unix:///path,
                                           redis+sentinel://h1,h2/master
  postgresql://[user@]host/db              also ?mode=advisory, service files, PG* variables
  kubernetes:                              by kubeconfig; or kubernetes://CONTEXT/NAMESPACE
Set TENURE_URL to leave the URL out, TENURE_PASSWORD to keep the password off the command line.

Start here:
  tenurectl list demo: --watch             who leads, live
  tenurectl campaign sqlite:///tmp/l.db billing     compete for a lease (in two terminals)
  tenurectl doctor redis://localhost       is it reachable, what may I do, how fast is it

Exit codes: 0 done, 1 failed, 2 usage, 3 not found or nobody leads, 4 conflict (the holder is
another), 5 denied, 6 unreachable, 7 leadership lost.)";

/// Takes what follows "--" off the arguments of `run`: it belongs to COMMAND, whatever it looks like.
std::vector<std::string> cutCommand(int &argc, char **argv)
{
    if (argc < 2 || std::string_view(argv[1]) != "run")
        return {};
    char **const end = argv + argc;
    char **const mark = std::find_if(argv + 2, end, [](const char *word) { return std::string_view(word) == "--"; });
    if (mark == end)
        return {};
    argc = static_cast<int>(mark - argv);
    return {mark + 1, end};
}

int run(int argc, char **argv)
{
    // A reader that goes away and a server that closes are errors of a write, not a reason to die.
    std::signal(SIGPIPE, SIG_IGN);
    CommandLine line("See who leads, compete for leadership, and give it up: leases on SQLite, Redis, PostgreSQL and Kubernetes",
        TENURE_VERSION, kFooter);
    CommandNode app = line.root();
    Chosen chosen;
    addListCommand(app, chosen);
    addShowCommand(app, chosen);
    addCampaignCommand(app, chosen);
    addReleaseCommand(app, chosen);
    addDoctorCommand(app, chosen);
    addInitCommand(app, chosen);
    addHistoryCommand(app, chosen);
    addMetricsCommand(app, chosen);
    addSimulateCommand(app, chosen);
    addDrillCommand(app, chosen);
    addWorkCommand(app, chosen);
    addRunCommand(app, chosen, cutCommand(argc, argv));
    if (const auto ended = line.parse(argc, argv))
        return static_cast<int>(*ended);
    if (!chosen)
        return static_cast<int>(complainUsage("A command is missing. See tenurectl --help"));
    Output output;
    return static_cast<int>(chosen(output));
}

} // namespace
} // namespace tenure::ctl

int main(int argc, char **argv)
{
    try {
        return tenure::ctl::run(argc, argv);
    } catch (const std::exception &error) {
        tenure::Error problem;
        problem.kind = tenure::ErrorKind::Corrupt;
        problem.what = std::string("Internal error: ") + error.what();
        return static_cast<int>(tenure::ctl::complain(problem));
    }
}
