// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/watch.h"

#include "app/ctl/interrupts.h"
#include "app/ctl/target.h"
#include "app/ctl/watch_view.h"
#include "core/runtime/journal_tap.h"

#include <algorithm>
#include <iostream>
#include <mutex>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;
constexpr std::size_t kRecent = 100;
constexpr Duration kRepaint = 250ms;

std::unique_ptr<WatchView> makeView(WatchFormat format, Output &output)
{
    if (format == WatchFormat::JsonLines)
        return makeJsonView(output);
    return output.canAsk() ? makeScreenView(output) : makeLineView(output);
}

/// Deltas on their way from the monitor's thread to ours.
class Deltas
{
public:
    void put(FleetDelta delta)
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back(std::move(delta));
    }
    std::vector<FleetDelta> take()
    {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_waiting, {});
    }

private:
    std::mutex m_mutex;
    std::vector<FleetDelta> m_waiting; ///< guarded by m_mutex
};

void follow(Interrupts &interrupts, Deltas &deltas, WatchState &state, WatchView &view, Output &output)
{
    Instant repaintAt = BootClock::now();
    while (output.isOpen()) {
        const Instant now = BootClock::now();
        if (now >= repaintAt) {
            view.tick(state);
            repaintAt = now + kRepaint;
        }
        switch (interrupts.wait(repaintAt - BootClock::now())) {
        case Interrupts::Wake::Interrupted:
        case Interrupts::Wake::ReaderGone:
            return;
        case Interrupts::Wake::Key:
            if (!view.key(state))
                return;
            break;
        case Interrupts::Wake::Nudged:
        case Interrupts::Wake::Timeout:
            for (const FleetDelta &delta : deltas.take()) {
                state.take(delta);
                view.show(state, delta);
            }
            break;
        }
    }
}

} // namespace

void WatchState::take(const FleetDelta &delta)
{
    if (delta.reset) {
        leases.clear();
        alerts.clear();
        complete = false;
    }
    for (const LeaseStatus &status : delta.changed)
        leases.insert_or_assign(status.record.lease, status);
    for (const LeaseId &lease : delta.removed)
        leases.erase(lease);
    for (const Alert &alert : delta.alerts) {
        if (alert.state == AlertState::Resolved)
            alerts.erase(alert.id);
        else
            alerts.insert_or_assign(alert.id, alert);
    }
    // What was there when we came is no change.
    for (const Transition &transition : delta.transitions) {
        if (complete || transition.kind != TransitionKind::Appeared)
            recent.push_front(transition);
    }
    recent.resize(std::min(recent.size(), kRecent));
    link = delta.link;
    complete = complete || delta.complete;
    capped = delta.capped;
}

Exit watch(const WatchRequest &request, Output &output)
{
    const bool screen = request.format == WatchFormat::ForPeople && output.canAsk();
    Interrupts interrupts(screen ? Interrupts::Keys::Watched : Interrupts::Keys::Ignored);
    Result<Target> target = openTarget(request.url);
    if (!target)
        return complain(target.error());
    const Result<StoreFacts> facts = target->backend->makeStore()->probe(BootClock::now() + kCallTimeout);
    if (!facts)
        return complain(facts.error());

    Monitor::Options options;
    options.glob = request.glob;
    if (request.only)
        options.only.push_back(*request.only);
    options.simulated = target->demo != nullptr;
    const Result<RuleBook> rules = RuleBook::load(RuleBook::defaultPath());
    if (rules)
        options.rules = *rules;
    else
        std::cerr << "tenurectl: the shipped rules are used: " << rules.error().text() << "\n";
    std::shared_ptr<Journal> journal;
    std::unique_ptr<JournalTap> tap;
    if (!request.journal.empty()) {
        Journal::Options keep;
        keep.path = request.journal;
        journal = std::make_shared<Journal>(keep);
        const std::string name = target->display + (target->demo ? " (SIM)" : "");
        tap = std::make_unique<JournalTap>(journal, JournalConnection{target->display, name, target->display});
    }
    Deltas deltas;
    Monitor monitor(target->backend, options, SystemClock::instance(), [&](FleetDelta delta) {
        if (tap)
            tap->take(delta);
        deltas.put(std::move(delta));
        interrupts.nudge();
    });
    WatchState state;
    state.display = target->display;
    state.only = request.only;
    const std::unique_ptr<WatchView> view = makeView(request.format, output);
    monitor.start();
    if (request.only)
        monitor.focus(*request.only);
    follow(interrupts, deltas, state, *view, output);
    monitor.stop();
    if (journal && !journal->flush(2s))
        std::cerr << "tenurectl: the journal is not complete: " << journal->status().sentence << "\n";
    return Exit::Done;
}

} // namespace tenure::ctl
