// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/interrupts.h"
#include "app/ctl/metrics_server.h"
#include "app/ctl/metrics_text.h"
#include "core/runtime/alert_outlet.h"

#include <cstdlib>
#include <iostream>
#include <mutex>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

struct MetricsOptions {
    std::vector<std::string> urls;
    std::string listen = "127.0.0.1:9468";
    std::string filter = "*";
    std::string webhook;
    std::string alertmanager;
};

constexpr const char *kExamples = R"(
Examples:
  tenurectl metrics redis://localhost                          on http://127.0.0.1:9468/metrics
  tenurectl metrics redis://r1 sqlite:///tmp/l.db --listen 0.0.0.0:9468
  curl -s http://127.0.0.1:9468/metrics | grep leaderless
  tenurectl metrics redis://localhost --alertmanager http://127.0.0.1:9093
  TENURE_WEBHOOK_SECRET=... tenurectl metrics redis://localhost --webhook https://hooks.example/x

Worth an alarm in Prometheus: tenure_connection_up == 0, tenure_lease_held == 0 for longer than two
ttls, increase(tenure_lease_transitions_total[10m]) >= 5. Whoever can reach the port can read it.)";

/// All sources, written by monitors and read by the server.
struct Shared {
    std::mutex mutex;
    std::vector<MetricsSource> sources; ///< guarded by mutex
};

using Outlets = std::vector<std::unique_ptr<AlertOutlet>>;

Result<Outlets> openOutlets(const MetricsOptions &options)
{
    Outlets out;
    for (const auto kind : {OutletSettings::Kind::Webhook, OutletSettings::Kind::Alertmanager}) {
        OutletSettings settings;
        settings.kind = kind;
        settings.url = kind == OutletSettings::Kind::Webhook ? options.webhook : options.alertmanager;
        settings.source = "tenurectl";
        if (const char *secret = std::getenv("TENURE_WEBHOOK_SECRET"))
            settings.secret = secret;
        if (settings.url.empty())
            continue;
        auto outlet = AlertOutlet::make(settings);
        if (!outlet)
            return fail(outlet.error());
        out.push_back(std::move(*outlet));
    }
    return out;
}

Exit metrics(const MetricsOptions &options, Output &output)
{
    std::vector<std::string> urls = options.urls;
    if (urls.empty()) {
        const auto usual = environmentUrl();
        if (!usual)
            return complainUsage("A URL is missing. Name one, such as redis://localhost, or set TENURE_URL");
        urls.push_back(*usual);
    }
    Interrupts interrupts;
    std::vector<Target> targets;
    for (const std::string &url : urls) {
        Result<Target> target = openTarget(url);
        if (!target)
            return complain(target.error());
        targets.push_back(std::move(*target));
    }
    Shared shared;
    for (const Target &target : targets)
        shared.sources.emplace_back(target.display);
    auto server = MetricsServer::start(options.listen, [&shared] {
        const std::lock_guard lock(shared.mutex);
        return MetricsText(BootClock::now()).of(shared.sources, TENURE_VERSION);
    });
    if (!server)
        return server.error().kind == ErrorKind::BadConfig ? complainUsage(server.error().text())
                                                           : complain(server.error());
    const auto outlets = openOutlets(options);
    if (!outlets)
        return complainUsage(outlets.error().text());
    const auto rules = RuleBook::load(RuleBook::defaultPath());
    if (!rules)
        return complain(rules.error());
    std::vector<std::unique_ptr<Monitor>> monitors;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        Monitor::Options watch;
        watch.glob = options.filter;
        watch.rules = *rules;
        watch.simulated = targets[i].demo != nullptr;
        monitors.push_back(std::make_unique<Monitor>(
            targets[i].backend, watch, SystemClock::instance(), [&, i](const FleetDelta &delta) {
                for (const auto &outlet : *outlets) {
                    for (const Alert &alert : delta.alerts)
                        outlet->tell(targets[i].display, alert);
                }
                const std::lock_guard lock(shared.mutex);
                shared.sources[i].take(delta);
            }));
        monitors.back()->start();
    }
    output.line("http://" + (*server)->address() + "/metrics");
    while (true) {
        const Interrupts::Wake wake = interrupts.wait(60s);
        if (wake == Interrupts::Wake::Interrupted || wake == Interrupts::Wake::ReaderGone)
            break;
    }
    return Exit::Done;
}

} // namespace

void addMetricsCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<MetricsOptions>();
    CommandNode command = app.subcommand("metrics", "Serve what is watched to Prometheus");
    command.option("URL", options->urls, "Where the leases are; default: $TENURE_URL").typeName("");
    command.option("--listen", options->listen, "Address; default 127.0.0.1:9468").typeName("HOST:PORT");
    command.option("--filter", options->filter, "Only names that match (* and ?)").typeName("GLOB");
    command.option("--webhook", options->webhook,
        "Send alerts there as signed JSON; its key is $TENURE_WEBHOOK_SECRET").typeName("URL");
    command.option("--alertmanager", options->alertmanager, "Send alerts to this Alertmanager")
        .typeName("URL");
    command.footer(kExamples);
    command.onChosen([options, &chosen] {
        chosen = [options](Output &output) { return metrics(*options, output); };
    });
}

} // namespace tenure::ctl
