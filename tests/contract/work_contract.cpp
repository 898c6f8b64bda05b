// SPDX-License-Identifier: GPL-3.0-or-later
#include "work_contract.h"

#include <QTest>

#include <set>

namespace tenure
{

using namespace std::chrono_literals;
using Kind = Settlement::Kind;

namespace
{

Worker workerOf(FencingToken fence = {})
{
    return {HolderId::parse("w").value(), fence};
}

#define TAKE(result)                                                                               \
    ([&](auto made) {                                                                              \
        if (!made)                                                                                 \
            qFatal("%s", made.error().text().c_str());                                             \
        return std::move(*made);                                                                   \
    }(result))

} // namespace

Instant WorkContract::soon()
{
    return BootClock::now() + 30s;
}

std::int64_t WorkContract::put(NewItem item)
{
    return TAKE(m_queue->enqueue(std::span(&item, 1), soon())).front().id;
}

std::vector<Claim> WorkContract::claim(
    WorkQueue &queue, std::size_t limit, Milliseconds timeout, FencingToken fence)
{
    return TAKE(queue.claim(workerOf(fence), limit, timeout, soon()));
}

Settled WorkContract::settle(WorkQueue &queue, Settlement one, FencingToken fence)
{
    return TAKE(queue.settle(workerOf(fence), std::span(&one, 1), soon())).front();
}

void WorkContract::init()
{
    m_name = "queue-" + std::to_string(++m_tests);
    m_queue = open(m_name);
    QVERIFY(m_queue);
}

void WorkContract::theLifeOfAnItem()
{
    // Before anything was put in there is nothing to look at, and looking makes nothing.
    const auto early = m_queue->counts(soon());
    QVERIFY(!early);
    QCOMPARE(early.error().kind, ErrorKind::NotFound);
    const std::int64_t id = put({"paint the fence"});
    QCOMPARE(TAKE(m_queue->counts(soon())).pending, 1U);
    const auto claims = claim(*m_queue);
    QCOMPARE(claims.size(), std::size_t{1});
    QCOMPARE(claims[0].ticket.id, id);
    QCOMPARE(claims[0].ticket.attempt, 1);
    QVERIFY(claims[0].ticket.token);
    QCOMPARE(claims[0].payload, std::string("paint the fence"));
    QVERIFY(claims[0].validUntil > BootClock::now() && claims[0].validUntil <= BootClock::now() + 1min);
    const auto views = TAKE(m_queue->items(ItemState::Processing, 0, 10, soon()));
    QCOMPARE(views.size(), std::size_t{1});
    QCOMPARE(views[0].worker, std::string("w"));
    QCOMPARE(views[0].token, claims[0].ticket.token);
    QCOMPARE(views[0].excerpt, std::string("paint the fence"));
    QVERIFY(views[0].due > 30s && views[0].due <= 1min);
    QCOMPARE(settle(*m_queue, {Kind::Complete, claims[0].ticket}), Settled::Done);
    QVERIFY(claim(*m_queue).empty());
    QCOMPARE(TAKE(m_queue->counts(soon())).completed, 1U);
}

void WorkContract::aKeyIsPutInOnce()
{
    const std::vector<NewItem> items{{"a", "key 1"}, {"b", "key 2"}, {"c", "key 1"}, {"d"}, {"e"}};
    const auto first = TAKE(m_queue->enqueue(items, soon()));
    QCOMPARE(first.size(), items.size());
    QVERIFY(first[0].isNew && first[1].isNew && !first[2].isNew && first[3].isNew && first[4].isNew);
    QCOMPARE(first[2].id, first[0].id);
    for (const Claim &one : claim(*m_queue))
        QCOMPARE(settle(*m_queue, {Kind::Complete, one.ticket}), Settled::Done);
    // Another connection, and the item is completed: still known.
    const auto again = TAKE(open(m_name)->enqueue(items, soon()));
    QVERIFY(!again[0].isNew && !again[1].isNew && again[3].isNew);
    QCOMPARE(again[0].id, first[0].id);
    // Another queue has its own keys.
    QVERIFY(TAKE(open(m_name + "/other")->enqueue(items, soon()))[0].isNew);
}

void WorkContract::aBatchIsClaimedOnce()
{
    const std::vector<NewItem> items(20);
    (void)TAKE(m_queue->enqueue(items, soon()));
    const auto other = open(m_name);
    std::set<std::int64_t> seen;
    for (int i = 0; i < 3; ++i) {
        for (WorkQueue *queue : {m_queue.get(), other.get()}) {
            const auto claims = claim(*queue, 4);
            QVERIFY(claims.size() <= 4);
            for (const Claim &one : claims)
                QVERIFY2(seen.insert(one.ticket.id).second, "given twice");
        }
    }
    QCOMPARE(seen.size(), items.size());
}

void WorkContract::longestDueFirst()
{
    const std::int64_t first = put({"1"});
    const std::int64_t later = put({"later", {}, 1h});
    const std::int64_t second = put({"2"});
    const auto claims = claim(*m_queue, 1);
    QCOMPARE(claims.size(), std::size_t{1});
    QCOMPARE(claims[0].ticket.id, first);
    const auto rest = claim(*m_queue);
    QCOMPARE(rest.size(), std::size_t{1});
    QCOMPARE(rest[0].ticket.id, second);
    const auto pending = TAKE(m_queue->items(ItemState::Pending, 0, 10, soon()));
    QCOMPARE(pending.size(), std::size_t{1});
    QCOMPARE(pending[0].id, later);
    QVERIFY(pending[0].due > 50min && pending[0].due <= 1h);
}

void WorkContract::listsComeInPages()
{
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 5; ++i)
        ids.push_back(put({"x"}));
    const auto listed = [&](ItemState state, std::int64_t after) {
        std::vector<std::int64_t> out;
        for (const ItemView &one : TAKE(m_queue->items(state, after, 2, soon())))
            out.push_back(one.id);
        return out;
    };
    using Ids = std::vector<std::int64_t>;
    QCOMPARE(listed(ItemState::Pending, 0), (Ids{ids[0], ids[1]}));
    QCOMPARE(listed(ItemState::Pending, ids[1]), (Ids{ids[2], ids[3]}));
    for (const Claim &one : claim(*m_queue))
        QCOMPARE(settle(*m_queue, {Kind::Complete, one.ticket}), Settled::Done);
    // Whoever asks what was done asks for the last of it.
    QCOMPARE(listed(ItemState::Completed, 0), (Ids{ids[4], ids[3]}));
    QCOMPARE(listed(ItemState::Completed, ids[3]), (Ids{ids[2], ids[1]}));
    QCOMPARE(listed(ItemState::Completed, ids[1]), Ids{ids[0]});
    QVERIFY(listed(ItemState::Completed, ids[0]).empty());
}

