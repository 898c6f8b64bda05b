// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/alarm.h"

#include <QTest>

#include <future>
#include <limits>

#include <poll.h>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

bool wentOff(const Alarm &alarm, int withinMs = 0)
{
    pollfd fd{alarm.fd(), POLLIN, 0};
    return poll(&fd, 1, withinMs) == 1;
}

} // namespace

class AlarmTest final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void goesOffWhenDue_data();
    void goesOffWhenDue();
    void isSilent_data();
    void isSilent();
    void movesBothWays();
    void canBeMovedWhileSomebodyWaits();
};

void AlarmTest::goesOffWhenDue_data()
{
    QTest::addColumn<qint64>("inMs");
    QTest::newRow("soon") << qint64(30);
    QTest::newRow("long past") << qint64(-86'400'000);
    QTest::newRow("the clock's beginning") << std::numeric_limits<qint64>::min();
}

void AlarmTest::goesOffWhenDue()
{
    QFETCH(qint64, inMs);
    const bool beginning = inMs == std::numeric_limits<qint64>::min();
    const Instant due = beginning ? Instant() : BootClock::now() + Milliseconds(inMs);
    Alarm alarm;
    alarm.set(due);
    alarm.wait();
    QVERIFY(BootClock::now() >= due);
    QVERIFY(!wentOff(alarm)); // once
}

void AlarmTest::isSilent_data()
{
    QTest::addColumn<bool>("cleared");
    QTest::newRow("never set") << false;
    QTest::newRow("cleared") << true;
}

void AlarmTest::isSilent()
{
    QFETCH(bool, cleared);
    Alarm alarm;
    if (cleared) {
        alarm.set(BootClock::now() + 20ms);
        alarm.set(Instant::max());
    }
    QVERIFY(!wentOff(alarm, 60));
}

void AlarmTest::movesBothWays()
{
    Alarm alarm;
    alarm.set(BootClock::now() + 1h);
    const Instant sooner = BootClock::now() + 20ms;
    alarm.set(sooner);
    alarm.wait();
    QVERIFY(BootClock::now() >= sooner);
    alarm.set(BootClock::now() + 20ms);
    const Instant later = BootClock::now() + 60ms;
    alarm.set(later);
    alarm.wait();
    QVERIFY(BootClock::now() >= later);
}

void AlarmTest::canBeMovedWhileSomebodyWaits()
{
    Alarm alarm;
    alarm.set(BootClock::now() + 1h);
    auto waited = std::async(std::launch::async, [&] { alarm.wait(); });
    QCOMPARE(waited.wait_for(50ms), std::future_status::timeout);
    alarm.set(BootClock::now() + 1ms);
    const auto over = waited.wait_for(10s);
    alarm.set(Instant());
    QCOMPARE(over, std::future_status::ready);
}

QTEST_GUILESS_MAIN(AlarmTest)
#include "tst_alarm.moc"
