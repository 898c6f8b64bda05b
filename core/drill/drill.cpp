// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/drill/drill.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <array>
#include <thread>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kCallTimeout = 3s;
constexpr Duration kLookEvery = 2ms; ///< while a failover is measured
constexpr Duration kIdleLook = 100ms;
constexpr Duration kLeaderWithin = 60s; ///< a round does not begin without one ...
constexpr Duration kSettled = 500ms; ///< ... that has led for so long

bool onOwn(DrillAct act)
{
    return act == DrillAct::Pause || act == DrillAct::Crash;
}

bool sameTerm(const LeaseRecord &a, const LeaseRecord &b)
{
    return a.holder == b.holder && a.token == b.token && (a.token || a.version == b.version);
}

Error interrupted()
{
    return fail(ErrorKind::Unavailable, "Interrupted").value();
}

} // namespace

const char *drillActWord(DrillAct act)
{
    switch (act) {
    case DrillAct::Ask:
        return "ask";
    case DrillAct::Hold:
        return "hold";
    case DrillAct::Clear:
        return "clear";
    case DrillAct::Pause:
        return "pause";
    case DrillAct::Crash:
        return "crash";
    }
    return "?";
}

Drill::Drill(std::shared_ptr<const Backend> backend, OperatorGate &gate, LocalInstances *instances,
    const Clock &clock, DrillPlan plan)
    : m_backend(std::move(backend)), m_gate(gate), m_instances(instances), m_clock(clock),
      m_plan(std::move(plan)), m_store(m_backend->makeStore())
{
}

Result<Drill::Seen> Drill::look()
{
    const std::array<Command, 1> commands{Read{m_plan.lease, ReadDepth::Full}};
    Seen seen;
    seen.before = m_clock.now();
    std::vector<Result<Reply>> replies = m_store->execute(commands, seen.before + kCallTimeout);
    seen.after = m_clock.now();
    if (!replies.front()) {
        if (replies.front().error().kind != ErrorKind::NotFound)
            return fail(replies.front().error());
        seen.record.lease = m_plan.lease;
        return seen;
    }
    seen.record = std::move(replies.front()->record);
    return seen;
}

std::vector<DrillCheck> Drill::preflight()
{
    std::vector<DrillCheck> out;
    using Grade = DrillCheck::Grade;
    const auto add = [&out](Grade grade, std::string sentence) { out.push_back({grade, std::move(sentence)}); };
    const Result<Seen> seen = look();
    if (!seen) {
        add(Grade::Stop, seen.error().text());
        return out;
    }
    const StoreTraits &traits = m_backend->traits();
    const LeaseRecord &record = seen->record;
    add(Grade::Good, "One look at the lease takes " + durationText(seen->after - seen->before));
    if (record.hold)
        add(Grade::Stop, "Somebody holds the lease for operators: " + printable(record.hold->by) + ", " + durationText(record.hold->remaining) + " left");
    else if (!record.holder && m_plan.own > 0 && m_instances == nullptr)
        add(Grade::Good, "Nobody leads now; " + std::to_string(m_plan.own) + " candidates of the drill's own will be started first");
    else if (!record.holder)
        add(Grade::Stop, "Nobody leads now: there is nothing to fail over");
    else
        add(Grade::Good, "Led by " + printable(*record.holder) + (record.token ? ", token " + std::to_string(record.token.value) : std::string()));
    if (record.stepDownAsked)
        add(Grade::Stop, "The holder was asked to step down already: somebody else is at work here");
    const bool can = m_plan.act == DrillAct::Ask ? traits.canAsk : m_plan.act == DrillAct::Hold ? traits.canHold
        : m_plan.act == DrillAct::Clear ? traits.canClear : m_plan.own > 0;
    if (!can && (onOwn(m_plan.act)))
        add(Grade::Stop, "Only instances of one's own are paused or crashed: start some");
    else if (!can)
        add(Grade::Stop, std::string("This backend cannot ") + drillActWord(m_plan.act));
    const bool own = m_instances != nullptr && ownLeader(record);
    if (record.holder && !own && (onOwn(m_plan.act)))
        add(Grade::Stop, "Another process leads, and others' processes are left alone: ask or hold instead, or take another lease");
    if (m_plan.act == DrillAct::Ask && record.holder && record.kind != "tenure")
        add(Grade::Warning, "The holder is not one of ours (" + record.kind + ") and may not understand being asked");
    if (auto rights = checkRights(record))
        out.push_back(*std::move(rights));
    if (m_plan.act == DrillAct::Clear)
        add(Grade::Warning, "Clearing lets two lead until the old holder's next renewal; hold does not");
    if (record.candidates.empty() && m_plan.own > 1)
        add(Grade::Good, "The drill's own candidates can take over");
    else if (record.candidates.empty())
        add(Grade::Warning, "No candidate is seen waiting (they may not show): nobody may take over");
    else
        add(Grade::Good, std::to_string(record.candidates.size()) + " wait, the first is " + printable(record.candidates.front()));
    if (record.ttl && Duration(*record.ttl) > m_plan.maxGap && (onOwn(m_plan.act)))
        add(Grade::Warning, "The ttl of " + durationText(*record.ttl) + " is longer than the limit of " + durationText(m_plan.maxGap) + ": a crash cannot be noticed sooner");
    return out;
}

