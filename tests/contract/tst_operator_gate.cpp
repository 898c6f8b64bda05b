// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/faulty.h"
#include "core/backend/memory/memory_backend.h"
#include "core/runtime/operator_gate.h"

#include <QTest>

#include <condition_variable>
#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

const Clock& kClock = SystemClock::instance();
const LeaseId kLease = LeaseId::observed("jobs/leader");

/// A contender: competes and renews on a thread of its own, obeys a step-down request.
class Contender
{
public:
    Contender(std::shared_ptr<MemoryServer> server, std::string name)
        : m_server(std::move(server)), m_holder(*HolderId::parse(name)),
          m_thread([this](const std::stop_token& stop) { run(stop); })
    {
    }

private:
    void run(const std::stop_token& stop)
    {
        std::mutex mutex;
        std::condition_variable_any tick;
        Term term{m_holder, Nonce::random(), {}};
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
            if (!term.token) {
                const auto reply
                    = m_server->apply(Acquire{kLease, term.holder, term.nonce, 2000ms});
                if (reply && reply->outcome == Outcome::Done)
                    term.token = reply->record.token;
            } else {
                const auto reply = m_server->apply(Renew{kLease, term, 2000ms});
                if (reply && reply->stepDown)
                    (void)m_server->apply(Release{kLease, term});
                if (!reply || reply->outcome != Outcome::Done || reply->stepDown)
                    term = {m_holder, Nonce::random(), {}};
            }
            tick.wait_for(lock, stop, 20ms, [] { return false; });
        }
    }

    std::shared_ptr<MemoryServer> m_server;
    HolderId m_holder;
    std::jthread m_thread;
};

struct Rig {
    std::shared_ptr<MemoryServer> server = std::make_shared<MemoryServer>(kClock);
    std::shared_ptr<Faults> faults = std::make_shared<Faults>();
    std::vector<AuditEntry> audit;
    std::vector<ReleaseReport> progress;
    std::function<void()> onProgress;
    OperatorGate gate{makeFaultyBackend(makeMemoryBackend(server, "memory:test"), faults, kClock),
        kClock, [this](const AuditEntry& entry) {
            audit.push_back(entry);
            if (!entry.outcome)
                atIntent = read();
        }};
    LeaseRecord atIntent; ///< the lease when the intent was journaled

    LeaseRecord read() { return server->apply(Read{kLease})->record; }
    /// A term that nobody renews.
    Term hold(const std::string& holder, Milliseconds ttl = 60000ms)
    {
        Term term{*HolderId::parse(holder), Nonce::random(), {}};
        const auto reply = server->apply(Acquire{kLease, term.holder, term.nonce, ttl});
        term.token = reply->record.token;
        return term;
    }
    ReleasePlan plan(OperatorVerb verb)
    {
        ReleasePlan out;
        out.verb = verb;
        out.lease = kLease;
        out.expected = read().seen();
        out.by = "op";
        out.reason = "INC-4711";
        out.duration = 5000ms;
        out.wait = 5s;
        return out;
    }
    ReleaseReport release(const ReleasePlan& p, const std::atomic<bool>* cancel = nullptr)
    {
        return gate.release(
            p,
            [this](const ReleaseReport& report) {
                progress.push_back(report);
                if (onProgress)
                    onProgress();
            },
            cancel);
    }
};

} // namespace

class TestOperatorGate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readOnlySendsNothing();
    void operatorModeEndsByItself();
    void aReasonIsRequired();
    void refusedWhenItChanged();
    void clearedAndTakenByAnother();
    void clearedAndReacquired();
    void clearedAndVacant();
    void cancelEndsTheWatchingNotTheWrite();
    void theHoldStands();
    void askedHolderGivesBack();
    void askedHolderThatHangs();
    void lostAnswerIsReadNotRepeated();
    void lostAnswerStaysUnknown();
    void cutLineFailsForCertain();
    void auditIsBeforeAndAfter();
    void dryRunWritesNothing();
    void initIsAWrite();
};

void TestOperatorGate::readOnlySendsNothing()
{
    Rig rig;
    rig.hold("a");
    const LeaseRecord before = rig.read();
    const ReleaseReport report = rig.release(rig.plan(OperatorVerb::Clear));
    QCOMPARE(report.outcome, ReleaseOutcome::Denied);
    QCOMPARE(report.sentence, std::string("Read-only. Nothing was sent."));
    QCOMPARE(rig.read().seen(), before.seen());
    rig.gate.allowWrites(1min);
    rig.gate.readOnly();
    QCOMPARE(rig.release(rig.plan(OperatorVerb::Clear)).outcome, ReleaseOutcome::Denied);
    QCOMPARE(rig.read().seen(), before.seen());
}

