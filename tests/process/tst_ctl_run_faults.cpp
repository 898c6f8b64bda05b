// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/process/run_process.h"
#include "core/net/tcp_proxy.h"

#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <vector>

using namespace tenure::test;
using tenure::TcpProxy;

/// Never two COMMANDs at once, whatever is killed, stopped or cut off. COMMAND is a ticker that
/// ignores signals and whose child left its session: each tick is a proof of life by the boot clock.
class TstCtlRunFaults : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void neverTwoAtOnce_data();
    void neverTwoAtOnce();
    void aKilledRunTakesCommandAlong();
    void aKilledGuardianTakesCommandAlong();
    void cutOffFromTheStore();
    void cleanup();

private:
    QString startRedis();
    [[nodiscard]] QString log() const { return m_dir->filePath(QStringLiteral("log")); }
    std::unique_ptr<Run> launched(const QString &url) const
    {
        return std::make_unique<Run>(QStringList{url, QStringLiteral("drill/x"), QStringLiteral("--ttl"),
            QStringLiteral("1s"), QStringLiteral("--kill-after"), QStringLiteral("300ms"), QStringLiteral("--"),
            QStringLiteral(TICKER_PATH), log()});
    }
    void launch(const QString &url)
    {
        m_urls << url;
        m_fleet.push_back(launched(url));
    }
    /// As a service manager does: on a busy machine a leader may lose without our doing.
    void relaunch()
    {
        for (std::size_t i = 0; i < m_fleet.size(); ++i) {
            if (m_fleet[i] && m_fleet[i]->ended(0))
                m_fleet[i] = launched(m_urls[static_cast<qsizetype>(i)]);
        }
    }
    /// Waits until a COMMAND ticks that began later than `after`, and whose `run` lives.
    Run *leaderAfter(quint64 after)
    {
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < 40'000) {
            const QList<Life> lives = m_log->lives();
            for (const auto &run : m_fleet) {
                if (run && !lives.isEmpty() && lives.last().token > after && lives.last().ticks > 20
                    && lives.last().holder.contains("-" + QByteArray::number(run->pid()) + "-") && !run->ended(0))
                    return run.get();
            }
            relaunch();
            QTest::qWait(20);
        }
        return nullptr;
    }
    quint64 lastToken()
    {
        const QList<Life> lives = m_log->lives();
        return lives.isEmpty() ? 0 : lives.last().token;
    }
    static void neverOverlap(const QList<Life> &lives)
    {
        for (qsizetype i = 1; i < lives.size(); ++i) {
            const double gap = static_cast<double>(lives[i].first - lives[i - 1].last) / 1e6;
            QVERIFY2(gap > 0,
                qPrintable(QStringLiteral("token %1 began %2 ms before the last sign of %3")
                               .arg(lives[i].token).arg(-gap).arg(lives[i - 1].token)));
        }
    }
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<QProcess> m_redis;
    quint16 m_port = 0;
    QStringList m_urls;
    std::vector<std::unique_ptr<Run>> m_fleet; ///< nothing: struck, not to be launched again
    std::unique_ptr<LifeLog> m_log;
};

void TstCtlRunFaults::init()
{
    m_urls.clear();
    m_dir = std::make_unique<QTemporaryDir>();
    m_log = std::make_unique<LifeLog>(log());
}

void TstCtlRunFaults::cleanup()
{
    m_fleet.clear();
    if (m_redis) {
        m_redis->kill();
        m_redis->waitForFinished();
    }
    m_redis.reset();
}

