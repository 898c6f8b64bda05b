// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/memory/memory_backend.h"
#include "core/runtime/election_calls.h"

#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

Q_DECLARE_METATYPE(tenure::Error)

class ElectionCallsTest final : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void faults_data();
    void faults();
    void retryAfterTravels();
    void commandsCarryTheTermAsItStands();
    void lifeOfALeaseOnAServer();
    void lostRenewalTellsWhoStandsThere();
};

namespace
{

Candidacy candidacy(const char *holder)
{
    Candidacy who;
    who.lease = LeaseId::observed("billing/scheduler");
    who.holder = *HolderId::parse(holder);
    TimingRequest request;
    request.ttl = 1s;
    who.rules.timing = *Timing::make(request);
    return who;
}

Error errorOf(ErrorKind kind, Recovery recovery = Recovery::Backoff)
{
    Error error;
    error.kind = kind;
    error.recovery = recovery;
    return error;
}

} // namespace

void ElectionCallsTest::faults_data()
{
    QTest::addColumn<Error>("error");
    QTest::addColumn<int>("verb");
    QTest::addColumn<int>("fault");
    const auto row = [](const char *name, const Error &error, FaultClass fault, Verb verb = Verb::Renew) {
        QTest::newRow(name) << error << int(verb) << int(fault);
    };
    row("no answer to a write", errorOf(ErrorKind::OutcomeUnknown), FaultClass::Unknown);
    row("no answer to an acquire", errorOf(ErrorKind::OutcomeUnknown), FaultClass::Unknown, Verb::Acquire);
    row("no answer to a look", errorOf(ErrorKind::OutcomeUnknown), FaultClass::Transient, Verb::Peek);
    row("busy", errorOf(ErrorKind::Unavailable, Recovery::AtOnce), FaultClass::Busy);
    row("cut", errorOf(ErrorKind::Unavailable, Recovery::Reconnect), FaultClass::Connection);
    row("down", errorOf(ErrorKind::Unavailable, Recovery::Backoff), FaultClass::Transient);
    row("wrong password", errorOf(ErrorKind::Rejected), FaultClass::Auth);
    row("no right", errorOf(ErrorKind::Denied), FaultClass::Permanent);
    row("configuration", errorOf(ErrorKind::BadConfig), FaultClass::Permanent);
    row("unreadable", errorOf(ErrorKind::Corrupt), FaultClass::Permanent);
    row("unsupported", errorOf(ErrorKind::Unsupported), FaultClass::Permanent);
    row("no such namespace", errorOf(ErrorKind::NotFound), FaultClass::Permanent);
    row("own write", errorOf(ErrorKind::Conflict), FaultClass::Benign);
}

void ElectionCallsTest::faults()
{
    QFETCH(Error, error);
    QFETCH(int, verb);
    QFETCH(int, fault);
    QCOMPARE(int(faultOf(error, Verb(verb))), fault);
    const Event event = eventFor(Verb(verb), candidacy("a"), fail(error));
    QCOMPARE(int(event.kind), int(Event::Kind::Fault));
    QCOMPARE(int(event.fault), fault);
}

void ElectionCallsTest::retryAfterTravels()
{
    Error error = errorOf(ErrorKind::Unavailable);
    error.retryAfter = 30s;
    QCOMPARE(eventFor(Verb::Renew, candidacy("a"), fail(error)).retryAfter, std::optional<Duration>(30s));
}

void ElectionCallsTest::commandsCarryTheTermAsItStands()
{
    const Candidacy who = candidacy("a");
    ElectionState state;
    state.nonce = Nonce(1, 2);
    const auto acquire = std::get<Acquire>(commandFor(Verb::Acquire, who, state));
    QVERIFY(acquire.nonce == state.nonce && acquire.ttl == 1s && acquire.holder == who.holder);
    QVERIFY(!acquire.thoughtFree);
    state.racing = true;
    QVERIFY(std::get<Acquire>(commandFor(Verb::Acquire, who, state)).thoughtFree);
    // An acquire whose answer never came is given back without a token.
    QCOMPARE(std::get<Release>(commandFor(Verb::Release, who, state)).term.token.value, std::uint64_t(0));
    state.token = {7};
    QVERIFY((std::get<Renew>(commandFor(Verb::Renew, who, state)).term == Term{who.holder, state.nonce, {7}}));
    QVERIFY((std::get<Release>(commandFor(Verb::Release, who, state)).term == Term{who.holder, state.nonce, {7}}));
    QVERIFY(std::get<Read>(commandFor(Verb::Peek, who, state)).depth == ReadDepth::Remaining);
}

void ElectionCallsTest::lifeOfALeaseOnAServer()
{
    ManualClock clock;
    MemoryServer server(clock);
    const Candidacy a = candidacy("a");
    const Candidacy b = candidacy("b");
    ElectionState stateA;
    ElectionState stateB;
    stateA.nonce = Nonce(1, 1);
    stateB.nonce = Nonce(2, 2);
    const auto call = [&](Verb verb, const Candidacy &who, const ElectionState &state) {
        return eventFor(verb, who, server.apply(commandFor(verb, who, state)));
    };
    QCOMPARE(int(call(Verb::Peek, b, stateB).kind), int(Event::Kind::Vacant));
    const Event granted = call(Verb::Acquire, a, stateA);
    QCOMPARE(int(granted.kind), int(Event::Kind::Granted));
    QVERIFY(granted.token);
    stateA.token = granted.token;
    clock.advance(400ms);
    for (const Verb verb : {Verb::Acquire, Verb::Peek}) {
        const Event refused = call(verb, b, stateB);
        QCOMPARE(int(refused.kind), int(Event::Kind::Refused));
        QCOMPARE(refused.retryIn, std::optional<Duration>(600ms));
        QVERIFY(!refused.epochBarrier);
    }
    QCOMPARE(int(call(Verb::Renew, a, stateA).kind), int(Event::Kind::Renewed));
    QCOMPARE(int(call(Verb::Release, a, stateA).kind), int(Event::Kind::Released));
    QCOMPARE(int(call(Verb::Release, a, stateA).kind), int(Event::Kind::Released)); // twice is no fault
    QCOMPARE(int(call(Verb::Peek, b, stateB).kind), int(Event::Kind::Vacant));
}

void ElectionCallsTest::lostRenewalTellsWhoStandsThere()
{
    const Candidacy who = candidacy("a");
    Reply reply;
    reply.outcome = Outcome::Lost;
    QVERIFY(!eventFor(Verb::Renew, who, reply).otherTerm);
    reply.record.holder = "b";
    const Event denied = eventFor(Verb::Renew, who, reply);
    QCOMPARE(int(denied.kind), int(Event::Kind::Denied));
    QVERIFY(denied.otherTerm);
}

QTEST_GUILESS_MAIN(ElectionCallsTest)
#include "tst_election_calls.moc"
