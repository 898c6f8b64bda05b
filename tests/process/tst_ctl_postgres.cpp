// SPDX-License-Identifier: GPL-3.0-or-later
// tenurectl on a real PostgreSQL, as a person uses it: init, campaigns that are killed, stopped and
// released by hand, in both modes.
#include "postgres_server.h"
#include "tests/process/ctl_process.h"

#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace tenure::test;

class TstCtlPostgres : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void aLeaderIsStruck_data();
    void aLeaderIsStruck();
    void aReleaseByHandMovesTheLead_data();
    void aReleaseByHandMovesTheLead();
    void badInputIsRefused_data();
    void badInputIsRefused();
    void oddNamesAreHonest();

private:
    [[nodiscard]] QString url(const char *mode, const QString &user = QStringLiteral("postgres")) const
    {
        return QStringLiteral("postgresql://%1@127.0.0.1:%2/postgres?mode=%3")
            .arg(user).arg(m_server->port()).arg(QLatin1String(mode));
    }
    [[nodiscard]] static QJsonObject show(const QString &at, const QString &lease)
    {
        return QJsonDocument::fromJson(
            runCtl({QStringLiteral("show"), at, lease, QStringLiteral("--json")}).out).object();
    }
    std::unique_ptr<PostgresServer> m_server;
    QTemporaryDir m_folder;
};

