// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/operator_gate.h"

#include "core/runtime/release_watch.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kCallTimeout = 5s;
constexpr Duration kKept = 1s; ///< told as time left while operator mode is kept on

ReleaseReport finished(ReleaseOutcome outcome, std::string sentence)
{
    ReleaseReport report;
    report.outcome = outcome;
    report.sentence = std::move(sentence);
    return report;
}

ReleaseReport finished(ReleaseOutcome outcome, Error error)
{
    ReleaseReport report = finished(outcome, error.text());
    report.error = std::move(error);
    return report;
}

/// Nobody acts without a name and a reason.
std::optional<Error> problemOf(const std::string& by, const std::string& reason, const char* deed)
{
    Error error;
    error.kind = ErrorKind::BadConfig;
    if (reason.find_first_not_of(" \t\r\n") == std::string::npos) {
        error.what = "A reason is required";
        error.remedy = "Say why " + std::string(deed) + "; it is kept with your name";
        return error;
    }
    if (by.empty()) {
        error.what = "It must be known who does that";
        error.remedy = "Give the operator's name";
        return error;
    }
    return std::nullopt;
}

/// What is wrong with the plan itself, whatever the backend says.
std::optional<Error> problemOf(const ReleasePlan& plan, const StoreTraits& traits)
{
    const bool can = plan.verb == OperatorVerb::Ask ? traits.canAsk
        : plan.verb == OperatorVerb::Hold           ? traits.canHold
                                                    : traits.canClear;
    std::optional<Error> problem = problemOf(plan.by, plan.reason, "the lease is released");
    if (!problem && !can) {
        problem = fail(ErrorKind::Unsupported, "This backend cannot do that", {},
            "Choose another way of releasing")
                      .value();
    }
    if (problem)
        problem->where = traits.display;
    return problem;
}

ReleaseReport refused(const LeaseRecord& now)
{
    ReleaseReport report = finished(ReleaseOutcome::Refused, changedText(now));
    report.record = now;
    return report;
}

/// Nothing was written for certain, or nothing is known, by the kind of the error.
ReleaseReport failedWrite(Error error)
{
    switch (error.kind) {
    case ErrorKind::Denied:
    case ErrorKind::Rejected:
        return finished(ReleaseOutcome::Denied, std::move(error));
    case ErrorKind::Conflict:
        return finished(ReleaseOutcome::Refused, std::move(error));
    case ErrorKind::OutcomeUnknown:
        return finished(ReleaseOutcome::Unknown, std::move(error));
    default:
        return finished(ReleaseOutcome::Failed, std::move(error));
    }
}

/// One command, one answer.
Result<Reply> ask(LeaseStore& store, Command command, Instant deadline)
{
    auto results = store.execute({&command, 1}, deadline);
    if (results.empty())
        return fail(
            ErrorKind::OutcomeUnknown, "The backend gave no answer", store.traits().display);
    return std::move(results.front());
}

} // namespace

OperatorGate::OperatorGate(std::shared_ptr<const Backend> backend, const Clock& clock, Audit audit)
    : m_backend(std::move(backend)), m_clock(clock), m_audit(std::move(audit))
{
}

void OperatorGate::allowWrites(Duration howLong)
{
    const std::lock_guard lock(m_mutex);
    m_operatorUntil = m_clock.now() + howLong;
}

void OperatorGate::readOnly()
{
    const std::lock_guard lock(m_mutex);
    m_operatorUntil.reset();
}

std::shared_ptr<const void> OperatorGate::keepWrites()
{
    const std::lock_guard lock(m_mutex);
    std::shared_ptr<const void> kept = m_kept.lock();
    if (!kept && m_operatorUntil && m_clock.now() < *m_operatorUntil) {
        kept = std::make_shared<int>();
        m_kept = kept;
    }
    return kept;
}

std::optional<Duration> OperatorGate::operatorTimeLeft() const
{
    const std::lock_guard lock(m_mutex);
    const Instant now = m_clock.now();
    if (!m_operatorUntil)
        return std::nullopt;
    if (now >= *m_operatorUntil)
        return m_kept.expired() ? std::nullopt : std::optional(kKept);
    return *m_operatorUntil - now;
}

std::optional<Error> OperatorGate::refusal() const
{
    if (operatorTimeLeft())
        return std::nullopt;
    Error error;
    error.kind = ErrorKind::Denied;
    error.what = "Read-only. Nothing was sent.";
    return error;
}

