// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/time_text.h"

#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

class TstDuration : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void reads_data();
    void reads();
    void refuses_data();
    void refuses();
    void writes();
    void writesTimes();
};

void TstDuration::reads_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<qlonglong>("ns");
    const auto row = [](const char *text, Duration value) {
        QTest::newRow(text) << QString::fromLatin1(text) << qlonglong{value.count()};
    };
    row("0", 0ns);
    row("15s", 15s);
    row("250ms", 250ms);
    row("0.5s", 500ms);
    row("1m30s", 90s);
    row("2h", 2h);
    row("1d", 24h);
    row("0.4ms", 400us);
}

void TstDuration::reads()
{
    QFETCH(QString, text);
    QFETCH(qlonglong, ns);
    const auto duration = parseDuration(text.toStdString());
    QVERIFY2(duration, duration ? "" : duration.error().text().c_str());
    QCOMPARE(duration->count(), ns);
}

void TstDuration::refuses_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    const auto row = [](const char *text, const char *says) {
        QTest::newRow(text) << QString::fromLatin1(text) << QString::fromLatin1(says);
    };
    row("", "empty");
    row("15", "unit is missing");
    row("s", "number");
    row("-1s", "negative");
    row("1x", "unit is not one");
    row("1 s", "unit is not one");
    row("nan s", "number");
    row("infs", "number");
    row("1e300h", "unit is not one");
    row("99999999999999999999h", "ten years");
    row("4000d", "ten years");
    row("1s-", "unit");
}

void TstDuration::refuses()
{
    QFETCH(QString, text);
    QFETCH(QString, says);
    const auto duration = parseDuration(text.toStdString());
    QVERIFY(!duration);
    QCOMPARE(duration.error().kind, ErrorKind::BadConfig);
    const QString error = QString::fromStdString(duration.error().text());
    QVERIFY2(error.contains(says), qPrintable(error));
}

void TstDuration::writes()
{
    QCOMPARE(durationText(0s), "0 ms");
    QCOMPARE(durationText(1ns), "< 0.1 ms");
    QCOMPARE(durationText(100us), "0.1 ms");
    QCOMPARE(durationText(999us), "0.9 ms");
    QCOMPARE(durationText(1ms), "1 ms");
    QCOMPARE(durationText(-1ns), "< 0.1 ms");
    QCOMPARE(durationText(-400us), "-0.4 ms");
    QCOMPARE(durationText(212ms), "212 ms");
    QCOMPARE(durationText(4120ms), "4.1 s");
    QCOMPARE(durationText(9999ms), "9.9 s");
    QCOMPARE(durationText(10s), "10 s");
    QCOMPARE(durationText(182s), "3 m 02 s");
    QCOMPARE(durationText(192min), "3 h 12 m");
    QCOMPARE(durationText(148h), "6 d 04 h");
    QCOMPARE(durationText(-1500ms), "-1.5 s");
}

void TstDuration::writesTimes()
{
    const WallTime time(std::chrono::microseconds(1'764'382'424'104'999));
    QCOMPARE(rfc3339(time), "2025-11-29T02:13:44.104Z");
    QCOMPARE(clockText(time), "02:13:44");
    QCOMPARE(rfc3339(WallTime(std::chrono::microseconds(-1))), "1969-12-31T23:59:59.999Z");
}

QTEST_GUILESS_MAIN(TstDuration)
#include "tst_duration.moc"