void TstCtlPostgres::initTestCase()
{
    if (!PostgresServer::installed() && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"))
        QSKIP("PostgreSQL is not installed");
    QVERIFY2(PostgresServer::installed(), "PostgreSQL is not installed");
    m_server = std::make_unique<PostgresServer>();
    const Ran shown = runCtl({QStringLiteral("init"), url("table"), QStringLiteral("--dry-run")});
    QVERIFY(shown.code == 0 && shown.out.contains("CREATE TABLE"));
    QCOMPARE(m_server->run("SELECT count(*) FROM pg_namespace WHERE nspname = 'tenure'").number(0, 0), 0);
    const Ran made = runCtl({QStringLiteral("init"), url("table")});
    QVERIFY2(made.code == 0, made.err.constData());
}

void TstCtlPostgres::aLeaderIsStruck_data()
{
    QTest::addColumn<QByteArray>("mode");
    QTest::addColumn<int>("number");
    for (const char *mode : {"table", "advisory"}) {
        for (const int number : {SIGKILL, SIGTERM})
            QTest::addRow("%s, signal %d", mode, number) << QByteArray(mode) << number;
    }
}

void TstCtlPostgres::aLeaderIsStruck()
{
    QFETCH(QByteArray, mode);
    QFETCH(int, number);
    const QString lease = QStringLiteral("struck/%1").arg(number);
    const QString at = url(mode.constData());
    Campaign a(at, lease, QStringLiteral("2s"), QStringLiteral("a"));
    QTRY_VERIFY_WITH_TIMEOUT(a.leads(), 30'000);
    Campaign b(at, lease, QStringLiteral("2s"), QStringLiteral("b"));
    QTRY_VERIFY_WITH_TIMEOUT(!b.last(QStringLiteral("following")).isEmpty(), 30'000);
    QVERIFY(b.last(QStringLiteral("following"))[QStringLiteral("holder")].toString().contains(QStringLiteral("a_")));
    const double token = a.last(QStringLiteral("gained"))[QStringLiteral("token")].toDouble();
    const QJsonObject seen = show(at, lease);
    QCOMPARE(seen[QStringLiteral("state")].toString(), QStringLiteral("held"));
    QVERIFY(seen[QStringLiteral("holder")].toString().contains(QStringLiteral("a_")));
    if (mode == "advisory") { // the server's own queue tells who waits
        const auto waits = [&] {
            const QJsonArray all = show(at, lease)[QStringLiteral("candidates")].toArray();
            return all.size() == 1 && all.first().toString().contains(QStringLiteral("b_"));
        };
        QTRY_VERIFY_WITH_TIMEOUT(waits(), 30'000);
    }
    a.signal(number);
    QTRY_VERIFY_WITH_TIMEOUT(b.leads(), 30'000);
    QVERIFY(b.last(QStringLiteral("gained"))[QStringLiteral("token")].toDouble() > token);
    if (number == SIGTERM) {
        QTRY_VERIFY_WITH_TIMEOUT(!a.last(QStringLiteral("stopped")).isEmpty(), 30'000);
        QVERIFY(bootNs(a.last(QStringLiteral("lost"))) < bootNs(b.last(QStringLiteral("gained"))));
    }
}

void TstCtlPostgres::aReleaseByHandMovesTheLead_data()
{
    QTest::addColumn<QByteArray>("mode");
    QTest::addColumn<QString>("way");
    QTest::newRow("table, asked") << QByteArray("table") << QStringLiteral("ask");
    QTest::newRow("table, cleared") << QByteArray("table") << QStringLiteral("clear");
    QTest::newRow("advisory, session ended") << QByteArray("advisory") << QStringLiteral("clear");
}

void TstCtlPostgres::aReleaseByHandMovesTheLead()
{
    QFETCH(QByteArray, mode);
    QFETCH(QString, way);
    const QString lease = QStringLiteral("released/") + way;
    const QString at = url(mode.constData());
    Campaign a(at, lease, QStringLiteral("2s"), QStringLiteral("a"));
    QTRY_VERIFY_WITH_TIMEOUT(a.leads(), 30'000);
    Campaign b(at, lease, QStringLiteral("2s"), QStringLiteral("b"));
    QTRY_VERIFY_WITH_TIMEOUT(!b.last(QStringLiteral("following")).isEmpty(), 30'000);
    // As a person does: the list says who, under the name the candidates use; the same words release.
    const Ran listed = runCtl({QStringLiteral("list"), at, QStringLiteral("--filter"), lease, QStringLiteral("--json")});
    QVERIFY2(listed.code == 0 && listed.out.contains("\"" + lease.toUtf8() + "\""), listed.out.constData());
    QJsonObject seen;
    const auto shown = [&] {
        seen = show(at, lease);
        return mode == "table" || seen[QStringLiteral("candidates")].toArray().size() == 1;
    };
    QTRY_VERIFY_WITH_TIMEOUT(shown(), 30'000);
    const QString holder = seen[QStringLiteral("holder")].toString();
    const QStringList words{QStringLiteral("release"), at, lease, QStringLiteral("--holder"), holder,
        QStringLiteral("--mode"), way, QStringLiteral("--hold"), QStringLiteral("5s"), QStringLiteral("--reason"),
        QStringLiteral("a test"), QStringLiteral("--journal"), m_folder.filePath(QStringLiteral("journal.db")),
        QStringLiteral("--yes"), QStringLiteral("--json")};
    if (mode == "advisory") {
        const Ran asked = runCtl({QStringLiteral("release"), at, lease, QStringLiteral("--holder"), holder,
            QStringLiteral("--yes"), QStringLiteral("--reason"), QStringLiteral("a test")});
        QVERIFY(asked.code != 0);
        QVERIFY2(asked.err.contains("clear to end the session"), asked.err.constData());
        QVERIFY(a.leads());
    }
    const Ran wrong = runCtl({QStringLiteral("release"), at, lease, QStringLiteral("--holder"),
        QStringLiteral("somebody"), QStringLiteral("--mode"), way, QStringLiteral("--yes")});
    QCOMPARE(wrong.code, 4);
    const Ran released = runCtl(words, 60'000);
    QVERIFY2(released.code == 0, (released.out + released.err).constData());
    QVERIFY2(released.out.contains("\"taken\""), released.out.constData());
    QTRY_VERIFY_WITH_TIMEOUT(b.leads() && !a.leads(), 30'000);
    QVERIFY(b.last(QStringLiteral("gained"))[QStringLiteral("token")].toDouble()
        > a.last(QStringLiteral("gained"))[QStringLiteral("token")].toDouble());
    const Ran again = runCtl(words, 60'000); // what was seen then is not there any more
    QCOMPARE(again.code, 4);
    QVERIFY(b.leads());
}

void TstCtlPostgres::badInputIsRefused_data()
{
    QTest::addColumn<QString>("at");
    QTest::addColumn<QString>("lease");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const QString place = QStringLiteral("postgresql://postgres@127.0.0.1:PORT/postgres");
    QTest::newRow("a name of 10 kB") << place << QString(10'000, QLatin1Char('x')) << 2 << QByteArray("10000 bytes");
    QTest::newRow("no name") << place << QString() << 2 << QByteArray("empty");
    QTest::newRow("unknown parameter") << place + QStringLiteral("?shema=x") << QStringLiteral("a") << 2
        << QByteArray("Did you mean schema?");
    QTest::newRow("NUL in the URL") << place + QStringLiteral("?schema=%00") << QStringLiteral("a") << 2 << QByteArray("NUL");
    QTest::newRow("another mode") << place + QStringLiteral("?mode=magic") << QStringLiteral("a") << 2
        << QByteArray("mode=advisory");
    QTest::newRow("no such database") << QStringLiteral("postgresql://postgres@127.0.0.1:PORT/nowhere")
        << QStringLiteral("a") << 2 << QByteArray("no such database");
}

void TstCtlPostgres::badInputIsRefused()
{
    QFETCH(QString, at);
    QFETCH(QString, lease);
    QFETCH(int, code);
    QFETCH(QByteArray, says);
    at.replace(QLatin1String("PORT"), QString::number(m_server->port()));
    for (const char *command : {"show", "campaign"}) {
        const Ran ran = runCtl({QLatin1String(command), at, lease});
        QVERIFY2(ran.err.contains(says), ran.err.left(2000).constData());
        QVERIFY2(ran.code == code, ran.err.left(2000).constData());
        QVERIFY(ran.err.size() < 2000);
    }
}

void TstCtlPostgres::oddNamesAreHonest()
{
    for (const char *odd : {"it's \"quoted\" \\ {a,b} NULL; --", "\xF0\x9F\x94\x92 caf\xC3\xA9\n"}) {
        const QString name = QString::fromUtf8(odd);
        Campaign ours(url("table"), name, QStringLiteral("2s"), QStringLiteral("a"));
        QTRY_VERIFY_WITH_TIMEOUT(ours.leads(), 30'000);
        QCOMPARE(show(url("table"), name)[QStringLiteral("state")].toString(), QStringLiteral("held"));
    }
}

QTEST_GUILESS_MAIN(TstCtlPostgres)
#include "tst_ctl_postgres.moc"