ReleaseReport OperatorGate::release(
    const ReleasePlan& plan, const Progress& progress, const std::atomic<bool>* cancel)
{
    const auto record = [&](std::optional<ReleaseReport> outcome) {
        if (m_audit)
            m_audit(
                {m_clock.wall(), plan.by, m_backend->traits().display, plan, std::move(outcome)});
    };
    const auto end = [&](ReleaseReport report) {
        report.final = true;
        record(report);
        if (progress)
            progress(report);
        return report;
    };
    record(std::nullopt);
    if (auto denied = refusal())
        return end(finished(ReleaseOutcome::Denied, std::move(*denied)));
    if (auto problem = problemOf(plan, m_backend->traits()))
        return end(finished(ReleaseOutcome::Failed, std::move(*problem)));

    const std::unique_ptr<LeaseStore> store = m_backend->makeStore();
    const Instant written = m_clock.now();
    const Operate command{plan.verb, plan.lease, plan.kind, plan.expected, plan.by, plan.duration};
    const Result<Reply> reply = ask(*store, command, written + kCallTimeout);
    if (reply && reply->outcome == Outcome::Conflict)
        return end(refused(reply->record));
    if (!reply && reply.error().kind != ErrorKind::OutcomeUnknown)
        return end(failedWrite(reply.error()));
    if (!reply) {
        // Never sent again: what a re-read shows decides, and if it shows nothing, it stays
        // unknown.
        ReleaseReport unknown = failedWrite(reply.error());
        unknown.final = false;
        if (progress)
            progress(unknown);
        const Result<Reply> seen = ask(*store, Read{plan.lease}, m_clock.now() + kCallTimeout);
        if (!seen)
            return end(unknown);
        unknown.record = seen->record;
        if (!wasCarriedOut(plan, seen->record)) {
            unknown.sentence
                += ". A re-read shows the lease as it was: the request may still arrive";
            return end(unknown);
        }
    }
    return end(watch(*store, plan, written, progress, cancel));
}

ReleaseReport OperatorGate::watch(LeaseStore& store, const ReleasePlan& plan, Instant written,
    const Progress& progress, const std::atomic<bool>* cancel)
{
    ReleaseWatch watching(plan, written);
    Wakeup wakeup;
    const std::unique_ptr<LeaseFeed> feed = m_backend->makeFeed();
    if (feed) {
        feed->start([&](const FeedEvent& event) {
            if (event.lease == plan.lease || event.lease.name().empty())
                wakeup.notify();
        });
    }
    const Instant until = written + plan.wait;
    Duration pause = 20ms;
    while (true) {
        const Instant asked = m_clock.now();
        const Instant deadline = std::max(asked + 100ms, std::min(asked + kCallTimeout, until));
        const Result<Reply> seen = ask(store, Read{plan.lease}, deadline);
        const Instant now = m_clock.now();
        if (seen ? watching.take(seen->record, now) : watching.takeError(seen.error(), now)) {
            if (watching.decided())
                break;
            if (progress)
                progress(watching.report());
        }
        if (now >= until || (cancel != nullptr && *cancel))
            break;
        wakeup.wait(std::min(pause, until - now));
        pause = std::min<Duration>(pause * 3 / 2, 200ms);
    }
    if (feed)
        feed->stop();
    return watching.report();
}

ReleaseReport OperatorGate::dryRun(const ReleasePlan& plan)
{
    if (auto problem = problemOf(plan, m_backend->traits()))
        return finished(ReleaseOutcome::Failed, std::move(*problem));
    const std::unique_ptr<LeaseStore> store = m_backend->makeStore();
    const Instant sent = m_clock.now();
    const Result<Reply> seen = ask(*store, Read{plan.lease}, sent + kCallTimeout);
    if (!seen)
        return failedWrite(seen.error());
    if (seen->record.seen() != plan.expected)
        return refused(seen->record);
    const auto aside = store->aside(plan.lease, m_clock.now() + kCallTimeout);
    if (aside && !aside->release.what.empty()) {
        return failedWrite(fail(ErrorKind::Denied, "The server would refuse it: " + aside->release.what,
            m_backend->traits().display, aside->release.forAdmin)
                               .value());
    }
    Fleet fleet;
    Observation look;
    look.record = seen->record;
    look.record.lease = plan.lease;
    look.serverTime = seen->serverTime;
    look.receivedAt = m_clock.now();
    look.roundTrip = look.receivedAt - sent;
    fleet.apply(look, m_clock.wall());
    const ReleaseForecast forecast = forecastRelease(
        m_backend->traits(), *fleet.find(plan.lease), plan.verb, plan.duration, look.receivedAt);
    ReleaseReport report
        = finished(forecast.possible ? expectedOutcome(plan.verb) : ReleaseOutcome::Failed,
            forecast.possible
                ? "Nothing was sent. The lease is as it was seen and the request would be accepted"
                : forecast.why);
    for (const std::string& sentence : forecast.sentences)
        report.sentence += ". " + sentence;
    report.record = seen->record;
    return report;
}

Result<std::string> OperatorGate::init(bool dryRun)
{
    if (!dryRun) {
        if (auto denied = refusal())
            return fail(std::move(*denied));
    }
    return m_backend->makeStore()->init(dryRun, m_clock.now() + kCallTimeout);
}

RetryResult OperatorGate::retryDead(WorkQueue& queue, const RetryPlan& plan)
{
    const auto record = [&](std::optional<RetryResult> result) {
        if (m_audit) {
            AuditEntry entry{m_clock.wall(), plan.by, m_backend ? m_backend->traits().display : "", {}, {}};
            entry.retry = plan;
            entry.retried = std::move(result);
            m_audit(entry);
        }
    };
    record(std::nullopt);
    RetryResult result = 0;
    if (auto denied = refusal())
        result = fail(std::move(*denied));
    else if (auto problem = problemOf(plan.by, plan.reason, "it is retried"))
        result = fail(std::move(*problem));
    else
        result = queue.retryDead(plan.id, m_clock.now() + kCallTimeout);
    record(result);
    return result;
}

} // namespace tenure
