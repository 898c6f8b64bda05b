// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/process/ctl_process.h"

#include <QTemporaryDir>
#include <QTest>

using namespace tenure::test;

/// Real tenurectl processes: exit codes, the JSON contract, bad input, completion.
class TstCtlCommands : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void exitCodes_data();
    void exitCodes();
    void aListedLeaseHasEveryKeyOfTheContract();
    void watchBeginsWithASnapshot();
    void aReaderThatGoesAwayEndsTheWatch();
    void releaseIsRefusedForAnotherHolder();
    void completion_data();
    void completion();

private:
    QTemporaryDir m_dir;
};

void TstCtlCommands::exitCodes_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    const auto row = [](const char *name, const char *arguments, int code) {
        QTest::newRow(name) << QString::fromUtf8(arguments).split(QLatin1Char('|')) << code;
    };
    row("help", "--help", 0);
    row("version", "--version", 0);
    row("help of a command", "release|--help", 0);
    row("no such command", "lst", 2);
    row("no such option", "list|demo:|--frobnicate", 2);
    row("unknown scheme", "list|foo://x", 2);
    row("no url", "list", 2);
    row("no lease", "show|demo:", 2);
    row("lease missing", "show|demo:|no/such/lease", 3);
    row("odd name", "show|demo:|a b:c\n\U0001F600", 3);
    row("empty name", "show|demo:|", 2);
    row("list", "list|demo:", 0);
    row("list nothing matches", "list|demo:|--filter|zzz*", 0);
    row("doctor", "doctor|demo:", 0);
    row("init dry", "init|demo:|--dry-run", 0);
    row("ttl 0", "campaign|demo:|x|--ttl|0", 2);
    row("ttl -1", "campaign|demo:|x|--ttl|-1", 2);
    row("ttl 0.4ms", "campaign|demo:|x|--ttl|0.4ms", 2);
    row("ttl 10^12", "campaign|demo:|x|--ttl|1000000000000", 2);
    row("ttl 10^12 s", "campaign|demo:|x|--ttl|1000000000000s", 2);
    row("identity of two lines", "campaign|demo:|x|--id|a\nb", 2);
    row("release without a person", "release|demo:|billing/ledger|--holder|x", 2);
    row("release without a holder", "release|demo:|billing/ledger|--yes", 2);
    row("release in no mode", "release|demo:|billing/ledger|--holder|x|--mode|burn|--yes", 2);
    row("release of nothing", "release|demo:|no/such|--holder|x|--yes", 3);
#ifdef TENURE_HAVE_REDIS
    row("wrong port", "list|redis://127.0.0.1:1", 6);
    row("wrong port, watched", "list|redis://127.0.0.1:1|--watch", 6);
    row("wrong port, campaign", "campaign|redis://127.0.0.1:1|x", 6);
    row("wrong port, doctor", "doctor|redis://127.0.0.1:1", 6);
    row("port out of range", "list|redis://127.0.0.1:99999", 2);
#endif
    QTest::newRow("500 bytes") << QStringList{QStringLiteral("show"), QStringLiteral("demo:"), QString(500, u'n')} << 3;
    QTest::newRow("513 bytes") << QStringList{QStringLiteral("show"), QStringLiteral("demo:"), QString(513, u'n')} << 2;
}

void TstCtlCommands::exitCodes()
{
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    const Ran ran = runCtl(arguments);
    QVERIFY2(ran.code == code, (ran.err + ran.out).constData());
    const bool doctor = arguments.first() == QStringLiteral("doctor");
    if (code != 0 && !doctor) {
        QCOMPARE(ran.err.count('\n'), 1);
        QVERIFY2(ran.err.startsWith("tenurectl: "), ran.err.constData());
        QCOMPARE(ran.out, QByteArray());
    } else {
        QCOMPARE(ran.err, QByteArray());
        QVERIFY(!ran.out.isEmpty());
    }
}

void TstCtlCommands::aListedLeaseHasEveryKeyOfTheContract()
{
    const Ran ran = runCtl({QStringLiteral("list"), QStringLiteral("demo:"), QStringLiteral("--json")});
    const QJsonArray leases = QJsonDocument::fromJson(ran.out).array();
    QVERIFY(leases.size() > 3);
    QStringList wanted{QStringLiteral("backend"), QStringLiteral("lease"), QStringLiteral("kind"),
        QStringLiteral("state"), QStringLiteral("holder"), QStringLiteral("token"), QStringLiteral("ttl_ms"),
        QStringLiteral("remaining_ms"), QStringLiteral("uncertainty_ms"), QStringLiteral("acquired_at"),
        QStringLiteral("renewed_at"), QStringLiteral("transitions"), QStringLiteral("server_time"),
        QStringLiteral("observed_at"), QStringLiteral("freshness"), QStringLiteral("candidates"),
        QStringLiteral("hold"), QStringLiteral("note"), QStringLiteral("facts")};
    wanted.sort();
    for (const QJsonValue &lease : leases)
        QCOMPARE(lease.toObject().keys(), wanted);
    const QJsonObject first = leases.first().toObject();
    QCOMPARE(first[QStringLiteral("state")].toString(), QStringLiteral("held"));
    QVERIFY(first[QStringLiteral("remaining_ms")].toInt() <= first[QStringLiteral("ttl_ms")].toInt());
}