Result<Drill::Seen> Drill::waitForLeader(const std::atomic<bool> &cancel)
{
    const Instant until = m_clock.now() + kLeaderWithin;
    std::optional<Seen> first;
    while (!cancel) {
        Result<Seen> seen = look();
        if (!seen)
            return seen;
        if (!first || !seen->record.holder || !sameTerm(first->record, seen->record))
            first = *seen;
        if (seen->record.holder && !seen->record.stepDownAsked && seen->before - first->before >= kSettled)
            return seen;
        if (m_clock.now() > until)
            return fail(ErrorKind::NotFound, "Nobody leads within " + durationText(kLeaderWithin), m_backend->traits().display);
        std::this_thread::sleep_for(kIdleLook);
    }
    return fail(interrupted());
}

Result<std::uint64_t> Drill::ownLeader(const LeaseRecord &record) const
{
    for (const InstanceView &view : m_instances ? m_instances->views() : std::vector<InstanceView>()) {
        if (view.lease == m_plan.lease && view.holder == record.holder.value_or(std::string()))
            return view.id;
    }
    return fail(ErrorKind::Denied, "The leader is not an instance of this drill, and others' processes are left alone", m_backend->traits().display,
        "Ask or hold instead");
}

ReleasePlan Drill::releaseOf(const LeaseRecord &record) const
{
    ReleasePlan plan;
    plan.verb = m_plan.act == DrillAct::Ask ? OperatorVerb::Ask : m_plan.act == DrillAct::Hold ? OperatorVerb::Hold : OperatorVerb::Clear;
    plan.lease = m_plan.lease;
    plan.kind = record.kind;
    plan.expected = record.seen();
    plan.duration = m_plan.hold;
    plan.by = m_plan.by;
    plan.reason = m_plan.reason;
    plan.wait = 0ns; // measured here, more closely
    return plan;
}

/// Asks the server whether the act would be accepted, where there is somebody to act on.
std::optional<DrillCheck> Drill::checkRights(const LeaseRecord &record)
{
    if (!record.holder || record.hold || onOwn(m_plan.act))
        return std::nullopt;
    const ReleaseReport report = m_gate.dryRun(releaseOf(record));
    if (report.outcome != ReleaseOutcome::Denied)
        return std::nullopt; // anything else is told by the other checks, or will have changed by then
    return DrillCheck{DrillCheck::Grade::Stop, report.error ? report.error->text() : report.sentence};
}

/// Makes the leader go. Nothing: done, or as good as done.
std::optional<Error> Drill::act(const Seen &seen)
{
    if (onOwn(m_plan.act)) {
        const Result<std::uint64_t> id = ownLeader(seen.record);
        if (!id)
            return id.error();
        if (m_plan.act == DrillAct::Crash)
            m_instances->crash(*id);
        else
            m_instances->pause(*id);
        return std::nullopt;
    }
    const ReleaseReport report = m_gate.release(releaseOf(seen.record), {}, nullptr);
    switch (report.outcome) {
    case ReleaseOutcome::Refused:
        return fail(ErrorKind::Conflict, report.sentence, m_backend->traits().display).value();
    case ReleaseOutcome::Denied:
    case ReleaseOutcome::Failed:
        return report.error ? *report.error : fail(ErrorKind::Denied, report.sentence).value();
    default:
        return std::nullopt;
    }
}