QString TstCtlRunFaults::startRedis()
{
    const QString program = QStandardPaths::findExecutable(QStringLiteral("redis-server"));
    if (program.isEmpty())
        return {};
    m_port = freePort();
    m_redis = std::make_unique<QProcess>();
    dieWithParent(*m_redis);
    m_redis->start(program,
        {QStringLiteral("--port"), QString::number(m_port), QStringLiteral("--bind"), QStringLiteral("127.0.0.1"),
            QStringLiteral("--save"), QString(), QStringLiteral("--dir"), m_dir->path()});
    QByteArray text;
    while (!text.contains("eady to accept") && m_redis->waitForReadyRead(10'000))
        text += m_redis->readAllStandardOutput();
    return QStringLiteral("redis://127.0.0.1:%1").arg(m_port);
}

enum class Strike { KillRun, StopRun, StopGuardian, KillGuardian };

void TstCtlRunFaults::neverTwoAtOnce_data()
{
    QTest::addColumn<Strike>("strike");
    QTest::addRow("run is killed") << Strike::KillRun;
    QTest::addRow("run is stopped beyond its validity") << Strike::StopRun;
    QTest::addRow("the guardian is stopped, and run is told to end") << Strike::StopGuardian;
    QTest::addRow("the guardian is killed") << Strike::KillGuardian;
}

void TstCtlRunFaults::neverTwoAtOnce()
{
    QFETCH(Strike, strike);
    const QString url = QStringLiteral("sqlite://%1/leases.db").arg(m_dir->path());
    for (int i = 0; i < 3; ++i)
        launch(url);
    quint64 struckToken = 0;
    for (int round = 0; round < 2; ++round) {
        Run *const leader = leaderAfter(struckToken);
        QVERIFY(leader != nullptr);
        struckToken = lastToken();
        const QList<pid_t> children = childrenOf(leader->pid());
        QCOMPARE(children.size(), 1);
        const auto held = std::find_if(m_fleet.begin(), m_fleet.end(), [&](const auto &r) { return r.get() == leader; });
        const std::unique_ptr<Run> struck = std::move(*held);
        const bool guardian = strike == Strike::StopGuardian || strike == Strike::KillGuardian;
        const bool kill = strike == Strike::KillRun || strike == Strike::KillGuardian;
        ::kill(guardian ? children.front() : struck->pid(), kill ? SIGKILL : SIGSTOP);
        if (strike == Strike::StopGuardian)
            struck->signal(SIGTERM); // which COMMAND ignores, and nobody is there to kill it in time
        QVERIFY(leaderAfter(struckToken) != nullptr);
        // Awake again, nothing of the old term may move.
        if (strike == Strike::StopRun)
            struck->signal(SIGCONT);
        QVERIFY(struck->ended());
        if (strike == Strike::StopRun)
            QCOMPARE(struck->code(), 7);
        if (strike == Strike::StopGuardian)
            QCOMPARE(struck->code(), 137);
        if (strike == Strike::KillGuardian)
            QCOMPARE(struck->code(), 1);
        *held = launched(url);
    }
    neverOverlap(m_log->lives());
}

void TstCtlRunFaults::aKilledRunTakesCommandAlong()
{
    // A lease so long that only the guardian's own doing can end COMMAND in this test.
    Run run({QStringLiteral("sqlite://%1/leases.db").arg(m_dir->path()), QStringLiteral("drill/x"),
        QStringLiteral("--ttl"), QStringLiteral("1h"), QStringLiteral("--"), QStringLiteral(TICKER_PATH), log()});
    QTRY_VERIFY_WITH_TIMEOUT(!m_log->lives().isEmpty() && m_log->lives()[0].ticks > 20, 15'000);
    run.signal(SIGKILL);
    QVERIFY(run.ended());
    const auto now = [] { return tenure::BootClock::now().time_since_epoch().count(); };
    const qint64 struckAt = now();
    // Silent for half a second: it is gone.
    QTRY_VERIFY_WITH_TIMEOUT(now() - m_log->lives()[0].last > 500'000'000, 15'000);
    QVERIFY(m_log->lives()[0].last - struckAt < 5'000'000'000);
}

void TstCtlRunFaults::aKilledGuardianTakesCommandAlong()
{
    const QString url = QStringLiteral("sqlite://%1/leases.db").arg(m_dir->path());
    Run run({url, QStringLiteral("drill/x"), QStringLiteral("--ttl"), QStringLiteral("1h"), QStringLiteral("--"),
        QStringLiteral(TICKER_PATH), log()});
    QTRY_VERIFY_WITH_TIMEOUT(!m_log->lives().isEmpty() && m_log->lives()[0].ticks > 20, 15'000);
    const QList<pid_t> children = childrenOf(run.pid());
    QCOMPARE(children.size(), 1);
    ::kill(children.front(), SIGKILL);
    QVERIFY(run.ended());
    QCOMPARE(run.code(), 1);
    const Ran shown = runCtl({QStringLiteral("show"), url, QStringLiteral("drill/x"), QStringLiteral("--json")});
    QVERIFY2(shown.out.contains("vacant"), shown.out.constData()); // given back after COMMAND's end
    const qsizetype ticks = m_log->lives()[0].ticks;
    Run next({url, QStringLiteral("drill/x"), QStringLiteral("--"), QStringLiteral("sleep"), QStringLiteral("0.2")});
    QVERIFY(next.ended());
    QCOMPARE(m_log->lives()[0].ticks, ticks);
}

void TstCtlRunFaults::cutOffFromTheStore()
{
#ifndef TENURE_HAVE_REDIS
    QSKIP("built without Redis");
#endif
    const QString url = startRedis();
    if (url.isEmpty()) {
        QVERIFY2(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"), "redis-server is missing");
        QSKIP("redis-server is not installed");
    }
    TcpProxy proxy(m_port);
    launch(QStringLiteral("redis://127.0.0.1:%1").arg(proxy.port()));
    QVERIFY(leaderAfter(0) != nullptr);
    const quint64 token = lastToken();
    const std::unique_ptr<Run> cut = std::move(m_fleet.front());
    launch(url);
    proxy.setMode(TcpProxy::Mode::HalfOpen);
    QVERIFY(leaderAfter(token) != nullptr);
    QVERIFY(cut->ended());
    QCOMPARE(cut->code(), 7);
    neverOverlap(m_log->lives());
}

QTEST_GUILESS_MAIN(TstCtlRunFaults)
#include "tst_ctl_run_faults.moc"
