// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/open_work_queue.h"
#include "tests/process/ctl_process.h"

#ifdef TENURE_HAVE_POSTGRES
#include "tests/support/postgres_server.h"
#endif

#include <QTemporaryDir>
#include <QTest>

#include <memory>

#include <sqlite3.h>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

/// `tenurectl work` as people and scripts use it, on every store that keeps queues.
class TstCtlWork : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aQueueFromTheFirstItemToTheRetry_data() { stores(); }
    void aQueueFromTheFirstItemToTheRetry();
    void nothingIsLostByBadInput_data() { stores(); }
    void nothingIsLostByBadInput();
    void refuses_data();
    void refuses();
    void aDryRunMakesNothing();

private:
    static void stores();
    [[nodiscard]] StoreUri uri();
    [[nodiscard]] QString url() { return QString::fromStdString(uri().secretText()); }
    [[nodiscard]] Ran work(const QStringList &words, const QByteArray &in = {});
    [[nodiscard]] QJsonObject counts();
    /// Takes one item and gives it up for the last time.
    void failOne();
    void makeNewer();

    std::unique_ptr<QTemporaryDir> m_dir;
    QString m_queue;
    int m_queues = 0;
#ifdef TENURE_HAVE_POSTGRES
    std::unique_ptr<PostgresServer> m_server;
#endif
};

void TstCtlWork::initTestCase()
{
    m_dir = std::make_unique<QTemporaryDir>();
#ifdef TENURE_HAVE_POSTGRES
    if (PostgresServer::installed())
        m_server = std::make_unique<PostgresServer>();
#endif
}

void TstCtlWork::stores()
{
    QTest::addColumn<bool>("onPostgres");
    QTest::newRow("sqlite") << false;
#ifdef TENURE_HAVE_POSTGRES
    QTest::newRow("postgresql") << true;
#endif
}

/// Of the row's store; each test has a queue of its own there.
StoreUri TstCtlWork::uri()
{
#ifdef TENURE_HAVE_POSTGRES
    const QByteArray row = QTest::currentDataTag();
    if (row == "postgresql" && m_server)
        return m_server->socketUri();
#endif
    return StoreUri::parse("sqlite://" + m_dir->filePath(QStringLiteral("work.db")).toStdString()).value();
}