void TestOperatorGate::operatorModeEndsByItself()
{
    ManualClock clock;
    OperatorGate gate(
        makeMemoryBackend(std::make_shared<MemoryServer>(clock), "memory:"), clock, {});
    QVERIFY(!gate.operatorTimeLeft());
    gate.allowWrites(15min);
    clock.advance(14min);
    QCOMPARE(*gate.operatorTimeLeft(), Duration(1min));
    clock.advance(1min);
    QVERIFY(!gate.operatorTimeLeft());
}

void TestOperatorGate::aReasonIsRequired()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    ReleasePlan plan = rig.plan(OperatorVerb::Clear);
    plan.reason = " \n";
    QCOMPARE(rig.release(plan).outcome, ReleaseOutcome::Failed);
    QVERIFY(rig.read().holder);
}

void TestOperatorGate::refusedWhenItChanged()
{
    Rig rig;
    const Term a = rig.hold("a");
    rig.gate.allowWrites(1min);
    const ReleasePlan plan = rig.plan(OperatorVerb::Clear);
    QVERIFY(rig.server->apply(Release{kLease, a}));
    rig.hold("b");
    for (const OperatorVerb verb : {OperatorVerb::Ask, OperatorVerb::Hold, OperatorVerb::Clear}) {
        ReleasePlan late = plan;
        late.verb = verb;
        const ReleaseReport report = rig.release(late);
        QCOMPARE(report.outcome, ReleaseOutcome::Refused);
        QCOMPARE(report.record->holder.value(), std::string("b"));
        QVERIFY2(
            report.sentence.find("now held by b") != std::string::npos, report.sentence.c_str());
    }
    QCOMPARE(rig.read().holder.value(), std::string("b"));
    QVERIFY(!rig.read().stepDownAsked);
}

void TestOperatorGate::clearedAndTakenByAnother()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    Contender b(rig.server, "b");
    const ReleaseReport report = rig.release(rig.plan(OperatorVerb::Clear));
    QCOMPARE(report.outcome, ReleaseOutcome::Taken);
    QVERIFY(report.final);
    QVERIFY(report.after < 1s);
    QVERIFY2(report.sentence.find("Released, taken by b (token ") == 0, report.sentence.c_str());
    QVERIFY(rig.progress.back().final);
}

void TestOperatorGate::clearedAndReacquired()
{
    Rig rig;
    rig.gate.allowWrites(1min);
    Contender a(rig.server, "a");
    QTRY_VERIFY_WITH_TIMEOUT(rig.read().holder, 30'000);
    const ReleaseReport report = rig.release(rig.plan(OperatorVerb::Clear));
    QCOMPARE(report.outcome, ReleaseOutcome::Reacquired);
    QVERIFY2(
        report.sentence.find("re-acquired by a") != std::string::npos, report.sentence.c_str());
}

void TestOperatorGate::clearedAndVacant()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    ReleasePlan plan = rig.plan(OperatorVerb::Clear);
    plan.wait = 300ms;
    const Instant before = kClock.now();
    const ReleaseReport report = rig.release(plan);
    QCOMPARE(report.outcome, ReleaseOutcome::Vacant);
    QVERIFY(kClock.now() - before >= 300ms);
    QVERIFY(!rig.read().holder);
    QVERIFY2(rig.progress.size() >= 2 && !rig.progress.front().final,
        "vacant is told before the wait is over");
}

void TestOperatorGate::cancelEndsTheWatchingNotTheWrite()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    const std::atomic<bool> cancel = true;
    ReleasePlan plan = rig.plan(OperatorVerb::Clear);
    plan.wait = 60s;
    const Instant before = kClock.now();
    QCOMPARE(rig.release(plan, &cancel).outcome, ReleaseOutcome::Vacant);
    QVERIFY(kClock.now() - before < 5s);
    QVERIFY(!rig.read().holder);
}

