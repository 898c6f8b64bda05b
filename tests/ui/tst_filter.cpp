// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/filter.h"

#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace std::chrono_literals;

class TestFilter : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void matches_data();
    void matches();
    void errorsNameTheToken_data();
    void errorsNameTheToken();
    void staleDataHasNoCountdown();
};

namespace
{

const Instant kNow{1h};

/// billing/scheduler of sched-7f9c, term 118, 4.2 s left, four changes in ten minutes.
LeaseStatus sample()
{
    LeaseStatus status;
    status.record.holder = "sched-7f9c";
    status.record.token = FencingToken{118};
    status.record.ttl = 15000ms;
    status.record.remaining = 4200ms;
    status.seenAt = kNow;
    status.lastRenewalAt = kNow - 10800ms;
    status.expiresAt = kNow + 4200ms;
    status.transitionTimes = {kNow - 9min, kNow - 5min, kNow - 4min, kNow - 1min};
    status.churning = true;
    return status;
}

FilterFacts factsOf(const LeaseStatus &status)
{
    FilterFacts facts;
    facts.name = "billing/scheduler";
    facts.holder = "sched-7f9c";
    facts.connection = "prod-eu";
    facts.environment = "prod";
    facts.state = LeaseState::Late;
    facts.link = LinkState::Live;
    facts.status = &status;
    facts.now = kNow;
    return facts;
}

} // namespace

void TestFilter::matches_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("expected");
    const auto row = [](const char *line, bool expected) { QTest::newRow(line) << QString::fromLatin1(line) << expected; };
    row("", true);
    row("   ", true);
    row("billing", true);
    row("BILLING", true);
    row("7f9c", true);
    row("bsch", true); // fuzzy on the name
    row("bs", false); // too short to be fuzzy
    row("hcsb", false);
    row("-billing", false);
    row("-outbox", true);
    row("state:late", true);
    row("state:late|vacant", true);
    row("state:vacant", false);
    row("-state:vacant", true);
    row("state:abnormal", true);
    row("state:churn", true);
    row("env:prod", true);
    row("env:production", true);
    row("env:stage", false);
    row("conn:eu", true);
    row("holder:~s7c", true);
    row("holder:7f", true);
    row("holder:nobody", false);
    row("ttl<5s", true);
    row("ttl<4s", false);
    row("ttl>=4.2s", true);
    row("ttl>4.2s", false);
    row("churn>3/10m", true);
    row("churn>3/5m", false);
    row("churn>4", false);
    row("term>100", true);
    row("term:118", true);
    row("term<=117", false);
    row("data:live", true);
    row("data:stale", false);
    row("state:late env:prod ttl<5s billing -outbox", true);
    row("state:late env:stage", false);
    row("\"billing/sched\"", true);
    row("\"two words\"", false);
}

void TestFilter::matches()
{
    QFETCH(QString, line);
    QFETCH(bool, expected);
    const auto filter = LeaseFilter::parse(line.toStdString());
    QVERIFY2(filter.has_value(), filter ? "" : filter.error().sentence.c_str());
    const LeaseStatus status = sample();
    QCOMPARE(filter->matches(factsOf(status)), expected);
}

void TestFilter::errorsNameTheToken_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("token");
    QTest::newRow("state") << QStringLiteral("env:prod state:lost") << QStringLiteral("state:lost");
    QTest::newRow("half typed") << QStringLiteral("state:") << QStringLiteral("state:");
    QTest::newRow("empty choice") << QStringLiteral("state:late|") << QStringLiteral("state:late|");
    QTest::newRow("data") << QStringLiteral("data:old") << QStringLiteral("data:old");
    QTest::newRow("ttl unit") << QStringLiteral("ttl<5") << QStringLiteral("ttl<5");
    QTest::newRow("churn") << QStringLiteral("churn>x/10m") << QStringLiteral("churn>x/10m");
    QTest::newRow("churn window") << QStringLiteral("churn>3/0") << QStringLiteral("churn>3/0");
    QTest::newRow("term") << QStringLiteral("term>1e3") << QStringLiteral("term>1e3");
    QTest::newRow("huge term") << QStringLiteral("term>99999999999999999999") << QStringLiteral("term>99999999999999999999");
    QTest::newRow("key") << QStringLiteral("-holdr:x") << QStringLiteral("-holdr:x");
}

void TestFilter::errorsNameTheToken()
{
    QFETCH(QString, line);
    QFETCH(QString, token);
    const auto filter = LeaseFilter::parse(line.toStdString());
    QVERIFY(!filter.has_value());
    QCOMPARE(QString::fromStdString(filter.error().token), token);
    QVERIFY(!filter.error().sentence.empty());
}

void TestFilter::staleDataHasNoCountdown()
{
    const LeaseStatus status = sample();
    FilterFacts facts = factsOf(status);
    facts.link = LinkState::Stale;
    QVERIFY(!LeaseFilter::parse("ttl<5s")->matches(facts));
    QVERIFY(LeaseFilter::parse("data:stale")->matches(facts));
    QVERIFY(LeaseFilter::parse("ttl<5s")->dependsOnTime());
    QVERIFY(!LeaseFilter::parse("state:late")->dependsOnTime());
}

QTEST_GUILESS_MAIN(TestFilter)
#include "tst_filter.moc"
