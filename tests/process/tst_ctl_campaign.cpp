// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/process/ctl_process.h"
#include "core/net/tcp_proxy.h"

#include <QDateTime>
#include <QDir>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <vector>

using namespace tenure::test;
using tenure::TcpProxy;

/// Real candidates on a real backend, killed, stopped and cut off. Their events carry the boot clock
/// of the one machine they share, so "never two at once" can be checked exactly.
class TstCtlCampaign : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void takeover_data();
    void takeover();
    void aLeaderThatIsCutOffTellsItsLossFirst();
    void aForeignHolderIsSeen();
    void aWallClockAnHourAheadTakesNothing();

private:
    QString startRedis();
    quint16 m_redisPort = 0;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<QProcess> m_redis;
};

void TstCtlCampaign::init()
{
    m_redis.reset();
    m_dir = std::make_unique<QTemporaryDir>();
}

QString TstCtlCampaign::startRedis()
{
    const QString program = QStandardPaths::findExecutable(QStringLiteral("redis-server"));
    if (program.isEmpty())
        return {};
    m_redisPort = freePort();
    m_redis = std::make_unique<QProcess>();
    dieWithParent(*m_redis);
    m_redis->start(program,
        {QStringLiteral("--port"), QString::number(m_redisPort), QStringLiteral("--bind"), QStringLiteral("127.0.0.1"),
            QStringLiteral("--save"), QString(), QStringLiteral("--dir"), m_dir->path()});
    QByteArray log;
    QElapsedTimer timer;
    timer.start();
    while (!log.contains("eady to accept") && timer.elapsed() < 10'000 && m_redis->waitForReadyRead(5'000))
        log += m_redis->readAllStandardOutput();
    return QStringLiteral("redis://127.0.0.1:%1").arg(m_redisPort);
}

void TstCtlCampaign::takeover_data()
{
    QTest::addColumn<QString>("scheme");
    QTest::addColumn<int>("number");
    QStringList schemes{QStringLiteral("sqlite")};
#ifdef TENURE_HAVE_REDIS
    schemes << QStringLiteral("redis");
#endif
    for (const QString &scheme : schemes) {
        for (const int number : {SIGKILL, SIGTERM, SIGSTOP})
            QTest::addRow("%s, signal %d", qPrintable(scheme), number) << scheme << number;
    }
}

