// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/process/run_process.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>

#include <fcntl.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenure::test;

/// What a person or a scheduler sees of `tenurectl run`: codes, output, signals. Periods are in
/// tst_ctl_run_once, and what it does when it is struck itself in tst_ctl_run_faults.
class TstCtlRun : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void passesThrough_data();
    void passesThrough();
    void refuses_data();
    void refuses();
    void aBadCommandGivesTheLeaseBack();
    void signalsArePassedOn();
    void aStubbornCommandIsKilledInTheEnd();
    void whatIsLeftBehindEnds();
    void ifLeaderDoesNotWait();
    void aStepDownEndsCommand();
    void systemdIsTold();
    void theTerminalIsKept_data();
    void theTerminalIsKept();

private:
    [[nodiscard]] QString url() const { return QStringLiteral("sqlite://%1/leases.db").arg(m_dir->path()); }
    [[nodiscard]] QString path(const char *name) const { return m_dir->filePath(QString::fromLatin1(name)); }
    [[nodiscard]] Ran run(const QStringList &options, const QStringList &command, int limit = 20'000) const
    {
        return runCtl(QStringList{QStringLiteral("run"), url(), QStringLiteral("job")} + options
                + QStringList{QStringLiteral("--")} + command,
            limit);
    }
    [[nodiscard]] QString stateOf(const QString &lease) const
    {
        const Ran ran = runCtl({QStringLiteral("show"), url(), lease, QStringLiteral("--json")});
        return QJsonDocument::fromJson(ran.out).object()[QStringLiteral("state")].toString();
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

static QStringList shell(const char *script)
{
    return {QStringLiteral("sh"), QStringLiteral("-c"), QString::fromLatin1(script)};
}

void TstCtlRun::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
}

void TstCtlRun::passesThrough_data()
{
    QTest::addColumn<QStringList>("command");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("out");
    QTest::addColumn<QByteArray>("err");
    QTest::addRow("success") << shell("exit 0") << 0 << QByteArray() << QByteArray();
    QTest::addRow("its own code") << shell("exit 42") << 42 << QByteArray() << QByteArray();
    QTest::addRow("killed by a signal") << shell("kill -9 $$") << 137 << QByteArray() << QByteArray();
    QTest::addRow("output untouched") << shell("printf 'a\\000b'; printf 'c' >&2; exit 3") << 3
                                      << QByteArray("a\0b", 3) << QByteArray("c");
    QTest::addRow("environment") << shell("test \"$TENURE_TOKEN\" -gt 0 && echo \"$TENURE_LEASE ${TENURE_HOLDER%%_*}\"")
                                 << 0 << QByteArray("job tenurectl\n") << QByteArray();
    QTest::addRow("its own process group") << shell("set -- $(cat /proc/$$/stat); test \"$5\" = $$") << 0
                                           << QByteArray() << QByteArray();
    QTest::addRow("arguments as they are") << QStringList{QStringLiteral("printf"), QStringLiteral("%s|"),
        QStringLiteral("--"), QStringLiteral("--ttl"), QStringLiteral("a b"), QString()}
                                           << 0 << QByteArray("--|--ttl|a b||") << QByteArray();
}

void TstCtlRun::passesThrough()
{
    QFETCH(QStringList, command);
    const Ran ran = run({}, command);
    QTEST(ran.code, "code");
    QTEST(ran.out, "out");
    QTEST(ran.err, "err");
    QCOMPARE(stateOf(QStringLiteral("job")), QStringLiteral("vacant"));
}

void TstCtlRun::refuses_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const QString u = QStringLiteral("sqlite:///nowhere/l.db");
    const QString l = QStringLiteral("job");
    const QString end = QStringLiteral("--");
    QTest::addRow("no command") << QStringList{u, l} << 2 << QByteArray("COMMAND is missing");
    QTest::addRow("nothing behind the mark") << QStringList{u, l, end} << 2 << QByteArray("COMMAND is missing");
    QTest::addRow("no lease") << QStringList{u, end, QStringLiteral("true")} << 2 << QByteArray("lease is missing");
    QTest::addRow("no such command") << QStringList{u, l, end, QStringLiteral("no-such-command-anywhere")} << 127
                                     << QByteArray("cannot be run");
    QTest::addRow("not executable") << QStringList{u, l, end, QStringLiteral("/etc/passwd")} << 126
                                    << QByteArray("Permission denied");
    QTest::addRow("a directory") << QStringList{u, l, end, QStringLiteral("/tmp")} << 126
                                 << QByteArray("Permission denied");
    QTest::addRow("bad ttl") << QStringList{u, l, QStringLiteral("--ttl"), QStringLiteral("soon"), end,
        QStringLiteral("true")} << 2 << QByteArray("soon");
    QTest::addRow("every without once") << QStringList{u, l, QStringLiteral("--every"), QStringLiteral("1h"), end,
        QStringLiteral("true")} << 2 << QByteArray("--once");
    QTest::addRow("a period of nothing") << QStringList{u, l, QStringLiteral("--once"), QStringLiteral("--every"),
        QStringLiteral("0"), end, QStringLiteral("true")} << 2 << QByteArray("period");
}

