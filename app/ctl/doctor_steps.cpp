// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/doctor_steps.h"

#include "app/ctl/target.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;
constexpr std::size_t kRoundTrips = 20;
constexpr Duration kPushPatience = 2s;
constexpr Duration kCensusPatience = 1s;
constexpr Duration kSkewWorthTelling = 2s;

std::string fineText(Duration duration)
{
    if (duration >= 10ms)
        return durationText(duration);
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.2f ms", std::chrono::duration<double, std::milli>(duration).count());
    return buffer.data();
}

class Examination
{
public:
    Examination(std::optional<LeaseId> lease, const std::function<void(const Step &)> &tell)
        : m_lease(std::move(lease)), m_tell(tell)
    {
    }
    Exit run(const std::string &url);

private:
    Exit connectFailed(const Error &error);
    void aboutServer(const StoreFacts &facts);
    Exit roundTrips(LeaseStore &store);
    void clockOffset(const StoreFacts &facts, Instant askedAt, Instant answeredAt);
    void push(const Backend &backend);
    Exit census(LeaseStore &store);
    Exit aboutLease(LeaseStore &store);
    void judgeTiming(const LeaseRecord &record, const TimingLimits &limits);
    void say(std::string name, StepResult result, std::string detail, std::string remedy = {})
    {
        m_tell({std::move(name), result, std::move(detail), std::move(remedy)});
    }
    Exit sayBad(const std::string &name, const Error &error)
    {
        say(name, StepResult::Bad, error.what, error.remedy);
        return exitFor(error.kind);
    }

    const std::optional<LeaseId> m_lease;
    const std::function<void(const Step &)> &m_tell;
    Duration m_p99{};
};

Exit Examination::run(const std::string &url)
{
    Result<Target> target = openTarget(url);
    if (!target)
        return sayBad("URL", target.error());
    say("URL", StepResult::Good, target->display);
    const std::unique_ptr<LeaseStore> store = target->backend->makeStore();
    const Instant askedAt = BootClock::now();
    const Result<StoreFacts> facts = store->probe(askedAt + kCallTimeout);
    const Instant answeredAt = BootClock::now();
    if (!facts)
        return connectFailed(facts.error());
    say("Connect", StepResult::Good, "answered after " + fineText(answeredAt - askedAt));
    say("Sign-in", StepResult::Good, "accepted");
    aboutServer(*facts);
    Exit code = roundTrips(*store);
    if (code != Exit::Done)
        return code;
    clockOffset(*facts, askedAt, answeredAt);
    push(*target->backend);
    code = census(*store);
    if (m_lease && code == Exit::Done)
        code = aboutLease(*store);
    return code;
}

Exit Examination::connectFailed(const Error &error)
{
    const bool signIn = error.kind == ErrorKind::Rejected;
    const bool rights = error.kind == ErrorKind::Denied;
    Exit code = Exit::Done;
    if (signIn || rights) {
        say("Connect", StepResult::Good, "answered");
        if (rights)
            say("Sign-in", StepResult::Good, "accepted");
        code = sayBad(signIn ? "Sign-in" : "Rights", error);
    } else {
        code = sayBad("Connect", error);
        say("Sign-in", StepResult::Skipped, "not reached");
    }
    say("Server", StepResult::Skipped, "not reached");
    return code;
}

void Examination::aboutServer(const StoreFacts &facts)
{
    std::string detail = facts.server;
    if (facts.uptime)
        detail += ", up for " + durationText(*facts.uptime);
    say("Server", StepResult::Good, detail);
    for (const std::string &note : facts.notes)
        say("Note", StepResult::Warning, note);
}

Exit Examination::roundTrips(LeaseStore &store)
{
    // Any name will do: a read of what is not there changes nothing and takes as long.
    const LeaseId lease = m_lease.value_or(LeaseId::observed("tenure-doctor"));
    const std::array<Command, 1> commands{Read{lease, ReadDepth::Remaining}};
    std::vector<Duration> times;
    while (times.size() < kRoundTrips) {
        const Instant sentAt = BootClock::now();
        const std::vector<Result<Reply>> replies = store.execute(commands, sentAt + kCallTimeout);
        if (!replies.front() && replies.front().error().kind != ErrorKind::NotFound)
            return sayBad("Rights", replies.front().error());
        times.push_back(BootClock::now() - sentAt);
    }
    std::sort(times.begin(), times.end());
    m_p99 = times.back();
    say("Rights", StepResult::Good, "leases may be read; writing was not tried");
    say("Round trip", StepResult::Good, "p50 " + fineText(times[times.size() / 2]) + ", worst "
            + fineText(m_p99) + " (n=" + std::to_string(times.size()) + ")");
    return Exit::Done;
}

