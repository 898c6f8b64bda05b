// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/dispatcher.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <future>

using namespace tenure;
using namespace std::chrono_literals;

class DispatcherTest final : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theFirstJobFindsAThread(); // first: no thread of another test is still ending
    void strandKeepsOrderAndRunsOneAtATime();
    void blockedStrandDoesNotStarveOthers();
    void clearedJobsNeverRun();
    void waitingIsBounded();
    void knowsItsOwnJobs();
};

namespace
{

using Strand = std::shared_ptr<Dispatcher::Strand>;

Strand makeStrand()
{
    return std::make_shared<Dispatcher::Strand>();
}

Dispatcher::Deadline in(std::chrono::milliseconds delay)
{
    return std::chrono::steady_clock::now() + delay;
}

} // namespace

void DispatcherTest::strandKeepsOrderAndRunsOneAtATime()
{
    Dispatcher dispatcher;
    std::array<Strand, 4> strands{makeStrand(), makeStrand(), makeStrand(), makeStrand()};
    std::array<std::vector<int>, 4> seen;
    std::array<std::atomic<int>, 4> inside{};
    std::atomic<bool> overlapped = false;
    for (int i = 0; i < 200; ++i) {
        for (std::size_t s = 0; s < strands.size(); ++s) {
            dispatcher.post(strands[s], [&, s, i] {
                overlapped = overlapped || ++inside[s] > 1;
                seen[s].push_back(i);
                std::this_thread::yield();
                --inside[s];
            });
        }
        dispatcher.relieve();
    }
    for (std::size_t s = 0; s < strands.size(); ++s) {
        QVERIFY(dispatcher.waitIdle(*strands[s], in(10s)));
        QCOMPARE(seen[s].size(), std::size_t(200));
        QVERIFY(std::is_sorted(seen[s].begin(), seen[s].end()));
    }
    QVERIFY(!overlapped);
}

void DispatcherTest::blockedStrandDoesNotStarveOthers()
{
    std::promise<void> gate;
    const std::shared_future<void> open = gate.get_future().share();
    Dispatcher dispatcher;
    std::vector<Strand> blocked;
    for (int i = 0; i < 10; ++i) {
        blocked.push_back(makeStrand());
        dispatcher.post(blocked.back(), [open] { open.wait(); });
    }
    std::atomic<bool> ran = false;
    const Strand quick = makeStrand();
    dispatcher.post(quick, [&] { ran = true; });
    QTRY_VERIFY((dispatcher.relieve(), ran.load()));
    gate.set_value();
    for (const Strand &strand : blocked)
        QVERIFY(dispatcher.waitIdle(*strand, in(10s)));
}

void DispatcherTest::clearedJobsNeverRun()
{
    std::promise<void> gate;
    std::promise<void> begun;
    Dispatcher dispatcher;
    const Strand strand = makeStrand();
    std::atomic<int> ran = 0;
    dispatcher.post(strand, [&] {
        begun.set_value();
        gate.get_future().wait();
    });
    dispatcher.post(strand, [&] { ++ran; });
    begun.get_future().wait();
    dispatcher.clear(*strand);
    gate.set_value();
    QVERIFY(dispatcher.waitIdle(*strand, in(10s)));
    QCOMPARE(ran.load(), 0);
    dispatcher.post(strand, [&] { ++ran; }); // and it is as good as new
    QVERIFY(dispatcher.waitIdle(*strand, in(10s)));
    QCOMPARE(ran.load(), 1);
}

void DispatcherTest::waitingIsBounded()
{
    std::promise<void> gate;
    Dispatcher dispatcher;
    const Strand strand = makeStrand();
    dispatcher.post(strand, [&] { gate.get_future().wait(); });
    QVERIFY(!dispatcher.waitIdle(*strand, in(30ms)));
    gate.set_value();
    QVERIFY(dispatcher.waitIdle(*strand, in(10s)));
}

void DispatcherTest::knowsItsOwnJobs()
{
    Dispatcher dispatcher;
    const Strand strand = makeStrand();
    const Strand other = makeStrand();
    std::promise<std::pair<bool, bool>> answer;
    dispatcher.post(strand,
        [&] { answer.set_value({dispatcher.runsHere(*strand), dispatcher.runsHere(*other)}); });
    QCOMPARE(answer.get_future().get(), std::make_pair(true, false));
    QVERIFY(!dispatcher.runsHere(*strand));
}

void DispatcherTest::theFirstJobFindsAThread()
{
    const QDir threads("/proc/self/task");
    const auto count = [&threads] { return threads.entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(); };
    Dispatcher dispatcher;
    const auto before = count();
    dispatcher.prepare();
    dispatcher.prepare();
    QCOMPARE(count(), before + 1);
    const Strand strand = makeStrand();
    std::atomic<bool> ran = false;
    dispatcher.post(strand, [&] { ran = true; });
    QVERIFY(dispatcher.waitIdle(*strand, in(10s)));
    QVERIFY(ran);
    QCOMPARE(count(), before + 1);
}

QTEST_GUILESS_MAIN(DispatcherTest)
#include "tst_dispatcher.moc"