void WorkContract::aClaimThatRanOutIsAnothers()
{
    (void)put({"x"});
    const auto old = claim(*m_queue, 1, 50ms);
    QCOMPARE(old.size(), std::size_t{1});
    const auto other = open(m_name);
    std::vector<Claim> next;
    const auto taken = [&] {
        if (next.empty())
            next = claim(*other, 1);
        return !next.empty();
    };
    QTRY_VERIFY_WITH_TIMEOUT(taken(), 10'000);
    QVERIFY(next[0].ticket.token > old[0].ticket.token);
    QCOMPARE(next[0].ticket.attempt, 2);
    for (const Kind kind : {Kind::Complete, Kind::Heartbeat, Kind::Fail})
        QCOMPARE(settle(*m_queue, {kind, old[0].ticket, 1min, 0s, {}}), Settled::Lost);
    // Right token, older attempt, and the other way round.
    ClaimTicket mixed = next[0].ticket;
    mixed.attempt = 1;
    QCOMPARE(settle(*m_queue, {Kind::Complete, mixed}), Settled::Lost);
    mixed = next[0].ticket;
    mixed.token = old[0].ticket.token;
    QCOMPARE(settle(*m_queue, {Kind::Complete, mixed}), Settled::Lost);
    QCOMPARE(settle(*other, {Kind::Complete, next[0].ticket}), Settled::Done);
}

void WorkContract::aLateCompletionIsRefused()
{
    (void)put({"x"});
    const auto claims = claim(*m_queue, 1, 30ms);
    const auto late = [&] { return TAKE(m_queue->counts(soon())).late == 1; };
    QTRY_VERIFY_WITH_TIMEOUT(late(), 10'000);
    // Nobody has taken it yet, but its time is over by the store's clock.
    QCOMPARE(settle(*m_queue, {Kind::Complete, claims[0].ticket}), Settled::Lost);
    QCOMPARE(TAKE(m_queue->reclaim(soon())), std::uint64_t{1});
    QCOMPARE(TAKE(m_queue->counts(soon())).pending, 1U);
    QCOMPARE(settle(*m_queue, {Kind::Complete, claims[0].ticket}), Settled::Lost);
}

void WorkContract::aHeartbeatKeepsAClaim()
{
    (void)put({"x"});
    const auto claims = claim(*m_queue, 1, 20s);
    QCOMPARE(settle(*m_queue, {Kind::Heartbeat, claims[0].ticket, 10min, {}, {}}), Settled::Done);
    QVERIFY(TAKE(m_queue->items(ItemState::Processing, 0, 1, soon())).at(0).due > 9min);
    QVERIFY(claim(*m_queue).empty());
    QCOMPARE(settle(*m_queue, {Kind::Complete, claims[0].ticket}), Settled::Done);
}

void WorkContract::failuresComeBackAndEnd()
{
    (void)put({"x", {}, {}, 2});
    auto claims = claim(*m_queue);
    QCOMPARE(settle(*m_queue, {Kind::Fail, claims[0].ticket, {}, 1h, "no \xe2\x82\xac left"}), Settled::Done);
    QVERIFY(claim(*m_queue).empty());
    QCOMPARE(TAKE(m_queue->counts(soon())).delayed, 1U);
    QCOMPARE(TAKE(m_queue->items(ItemState::Pending, 0, 1, soon())).at(0).reason, std::string("no \xe2\x82\xac left"));
    (void)put({"y", {}, {}, 2});
    claims = claim(*m_queue);
    QCOMPARE(settle(*m_queue, {Kind::Fail, claims[0].ticket}), Settled::Done);
    claims = claim(*m_queue);
    QCOMPARE(claims.size(), std::size_t{1});
    QCOMPARE(claims[0].ticket.attempt, 2);
    QCOMPARE(settle(*m_queue, {Kind::Fail, claims[0].ticket, {}, {}, std::string(3000, 'x')}), Settled::Dead);
    QVERIFY(claim(*m_queue).empty());
    const auto dead = TAKE(m_queue->items(ItemState::Dead, 0, 10, soon()));
    QCOMPARE(dead.size(), std::size_t{1});
    QCOMPARE(dead[0].reason.size(), std::size_t{1000});
}

void WorkContract::aDeadLetterCanBeRetried()
{
    for (const char *payload : {"a", "b", "c"})
        (void)put({payload, {}, {}, 1});
    const auto claims = claim(*m_queue);
    for (const Claim &one : claims)
        QCOMPARE(settle(*m_queue, {Kind::Fail, one.ticket}), Settled::Dead);
    QCOMPARE(TAKE(m_queue->retryDead(claims[0].ticket.id, soon())), std::uint64_t{1});
    QCOMPARE(TAKE(m_queue->retryDead(claims[0].ticket.id, soon())), std::uint64_t{0}); // it is none any more
    const auto again = claim(*m_queue);
    QCOMPARE(again.size(), std::size_t{1});
    QCOMPARE(again[0].ticket.attempt, 1);
    QVERIFY(again[0].ticket.token > claims[0].ticket.token);
    // The old claim has the same attempt number, and is still refused.
    QCOMPARE(settle(*m_queue, {Kind::Complete, claims[0].ticket}), Settled::Lost);
    QCOMPARE(TAKE(m_queue->retryDead(0, soon())), std::uint64_t{2});
}

void WorkContract::aPoisonItemIsBuried()
{
    (void)put({"kills its worker", {}, {}, 2});
    int attempts = 0;
    const auto buried = [&] {
        attempts += static_cast<int>(claim(*m_queue, 1, 1ms).size()); // and never settled
        return TAKE(m_queue->counts(soon())).dead == 1;
    };
    QTRY_VERIFY_WITH_TIMEOUT(buried(), 20'000);
    QCOMPARE(attempts, 2);
}

void WorkContract::aRepeatedAnswerIsTheSame()
{
    (void)put({"a"});
    (void)put({"b", {}, {}, 1});
    (void)put({"c"});
    const auto claims = claim(*m_queue);
    const std::vector<Settlement> all{{Kind::Complete, claims[0].ticket}, {Kind::Fail, claims[1].ticket},
        {Kind::Fail, claims[2].ticket, {}, 1h, {}}};
    const std::vector<Settled> wanted{Settled::Done, Settled::Dead, Settled::Done};
    QVERIFY(TAKE(m_queue->settle(workerOf(), all, soon())) == wanted);
    QVERIFY(TAKE(open(m_name)->settle(workerOf(), all, soon())) == wanted);
    QCOMPARE(settle(*m_queue, {Kind::Heartbeat, claims[0].ticket, 1min, {}, {}}), Settled::Lost);
}

void WorkContract::anOlderLeaderIsRefused()
{
    (void)put({"a"});
    (void)put({"b"});
    const auto old = claim(*m_queue, 1, 1min, {41});
    QCOMPARE(old.size(), std::size_t{1});
    const auto successor = open(m_name);
    const auto fresh = claim(*successor, 1, 1min, {42});
    QCOMPARE(fresh.size(), std::size_t{1});
    QCOMPARE(TAKE(m_queue->items(ItemState::Processing, fresh[0].ticket.id - 1, 1, soon())).at(0).fence, FencingToken{42});
    for (const Kind kind : {Kind::Complete, Kind::Heartbeat, Kind::Fail})
        QCOMPARE(settle(*m_queue, {kind, old[0].ticket, 1min, {}, {}}, {41}), Settled::Stale);
    const auto refused = m_queue->claim(workerOf({41}), 1, 1min, soon());
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Conflict);
    QVERIFY(!m_queue->claim(workerOf(), 1, 1min, soon())); // none at all is older, too
    QCOMPARE(settle(*successor, {Kind::Complete, fresh[0].ticket}, {42}), Settled::Done);
    QCOMPARE(TAKE(successor->counts(soon())).fence, FencingToken{42});
}

void WorkContract::anyBytesTravel()
{
    std::string bytes;
    for (int i = 0; i < 1024; ++i)
        bytes += static_cast<char>(i);
    (void)put({bytes, "\xf0\x9f\x90\x98 'quoted', {braced} \\"});
    (void)put({std::string(kMaxPayloadBytes, '\0')});
    const auto claims = claim(*m_queue);
    QCOMPARE(claims.size(), std::size_t{2});
    QVERIFY(claims[0].payload == bytes);
    QCOMPARE(claims[0].key, std::string("\xf0\x9f\x90\x98 'quoted', {braced} \\"));
    QCOMPARE(claims[1].payload.size(), kMaxPayloadBytes);
}

void WorkContract::tooMuchIsRefused_data()
{
    QTest::addColumn<int>("which");
    QTest::addRow("10 MB") << 0;
    QTest::addRow("a long key") << 1;
    QTest::addRow("no attempts") << 2;
    QTest::addRow("a negative delay") << 3;
    QTest::addRow("too many at once") << 4;
    QTest::addRow("too many bytes at once") << 5;
}

void WorkContract::tooMuchIsRefused()
{
    QFETCH(int, which);
    std::vector<NewItem> items{{"good"}, {"bad"}};
    if (which == 0)
        items[1].payload.assign(std::size_t{10} << 20U, 'x');
    if (which == 1)
        items[1].key.assign(256, 'k');
    if (which == 2)
        items[1].maxAttempts = 0;
    if (which == 3)
        items[1].delay = -1s;
    if (which == 4)
        items.resize(1001);
    if (which == 5)
        items.assign(17, {std::string(kMaxPayloadBytes, 'x')});
    (void)put({"before"});
    const auto refused = m_queue->enqueue(items, soon());
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::BadConfig);
    QCOMPARE(claim(*m_queue).size(), std::size_t{1}); // nothing of it was put in, nothing was lost
    QVERIFY(!m_queue->claim(workerOf(), 0, 1min, soon()));
    QVERIFY(!m_queue->claim(workerOf(), 1, 0ms, soon()));
}

void WorkContract::aNewerQueueIsRefused()
{
    (void)put({"x"});
    makeNewer(m_name);
    for (const auto &queue : {open(m_name), std::move(m_queue)}) {
        const NewItem item{"y"};
        QCOMPARE(queue->enqueue(std::span(&item, 1), soon()).error().kind, ErrorKind::Unsupported);
        QCOMPARE(queue->claim(workerOf(), 1, 1min, soon()).error().kind, ErrorKind::Unsupported);
        QCOMPARE(queue->counts(soon()).error().kind, ErrorKind::Unsupported);
        QCOMPARE(queue->retryDead(0, soon()).error().kind, ErrorKind::Unsupported);
    }
}

void WorkContract::countsAreTrue()
{
    for (int i = 0; i < 5; ++i)
        (void)put({"x", {}, {}, 1});
    (void)put({"later", {}, 1h});
    const auto claims = claim(*m_queue, 3);
    (void)settle(*m_queue, {Kind::Complete, claims[0].ticket});
    (void)settle(*m_queue, {Kind::Fail, claims[1].ticket});
    const QueueCounts counts = TAKE(m_queue->counts(soon()));
    QCOMPARE(counts.pending, 2U);
    QCOMPARE(counts.delayed, 1U);
    QCOMPARE(counts.processing, 1U);
    QCOMPARE(counts.late, 0U);
    QCOMPARE(counts.completed, 1U);
    QCOMPARE(counts.dead, 1U);
    QVERIFY(counts.oldestPending && *counts.oldestPending >= 0s && *counts.oldestPending < 30s);
}

} // namespace tenure