void Examination::clockOffset(const StoreFacts &facts, Instant askedAt, Instant answeredAt)
{
    if (!facts.serverTime) {
        say("Clock", StepResult::Skipped, "the server does not tell its time");
        return;
    }
    const WallTime middle = SystemClock::instance().wall()
        - std::chrono::floor<std::chrono::microseconds>(BootClock::now() - answeredAt + (answeredAt - askedAt) / 2);
    const Duration ahead = *facts.serverTime - middle;
    const Duration size = ahead < 0ns ? -ahead : ahead;
    const std::string detail = "the server's clock is " + fineText(size)
        + (ahead < 0ns ? " behind" : " ahead of") + " this machine's, +/- " + fineText((answeredAt - askedAt) / 2);
    if (size < kSkewWorthTelling)
        say("Clock", StepResult::Good, detail);
    else
        say("Clock", StepResult::Warning, detail, "Countdowns are not affected; times of log lines are. Check NTP on both");
}

void Examination::push(const Backend &backend)
{
    const std::unique_ptr<LeaseFeed> feed = backend.makeFeed();
    if (!feed) {
        say("Push", StepResult::Warning, "this backend cannot push; changes are found by polling");
        return;
    }
    std::mutex mutex;
    std::condition_variable told;
    std::optional<FeedEvent> answer;
    feed->start([&](const FeedEvent &event) {
        const std::lock_guard lock(mutex);
        if (!answer && (event.kind == FeedEvent::Kind::Opened || event.kind == FeedEvent::Kind::Closed)) {
            answer = event;
            told.notify_all();
        }
    });
    {
        std::unique_lock lock(mutex);
        told.wait_for(lock, kPushPatience, [&] { return answer.has_value(); });
    }
    feed->stop();
    if (!answer)
        say("Push", StepResult::Warning, "no push within " + durationText(kPushPatience) + "; changes are found by polling");
    else if (answer->kind == FeedEvent::Kind::Closed)
        say("Push", StepResult::Warning, answer->error.what + "; changes are found by polling", answer->error.remedy);
    else
        say("Push", StepResult::Good, answer->detail);
}

Exit Examination::census(LeaseStore &store)
{
    List page;
    std::size_t held = 0;
    std::size_t found = 0;
    const Instant until = BootClock::now() + kCensusPatience;
    do {
        const std::array<Command, 1> commands{page};
        const std::vector<Result<Reply>> replies = store.execute(commands, BootClock::now() + kCallTimeout);
        if (!replies.front())
            return sayBad("Leases", replies.front().error());
        for (const LeaseRecord &record : replies.front()->records)
            held += record.holder ? 1 : 0;
        found += replies.front()->records.size();
        page.cursor = replies.front()->cursor;
    } while (!page.cursor.empty() && BootClock::now() < until);
    const std::string more = page.cursor.empty() ? "" : "at least ";
    say("Leases", StepResult::Good,
        more + std::to_string(found) + " found, " + std::to_string(held) + " of them held");
    return Exit::Done;
}

Exit Examination::aboutLease(LeaseStore &store)
{
    const Result<Look> look = readLease(store, *m_lease);
    if (!look)
        return sayBad("Lease", look.error());
    const LeaseRecord &record = look->record;
    const std::string name = printable(m_lease->name());
    if (record.holder)
        say("Lease", StepResult::Good, name + " is held by " + printable(*record.holder, 255));
    else
        say("Lease", StepResult::Warning, name + ": nobody leads", "Start a candidate: tenurectl campaign URL " + shellQuoted(name));
    if (!record.note.empty())
        say("Note", StepResult::Warning, record.note);
    const auto aside = store.aside(*m_lease, BootClock::now() + kCallTimeout);
    if (aside && !aside->release.what.empty())
        say("Release", StepResult::Warning, "by hand is not possible: " + aside->release.what, aside->release.forAdmin);
    judgeTiming(record, store.traits().limits);
    return Exit::Done;
}

void Examination::judgeTiming(const LeaseRecord &record, const TimingLimits &limits)
{
    TimingRequest request;
    if (record.ttl)
        request.ttl = *record.ttl;
    const std::string which = (record.ttl ? "its ttl of " : "a ttl of ") + durationText(request.ttl);
    const Result<Timing> timing = Timing::make(request, limits);
    if (!timing) {
        say("Timing", StepResult::Warning, timing.error().what, timing.error().remedy);
        return;
    }
    const std::vector<std::string> warnings = timing->warnings(m_p99);
    for (const std::string &warning : warnings)
        say("Timing", StepResult::Warning, warning, "Use a longer ttl");
    if (warnings.empty()) {
        say("Timing", StepResult::Good, which + " fits: " + std::to_string(request.ttl / std::max<Duration>(m_p99, 1us))
                + " of the worst round trips");
    }
}

} // namespace

Exit examine(const std::string &url, const std::optional<LeaseId> &lease,
    const std::function<void(const Step &)> &tell)
{
    return Examination(lease, tell).run(url);
}

} // namespace tenure::ctl