#define NEEDS_STORE() \
    QFETCH(bool, onPostgres); \
    if (onPostgres && !haveServer()) { \
        QVERIFY2(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"), "PostgreSQL is missing"); \
        QSKIP("PostgreSQL is not installed"); \
    } \
    m_queue = QStringLiteral("invoices %1").arg(++m_queues)

static bool haveServer()
{
#ifdef TENURE_HAVE_POSTGRES
    return PostgresServer::installed();
#else
    return false;
#endif
}

Ran TstCtlWork::work(const QStringList &words, const QByteArray &in)
{
    QProcess process;
    dieWithParent(process);
    process.start(QStringLiteral(TENURECTL_PATH),
        QStringList{QStringLiteral("work"), words.front(), url(), m_queue} + words.mid(1));
    process.write(in);
    process.closeWriteChannel();
    Ran ran;
    if (process.waitForFinished(30'000) && process.exitStatus() == QProcess::NormalExit)
        ran.code = process.exitCode();
    ran.out = process.readAllStandardOutput();
    ran.err = process.readAllStandardError();
    return ran;
}

QJsonObject TstCtlWork::counts()
{
    return QJsonDocument::fromJson(work({QStringLiteral("counts"), QStringLiteral("--json")}).out).object();
}

void TstCtlWork::failOne()
{
    const auto queue = openWorkQueue(uri(), m_queue.toStdString()).value();
    const Worker worker{HolderId::parse("w1").value(), {}};
    const auto claims = queue->claim(worker, 1, 60s, BootClock::now() + 10s);
    QVERIFY(claims && claims->size() == 1);
    Settlement failed{Settlement::Kind::Fail, claims->front().ticket, {}, {}, "no route\nto host"};
    QVERIFY(queue->settle(worker, std::span(&failed, 1), BootClock::now() + 10s));
}

void TstCtlWork::aQueueFromTheFirstItemToTheRetry()
{
    NEEDS_STORE();
    const QString journal = m_dir->filePath(QStringLiteral("journal-%1.db").arg(m_queues));
    const Ran first = work({QStringLiteral("put"), QStringLiteral("--key"), QStringLiteral("invoice-17"),
                               QStringLiteral("--max-attempts"), QStringLiteral("1")}, "{\"invoice\": 17}");
    QVERIFY2(first.code == 0, first.err.constData());
    const QByteArray id = first.out.trimmed();
    const Ran again = work({QStringLiteral("put"), QStringLiteral("--key"), QStringLiteral("invoice-17")}, "other");
    QCOMPARE(again.code, 0);
    QCOMPARE(again.out, id + "  (was there already)\n");
    QCOMPARE(work({QStringLiteral("put"), QStringLiteral("--delay"), QStringLiteral("1h")}, "later").code, 0);
    QJsonObject seen = counts();
    QStringList keys = seen.keys();
    QCOMPARE(keys, (QStringList{QStringLiteral("completed"), QStringLiteral("dead"), QStringLiteral("delayed"), QStringLiteral("fence"),
                       QStringLiteral("late"), QStringLiteral("oldest_pending_ms"), QStringLiteral("pending"),
                       QStringLiteral("processing"), QStringLiteral("queue")}));
    QCOMPARE(seen[QStringLiteral("queue")].toString(), m_queue);
    QCOMPARE(seen[QStringLiteral("pending")].toInt(), 1);
    QCOMPARE(seen[QStringLiteral("delayed")].toInt(), 1);
    QVERIFY(seen[QStringLiteral("oldest_pending_ms")].isDouble());
    QVERIFY(work({QStringLiteral("counts")}).out.contains("pending     1   oldest put in"));

    failOne();
    QCOMPARE(counts()[QStringLiteral("dead")].toInt(), 1);
    const QJsonObject dead = QJsonDocument::fromJson(work({QStringLiteral("list"), QStringLiteral("--json")}).out).object();
    QCOMPARE(QByteArray::number(dead[QStringLiteral("id")].toInteger()), id);
    QCOMPARE(dead[QStringLiteral("reason")].toString(), QStringLiteral("no route\nto host"));
    QCOMPARE(dead[QStringLiteral("excerpt")].toString(), QStringLiteral("{\"invoice\": 17}"));
    QCOMPARE(dead[QStringLiteral("worker")].toString(), QStringLiteral("w1"));
    const Ran shown = work({QStringLiteral("list")});
    QCOMPARE(shown.out.count('\n'), 1); // what a worker wrote cannot make a line of its own
    QVERIFY2(shown.out.contains("no route\\nto host"), shown.out.constData());

    const QStringList noted{QStringLiteral("--journal"), journal, QStringLiteral("--reason"), QStringLiteral("INC-1")};
    const Ran retried = work(QStringList{QStringLiteral("retry"), QStringLiteral("--id"), QString::fromLatin1(id)} + noted);
    QVERIFY2(retried.code == 0, retried.err.constData());
    QCOMPARE(retried.out, QByteArray("1 back to pending\n"));
    QCOMPARE(retried.err, QByteArray());
    QCOMPARE(counts()[QStringLiteral("pending")].toInt(), 1);
    QCOMPARE(work(QStringList{QStringLiteral("retry"), QStringLiteral("--id"), QString::fromLatin1(id)} + noted).code, 3); // none any more
    failOne();
    QCOMPARE(work(QStringList{QStringLiteral("retry"), QStringLiteral("--all")} + noted).out, QByteArray("1 back to pending\n"));
    const Ran history = runCtl({QStringLiteral("history"), QStringLiteral("--journal"), journal});
    QVERIFY2(history.out.contains("retry") && history.out.contains("INC-1"), history.out.constData());
    QVERIFY2(history.out.contains("every dead letter of " + m_queue.toUtf8()), history.out.constData());
}

void TstCtlWork::makeNewer()
{
#ifdef TENURE_HAVE_POSTGRES
    const QByteArray row = QTest::currentDataTag();
    if (row == "postgresql")
        return (void)m_server->run("UPDATE tenure.tenure_queue SET version = 99 WHERE name = $1", {m_queue.toStdString()});
#endif
    sqlite3 *db = nullptr;
    sqlite3_open(uri().path.c_str(), &db);
    const QString sql = QStringLiteral("UPDATE tenure_queue SET version=99 WHERE name='%1'").arg(m_queue);
    QCOMPARE(sqlite3_exec(db, sql.toUtf8().constData(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
}

void TstCtlWork::nothingIsLostByBadInput()
{
    NEEDS_STORE();
    const Ran absent = work({QStringLiteral("counts")});
    QCOMPARE(absent.code, 3);
    QVERIFY2(absent.err.contains("no queue"), absent.err.constData());
    QCOMPARE(work({QStringLiteral("put")}, "small").code, 0);
    const Ran large = work({QStringLiteral("put")}, QByteArray(10'000'000, 'x'));
    QCOMPARE(large.code, 2);
    QVERIFY2(large.err.contains("larger than the limit of 1048576"), large.err.constData());
    QCOMPARE(work({QStringLiteral("put")}, QByteArray(1 << 20, '\0')).code, 0); // the largest, of any bytes
    QCOMPARE(counts()[QStringLiteral("pending")].toInt(), 2);
    makeNewer();
    for (const QStringList &words : {QStringList{QStringLiteral("counts")}, QStringList{QStringLiteral("list")}, QStringList{QStringLiteral("put")},
             QStringList{QStringLiteral("retry"), QStringLiteral("--all"), QStringLiteral("--journal"), m_dir->filePath(QStringLiteral("j.db"))}}) {
        const Ran ran = work(words, "y");
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.err.contains("newer Tenure"), ran.err.constData());
        QCOMPARE(ran.err.count('\n'), 1);
    }
}

void TstCtlWork::refuses_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char *name, const char *words, int code, const char *says) {
        QTest::newRow(name) << QString::fromUtf8(words).split(QLatin1Char('|')) << code << QByteArray(says);
    };
    row("no action", "work", 2, "");
    row("no queue", "work|counts|sqlite:///x/y.db", 2, "QUEUE");
    row("a store without queues", "work|counts|redis://localhost|q", 1, "SQLite and PostgreSQL");
    row("no such file", "work|counts|sqlite:///no/such/file.db|q", 3, "/no/such/file.db");
    row("an odd state", "work|list|sqlite:///x/y.db|q|--state|odd", 2, "pending, processing");
    row("which one", "work|retry|sqlite:///x/y.db|q", 2, "--id");
    row("both", "work|retry|sqlite:///x/y.db|q|--id|1|--all", 2, "--all");
    row("an empty name", "work|counts|sqlite:///x/y.db|", 2, "name");
    row("nobody there", "work|counts|postgresql://127.0.0.1:1/x|q", 6, "127.0.0.1");
}

void TstCtlWork::refuses()
{
    QFETCH(QStringList, words);
    QFETCH(QByteArray, says);
#ifndef TENURE_HAVE_POSTGRES
    if (words.contains(QStringLiteral("postgresql://127.0.0.1:1/x")))
        QSKIP("built without PostgreSQL");
#endif
    const Ran ran = runCtl(words, 20'000);
    QVERIFY2(ran.err.contains(says), ran.err.constData());
    QCOMPARE(ran.err.count('\n'), 1);
    QTEST(ran.code, "code");
}

void TstCtlWork::aDryRunMakesNothing()
{
    const QString file = m_dir->filePath(QStringLiteral("untouched.db"));
    const QStringList init{QStringLiteral("work"), QStringLiteral("init"), QStringLiteral("sqlite://") + file, QStringLiteral("q")};
    const Ran ran = runCtl(init + QStringList{QStringLiteral("--dry-run")});
    QCOMPARE(ran.code, 0);
    QVERIFY(ran.out.contains("CREATE TABLE"));
    QVERIFY(!QFile::exists(file));
    QCOMPARE(runCtl(init).code, 0);
    QVERIFY(QFile::exists(file));
}

QTEST_GUILESS_MAIN(TstCtlWork)
#include "tst_ctl_work.moc"
