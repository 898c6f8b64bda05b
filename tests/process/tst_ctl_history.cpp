// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/process/ctl_process.h"

#include "core/base/sha256.h"
#include "core/runtime/alert_outlet.h"

#include <QDir>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

/// What is watched is kept, told, exported, measured and sent on, through real processes.
class TestCtlHistory : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void watchedChangesAreToldAndExported();
    void aReleaseIsNotedBeforeAndAfter();
    void whatIsMissingIsSaid();
    void momentsFollowTheSetting();
    void prometheusReadsTheMetrics();
    void webhooksAreSignedAndTriedAgain();
    void redirectsAreRefused();
    void alertmanagerIsToldOfTheEnd();
};

namespace
{

QString s(const char *text)
{
    return QString::fromLatin1(text);
}

/// A process that is ended with the scope.
struct Running {
    explicit Running(const QStringList &arguments)
    {
        dieWithParent(process);
        process.start(s(TENURECTL_PATH), arguments);
        process.waitForStarted();
    }
    ~Running()
    {
        process.kill();
        process.waitForFinished();
    }
    void end()
    {
        process.terminate();
        process.waitForFinished(20'000);
    }
    QProcess process;
};

/// A web server that keeps what it was sent and answers with what it was told to.
class Receiver : public QTcpServer
{
public:
    explicit Receiver(QByteArrayList answers) : m_answers(std::move(answers))
    {
        listen(QHostAddress::LocalHost, 0);
        connect(this, &QTcpServer::newConnection, this, [this] {
            QTcpSocket *client = nextPendingConnection();
            connect(client, &QTcpSocket::readyRead, client, [this, client] { read(client); });
            connect(client, &QTcpSocket::disconnected, client, &QObject::deleteLater);
        });
    }
    [[nodiscard]] std::string url(const char *path) const
    {
        return "http://127.0.0.1:" + std::to_string(serverPort()) + path;
    }
    QByteArrayList requests; ///< whole

private:
    void read(QTcpSocket *client)
    {
        QByteArray &text = m_partial[client];
        text += client->readAll();
        const qsizetype body = text.indexOf("\r\n\r\n") + 4;
        const qsizetype length = text.toLower().indexOf("content-length: ");
        if (body < 4 || length < 0)
            return;
        const qsizetype wanted = text.mid(length + 16, text.indexOf('\r', length) - length - 16).toLongLong();
        if (text.size() < body + wanted)
            return;
        requests << text;
        m_partial.remove(client);
        const QByteArray answer = m_answers.size() > 1 ? m_answers.takeFirst() : m_answers.first();
        client->write("HTTP/1.1 " + answer + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        client->disconnectFromHost();
    }
    QByteArrayList m_answers;
    QHash<QTcpSocket *, QByteArray> m_partial;
};

QByteArray header(const QByteArray &request, const QByteArray &name)
{
    const qsizetype at = request.toLower().indexOf("\r\n" + name.toLower() + ": ");
    const qsizetype from = at + name.size() + 4;
    return at < 0 ? QByteArray() : request.mid(from, request.indexOf('\r', from) - from);
}

QByteArray bodyOf(const QByteArray &request)
{
    return request.mid(request.indexOf("\r\n\r\n") + 4);
}

Alert alertOf(AlertState state)
{
    Alert alert;
    alert.id = 1;
    alert.rule = "leaderless";
    alert.priority = 1;
    alert.lease = LeaseId::observed("billing/\"x\"");
    alert.state = state;
    alert.text = "Nobody leads";
    alert.action = "Find out why";
    alert.firstAt = alert.lastAt = BootClock::now();
    return alert;
}

std::unique_ptr<AlertOutlet> outlet(OutletSettings::Kind kind, const std::string &url)
{
    OutletSettings settings;
    settings.kind = kind;
    settings.url = url;
    settings.secret = "k3y";
    settings.source = "test";
    settings.firstPause = 10ms;
    auto made = AlertOutlet::make(settings);
    if (!made)
        qFatal("%s", made.error().text().c_str());
    return std::move(*made);
}

} // namespace

void TestCtlHistory::watchedChangesAreToldAndExported()
{
    const QTemporaryDir folder;
    const QString url = s("sqlite://") + folder.filePath(s("leases.db"));
    const QString journal = folder.filePath(s("journal.db"));
    QCOMPARE(runCtl({s("init"), url}).code, 0);
    {
        Running watch({s("list"), url, s("--watch"), s("--json"), s("--journal"), journal});
        QVERIFY(watch.process.waitForReadyRead(20'000));
        Campaign a(url, s("=billing"), s("2s"), s("a"));
        QTRY_VERIFY_WITH_TIMEOUT(a.leads(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(runCtl({s("history"), s("--journal"), journal, s("--json")}).out.contains("\"token\":"), 30'000);
        a.signal(SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(
            runCtl({s("history"), s("--journal"), journal}).out.contains("expired"), 30'000);
        watch.end();
    }
    const Ran told = runCtl({s("history"), s("--journal"), journal});
    QCOMPARE(told.code, 0);
    QVERIFY2(told.out.contains("=billing") && told.out.contains("changes of leadership on 1 leases"), told.out);
    const Ran csv = runCtl({s("history"), s("--journal"), journal, s("--csv")});
    QVERIFY2(csv.out.startsWith("at,server_time,connection,lease,change"), csv.out);
    QVERIFY2(csv.out.contains(",'=billing,"), "no formula for a spreadsheet");
    const QByteArrayList lines = runCtl({s("history"), s("--journal"), journal, s("--json")}).out.trimmed().split('\n');
    for (const QByteArray &line : lines)
        QVERIFY2(QJsonDocument::fromJson(line).isObject(), line);
    for (const char *name : {"r.md", "r.html", "r.svg"}) {
        const QString report = folder.filePath(s(name));
        QCOMPARE(runCtl({s("history"), s("--journal"), journal, s("--report"), report}).code, 0);
        QFile file(report);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QVERIFY2(text.contains("=billing"), text.left(300));
        QVERIFY(!text.contains("<script"));
    }
    const QString copy = folder.filePath(s("copy.db"));
    const QString exported = folder.filePath(s("export.jsonl"));
    QFile file(exported);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(lines.join('\n'));
    file.close();
    QCOMPARE(runCtl({s("history"), s("--import"), exported}).code, 2); // never into one's own
    QCOMPARE(runCtl({s("history"), s("--import"), exported, s("--journal"), copy}).code, 0);
    const Ran theirs = runCtl({s("history"), s("--journal"), copy, s("--csv")});
    QCOMPARE(theirs.out.count('\n'), csv.out.count('\n'));
}

void TestCtlHistory::aReleaseIsNotedBeforeAndAfter()
{
    const QTemporaryDir folder;
    const QString url = s("sqlite://") + folder.filePath(s("leases.db"));
    const QString journal = folder.filePath(s("journal.db"));
    QCOMPARE(runCtl({s("init"), url}).code, 0);
    Campaign a(url, s("billing"), s("5s"), s("a"));
    QTRY_VERIFY_WITH_TIMEOUT(a.leads(), 20'000);
    const QString holder = a.last(s("gained"))[s("holder")].toString();
    const Ran released = runCtl({s("release"), url, s("billing"), s("--holder"), holder, s("--mode"), s("clear"),
                                    s("--reason"), s("INC-4711"), s("--yes"), s("--wait"), s("5s"), s("--journal"), journal},
        30'000);
    // A healthy holder may well take it back at once, which release says with another code.
    QVERIFY2(released.out.contains("Released"), released.out + released.err);
    const Ran told = runCtl({s("history"), s("--journal"), journal, s("--json")});
    QVERIFY2(told.out.contains("\"reason\":\"INC-4711\"") && told.out.contains("\"intent\":1"), told.out);
    const Ran verified = runCtl({s("history"), s("--journal"), journal, s("--verify")});
    QCOMPARE(verified.code, 0);
    QVERIFY2(verified.out.contains("sound: 2 actions"), verified.out);
}

void TestCtlHistory::whatIsMissingIsSaid()
{
    const QTemporaryDir folder;
    const Ran none = runCtl({s("history"), s("--journal"), folder.filePath(s("none.db"))});
    QCOMPARE(none.code, 3);
    QVERIFY2(none.err.contains("no journal yet"), none.err);
    QVERIFY(!QFile::exists(folder.filePath(s("none.db"))));
}

/// What people read is in the zone of the settings, what programs read in UTC with Z.
void TestCtlHistory::momentsFollowTheSetting()
{
    const QTemporaryDir folder;
    const auto write = [](const QString &path, const QByteArray &text) {
        QFile file(path);
        return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
    };
    QVERIFY(QDir(folder.path()).mkpath(s("tenure")));
    QVERIFY(write(folder.filePath(s("tenure/settings.json")), R"({"version": 1, "times": "local"})"));
    const QString lines = folder.filePath(s("theirs.jsonl"));
    QVERIFY(write(lines, R"({"v":1,"type":"transition","connection":"prod","lease":"billing","kind":"expired",)"
                         R"("old_holder":"a","token":7,"at":"2026-11-29T20:30:00.250Z",)"
                         R"("explanation":"stopped renewing at 20:29:45.1, expired 15.0 s later"})" "\n"));
    const QString journal = folder.filePath(s("theirs.db"));
    QCOMPARE(runCtl({s("history"), s("--import"), lines, s("--journal"), journal}).code, 0);
    // A zone off by a quarter of an hour, which takes the moment into the next day.
    const QStringList environment{s("XDG_CONFIG_HOME=") + folder.path(), s("TZ=NPT-5:45")};
    const auto history = [&](const QStringList &more) {
        return runCtl(QStringList{s("history"), s("--journal"), journal, s("--since"), s("2026-11-29T00:00:00Z"), s("--until"),
                          s("2026-11-30T00:00:00Z")} + more, 20'000, environment).out;
    };
    const QByteArray local = history({});
    QVERIFY2(local.contains("2026-11-30 02:15:00.250 NPT") && local.contains("at 02:14:45.1,"), local);
    const QByteArray both = history({s("--times"), s("both")});
    QVERIFY2(both.contains("2026-11-29T20:30:00.250Z (02:15:00 NPT)") && both.contains("20:29:45.1 / 02:14:45.1"), both);
    const QByteArray utc = history({s("--times"), s("utc")});
    QVERIFY2(utc.contains("2026-11-29T20:30:00.250Z") && !utc.contains("NPT"), utc);
    for (const char *format : {"--csv", "--json"}) {
        const QByteArray out = history({s(format)});
        QVERIFY2(out.contains("2026-11-29T20:30:00.250Z") && !out.contains("NPT") && !out.contains("02:14"), out);
    }
    QCOMPARE(runCtl({s("history"), s("--journal"), journal, s("--times"), s("mars")}).code, 2);
    const auto show = [&](const QStringList &more) {
        return runCtl(QStringList{s("show"), s("demo:"), s("billing/ledger")} + more, 20'000, environment).out;
    };
    QVERIFY2(show({}).contains(" NPT  ("), show({}));
    QVERIFY2(show({s("--times"), s("utc")}).contains("Z  (") && !show({s("--times"), s("utc")}).contains("NPT"), show({}));
    QVERIFY2(!show({s("--json")}).contains("NPT"), show({s("--json")}));
}

void TestCtlHistory::prometheusReadsTheMetrics()
{
    Running metrics({s("metrics"), s("demo:"), s("--listen"), s("127.0.0.1:0")});
    QVERIFY(metrics.process.waitForReadyRead(30'000));
    const QString url = QString::fromUtf8(metrics.process.readAllStandardOutput()).trimmed();
    const QString address = url.section(QLatin1Char('/'), 2, 2);
    const auto get = [&](const char *path) {
        QTcpSocket socket;
        socket.connectToHost(QHostAddress::LocalHost, address.section(QLatin1Char(':'), 1).toUShort());
        socket.waitForConnected(5000);
        socket.write(QByteArray("GET ") + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
        while (socket.waitForReadyRead(5000)) { }
        return socket.readAll();
    };
    QTRY_VERIFY_WITH_TIMEOUT(get("/metrics").contains("tenure_lease_leader_info{"), 20'000);
    const QByteArray answer = get("/metrics");
    QVERIFY(answer.startsWith("HTTP/1.1 200 OK"));
    QVERIFY(get("/other").startsWith("HTTP/1.1 404"));
    const QByteArray text = bodyOf(answer);
    for (const char *name : {"tenure_connection_up", "tenure_lease_transitions_total", "tenure_lease_since_renewal_seconds",
             "tenure_lease_headroom_ratio", "tenure_lease_leaderless_seconds_total", "tenure_alerts_firing"})
        QVERIFY2(text.contains(QByteArray("# TYPE ") + name), name);
    // A parser that is not ours: the one of Prometheus' own Python client.
    QProcess python;
    dieWithParent(python);
    python.start(s("/usr/bin/python3"), {s("-c"), s("import sys\n"
                                           "from prometheus_client.parser import text_string_to_metric_families as f\n"
                                           "n = [m for m in f(sys.stdin.read())]\n"
                                           "assert all(m.documentation for m in n)\n"
                                           "print(len(n), sum(len(m.samples) for m in n))\n")});
    if (!python.waitForStarted())
        QSKIP("no python3");
    python.write(text);
    python.closeWriteChannel();
    python.waitForFinished(30'000);
    const QByteArray said = python.readAllStandardError();
    if (said.contains("No module named") && qEnvironmentVariableIsEmpty("TENURE_REQUIRE_SERVERS"))
        QSKIP("python3-prometheus-client is not installed");
    QVERIFY2(python.exitCode() == 0, said);
    const QByteArrayList counts = python.readAllStandardOutput().trimmed().split(' ');
    QVERIFY(counts.value(0).toInt() >= 15 && counts.value(1).toInt() > 30);
}

void TestCtlHistory::webhooksAreSignedAndTriedAgain()
{
    Receiver receiver({"503 Busy", "429 Slow down", "200 OK"});
    const auto hook = outlet(OutletSettings::Kind::Webhook, receiver.url("/hook?x=1"));
    hook->tell("prod-eu", alertOf(AlertState::Firing));
    QTRY_COMPARE_WITH_TIMEOUT(hook->status().delivered, 1U, 20'000);
    QCOMPARE(receiver.requests.size(), 3);
    const QByteArray last = receiver.requests.last();
    QVERIFY2(last.startsWith("POST /hook?x=1 HTTP/1.1\r\n"), last.left(80));
    const QJsonObject sent = QJsonDocument::fromJson(bodyOf(last)).object();
    QCOMPARE(sent[s("event")].toString(), s("trigger"));
    QCOMPARE(sent[s("lease")].toString(), s("billing/\"x\""));
    const std::string stamp = header(last, "X-Tenure-Timestamp").toStdString();
    QCOMPARE(header(last, "X-Tenure-Signature").toStdString(),
        "sha256=" + hmacSha256Hex("k3y", stamp + "." + bodyOf(last).toStdString()));
    hook->tell("prod-eu", alertOf(AlertState::Firing)); // one more match is no change
    hook->tell("prod-eu", alertOf(AlertState::Returned));
    QTRY_COMPARE_WITH_TIMEOUT(hook->status().delivered, 2U, 20'000);
    const QJsonObject over = QJsonDocument::fromJson(bodyOf(receiver.requests.last())).object();
    QCOMPARE(over[s("event")].toString(), s("resolve"));
    QCOMPARE(over[s("dedup_key")].toString(), sent[s("dedup_key")].toString());
    QVERIFY(!last.contains("k3y"));
}

void TestCtlHistory::redirectsAreRefused()
{
    Receiver elsewhere({"200 OK"});
    Receiver receiver({QByteArray("302 Found\r\nLocation: ") + elsewhere.url("/stolen").c_str()});
    const auto hook = outlet(OutletSettings::Kind::Webhook, receiver.url("/hook"));
    hook->tell("prod-eu", alertOf(AlertState::Firing));
    QTRY_COMPARE_WITH_TIMEOUT(hook->status().failed, 1U, 20'000);
    QVERIFY(hook->status().lastProblem.find("redirect") != std::string::npos);
    QCOMPARE(receiver.requests.size(), 1);
    QVERIFY(elsewhere.requests.isEmpty());
    QVERIFY(!AlertOutlet::make({OutletSettings::Kind::Webhook, "file:///etc/passwd", {}, {}}).has_value());
}

void TestCtlHistory::alertmanagerIsToldOfTheEnd()
{
    Receiver receiver({"200 OK"});
    const auto manager = outlet(OutletSettings::Kind::Alertmanager, receiver.url("/am/"));
    manager->tell("prod-eu", alertOf(AlertState::Firing));
    QTRY_COMPARE_WITH_TIMEOUT(manager->status().delivered, 1U, 20'000);
    manager->tell("prod-eu", alertOf(AlertState::Resolved));
    QTRY_COMPARE_WITH_TIMEOUT(manager->status().delivered, 2U, 20'000);
    QVERIFY2(receiver.requests.first().startsWith("POST /am/api/v2/alerts HTTP"), receiver.requests.first().left(60));
    const QJsonObject first = QJsonDocument::fromJson(bodyOf(receiver.requests.first())).array().first().toObject();
    QCOMPARE(first[s("labels")].toObject()[s("alertname")].toString(), s("Tenure_leaderless"));
    QCOMPARE(first[s("labels")].toObject()[s("severity")].toString(), s("critical"));
    QVERIFY(first[s("startsAt")].toString().endsWith(QLatin1Char('Z')));
    QVERIFY(!first.contains(s("endsAt")));
    const QJsonObject last = QJsonDocument::fromJson(bodyOf(receiver.requests.last())).array().first().toObject();
    QVERIFY(last.contains(s("endsAt")));
    QCOMPARE(last[s("labels")].toObject(), first[s("labels")].toObject());
}

QTEST_GUILESS_MAIN(TestCtlHistory)
#include "tst_ctl_history.moc"