void TestOperatorGate::theHoldStands()
{
    Rig rig;
    rig.gate.allowWrites(1min);
    Contender a(rig.server, "a");
    QTRY_VERIFY_WITH_TIMEOUT(rig.read().holder, 30'000);
    const ReleaseReport report = rig.release(rig.plan(OperatorVerb::Hold));
    QCOMPARE(report.outcome, ReleaseOutcome::Held);
    QCOMPARE(report.record->hold->by, std::string("op"));
    QVERIFY2(!rig.read().holder, "nobody leads, though a contender races");
}

void TestOperatorGate::askedHolderGivesBack()
{
    Rig rig;
    rig.gate.allowWrites(1min);
    Contender a(rig.server, "a");
    QTRY_VERIFY_WITH_TIMEOUT(rig.read().holder, 30'000);
    Contender b(rig.server, "b");
    const ReleaseReport report = rig.release(rig.plan(OperatorVerb::Ask));
    QCOMPARE(report.outcome, ReleaseOutcome::Taken);
    QCOMPARE(report.record->holder.value(), std::string("b"));
}

void TestOperatorGate::askedHolderThatHangs()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    ReleasePlan plan = rig.plan(OperatorVerb::Ask);
    plan.wait = 200ms;
    const ReleaseReport report = rig.release(plan);
    QCOMPARE(report.outcome, ReleaseOutcome::Asked);
    QVERIFY(rig.read().stepDownAsked && rig.read().holder);
}

void TestOperatorGate::lostAnswerIsReadNotRepeated()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    ReleasePlan plan = rig.plan(OperatorVerb::Clear);
    plan.wait = 200ms;
    rig.faults->loseReplies = true;
    rig.onProgress = [&] { rig.faults->loseReplies = false; };
    QCOMPARE(rig.release(plan).outcome, ReleaseOutcome::Vacant);
    QCOMPARE(rig.progress.front().outcome, ReleaseOutcome::Unknown);
    QVERIFY(!rig.progress.front().final);
    QVERIFY(!rig.read().holder);
}

void TestOperatorGate::lostAnswerStaysUnknown()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    rig.faults->loseReplies = true;
    const ReleaseReport report = rig.release(rig.plan(OperatorVerb::Clear));
    QCOMPARE(report.outcome, ReleaseOutcome::Unknown);
    QVERIFY(report.error && report.error->kind == ErrorKind::OutcomeUnknown);
    QCOMPARE(rig.audit.back().outcome->outcome, ReleaseOutcome::Unknown);
}

void TestOperatorGate::cutLineFailsForCertain()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    rig.faults->cutOff = true;
    QCOMPARE(rig.release(rig.plan(OperatorVerb::Clear)).outcome, ReleaseOutcome::Failed);
    QVERIFY(rig.read().holder);
}

void TestOperatorGate::auditIsBeforeAndAfter()
{
    Rig rig;
    rig.hold("a");
    rig.gate.allowWrites(1min);
    ReleasePlan plan = rig.plan(OperatorVerb::Clear);
    plan.wait = 100ms;
    rig.release(plan);
    QCOMPARE(rig.audit.size(), 2U);
    QVERIFY(!rig.audit.front().outcome);
    QVERIFY2(rig.atIntent.holder, "the intent is journaled before anything is written");
    QCOMPARE(rig.audit.front().plan.reason, std::string("INC-4711"));
    QCOMPARE(rig.audit.front().connection, std::string("memory:test"));
    QCOMPARE(rig.audit.back().outcome->outcome, ReleaseOutcome::Vacant);
    QVERIFY(rig.audit.back().outcome->final);
}

void TestOperatorGate::dryRunWritesNothing()
{
    Rig rig;
    rig.hold("a");
    const LeaseRecord before = rig.read();
    ReleasePlan plan = rig.plan(OperatorVerb::Hold);
    const ReleaseReport good = rig.gate.dryRun(plan); // also while read-only
    QCOMPARE(good.outcome, ReleaseOutcome::Held);
    QVERIFY2(good.sentence.find("Nothing was sent") == 0, good.sentence.c_str());
    plan.expected.token.value -= 1;
    QCOMPARE(rig.gate.dryRun(plan).outcome, ReleaseOutcome::Refused);
    QCOMPARE(rig.read().seen(), before.seen());
    QVERIFY(!rig.read().hold && !rig.read().stepDownAsked);
}

void TestOperatorGate::initIsAWrite()
{
    Rig rig;
    QCOMPARE(rig.gate.init(false).error().kind, ErrorKind::Denied);
    QVERIFY(rig.gate.init(true));
    rig.gate.allowWrites(1min);
    QVERIFY(rig.gate.init(false));
}

QTEST_GUILESS_MAIN(TestOperatorGate)
#include "tst_operator_gate.moc"
