// SPDX-License-Identifier: GPL-3.0-or-later
#include "store_contract.h"

#include <QTest>

namespace tenure
{

using namespace std::chrono_literals;

namespace
{

Operate operate(OperatorVerb verb, const LeaseRecord &seen, Milliseconds duration)
{
    Operate command;
    command.verb = verb;
    command.lease = seen.lease;
    command.kind = seen.kind;
    command.expected = seen.seen();
    command.by = "ann";
    command.duration = duration;
    return command;
}

bool can(const StoreTraits &traits, OperatorVerb verb)
{
    return verb == OperatorVerb::Ask ? traits.canAsk
        : verb == OperatorVerb::Hold ? traits.canHold
                                     : traits.canClear;
}

} // namespace

#define NEEDS(verb)                                                                                \
    do {                                                                                           \
        if (!can(m_backend->traits(), OperatorVerb::verb))                                         \
            QSKIP("this backend cannot " #verb);                                                   \
    } while (false)

void StoreContract::askReachesTheHolderAndKeepsItOut()
{
    NEEDS(Ask);
    const LeaseId lease = leaseNamed("asked");
    const Term term = gain(lease, "a", kLongTtl);
    const Milliseconds out = m_fixture->shortTtl();
    const Reply asked = run(operate(OperatorVerb::Ask, read(lease), out));
    QCOMPARE(asked.outcome, Outcome::Done);
    QVERIFY(read(lease).stepDownAsked);
    QCOMPARE(read(lease).holder, "a");
    // Every renewal says so until the term is over, so that a lost answer loses nothing.
    for (int i = 0; i < 2; ++i) {
        const Reply renewed = run(Renew{lease, term, kLongTtl});
        QCOMPARE(renewed.outcome, Outcome::Done);
        QCOMPARE(renewed.stepDown, std::optional(out));
    }
    QCOMPARE(run(Release{lease, term}).outcome, Outcome::Done);
    const Reply tooEarly = run(Acquire{lease, term.holder, Nonce::random(), kLongTtl});
    QCOMPARE(tooEarly.outcome, Outcome::Refused);
    QVERIFY(!tooEarly.record.holder);
    QVERIFY(tooEarly.retryIn && *tooEarly.retryIn > 0ns && *tooEarly.retryIn <= out);
    m_fixture->pass(out + 20ms);
    const Term back = gain(lease, "a", kLongTtl);
    QVERIFY(!read(lease).stepDownAsked);
    QVERIFY(!run(Renew{lease, back, kLongTtl}).stepDown);
}

void StoreContract::holdStopsEverybodyAndEnds()
{
    NEEDS(Hold);
    const LeaseId lease = leaseNamed("held");
    const Term term = gain(lease, "a", m_fixture->shortTtl());
    const Milliseconds duration = 2 * m_fixture->shortTtl();
    const Reply held = run(operate(OperatorVerb::Hold, read(lease), duration));
    QCOMPARE(held.outcome, Outcome::Done);
    QCOMPARE(run(Renew{lease, term, kLongTtl}).outcome, Outcome::Lost);

    const LeaseRecord record = read(lease);
    QVERIFY(!record.holder);
    QVERIFY(record.hold);
    QCOMPARE(record.hold->by, "ann");
    QVERIFY(record.hold->remaining > 0ms && record.hold->remaining <= duration);
    QVERIFY(record.token > term.token);
    const Reply refused = run(Acquire{lease, holderNamed("b"), Nonce::random(), kLongTtl});
    QCOMPARE(refused.outcome, Outcome::Refused);
    QVERIFY(refused.record.hold);
    QVERIFY(refused.retryIn && *refused.retryIn > 0ns && *refused.retryIn <= duration);

    m_fixture->pass(duration + 20ms);
    QVERIFY(!read(lease).hold);
    QVERIFY(gain(lease, "b", kLongTtl).token > record.token);
}

void StoreContract::holdLastsAsLongAsItsVictimMayBelieve()
{
    NEEDS(Hold);
    const LeaseId lease = leaseNamed("believer");
    (void)gain(lease, "a", kLongTtl);
    QCOMPARE(run(operate(OperatorVerb::Hold, read(lease), 1s)).outcome, Outcome::Done);
    const LeaseRecord record = read(lease);
    QVERIFY(record.hold && record.hold->remaining > kLongTtl / 2);
}

void StoreContract::clearFreesAtOnce()
{
    NEEDS(Clear);
    const LeaseId lease = leaseNamed("cleared");
    const Term term = gain(lease, "a", kLongTtl);
    QCOMPARE(run(operate(OperatorVerb::Clear, read(lease), 1s)).outcome, Outcome::Done);
    QVERIFY(!read(lease).holder);
    QCOMPARE(run(Renew{lease, term, kLongTtl}).outcome, Outcome::Lost);
    QVERIFY(gain(lease, "b", kLongTtl).token > term.token);
}

void StoreContract::clearEndsAHold()
{
    NEEDS(Hold);
    NEEDS(Clear);
    const LeaseId lease = leaseNamed("held-and-cleared");
    (void)gain(lease, "a", kLongTtl);
    QCOMPARE(run(operate(OperatorVerb::Hold, read(lease), 10s)).outcome, Outcome::Done);
    QCOMPARE(run(operate(OperatorVerb::Clear, read(lease), 1s)).outcome, Outcome::Done);
    QVERIFY(!read(lease).hold);
    (void)gain(lease, "b", kLongTtl);
}

void StoreContract::operateOnSomethingElseIsAConflict_data()
{
    QTest::addColumn<int>("verb");
    QTest::newRow("ask") << static_cast<int>(OperatorVerb::Ask);
    QTest::newRow("hold") << static_cast<int>(OperatorVerb::Hold);
    QTest::newRow("clear") << static_cast<int>(OperatorVerb::Clear);
}

void StoreContract::operateOnSomethingElseIsAConflict()
{
    QFETCH(int, verb);
    if (!can(m_backend->traits(), static_cast<OperatorVerb>(verb)))
        QSKIP("not possible on this backend");
    const LeaseId lease = leaseNamed("changed");
    const Term old = gain(lease, "a", kLongTtl);
    const LeaseRecord seen = read(lease);
    QCOMPARE(run(Release{lease, old}).outcome, Outcome::Done);
    // Again the same holder: what was seen is still another term.
    const Term next = gain(lease, "a", kLongTtl);
    const Reply reply = run(operate(static_cast<OperatorVerb>(verb), seen, 10s));
    QCOMPARE(reply.outcome, Outcome::Conflict);
    QCOMPARE(reply.record.holder, "a");
    QCOMPARE(reply.record.token, next.token);
    QVERIFY(!reply.record.seen().version.empty());
    const LeaseRecord now = read(lease);
    QCOMPARE(now.token, next.token);
    QVERIFY(now.holder && !now.hold && !now.stepDownAsked);
    QCOMPARE(run(Renew{lease, next, kLongTtl}).outcome, Outcome::Done);
}

void StoreContract::operateOnNothingIsAConflict()
{
    NEEDS(Clear);
    const LeaseId lease = leaseNamed("gone");
    const Term term = gain(lease, "a", kLongTtl);
    const LeaseRecord seen = read(lease);
    QCOMPARE(run(Release{lease, term}).outcome, Outcome::Done);
    const Reply reply = run(operate(OperatorVerb::Clear, seen, 1s));
    QCOMPARE(reply.outcome, Outcome::Conflict);
    QVERIFY(!reply.record.holder);
}

} // namespace tenure
