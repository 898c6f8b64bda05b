// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/timer_thread.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <future>

using namespace tenure;
using namespace std::chrono_literals;

class TimerThreadTest final : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void jobsRunInOrderOfPosting();
    void timersFireInOrderOfDeadlines();
    void movedTimerFiresOnce();
    void wakesPrecisely();
    void frozenThreadDoesNothing();
    void tellsThatItWasFrozen();
    void tellsThatTheWallClockJumped();
    void stopsWhileFrozen();
};

namespace
{

/// Runs `job` on the thread and waits for it.
void onThread(TimerThread &thread, const std::function<void()> &job)
{
    std::promise<void> done;
    thread.post([&] {
        job();
        done.set_value();
    });
    QCOMPARE(done.get_future().wait_for(10s), std::future_status::ready);
}

const SystemClock &systemClock()
{
    return SystemClock::instance();
}

} // namespace

void TimerThreadTest::jobsRunInOrderOfPosting()
{
    TimerThread thread(systemClock(), {});
    thread.start();
    std::vector<int> seen;
    for (int i = 0; i < 1000; ++i)
        thread.post([&seen, i] { seen.push_back(i); });
    onThread(thread, [] {});
    QCOMPARE(seen.size(), std::size_t(1000));
    QVERIFY(std::is_sorted(seen.begin(), seen.end()));
}

void TimerThreadTest::timersFireInOrderOfDeadlines()
{
    TimerThread thread(systemClock(), {});
    thread.start();
    std::vector<int> seen;
    std::promise<void> done;
    TimerThread::Timer first{[&] { seen.push_back(1); }, {}};
    TimerThread::Timer second{[&] { seen.push_back(2); }, {}};
    TimerThread::Timer never{[&] { seen.push_back(99); }, {}};
    TimerThread::Timer third{[&] { seen.push_back(3); done.set_value(); }, {}};
    onThread(thread, [&] {
        const Instant now = BootClock::now();
        thread.arm(third, now + 30ms);
        thread.arm(never, now + 15ms);
        thread.arm(second, now + 20ms);
        thread.arm(first, now + 10ms);
        thread.disarm(never);
    });
    QCOMPARE(done.get_future().wait_for(10s), std::future_status::ready);
    QCOMPARE(seen, (std::vector<int>{1, 2, 3}));
}

void TimerThreadTest::movedTimerFiresOnce()
{
    TimerThread thread(systemClock(), {});
    thread.start();
    std::vector<Instant> fired;
    std::promise<void> end;
    TimerThread::Timer timer{[&] { fired.push_back(BootClock::now()); }, {}};
    TimerThread::Timer last{[&] { end.set_value(); }, {}};
    const Instant now = BootClock::now();
    onThread(thread, [&] {
        thread.arm(timer, now + 500ms);
        thread.arm(timer, now + 10ms);
        thread.arm(timer, now + 40ms);
        thread.arm(last, now + 600ms);
    });
    QCOMPARE(end.get_future().wait_for(10s), std::future_status::ready);
    QCOMPARE(fired.size(), std::size_t(1));
    QVERIFY(fired.front() >= now + 40ms);
    QVERIFY(fired.front() < now + 500ms);
}

void TimerThreadTest::wakesPrecisely()
{
    TimerThread thread(systemClock(), {});
    thread.start();
    std::vector<Duration> late;
    std::promise<void> done;
    Instant due;
    TimerThread::Timer timer;
    timer.fire = [&] {
        const Instant now = BootClock::now();
        late.push_back(now - due);
        if (late.size() == 200)
            return done.set_value();
        due = now + 2ms;
        thread.arm(timer, due);
    };
    thread.post([&] { thread.arm(timer, due = BootClock::now() + 2ms); });
    QCOMPARE(done.get_future().wait_for(30s), std::future_status::ready);
    std::sort(late.begin(), late.end());
    QVERIFY2(late.front() >= 0ns, "woke before the deadline");
    const auto us = [](Duration d) { return double(d.count()) / 1000; };
    qInfo("{\"wakeup_us\":{\"p50\":%.1f,\"p90\":%.1f,\"max\":%.1f}}", us(late[100]), us(late[180]), us(late.back()));
    QVERIFY2(late[100] < 2ms, "half of the wake-ups came more than 2 ms late");
}

void TimerThreadTest::frozenThreadDoesNothing()
{
    TimerThread thread(systemClock(), {});
    thread.start();
    std::atomic<int> ran = 0;
    TimerThread::Timer timer{[&] { ++ran; }, {}};
    onThread(thread, [&] { thread.arm(timer, BootClock::now() + 20ms); });
    thread.freeze();
    thread.post([&] { ++ran; });
    QTest::qWait(100); // nothing can be waited for: the absence is the point
    QCOMPARE(ran.load(), 0);
    thread.thaw();
    QTRY_COMPARE(ran.load(), 2);
}

void TimerThreadTest::tellsThatItWasFrozen()
{
    std::atomic<Duration::rep> jump = 0;
    std::atomic<bool> timerRan = false;
    std::atomic<bool> toldFirst = false;
    TimerThread thread(systemClock(), {[&](Duration by) {
                                          jump = by.count();
                                          toldFirst = !timerRan;
                                      }, {}});
    thread.start();
    TimerThread::Timer timer{[&] { timerRan = true; }, {}};
    onThread(thread, [&] { thread.arm(timer, BootClock::now() + 10ms); });
    thread.freeze();
    QTest::qWait(400);
    thread.thaw();
    QTRY_VERIFY(timerRan);
    QVERIFY(Duration(jump.load()) >= 300ms);
    QVERIFY2(toldFirst, "a timer ran before anybody knew of the jump");
}

void TimerThreadTest::tellsThatTheWallClockJumped()
{
    ManualClock clock;
    std::atomic<Duration::rep> jump = 0;
    TimerThread thread(clock, {[&](Duration by) { jump = by.count(); }, {}});
    thread.start();
    onThread(thread, [] {});
    clock.advance(1h); // both clocks alike: nothing to tell
    onThread(thread, [] {});
    QCOMPARE(jump.load(), Duration::rep(0));
    clock.stepWall(-5s);
    onThread(thread, [] {});
    QCOMPARE(Duration(jump.load()), Duration(5s));
}

void TimerThreadTest::stopsWhileFrozen()
{
    TimerThread thread(systemClock(), {});
    thread.start();
    thread.freeze();
    const Instant before = BootClock::now();
    thread.stop();
    QVERIFY(BootClock::now() - before < 5s);
}

QTEST_GUILESS_MAIN(TimerThreadTest)
#include "tst_timer_thread.moc"