void TstCtlRun::refuses()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, says);
    if (arguments.contains(QStringLiteral("0")))
        arguments[0] = url();
    const Ran ran = runCtl(QStringList(QStringLiteral("run")) + arguments);
    QVERIFY2(ran.err.contains(says), ran.err.constData());
    QCOMPARE(ran.err.count('\n'), 1);
    QTEST(ran.code, "code");
}

void TstCtlRun::aBadCommandGivesTheLeaseBack()
{
    // Executable by its mode, but not for the kernel: known only once it is tried.
    QFile script(path("bad"));
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write("#!/no/such/interpreter\n");
    script.close();
    script.setPermissions(QFileDevice::ReadOwner | QFileDevice::ExeOwner);
    const Ran ran = run({QStringLiteral("--ttl"), QStringLiteral("60s"), QStringLiteral("--once")}, {script.fileName()});
    QCOMPARE(ran.code, 127);
    QVERIFY2(ran.err.contains("cannot be run"), ran.err.constData());
    QCOMPARE(stateOf(QStringLiteral("job")), QStringLiteral("vacant"));
    QCOMPARE(stateOf(QStringLiteral("job@once")), QStringLiteral("vacant")); // nothing was begun
}

void TstCtlRun::signalsArePassedOn()
{
    Run first({url(), QStringLiteral("job"), QStringLiteral("--ttl"), QStringLiteral("60s"), QStringLiteral("--"),
        QStringLiteral("sh"), QStringLiteral("-c"),
        QStringLiteral("trap 'echo usr1' USR1; trap 'echo term; exit 9' TERM; echo ready; while :; do sleep 0.02; done")});
    QTRY_VERIFY_WITH_TIMEOUT(first.output().contains("ready"), 15'000);
    first.signal(SIGUSR1);
    QTRY_VERIFY_WITH_TIMEOUT(first.output().contains("usr1"), 15'000);
    first.signal(SIGTERM);
    QVERIFY(first.ended());
    QVERIFY(first.output().contains("term"));
    QCOMPARE(first.code(), 9);
    // Given back, not left to run out.
    QCOMPARE(stateOf(QStringLiteral("job")), QStringLiteral("vacant"));
}

void TstCtlRun::aStubbornCommandIsKilledInTheEnd()
{
    Run stubborn({url(), QStringLiteral("job"), QStringLiteral("--kill-after"), QStringLiteral("300ms"),
        QStringLiteral("--"), QStringLiteral(TICKER_PATH), path("log")});
    LifeLog log(path("log"));
    QTRY_VERIFY_WITH_TIMEOUT(!log.lives().isEmpty(), 15'000);
    stubborn.signal(SIGTERM);
    QVERIFY(stubborn.ended());
    QCOMPARE(stubborn.code(), 137);
    QCOMPARE(stateOf(QStringLiteral("job")), QStringLiteral("vacant"));
}

void TstCtlRun::whatIsLeftBehindEnds()
{
    // The ticker ends after 50 ms; the child in a session of its own would tick for ever.
    const Ran ran = run({}, {QStringLiteral(TICKER_PATH), path("log"), QStringLiteral("50")});
    QCOMPARE(ran.code, 0);
    LifeLog log(path("log"));
    const QList<Life> before = log.lives();
    QCOMPARE(before.size(), 1);
    QVERIFY(before[0].last <= tenure::BootClock::now().time_since_epoch().count());
    QCOMPARE(run({}, shell("sleep 0.2")).code, 0); // time to tick, if it could
    QCOMPARE(log.lives()[0].ticks, before[0].ticks);
}

void TstCtlRun::ifLeaderDoesNotWait()
{
    const QStringList ifLeader{QStringLiteral("--if-leader")};
    QCOMPARE(run(ifLeader, shell("exit 0")).code, 0); // nobody leads: it does
    Run leader({url(), QStringLiteral("job"), QStringLiteral("--"), QStringLiteral("sh"), QStringLiteral("-c"),
        QStringLiteral("echo ready; exec sleep 1000")});
    QTRY_VERIFY_WITH_TIMEOUT(leader.output().contains("ready"), 15'000);
    const Ran other = run(ifLeader, shell("echo never"));
    QCOMPARE(other.code, 3);
    QCOMPARE(other.out, QByteArray());
}

void TstCtlRun::aStepDownEndsCommand()
{
    Run leader({url(), QStringLiteral("job"), QStringLiteral("--ttl"), QStringLiteral("2s"), QStringLiteral("--on-lost"),
        QStringLiteral("echo lost $TENURE_LEASE"), QStringLiteral("--"), QStringLiteral("sh"), QStringLiteral("-c"),
        QStringLiteral("trap 'echo term; exit 0' TERM; echo \"as $TENURE_HOLDER\"; while :; do sleep 0.02; done")});
    QTRY_VERIFY_WITH_TIMEOUT(leader.output().contains("as tenurectl"), 15'000);
    const QByteArray line = leader.output();
    const QString holder = QString::fromUtf8(line.mid(line.indexOf("as ") + 3).trimmed());
    (void)runCtl({QStringLiteral("release"), url(), QStringLiteral("job"), QStringLiteral("--holder"), holder,
        QStringLiteral("--reason"), QStringLiteral("test"), QStringLiteral("--yes"), QStringLiteral("--wait"), QStringLiteral("1s")}, 30'000);
    QVERIFY(leader.ended());
    QCOMPARE(leader.code(), 7);
    QVERIFY2(leader.output().contains("term"), leader.output().constData());
    QVERIFY2(leader.output().contains("was lost"), leader.output().constData());
    QVERIFY2(leader.output().contains("lost job"), leader.output().constData()); // --on-lost
}

void TstCtlRun::systemdIsTold()
{
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const QByteArray name = path("notify").toLocal8Bit();
    std::copy(name.begin(), name.end(), address.sun_path);
    QCOMPARE(::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
    QByteArray told;
    const auto hear = [&] {
        char text[512];
        ssize_t size = 0;
        while ((size = recv(socket, text, sizeof text, 0)) > 0)
            told += QByteArray(text, size) + "\n";
        return told;
    };
    Run service({url(), QStringLiteral("job"), QStringLiteral("--"), QStringLiteral("sh"), QStringLiteral("-c"),
                    QStringLiteral("echo \"<$NOTIFY_SOCKET>\"; exec sleep 1000")},
        {QStringLiteral("NOTIFY_SOCKET=%1").arg(path("notify")), QStringLiteral("WATCHDOG_USEC=100000")});
    QTRY_VERIFY_WITH_TIMEOUT(hear().contains("READY=1"), 15'000);
    QTRY_VERIFY_WITH_TIMEOUT(hear().contains("STATUS=leading job, token "), 15'000);
    QTRY_VERIFY_WITH_TIMEOUT(hear().count("WATCHDOG=1") >= 3, 15'000);
    service.signal(SIGTERM);
    QVERIFY(service.ended());
    QCOMPARE(service.code(), 143);
    QVERIFY(hear().contains("STOPPING=1"));
    QVERIFY(service.output().contains("<>")); // COMMAND does not speak in its name
    ::close(socket);
}

void TstCtlRun::theTerminalIsKept_data()
{
    QTest::addColumn<QString>("script");
    QTest::addColumn<QByteArray>("typed");
    QTest::addColumn<QByteArray>("said");
    QTest::addRow("COMMAND reads it") << QStringLiteral("test -t 1; echo READY; read x; echo got $x; exit 4")
                                      << QByteArray("hello\n") << QByteArray("got hello\r\nCODE 4");
    QTest::addRow("Ctrl-C ends COMMAND") << QStringLiteral("echo READY; sleep 1000") << QByteArray("\x03")
                                         << QByteArray("CODE 130");
    QTest::addRow("its modes are mended") << QStringLiteral("stty -echo; echo READY; sleep 1000") << QByteArray("\x03")
                                          << QByteArray("CODE 130\r\n echo");
}

/// Under a shell on a terminal of its own.
void TstCtlRun::theTerminalIsKept()
{
    QFETCH(QString, script);
    QFETCH(QByteArray, typed);
    QFETCH(QByteArray, said);
    const QByteArray line = QStringLiteral("'%1' run '%2' job -- sh -c '%3'; echo CODE $?; stty -a | grep -o ' -*echo '")
                                .arg(QStringLiteral(TENURECTL_PATH), url(), script).toLocal8Bit();
    int terminal = -1;
    const pid_t shell = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (shell == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sh", "sh", "-c", line.constData(), nullptr);
        _exit(127);
    }
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    QByteArray heard;
    const auto hears = [&](const QByteArray &words) {
        char text[512];
        ssize_t size = 0;
        while ((size = read(terminal, text, sizeof text)) > 0)
            heard += QByteArray(text, size);
        return heard.contains(words);
    };
    QTRY_VERIFY_WITH_TIMEOUT(hears("READY"), 20'000);
    QCOMPARE(write(terminal, typed.constData(), static_cast<std::size_t>(typed.size())), typed.size());
    QTRY_VERIFY_WITH_TIMEOUT(hears(said), 20'000);
    ::kill(shell, SIGKILL);
    waitpid(shell, nullptr, 0);
    ::close(terminal);
}

QTEST_GUILESS_MAIN(TstCtlRun)
#include "tst_ctl_run.moc"
