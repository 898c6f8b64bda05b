// SPDX-License-Identifier: GPL-3.0-or-later
#include "store_contract.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>

namespace tenure
{

using namespace std::chrono_literals;

std::vector<LeaseRecord> StoreContract::listAll(const std::string &glob, std::size_t pageSize)
{
    std::vector<LeaseRecord> all;
    List list{glob, {}, pageSize};
    do {
        Reply page = run(list);
        all.insert(all.end(), page.records.begin(), page.records.end());
        list.cursor = page.cursor;
    } while (!list.cursor.empty() && all.size() < 100'000);
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.lease < b.lease; });
    return all;
}

void StoreContract::namesAreKeptAsTheyAre_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::newRow("space") << QByteArray(" two words ");
    QTest::newRow("newline") << QByteArray("line\nline\r\n\t");
    QTest::newRow("slashes") << QByteArray("a/b//c/");
    QTest::newRow("colons") << QByteArray("a::b:tenure:");
    QTest::newRow("emoji") << QByteArray("\xF0\x9F\x94\x92 lock");
    QTest::newRow("quotes") << QByteArray("it's \"quoted\"; DROP TABLE x --");
    QTest::newRow("glob") << QByteArray("a*b?[c]\\d");
    QTest::newRow("braces") << QByteArray("{x}y}{");
    QTest::newRow("percent") << QByteArray("100%_%00");
    QTest::newRow("500 bytes") << QByteArray(500, 'n');
}

void StoreContract::namesAreKeptAsTheyAre()
{
    QFETCH(QByteArray, name);
    const LeaseId lease = leaseNamed(name.toStdString());
    const LeaseId neighbour = leaseNamed("neighbour");
    const Term term = gain(lease, "holder one # two", kLongTtl);
    const Term other = gain(neighbour, "b", kLongTtl);
    QCOMPARE(run(Renew{lease, term, kLongTtl}).outcome, Outcome::Done);
    QCOMPARE(read(lease).lease, lease);
    QCOMPARE(read(lease).holder, "holder one # two");
    const auto all = listAll("*");
    QCOMPARE(all.size(), std::size_t{2});
    QVERIFY(std::any_of(all.begin(), all.end(),
        [&](const LeaseRecord &r) { return r.lease == lease && r.token == term.token; }));
    QCOMPARE(run(Release{lease, term}).outcome, Outcome::Done);
    QCOMPARE(run(Renew{neighbour, other, kLongTtl}).outcome, Outcome::Done);
}

void StoreContract::prefixesAreApart()
{
    const Term a = gain(leaseNamed("app"), "a", kLongTtl);
    const Term b = gain(leaseNamed("app2"), "b", kLongTtl);
    const Term c = gain(leaseNamed("APP"), "c", kLongTtl);
    QCOMPARE(run(Release{leaseNamed("app"), a}).outcome, Outcome::Done);
    QCOMPARE(read(leaseNamed("app2")).token, b.token);
    QCOMPARE(read(leaseNamed("APP")).token, c.token);
    QCOMPARE(listAll("app2").size(), std::size_t{1});
    QCOMPARE(listAll("APP*").size(), std::size_t{1});
}

void StoreContract::listPagesAndFilters()
{
    std::set<std::string> expected;
    for (int i = 0; i < 25; ++i) {
        const std::string name = "page." + std::to_string(i);
        expected.insert(name);
        (void)gain(leaseNamed(name), "a", kLongTtl);
        (void)gain(leaseNamed("other." + std::to_string(i)), "b", kLongTtl);
    }
    std::set<std::string> seen;
    for (const LeaseRecord &record : listAll("page.*", 7)) {
        QVERIFY2(seen.insert(record.lease.name()).second, "a lease was listed twice");
        QCOMPARE(record.holder, "a");
        QVERIFY(record.remaining && *record.remaining > 0ns);
    }
    QVERIFY(seen == expected);
    QCOMPARE(listAll("*.1?").size(), std::size_t{20});
    QVERIFY(listAll("nothing*").empty());
}

void StoreContract::readingChangesNothing()
{
    const Term held = gain(leaseNamed("still"), "a", kLongTtl);
    (void)gain(leaseNamed("over"), "a", m_fixture->shortTtl());
    m_fixture->pass(m_fixture->shortTtl() + 20ms);
    const auto timeless = [this] {
        auto all = listAll("*");
        for (LeaseRecord &record : all)
            record.remaining.reset();
        return all;
    };
    const auto before = timeless();
    const auto looker = m_backend->makeStore();
    for (const char *name : {"still", "over", "unheard.of"}) {
        (void)run(*looker, Read{leaseNamed(name), ReadDepth::Full});
        (void)run(*looker, Read{leaseNamed(name), ReadDepth::Remaining});
    }
    (void)run(*looker, List{"*", {}, 1});
    QVERIFY(looker->probe(soon()));
    QVERIFY(looker->init(true, soon()));
    QVERIFY(timeless() == before);
    QCOMPARE(run(Renew{leaseNamed("still"), held, kLongTtl}).outcome, Outcome::Done);
}