void TstCtlCampaign::takeover()
{
    QFETCH(QString, scheme);
    QFETCH(int, number);
    const QString url = scheme == QStringLiteral("redis") ? startRedis()
                                                          : QStringLiteral("sqlite://%1/leases.db").arg(m_dir->path());
    if (url.isEmpty())
        QSKIP("redis-server is not installed");
    std::vector<std::unique_ptr<Campaign>> all;
    for (const char *id : {"a", "b", "c"}) {
        all.push_back(std::make_unique<Campaign>(
            url, QStringLiteral("drill/x"), QStringLiteral("1s"), QString::fromLatin1(id)));
    }
    const auto leader = [&]() -> Campaign * {
        for (const auto &campaign : all) {
            if (campaign->leads())
                return campaign.get();
        }
        return nullptr;
    };
    QTRY_VERIFY_WITH_TIMEOUT(leader() != nullptr, 30'000);
    Campaign *const old = leader();
    // All three are in the race before the leader is struck.
    for (const auto &campaign : all)
        QTRY_VERIFY_WITH_TIMEOUT(campaign.get() == old || !campaign->last(QStringLiteral("following")).isEmpty(), 30'000);
    const double oldToken = old->last(QStringLiteral("gained"))[QStringLiteral("token")].toDouble();
    const auto now = [] { return static_cast<double>(tenure::BootClock::now().time_since_epoch().count()); };
    old->signal(number);
    const double struckAt = now();
    const auto successor = [&]() -> Campaign * {
        for (const auto &campaign : all) {
            if (campaign.get() != old && campaign->leads())
                return campaign.get();
        }
        return nullptr;
    };
    QTRY_VERIFY_WITH_TIMEOUT(successor() != nullptr, 30'000);
    const QJsonObject gained = successor()->last(QStringLiteral("gained"));
    QVERIFY(gained[QStringLiteral("token")].toDouble() > oldToken);
    if (number == SIGTERM) {
        QTRY_VERIFY_WITH_TIMEOUT(!old->last(QStringLiteral("stopped")).isEmpty(), 30'000);
        QVERIFY(bootNs(old->last(QStringLiteral("lost"))) < bootNs(gained));
        QVERIFY(bootNs(gained) - struckAt < 0.5e9); // handed over, not waited for
        QVERIFY(old->process().state() == QProcess::NotRunning || old->process().waitForFinished(5'000));
        QCOMPARE(old->process().exitCode(), 0);
    } else {
        // Nothing was given back: the successor had to wait until the old leader's word had ended.
        QVERIFY(bootNs(gained) - struckAt > 0.4e9);
        QVERIFY(bootNs(gained) - struckAt < 2e9);
    }
    if (number == SIGSTOP) {
        old->signal(SIGCONT);
        QTRY_VERIFY_WITH_TIMEOUT(!old->leads(), 30'000);
        QCOMPARE(old->last(QStringLiteral("gained"))[QStringLiteral("token")].toDouble(), oldToken);
        QVERIFY(successor()->leads());
    }
}

void TstCtlCampaign::aLeaderThatIsCutOffTellsItsLossFirst()
{
#ifndef TENURE_HAVE_REDIS
    QSKIP("built without Redis");
#endif
    const QString url = startRedis();
    if (url.isEmpty())
        QSKIP("redis-server is not installed");
    TcpProxy proxy(m_redisPort);
    Campaign first(QStringLiteral("redis://127.0.0.1:%1").arg(proxy.port()), QStringLiteral("drill/x"),
        QStringLiteral("2s"), QStringLiteral("a"));
    QTRY_VERIFY_WITH_TIMEOUT(first.leads(), 30'000);
    Campaign second(url, QStringLiteral("drill/x"), QStringLiteral("2s"), QStringLiteral("b"));
    QTRY_VERIFY_WITH_TIMEOUT(!second.last(QStringLiteral("following")).isEmpty(), 30'000);
    proxy.setMode(TcpProxy::Mode::HalfOpen);
    QTRY_VERIFY_WITH_TIMEOUT(second.leads(), 30'000);
    QVERIFY(!first.leads());
    QVERIFY(bootNs(first.last(QStringLiteral("lost"))) < bootNs(second.last(QStringLiteral("gained"))));
    proxy.setMode(TcpProxy::Mode::Pass);
    QTRY_VERIFY_WITH_TIMEOUT(!first.last(QStringLiteral("following")).isEmpty(), 30'000);
}

void TstCtlCampaign::aForeignHolderIsSeen()
{
#ifndef TENURE_HAVE_REDIS
    QSKIP("built without Redis");
#endif
    const QString url = startRedis();
    if (url.isEmpty())
        QSKIP("redis-server is not installed");
    QProcess::execute(QStringLiteral("redis-cli"),
        {QStringLiteral("-p"), QString::number(m_redisPort), QStringLiteral("SET"), QStringLiteral("jobs"),
            QStringLiteral("someone-else"), QStringLiteral("NX"), QStringLiteral("PX"), QStringLiteral("60000")});
    const Ran ran = runCtl({QStringLiteral("show"), url, QStringLiteral("jobs"), QStringLiteral("--json")});
    QCOMPARE(ran.code, 0);
    const QJsonObject lease = QJsonDocument::fromJson(ran.out).object();
    QCOMPARE(lease[QStringLiteral("holder")].toString(), QStringLiteral("someone-else"));
    QVERIFY(lease[QStringLiteral("kind")].toString() != QStringLiteral("tenure"));
    QVERIFY(lease[QStringLiteral("remaining_ms")].toInt() > 50'000);
    Campaign ours(url, QStringLiteral("jobs"), QStringLiteral("2s"), QStringLiteral("a"));
    QTRY_COMPARE_WITH_TIMEOUT(ours.last(QStringLiteral("following"))[QStringLiteral("holder")].toString(),
        QStringLiteral("someone-else"), 30'000);
    QVERIFY(!ours.leads());
}

// A scheduler whose standby had its clock an hour ahead ran twice: expiry must be the server's.
void TstCtlCampaign::aWallClockAnHourAheadTakesNothing()
{
    QString shifted;
    for (const QFileInfo &place : QDir(QStringLiteral("/usr/lib")).entryInfoList({QStringLiteral("*-linux-gnu")}))
        if (const QString file = place.filePath() + QStringLiteral("/faketime/libfaketimeMT.so.1"); QFile::exists(file))
            shifted = file;
    if (shifted.isEmpty() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("faketime is not installed");
    QVERIFY2(!shifted.isEmpty(), "faketime is not installed");
    QString url = startRedis();
    if (url.isEmpty())
        url = QStringLiteral("sqlite://%1/leases.db").arg(m_dir->path());
    Campaign first(url, QStringLiteral("drill/x"), QStringLiteral("1s"), QStringLiteral("a"));
    QTRY_VERIFY_WITH_TIMEOUT(first.leads(), 30'000);
    Campaign second(url, QStringLiteral("drill/x"), QStringLiteral("1s"), QStringLiteral("b"),
        {QStringLiteral("LD_PRELOAD=") + shifted, QStringLiteral("FAKETIME=+3600s"),
            QStringLiteral("FAKETIME_DONT_FAKE_MONOTONIC=1"), QStringLiteral("ASAN_OPTIONS=verify_asan_link_order=0")});
    QTRY_VERIFY_WITH_TIMEOUT(!second.last(QStringLiteral("following")).isEmpty(), 30'000);
    const QString told = second.last(QStringLiteral("following"))[QStringLiteral("at")].toString();
    QVERIFY(QDateTime::fromString(told, Qt::ISODateWithMs) > QDateTime::currentDateTimeUtc().addSecs(3000));
    // As long as the first renews, and it renews, three leases long, the other waits.
    const double from = static_cast<double>(tenure::BootClock::now().time_since_epoch().count());
    QTest::qWait(3000); // what is asserted is that nothing happens in it
    QVERIFY(first.leads());
    QVERIFY(second.last(QStringLiteral("gained")).isEmpty());
    first.signal(SIGKILL);
    QTRY_VERIFY_WITH_TIMEOUT(second.leads(), 30'000);
    QVERIFY(bootNs(second.last(QStringLiteral("gained"))) > from + 3e9);
}

QTEST_GUILESS_MAIN(TstCtlCampaign)
#include "tst_ctl_campaign.moc"
