// SPDX-License-Identifier: GPL-3.0-or-later
#include "store_contract.h"

#include <QTest>

#include <thread>

namespace tenure
{

using namespace std::chrono_literals;

LeaseId leaseNamed(std::string_view name)
{
    return LeaseId::parse(name).value();
}

HolderId holderNamed(std::string_view name)
{
    return HolderId::parse(name).value();
}

Instant soon()
{
    return BootClock::now() + 10s;
}

void ContractFixture::pass(Duration time)
{
    std::this_thread::sleep_for(time);
}

void StoreContract::init()
{
    m_fixture = makeFixture();
    if (!m_fixture)
        QSKIP("no such server here");
    const std::string why = m_fixture->whyNot(QTest::currentTestFunction());
    if (!why.empty())
        QSKIP(why.c_str());
    m_backend = m_fixture->backend();
    QVERIFY(m_backend);
    m_store = m_backend->makeStore();
    const auto made = m_store->init(false, soon());
    QVERIFY2(made, made ? "" : made.error().text().c_str());
}

void StoreContract::cleanup()
{
    m_store.reset();
    m_backend.reset();
    m_fixture.reset();
}

Reply StoreContract::run(LeaseStore &store, const Command &command)
{
    Command sent = command;
    if (auto *acquire = std::get_if<Acquire>(&sent))
        acquire->thoughtFree = m_fixture->thinksFree();
    auto results = store.execute({&sent, 1}, soon());
    if (results.size() == 1 && results.front())
        return std::move(*results.front());
    const std::string why = results.size() != 1 ? "not one result" : results.front().error().text();
    QTest::qFail(why.c_str(), __FILE__, __LINE__);
    return {};
}

Reply StoreContract::run(const Command &command)
{
    return run(*m_store, command);
}

Term StoreContract::gain(const LeaseId &lease, const char *holder, Milliseconds ttl)
{
    Term term{holderNamed(holder), Nonce::random(), {}};
    const Reply reply = run(Acquire{lease, term.holder, term.nonce, ttl});
    if (reply.outcome != Outcome::Done || !reply.record.token)
        QTest::qFail("a free lease was not granted", __FILE__, __LINE__);
    term.token = reply.record.token;
    return term;
}

LeaseRecord StoreContract::read(const LeaseId &lease)
{
    return run(Read{lease, ReadDepth::Full}).record;
}

void StoreContract::unknownLeaseIsVacant()
{
    for (const ReadDepth depth : {ReadDepth::Remaining, ReadDepth::Full}) {
        const Reply reply = run(Read{leaseNamed("never.heard.of"), depth});
        QCOMPARE(reply.outcome, Outcome::Done);
        QCOMPARE(reply.record.lease, leaseNamed("never.heard.of"));
        QVERIFY(!reply.record.holder);
    }
    QVERIFY(listAll("*").empty());
}

void StoreContract::acquireGrantsToOneOnly()
{
    const LeaseId lease = leaseNamed("one");
    const Term first = gain(lease, "a", kLongTtl);
    const Reply refused = run(Acquire{lease, holderNamed("b"), Nonce::random(), kLongTtl});
    QCOMPARE(refused.outcome, Outcome::Refused);
    QCOMPARE(refused.record.holder, "a");
    QVERIFY(refused.retryIn && *refused.retryIn > 0ns && *refused.retryIn <= kLongTtl);
    QVERIFY(refused.record.remaining && *refused.record.remaining > 0ns);
    QVERIFY(*refused.record.remaining <= kLongTtl);
    QVERIFY(!refused.epochBarrier);

    const LeaseRecord record = read(lease);
    QCOMPARE(record.kind, "tenure");
    QCOMPARE(record.holder, "a");
    QCOMPARE(record.token, first.token);
    QCOMPARE(record.nonce, first.nonce);
    QCOMPARE(record.ttl, kLongTtl);
    QVERIFY(record.acquiredAt && record.renewedAt);
    QVERIFY(!record.version.empty());
    QVERIFY(!record.released && !record.stepDownAsked && !record.hold);

    const Reply peek = run(Read{lease, ReadDepth::Remaining});
    QVERIFY(peek.record.holder.has_value()); // who it is may be left out at this depth
    QVERIFY(peek.record.remaining && *peek.record.remaining > 0ns);
}

void StoreContract::acquireIsIdempotentPerNonce()
{
    const LeaseId lease = leaseNamed("again");
    const Term term = gain(lease, "a", 10s);
    const Reply again = run(Acquire{lease, term.holder, term.nonce, kLongTtl});
    QCOMPARE(again.outcome, Outcome::Done);
    QCOMPARE(again.record.token, term.token);
    QVERIFY(read(lease).remaining > Duration(20s));
}

void StoreContract::acquireOfAnotherNonceIsRefused()
{
    const LeaseId lease = leaseNamed("twin");
    const Term term = gain(lease, "a", kLongTtl);
    const Reply twin = run(Acquire{lease, term.holder, Nonce::random(), kLongTtl});
    QCOMPARE(twin.outcome, Outcome::Refused);
    QCOMPARE(read(lease).nonce, term.nonce);
}

void StoreContract::renewExtendsItsTerm()
{
    const LeaseId lease = leaseNamed("renewed");
    const Term term = gain(lease, "a", 10s);
    m_fixture->pass(5ms);
    const Reply renewed = run(Renew{lease, term, kLongTtl});
    QCOMPARE(renewed.outcome, Outcome::Done);
    QVERIFY(!renewed.stepDown);
    const LeaseRecord record = read(lease);
    QVERIFY(record.remaining > Duration(20s));
    QCOMPARE(record.token, term.token);
    QVERIFY(*record.renewedAt > *record.acquiredAt);
}

void StoreContract::renewComparesEverything_data()
{
    QTest::addColumn<QString>("wrong");
    for (const char *wrong : {"holder", "nonce", "token", "no token"})
        QTest::newRow(wrong) << QString::fromLatin1(wrong);
}

namespace
{

Term withWrong(Term term, const QString &what)
{
    if (what == QLatin1String("holder"))
        term.holder = holderNamed("somebody");
    else if (what == QLatin1String("nonce"))
        term.nonce = Nonce::random();
    else if (what == QLatin1String("token"))
        ++term.token.value;
    else
        term.token = {};
    return term;
}

} // namespace

void StoreContract::renewComparesEverything()
{
    QFETCH(QString, wrong);
    const LeaseId lease = leaseNamed("compared");
    const Term term = gain(lease, "a", 10s);
    const Reply reply = run(Renew{lease, withWrong(term, wrong), kLongTtl});
    QCOMPARE(reply.outcome, Outcome::Lost);
    QCOMPARE(reply.record.holder, "a");
    QVERIFY(read(lease).remaining <= Duration(10s));
}

void StoreContract::renewAfterExpiryIsLostAndMakesNothing()
{
    const LeaseId lease = leaseNamed("expired");
    const Term term = gain(lease, "a", m_fixture->shortTtl());
    m_fixture->pass(m_fixture->shortTtl() + 20ms);
    const LeaseRecord vacant = read(lease);
    QVERIFY(!vacant.holder);
    QVERIFY(!vacant.released);
    QCOMPARE(run(Renew{lease, term, kLongTtl}).outcome, Outcome::Lost);
    QVERIFY(!read(lease).holder);
    QCOMPARE(run(Release{lease, term}).outcome, Outcome::Lost);
}

void StoreContract::lateRenewAndReleaseLeaveTheSuccessorAlone()
{
    const LeaseId lease = leaseNamed("late");
    const Term old = gain(lease, "a", kLongTtl);
    QCOMPARE(run(Release{lease, old}).outcome, Outcome::Done);
    // The successor is the same holder: only nonce and token tell the terms apart.
    const Term next = gain(lease, "a", 10s);
    QCOMPARE(run(Renew{lease, old, kLongTtl}).outcome, Outcome::Lost);
    const Reply late = run(Release{lease, old});
    QCOMPARE(late.outcome, Outcome::Lost);
    QCOMPARE(late.record.token, next.token);
    QCOMPARE(run(Release{lease, Term{old.holder, old.nonce, {}}}).outcome, Outcome::Lost);
    const LeaseRecord record = read(lease);
    QCOMPARE(record.holder, "a");
    QCOMPARE(record.token, next.token);
    QVERIFY(record.remaining <= Duration(10s));
}

void StoreContract::releaseComparesEverything_data()
{
    QTest::addColumn<QString>("wrong");
    for (const char *wrong : {"holder", "nonce", "token"})
        QTest::newRow(wrong) << QString::fromLatin1(wrong);
}

void StoreContract::releaseComparesEverything()
{
    QFETCH(QString, wrong);
    const LeaseId lease = leaseNamed("kept");
    const Term term = gain(lease, "a", kLongTtl);
    QCOMPARE(run(Release{lease, withWrong(term, wrong)}).outcome, Outcome::Lost);
    QCOMPARE(read(lease).token, term.token);
    QCOMPARE(read(lease).holder, "a");
}

void StoreContract::releaseWithoutTokenComparesHolderAndNonce()
{
    const LeaseId lease = leaseNamed("doubtful");
    const Term term = gain(lease, "a", kLongTtl);
    QCOMPARE(run(Release{lease, Term{term.holder, Nonce::random(), {}}}).outcome, Outcome::Lost);
    QCOMPARE(run(Release{lease, Term{holderNamed("b"), term.nonce, {}}}).outcome, Outcome::Lost);
    QCOMPARE(read(lease).holder, "a");
    QCOMPARE(run(Release{lease, Term{term.holder, term.nonce, {}}}).outcome, Outcome::Done);
    QVERIFY(!read(lease).holder);
}

void StoreContract::releaseFreesAtOnceAndOnlyOnce()
{
    const LeaseId lease = leaseNamed("given");
    const Term term = gain(lease, "a", kLongTtl);
    QCOMPARE(run(Release{lease, term}).outcome, Outcome::Done);
    const LeaseRecord vacant = read(lease);
    QVERIFY(!vacant.holder);
    QVERIFY(vacant.released);
    QCOMPARE(run(Release{lease, term}).outcome, Outcome::Lost);
    const Term next = gain(lease, "b", kLongTtl);
    QVERIFY(next.token > term.token);
    QVERIFY(!read(lease).released);
}

void StoreContract::tokensGrowOverReleaseExpiryAndTakeOver()
{
    const LeaseId lease = leaseNamed("tokens");
    const Term first = gain(lease, "a", kLongTtl);
    QCOMPARE(run(Release{lease, first}).outcome, Outcome::Done);
    const Term second = gain(lease, "a", m_fixture->shortTtl());
    QVERIFY(second.token > first.token);
    const auto before = read(lease).transitions;
    m_fixture->pass(m_fixture->shortTtl() + 20ms);
    const Term third = gain(lease, "b", kLongTtl);
    QVERIFY(third.token > second.token);
    const auto after = read(lease).transitions;
    QVERIFY(before && after);
    QCOMPARE(*after, *before + 1);
}

void StoreContract::tokensGrowAndNobodyActsAfterARestartWithNothing()
{
    const LeaseId lease = leaseNamed("forgotten");
    const Term term = gain(lease, "a", m_fixture->shortTtl());
    if (!m_fixture->restartEmpty())
        QSKIP("this backend cannot lose what it keeps");
    QCOMPARE(run(Renew{lease, term, m_fixture->shortTtl()}).outcome, Outcome::Lost);
    const Reply barred = run(Acquire{lease, holderNamed("b"), Nonce::random(), kLongTtl});
    QCOMPARE(barred.outcome, Outcome::Refused);
    QVERIFY(barred.epochBarrier);
    QVERIFY(barred.retryIn && *barred.retryIn > 0ns);
    m_fixture->pass(*barred.retryIn + 20ms);
    QVERIFY(gain(lease, "b", kLongTtl).token > term.token);
}

void StoreContract::impossibleTtlsAreRefused_data()
{
    QTest::addColumn<qlonglong>("ms");
    for (const qlonglong ms : {0LL, -1LL, 1'000'000'000'000LL, 9'223'372'036'854'775'807LL})
        QTest::addRow("%lld ms", ms) << ms;
}

void StoreContract::impossibleTtlsAreRefused()
{
    QFETCH(qlonglong, ms);
    const LeaseId lease = leaseNamed("never");
    const Command command = Acquire{lease, holderNamed("a"), Nonce::random(), Milliseconds(ms)};
    const auto results = m_store->execute({&command, 1}, soon());
    QCOMPARE(results.size(), std::size_t{1});
    QVERIFY(!results.front());
    QCOMPARE(results.front().error().kind, ErrorKind::BadConfig);
    QVERIFY(!read(lease).holder);
}

} // namespace tenure
