// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/process/run_process.h"

#ifdef TENURE_HAVE_REDIS
#include "tests/support/redis_server.h"
#endif
#ifdef TENURE_HAVE_POSTGRES
#include "tests/support/postgres_server.h"
#endif

#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace tenure;
using namespace tenure::test;

/// `tenurectl run --once`: one run in the fleet in each period, by the clock of the store, on every
/// store that a fleet may share.
class TstCtlRunOnce : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void oneOfAFleetRuns_data() { stores(); }
    void oneOfAFleetRuns();
    void aShortPeriodEnds_data() { stores(); }
    void aShortPeriodEnds();
    void aFailureCanBeRunAgain_data() { stores(); }
    void aFailureCanBeRunAgain();

private:
    static void stores();
    [[nodiscard]] QString url() const; ///< of the row's store; empty: it is not installed
    [[nodiscard]] QStringList once(const QString &lease, const QString &every) const
    {
        // A short ttl: a server that just started grants nothing for one.
        return {url(), lease, QStringLiteral("--ttl"), QStringLiteral("2s"), QStringLiteral("--once"), QStringLiteral("--every"), every};
    }
    [[nodiscard]] Ran run(const QStringList &options, const char *script) const
    {
        return runCtl(QStringList{QStringLiteral("run")} + options
                + QStringList{QStringLiteral("--"), QStringLiteral("sh"), QStringLiteral("-c"), QString::fromLatin1(script)},
            30'000);
    }
    [[nodiscard]] QString stateOf(const QString &lease) const
    {
        const Ran ran = runCtl({QStringLiteral("show"), url(), lease, QStringLiteral("--json")});
        return QJsonDocument::fromJson(ran.out).object()[QStringLiteral("state")].toString();
    }

    std::unique_ptr<QTemporaryDir> m_dir;
#ifdef TENURE_HAVE_REDIS
    std::unique_ptr<RedisServer> m_redis;
#endif
#ifdef TENURE_HAVE_POSTGRES
    std::unique_ptr<PostgresServer> m_postgres;
#endif
};

void TstCtlRunOnce::initTestCase()
{
    m_dir = std::make_unique<QTemporaryDir>();
#ifdef TENURE_HAVE_REDIS
    if (RedisServer::installed())
        m_redis = std::make_unique<RedisServer>();
#endif
#ifdef TENURE_HAVE_POSTGRES
    if (PostgresServer::installed())
        m_postgres = std::make_unique<PostgresServer>();
#endif
}

void TstCtlRunOnce::stores()
{
    QTest::addColumn<int>("unused");
    for (const char *store : {"sqlite", "redis", "postgresql"})
        QTest::newRow(store) << 0;
}

QString TstCtlRunOnce::url() const
{
    const QByteArray store = QTest::currentDataTag();
#ifdef TENURE_HAVE_REDIS
    if (store == "redis" && m_redis)
        return QString::fromStdString(m_redis->socketUri().secretText());
#endif
#ifdef TENURE_HAVE_POSTGRES
    if (store == "postgresql" && m_postgres)
        return QString::fromStdString(m_postgres->socketUri().secretText());
#endif
    return store == "sqlite" ? QStringLiteral("sqlite://%1/leases.db").arg(m_dir->path()) : QString();
}

#define NEEDS_STORE() \
    if (url().isEmpty()) { \
        QVERIFY2(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"), "the server is missing"); \
        QSKIP("the server is not installed"); \
    } \
    QCOMPARE(runCtl({QStringLiteral("init"), url()}).code, 0) /* PostgreSQL's table is made when it is asked for */

void TstCtlRunOnce::oneOfAFleetRuns()
{
    NEEDS_STORE();
    const QString log = m_dir->filePath(QStringLiteral("runs-%1").arg(QLatin1String(QTest::currentDataTag())));
    const QStringList all = once(QStringLiteral("nightly"), QStringLiteral("1h"))
        + QStringList{QStringLiteral("--"), QStringLiteral("sh"), QStringLiteral("-c"),
            QStringLiteral("echo run >>'%1'; exit 1").arg(log)};
    // A fleet whose timers fire at the same time, and one that comes late.
    std::vector<std::unique_ptr<Run>> fleet;
    for (int i = 0; i < 4; ++i)
        fleet.push_back(std::make_unique<Run>(all));
    int failures = 0;
    for (const auto &one : fleet) {
        QVERIFY(one->ended(60'000));
        QVERIFY2(one->code() == 0 || one->code() == 1, one->output().constData());
        failures += one->code();
    }
    QCOMPARE(failures, 1); // the one that ran
    Run late(all);
    QVERIFY(late.ended());
    QCOMPARE(late.code(), 0);
    QFile runs(log);
    QVERIFY(runs.open(QIODevice::ReadOnly));
    QCOMPARE(runs.readAll(), QByteArray("run\n"));
    QCOMPARE(stateOf(QStringLiteral("nightly@once")), QStringLiteral("held"));
}

void TstCtlRunOnce::aShortPeriodEnds()
{
    NEEDS_STORE();
    const QStringList brief = once(QStringLiteral("brief"), QStringLiteral("1s"));
    QCOMPARE(run(brief, "echo ran").out, QByteArray("ran\n"));
    QByteArray second;
    const auto ranAgain = [&] {
        if (second.isEmpty())
            second = run(brief, "echo ran").out;
        return !second.isEmpty();
    };
    QTRY_VERIFY_WITH_TIMEOUT(ranAgain(), 30'000);
    QCOMPARE(second, QByteArray("ran\n"));
}

void TstCtlRunOnce::aFailureCanBeRunAgain()
{
    NEEDS_STORE();
    const QStringList options = once(QStringLiteral("again"), QStringLiteral("1h")) + QStringList{QStringLiteral("--again-after-failure")};
    const Ran failed = run(options, "exit 4");
    QVERIFY2(failed.code == 4, (failed.err + failed.out).constData());
    const Ran again = run(options, "exit 5");
    QVERIFY2(again.code == 5, (again.err + again.out).constData());
    const Ran good = run(options, "echo good");
    QVERIFY2(good.out == "good\n", (good.err + good.out).constData());
    const Ran after = run(options, "echo again");
    QCOMPARE(after.code, 0);
    QCOMPARE(after.out, QByteArray());
}

QTEST_GUILESS_MAIN(TstCtlRunOnce)
#include "tst_ctl_run_once.moc"