/// Looks as often as the store answers until another term stands there, or it is over.
void Drill::measure(DrillRound &round, const Seen &start, Instant acted, const std::function<bool()> &over)
{
    const Duration ttl = start.record.ttl ? Duration(*start.record.ttl) : Duration(15s);
    const Instant until = acted + 2 * ttl + m_plan.hold + m_plan.maxGap + 10s;
    // A frozen or killed holder stands in the record until its ttl has run out: counted from the act.
    Instant lastOld = onOwn(m_plan.act) ? acted : start.middle();
    while (!over() && m_clock.now() < until) {
        const Result<Seen> seen = look();
        if (!seen) {
            std::this_thread::sleep_for(kIdleLook);
            continue;
        }
        const bool old = seen->record.holder && sameTerm(seen->record, start.record);
        if (old && !onOwn(m_plan.act))
            lastOld = seen->middle();
        if (seen->record.holder && !old) {
            round.to = *seen->record.holder;
            round.toToken = seen->record.token;
            round.gap = std::max<Duration>(0ns, seen->middle() - lastOld);
            round.toTaken = seen->middle() - acted;
            round.uncertainty = (seen->after - seen->before) / 2 + kLookEvery;
            round.reacquired = round.to == round.from;
            round.passed = round.gap <= m_plan.maxGap && round.toToken >= round.fromToken;
            round.sentence = (round.reacquired ? "taken again by " : "taken by ") + printable(round.to) + ", " + durationText(round.gap) + " without a leader";
            if (round.toToken && round.toToken <= round.fromToken) {
                round.passed = false;
                round.sentence += "; its token is not above the last";
            }
            return;
        }
        std::this_thread::sleep_for(kLookEvery);
    }
    round.gap = m_clock.now() - lastOld;
    round.sentence = over() ? "interrupted" : "nobody took over within " + durationText(round.gap);
}

Result<DrillRound> Drill::round(const std::atomic<bool> &cancel)
{
    const Result<Seen> start = waitForLeader(cancel);
    if (!start)
        return fail(start.error());
    DrillRound out;
    out.from = *start->record.holder;
    out.fromToken = start->record.token;
    out.ttl = start->record.ttl.value_or(0ms);
    out.at = m_clock.wall();
    // Looked at while it acts, so that the moment of the write itself is seen and not that of the request.
    std::optional<Error> problem;
    std::atomic<bool> refused = false;
    {
        const Instant acted = m_clock.now();
        const std::jthread actor([&] {
            problem = act(*start);
            refused = problem.has_value();
        });
        measure(out, *start, acted, [&] { return cancel || refused; });
    }
    if (problem)
        return fail(std::move(*problem));
    return out;
}

void Drill::restore()
{
    if (!m_instances)
        return;
    m_instances->clearFaults();
    for (const InstanceView &view : m_instances->views()) {
        if (view.life == InstanceView::Life::Crashed)
            m_instances->restart(view.id);
    }
}

/// A hold of ours that still stands is ended, for nobody knows of it but this drill.
bool Drill::cleanUp()
{
    restore();
    for (int tries = 0; tries < 3; ++tries) {
        const Result<Seen> seen = look();
        if (!seen)
            continue;
        if (!seen->record.hold || seen->record.hold->by != m_plan.by)
            return true;
        ReleasePlan plan = releaseOf(seen->record);
        plan.verb = OperatorVerb::Clear;
        plan.reason += ": the hold is ended";
        (void)m_gate.release(plan, {}, nullptr);
    }
    const Result<Seen> seen = look();
    return seen && !seen->record.hold;
}

DrillReport Drill::run(const Progress &progress, const std::atomic<bool> &cancel)
{
    DrillReport report;
    report.plan = m_plan;
    report.backend = m_backend->traits().display;
    report.began = m_clock.wall();
    const std::shared_ptr<const void> kept = m_gate.keepWrites();
    report.checks = preflight();
    const bool stop = std::any_of(report.checks.begin(), report.checks.end(), [](const DrillCheck &c) { return c.grade == DrillCheck::Grade::Stop; });
    for (int i = 0; i < m_plan.times && !stop && !cancel; ++i) {
        Result<DrillRound> one = round(cancel);
        restore();
        if (!one) {
            if (!cancel)
                report.error = one.error();
            break;
        }
        if (cancel && one->to.empty())
            break; // interrupted: it says nothing about the lease
        if (progress)
            progress(*one);
        report.rounds.push_back(std::move(*one));
    }
    report.aborted = cancel;
    if (!stop)
        report.clean = cleanUp();
    return report;
}

bool DrillReport::passed() const
{
    return !aborted && !error && clean && rounds.size() == static_cast<std::size_t>(plan.times)
        && std::all_of(rounds.begin(), rounds.end(), [](const DrillRound &round) { return round.passed; });
}

Duration DrillReport::worstGap() const
{
    Duration worst{};
    for (const DrillRound &round : rounds)
        worst = std::max(worst, round.gap);
    return worst;
}

std::string DrillReport::verdict() const
{
    for (const DrillCheck &check : checks) {
        if (check.grade == DrillCheck::Grade::Stop)
            return "NOT RUN: " + check.sentence;
    }
    std::string out = passed() ? "PASSED: " : aborted ? "ABORTED: " : "FAILED: ";
    if (error)
        out += error->what + "; ";
    out += std::to_string(rounds.size()) + " of " + std::to_string(plan.times) + " failovers, worst gap " + durationText(worstGap())
        + ", limit " + durationText(plan.maxGap);
    return clean ? out : out + "; a hold of this drill may still stand";
}

} // namespace tenure
