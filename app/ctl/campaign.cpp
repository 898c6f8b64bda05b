// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/interrupts.h"
#include "app/ctl/lease_json.h"
#include "app/ctl/timing_options.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/runtime/elector.h"

#include <atomic>
#include <csignal>

namespace tenure::ctl
{
namespace
{

struct CampaignOptions {
    Named named;
    std::string id = "tenurectl";
    bool idGiven = false;
    TimingOptions timing;
    bool exitOnLoss = false;
    bool json = false;
    bool beats = false;
};

constexpr const char *kExamples = R"(
Examples (start the same one in two or three terminals and stop the leader with Ctrl-C):
  tenurectl campaign sqlite:///tmp/l.db billing
  tenurectl campaign redis://localhost billing --id worker-a --ttl 5s
  tenurectl campaign redis://localhost billing --json | while read -r line; do ...; done

It competes until SIGINT or SIGTERM, then gives the lease back. Host, process id and 64 random
bits are appended to the id, so that two processes never pass for one. --json prints one object
a change, type = gained, lost, following, error or stopped. SIGUSR1 hands over: the lease is given
back, and it goes on as a candidate that lets the others go first.)";

/// Is `holder` "<base>_<host>-<pid>-<16 hex digits>", as another process of this id would be?
bool isSameId(const std::string &holder, const std::string &base)
{
    constexpr std::size_t kRandomDigits = 16;
    return holder.starts_with(base + "_") && holder.size() > base.size() + kRandomDigits + 2
        && holder[holder.size() - kRandomDigits - 1] == '-'
        && holder.find_first_not_of("0123456789abcdef", holder.size() - kRandomDigits) == std::string::npos;
}

/// Tells changes, one a line. Called on the elector's dispatcher, then once by the main thread.
class Teller
{
public:
    Teller(const CampaignOptions &options, Output &output, LeaseId lease, HolderId self, Timing timing)
        : m_options(options), m_output(output), m_lease(std::move(lease)), m_self(std::move(self)),
          m_timing(timing)
    {
    }

    /// Before it competes, so that whoever started it learns its identity.
    void started()
    {
        if (m_options.beats)
            tell("started", {}, {}, "competing for " + printable(m_lease.name()));
    }
    void gained(const Term &term)
    {
        m_following.clear();
        m_trouble.clear();
        tell("gained", term.token, m_self.name(),
            "leading, token " + std::to_string(term.token.value) + ", ttl " + durationText(m_timing.ttl()));
    }
    void lost(const Term &term, LossReason reason)
    {
        tell("lost", term.token, {}, std::string("no longer leading: ") + lossText(reason), lossText(reason));
    }
    void changed(const ElectorReport &report)
    {
        if (m_options.beats && report.believes && report.validUntil != m_validUntil) {
            m_validUntil = report.validUntil;
            tell("renewed", report.term.token, m_self.name(), "leading for " + durationText(m_validUntil - report.at));
        }
        const bool candidate = report.phase == Phase::Waiting || report.phase == Phase::Attempting;
        if (candidate && report.seen && report.seen->holder)
            following(*report.seen);
        const std::string trouble = report.error ? report.error->text() : std::string();
        if (!trouble.empty() && trouble != m_trouble)
            tell("error", report.term.token, {}, "trouble: " + printable(trouble), trouble);
        m_trouble = trouble;
    }
    void stopped(bool givenBack)
    {
        const char *how = givenBack ? "nothing is held any more" : "the backend did not answer in time: others wait for the lease to run out";
        tell("stopped", {}, {}, std::string("stopped; ") + how, how);
    }

private:
    void following(const LeaseRecord &seen)
    {
        const std::string key = *seen.holder + "\n" + std::to_string(seen.token.value);
        if (key == m_following || *seen.holder == m_self.name())
            return;
        m_following = key;
        tell("following", seen.token, *seen.holder, "waiting, held by " + printable(*seen.holder, 255));
        if (m_options.idGiven && isSameId(*seen.holder, m_options.id)) {
            const std::string sentence = "Another process campaigns under the same id: " + *seen.holder;
            tell("error", seen.token, *seen.holder, "warning: " + sentence, sentence);
        }
    }

    void tell(const char *type, FencingToken token, const std::string &holder, const std::string &sentence,
        const std::string &detail = {})
    {
        const Instant moment = BootClock::now();
        const std::string at = rfc3339(SystemClock::instance().wall());
        if (!m_options.json) {
            m_output.line(at + "  " + printable(m_lease.name()) + "  " + sentence);
            return;
        }
        Json line = {{"type", type}, {"lease", textJson(m_lease.name())}, {"id", m_self.name()}};
        line["token"] = token ? Json(token.value) : Json(nullptr);
        line["holder"] = textJson(holder);
        line["at"] = at;
        // Exact order among the processes of one machine, whatever its wall clock does.
        line["boot_ns"] = moment.time_since_epoch().count();
        if (m_options.beats && std::string_view(type) == "renewed")
            line["valid_until_boot_ns"] = m_validUntil.time_since_epoch().count();
        line["detail"] = textJson(detail);
        m_output.line(oneLine(line));
    }

