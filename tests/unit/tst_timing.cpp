// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random.h"
#include "core/lease/timing.h"

#include <QTest>

#include <cmath>

using namespace tenure;
using namespace std::chrono_literals;

class TstTiming : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void defaultsFollowFromTheTtl();
    void refuses_data();
    void refuses();
    void tellsAllProblemsAtOnce();
    void whatIsAcceptedLeavesRoomForTheWorstRequest();
    void warnsOfASlowBackend();
};

void TstTiming::defaultsFollowFromTheTtl()
{
    const auto timing = Timing::make({});
    QVERIFY(timing);
    QCOMPARE(timing->ttl(), Milliseconds(15s));
    QCOMPARE(timing->renewEvery(), Duration(5s));
    QCOMPARE(timing->margin(), Duration(150ms));
    QCOMPARE(timing->stopWindow(), Duration(2850ms)); // deadline at 12 s of 14.85 s
    QCOMPARE(timing->attemptTimeout(), Duration(3s));
    for (const Duration ttl : std::initializer_list<Duration>{100ms, 300ms, 1s, 24h}) {
        TimingRequest request;
        request.ttl = ttl;
        QVERIFY(Timing::make(request));
    }
}

void TstTiming::refuses_data()
{
    QTest::addColumn<qlonglong>("ttl");
    QTest::addColumn<qlonglong>("renew");
    QTest::addColumn<qlonglong>("deadline");
    QTest::addColumn<double>("drift");
    const auto row = [](const char *name, Duration ttl, Duration renew, Duration deadline, double drift = 0.01) {
        QTest::newRow(name) << qlonglong{ttl.count()} << qlonglong{renew.count()}
                            << qlonglong{deadline.count()} << drift;
    };
    row("zero", 0s, 5s, 12s);
    row("negative", -1s, 5s, 12s);
    row("below the floor", 99ms, 33ms, 79ms);
    row("half a millisecond", 400us, 100us, 300us);
    row("beyond the ceiling", 24h * 400, 5s, 12s);
    row("too rare", 15s, 8s, 14s);
    row("never renews", 15s, 0s, 12s);
    row("deadline after the end", 15s, 5s, 15s);
    row("no room for three attempts", 15s, 5s, 6s);
    row("not a number", 15s, 5s, 12s, std::nan(""));
    row("wild clocks", 15s, 5s, 12s, 0.5);
}

void TstTiming::refuses()
{
    QFETCH(qlonglong, ttl);
    QFETCH(qlonglong, renew);
    QFETCH(qlonglong, deadline);
    QFETCH(double, drift);
    const auto timing = Timing::make({Duration(ttl), Duration(renew), Duration(deadline), drift});
    QVERIFY(!timing);
    QCOMPARE(timing.error().kind, ErrorKind::BadConfig);
}

void TstTiming::tellsAllProblemsAtOnce()
{
    TimingLimits limits;
    limits.wholeSeconds = true;
    const auto timing = Timing::make({Duration(1500ms), Duration(1s), Duration(2s), 0.9}, limits);
    QVERIFY(!timing);
    const QString error = QString::fromStdString(timing.error().text());
    for (const char *part : {"whole seconds", "too rare", "must come before", "drift"})
        QVERIFY2(error.contains(QLatin1String(part)), qPrintable(error));
}

// Other people's validators let deadline + request timeout + pause pass the lease.
void TstTiming::whatIsAcceptedLeavesRoomForTheWorstRequest()
{
    Random random(1);
    int accepted = 0;
    for (int i = 0; i < 20'000; ++i) {
        const Duration ttl = Milliseconds(100 + random.below(60'000));
        TimingRequest request{ttl, Duration(random.below(std::uint64_t(ttl.count()))),
            Duration(random.below(std::uint64_t(ttl.count()))), 0.01};
        const auto timing = Timing::make(request);
        if (!timing)
            continue;
        ++accepted;
        const Duration validity = ttl - timing->margin();
        const Duration deadline = validity - timing->stopWindow();
        QVERIFY(timing->margin() >= ttl / 100);
        QVERIFY(deadline < validity);
        // A request sent at the last moment before the deadline is over before validity is.
        QVERIFY(deadline + std::min(timing->attemptTimeout(), timing->stopWindow() / 2) < validity);
        // A renewal that comes as late as its jitter lets it, and hangs, leaves room for another.
        const Duration late = timing->renewEvery() + timing->renewEvery() / 10;
        QVERIFY(late + std::min(timing->attemptTimeout(), (validity - late) / 2) < validity);
    }
    QVERIFY(accepted > 1000);
}

void TstTiming::warnsOfASlowBackend()
{
    TimingRequest request;
    request.ttl = 1s;
    const auto timing = Timing::make(request);
    QVERIFY(timing);
    QVERIFY(timing->warnings(std::nullopt).empty());
    QVERIFY(timing->warnings(200ms).empty());
    QCOMPARE(timing->warnings(300ms).size(), std::size_t{1});
}

QTEST_GUILESS_MAIN(TstTiming)
#include "tst_timing.moc"