void TstCtlCommands::watchBeginsWithASnapshot()
{
    QProcess process;
    dieWithParent(process);
    process.start(QStringLiteral(TENURECTL_PATH),
        {QStringLiteral("list"), QStringLiteral("demo:"), QStringLiteral("--watch"), QStringLiteral("--json")});
    QByteArray text;
    const auto enough = [&] {
        process.waitForReadyRead(50);
        text += process.readAllStandardOutput();
        return text.contains("\"type\":\"observation\"");
    };
    QTRY_VERIFY_WITH_TIMEOUT(enough(), 15'000);
    QVERIFY(text.contains("\"type\":\"status\""));
    QVERIFY(text.indexOf("\"type\":\"snapshot\"") >= 0);
    QVERIFY(text.indexOf("\"type\":\"snapshot\"") < text.indexOf("\"type\":\"observation\""));
    process.terminate();
    QVERIFY(process.waitForFinished(5'000));
    QCOMPARE(process.exitCode(), 0);
}

void TstCtlCommands::aReaderThatGoesAwayEndsTheWatch()
{
    QProcess shell;
    dieWithParent(shell);
    shell.start(QStringLiteral("bash"),
        {QStringLiteral("-c"), QStringLiteral("\"$0\" list demo: --watch | head -1; echo ${PIPESTATUS[0]}"),
            QStringLiteral(TENURECTL_PATH)});
    QVERIFY(shell.waitForFinished(10'000));
    QVERIFY(shell.readAllStandardOutput().endsWith("\n0\n"));
    QCOMPARE(shell.readAllStandardError(), QByteArray());
}

void TstCtlCommands::releaseIsRefusedForAnotherHolder()
{
    const Ran ran = runCtl({QStringLiteral("release"), QStringLiteral("demo:"), QStringLiteral("billing/ledger"),
        QStringLiteral("--holder"), QStringLiteral("nobody"), QStringLiteral("--yes")});
    QCOMPARE(ran.code, 4);
    QVERIFY2(ran.err.contains("not by nobody"), ran.err.constData());
}

void TstCtlCommands::completion_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("words");
    QTest::newRow("commands") << "tenurectl " << "list show campaign release doctor init history metrics simulate drill run work";
    QTest::newRow("a command") << "tenurectl rel" << "release";
    QTest::newRow("options") << "tenurectl list demo: --w" << "--watch";
    QTest::newRow("modes") << "tenurectl release demo: x --mode " << "ask hold clear";
    QTest::newRow("schemes") << "tenurectl list red" << "redis:// rediss:// redis+unix:/// redis+sentinel://";
    QTest::newRow("actions of work") << "tenurectl work " << "init counts list put retry";
    QTest::newRow("an action of work") << "tenurectl work re" << "retry";
    QTest::newRow("stores of queues") << "tenurectl work counts " << "sqlite:/// postgresql://";
    QTest::newRow("options of retry") << "tenurectl work retry sqlite:///x q --" << "--id --all --reason --journal --help";
    QTest::newRow("states") << "tenurectl work list sqlite:///x q --state " << "pending processing completed dead";
    QTest::newRow("options of run") << "tenurectl run demo: x --o" << "--once --on-lost";
    QTest::newRow("periods") << "tenurectl run demo: x --once --every " << "1h 20h 24h";
    QTest::newRow("behind the mark") << "tenurectl run demo: x -- /bin/fals" << "/bin/false";
    QTest::newRow("options of simulate") << "tenurectl simulate D3 --see" << "--seed --seeds";
    QTest::newRow("options of drill") << "tenurectl drill demo: x --ma" << "--max-gap";
    QTest::newRow("acts of a drill") << "tenurectl drill demo: x --act c" << "clear crash";
    QTest::newRow("after the colon") << "tenurectl list sqlite:" << "///";
}

void TstCtlCommands::completion()
{
    QFETCH(QString, line);
    QFETCH(QString, words);
    QProcess bash;
    bash.start(QStringLiteral("bash"),
        {QStringLiteral("-c"), QStringLiteral("source \"$0\"; COMP_LINE=$1 COMP_POINT=${#1}; _tenurectl; echo \"${COMPREPLY[*]}\""),
            QStringLiteral(TENURE_COMPLETION), line});
    QVERIFY(bash.waitForFinished(10'000));
    QCOMPARE(QString::fromUtf8(bash.readAllStandardOutput()).trimmed(), words);
    QCOMPARE(bash.readAllStandardError(), QByteArray());
}

QTEST_GUILESS_MAIN(TstCtlCommands)
#include "tst_ctl_commands.moc"