    const CampaignOptions &m_options;
    Output &m_output;
    const LeaseId m_lease;
    const HolderId m_self;
    const Timing m_timing;
    std::string m_following; ///< holder and token told last
    std::string m_trouble; ///< told last
    Instant m_validUntil; ///< told last
};

std::atomic<Interrupts *> g_interrupts = nullptr;
std::atomic<bool> g_handOver = false;

/// While it lives, SIGUSR1 sets g_handOver and wakes the one who waits.
class HandOverSignal
{
public:
    explicit HandOverSignal(Interrupts &interrupts)
    {
        g_interrupts = &interrupts;
        struct sigaction action = {};
        action.sa_handler = [](int) {
            g_handOver = true;
            if (Interrupts *one = g_interrupts)
                one->nudge(); // a write(2)
        };
        action.sa_flags = SA_RESTART;
        sigaction(SIGUSR1, &action, &m_before);
    }
    ~HandOverSignal()
    {
        sigaction(SIGUSR1, &m_before, nullptr);
        g_interrupts = nullptr;
    }
    HandOverSignal(const HandOverSignal &) = delete;
    HandOverSignal &operator=(const HandOverSignal &) = delete;

private:
    struct sigaction m_before = {};
};

/// Competes until a signal, or until a loss where that was asked for.
Exit compete(const CampaignOptions &options, Output &output, Interrupts &interrupts,
    const Target &target, const LeaseId &lease, const Timing &timing)
{
    const HolderId self = HolderId::unique(options.id);
    Teller teller(options, output, lease, self, timing);
    std::atomic<bool> lossSeen = false;
    ElectorCallbacks callbacks;
    callbacks.onGained = [&](const Term &term) { teller.gained(term); };
    callbacks.onLost = [&](const Term &term, LossReason reason) {
        teller.lost(term, reason);
        if (reason != LossReason::GivenBack)
            lossSeen = true;
        interrupts.nudge();
    };
    callbacks.onChange = [&](const ElectorReport &report) { teller.changed(report); };

    ElectorHost host(target.backend);
    Elector elector(host, lease, self, timing, callbacks);
    const HandOverSignal handOver(interrupts);
    teller.started();
    elector.start();
    bool ended = false;
    while (!ended) {
        const Interrupts::Wake wake = interrupts.wait(std::chrono::seconds(60));
        if (g_handOver.exchange(false))
            elector.release();
        ended = wake == Interrupts::Wake::Interrupted || wake == Interrupts::Wake::ReaderGone
            || (options.exitOnLoss && lossSeen);
    }
    const bool lost = lossSeen;
    const bool givenBack = elector.stop();
    teller.stopped(givenBack);
    if (options.exitOnLoss && lost)
        return Exit::LeadershipLost;
    return givenBack ? Exit::Done : Exit::Unreachable;
}

Exit campaign(const CampaignOptions &options, Output &output)
{
    const Result<Named> named = sortArguments(options.named, NeedsLease::Yes, environmentUrl());
    if (!named)
        return complain(named.error());
    const Result<LeaseId> lease = LeaseId::parse(*named->lease);
    if (!lease)
        return complain(lease.error());
    const Result<HolderId> id = HolderId::parse(options.id);
    if (!id)
        return complain(id.error());
    Interrupts interrupts;
    Result<Target> target = openTarget(*named->url);
    if (!target)
        return complain(target.error());
    const Result<Timing> timing = timingOf(options.timing, target->backend->traits().limits);
    if (!timing)
        return complain(timing.error());
    // Once it runs it never gives up; what cannot work from the start is told at once instead.
    const Result<StoreFacts> facts = target->backend->makeStore()->probe(BootClock::now() + kCallTimeout);
    // What is not there yet, a candidate makes.
    if (!facts && facts.error().kind != ErrorKind::NotFound)
        return complain(facts.error());
    for (const std::string &warning : timing->warnings(facts ? facts->roundTrip : std::nullopt))
        std::fprintf(stderr, "tenurectl: warning: %s\n", warning.c_str());
    return compete(options, output, interrupts, *target, *lease, *timing);
}

} // namespace

void addCampaignCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<CampaignOptions>();
    CommandNode command = app.subcommand("campaign", "Compete for a lease until stopped");
    addUrlAndLease(command, options->named);
    const CommandOption id = command.option("--id", options->id, "Who competes; default: tenurectl").typeName("ID");
    addTimingOptions(command, options->timing);
    command.flag("--exit-on-loss", options->exitOnLoss, "End with exit code 7 when leadership is lost");
    command.flag("--json", options->json, "One JSON object a change");
    command.flag("--beats", options->beats, "With --json: also type = started, and renewed with valid_until_boot_ns");
    command.footer(kExamples);
    command.onChosen([options, id, &chosen] {
        options->idGiven = id.given();
        chosen = [options](Output &output) { return campaign(*options, output); };
    });
}

} // namespace tenure::ctl