void StoreContract::batchKeepsOrderAndCount()
{
    std::vector<Command> batch;
    for (int i = 0; i < 500; ++i) {
        const LeaseId lease = leaseNamed("batch." + std::to_string(i));
        batch.emplace_back(Acquire{lease, holderNamed("a"), Nonce::random(), kLongTtl});
        batch.emplace_back(Read{lease, ReadDepth::Full});
    }
    batch[500] = Acquire{leaseNamed("bad"), holderNamed("a"), Nonce::random(), Milliseconds(0)};
    const auto results = m_store->execute(batch, soon());
    QCOMPARE(results.size(), batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i == 500) {
            QVERIFY(!results[i]);
            continue;
        }
        QVERIFY2(results[i], results[i] ? "" : results[i].error().text().c_str());
        QCOMPARE(results[i]->outcome, Outcome::Done);
        QCOMPARE(results[i]->record.lease, *leaseOf(batch[i]));
        QCOMPARE(results[i]->record.holder.has_value(), i != 501);
    }
    QVERIFY(m_store->execute({}, soon()).empty());
}

void StoreContract::refusedAreShownAsCandidates()
{
    if (!m_fixture->showsCandidates())
        QSKIP("this backend does not know who waits");
    const LeaseId lease = leaseNamed("wanted");
    (void)gain(lease, "a", kLongTtl);
    const Milliseconds ttl = m_fixture->shortTtl();
    for (const char *holder : {"b", "c"}) {
        QCOMPARE(run(Acquire{lease, holderNamed(holder), Nonce::random(), ttl}).outcome, Outcome::Refused);
    }
    QVERIFY(read(lease).candidates == (std::vector<std::string>{"b", "c"}));
    m_fixture->pass(2 * ttl + 20ms);
    QVERIFY(read(lease).candidates.empty());
}

void StoreContract::oneWinnerOfARace()
{
    constexpr int kRacers = 8;
    constexpr int kRounds = 50;
    std::vector<std::atomic<int>> winners(kRounds);
    std::vector<std::atomic<int>> failures(kRounds);
    std::vector<std::atomic<std::uint64_t>> tokens(kRounds);
    std::barrier start(kRacers);
    const auto race = [&](int racer) {
        const auto store = m_backend->makeStore();
        for (std::size_t round = 0; round < kRounds; ++round) {
            const Term term{holderNamed("racer" + std::to_string(racer)), Nonce::random(), {}};
            const Command acquire = Acquire{leaseNamed("race"), term.holder, term.nonce, kLongTtl};
            start.arrive_and_wait();
            const auto result = store->execute({&acquire, 1}, soon());
            if (!result.front())
                ++failures[round];
            const bool won = result.front() && result.front()->outcome == Outcome::Done;
            if (won) {
                ++winners[round];
                tokens[round] = result.front()->record.token.value;
            }
            start.arrive_and_wait();
            const Command release = Release{leaseNamed("race"), term};
            if (won && !store->execute({&release, 1}, soon()).front())
                ++failures[round];
        }
    };
    std::vector<std::jthread> racers;
    for (int i = 0; i < kRacers; ++i)
        racers.emplace_back(race, i);
    racers.clear();
    for (std::size_t round = 0; round < kRounds; ++round) {
        QCOMPARE(failures[round].load(), 0);
        QCOMPARE(winners[round].load(), 1);
        QVERIFY(round == 0 || tokens[round] > tokens[round - 1]);
    }
}

void StoreContract::probeTellsFacts()
{
    const auto facts = m_store->probe(soon());
    QVERIFY2(facts, facts ? "" : facts.error().text().c_str());
    QVERIFY(!facts->server.empty());
    QVERIFY(!facts->epoch.empty());
    QVERIFY(facts->serverTime);
    QVERIFY(facts->roundTrip && *facts->roundTrip >= 0ns);
    QCOMPARE(m_store->probe(soon())->epoch, facts->epoch);
    QVERIFY(!m_store->traits().display.empty());
}

void StoreContract::feedTellsAReleaseAndStops()
{
    const auto feed = m_backend->makeFeed();
    if (!feed)
        QSKIP("this backend cannot push");
    const LeaseId lease = leaseNamed("pushed");
    const Term term = gain(lease, "a", kLongTtl);
    std::mutex mutex;
    std::vector<FeedEvent> events;
    feed->start([&](const FeedEvent &event) {
        const std::lock_guard lock(mutex);
        events.push_back(event);
    });
    const auto saw = [&](FeedEvent::Kind kind, const LeaseId &of) {
        const std::lock_guard lock(mutex);
        return std::any_of(events.begin(), events.end(),
            [&](const FeedEvent &e) { return e.kind == kind && e.lease == of; });
    };
    QTRY_VERIFY_WITH_TIMEOUT(saw(FeedEvent::Kind::Opened, LeaseId()), 30'000);
    QCOMPARE(run(Release{lease, term}).outcome, Outcome::Done);
    QTRY_VERIFY_WITH_TIMEOUT(saw(FeedEvent::Kind::Released, lease), 30'000);
    feed->stop();
    std::size_t told = 0;
    {
        const std::lock_guard lock(mutex);
        told = events.size();
    }
    (void)gain(lease, "b", kLongTtl);
    m_fixture->pass(30ms);
    const std::lock_guard lock(mutex);
    QCOMPARE(events.size(), told);
}

} // namespace tenure
