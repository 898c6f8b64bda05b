// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random.h"
#include "core/work/open_work_queue.h"
#include "tests/process/ctl_process.h"
#ifdef TENURE_HAVE_POSTGRES
#include "tests/support/postgres_server.h"
#endif

#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <memory>
#include <set>

#include <sqlite3.h>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;

/// A thousand items, five workers that are killed, stopped beyond their claims' end and restarted, and a
/// store that is killed, too: each item is completed exactly once, none is stuck, no effect is doubled.
class TstWorkStorm : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void storm_data();
    void storm();

private:
    void launch(std::size_t index);
    void strike(Random &random);
    void checkOutcome(WorkQueue &queue);
    void sql(const char *text, const std::function<void(sqlite3_stmt *)> &row = {}) const;
    [[nodiscard]] QString path(const char *name) const { return m_dir->filePath(QString::fromLatin1(name)); }

    static constexpr int kItems = 1000;
    std::unique_ptr<QTemporaryDir> m_dir;
    QString m_url;
    std::vector<std::unique_ptr<QProcess>> m_workers;
#ifdef TENURE_HAVE_POSTGRES
    std::unique_ptr<PostgresServer> m_server;
#endif
};

void TstWorkStorm::storm_data()
{
    QTest::addColumn<bool>("onPostgres");
    QTest::addRow("SQLite") << false;
#ifdef TENURE_HAVE_POSTGRES
    QTest::addRow("PostgreSQL") << true;
#endif
}

void TstWorkStorm::sql(const char *text, const std::function<void(sqlite3_stmt *)> &row) const
{
    sqlite3 *db = nullptr;
    QCOMPARE(sqlite3_open(path("effects.db").toUtf8(), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 20'000);
    sqlite3_stmt *statement = nullptr;
    QCOMPARE(sqlite3_prepare_v2(db, text, -1, &statement, nullptr), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        row(statement);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

void TstWorkStorm::launch(std::size_t index)
{
    auto worker = std::make_unique<QProcess>();
    dieWithParent(*worker);
    worker->setProcessChannelMode(QProcess::ForwardedChannels);
    worker->start(QStringLiteral(WORK_WORKER_PATH),
        {m_url, QStringLiteral("storm"), path("effects.db"), path("log"), QStringLiteral(FENCED_WRITE_SQL)});
    QVERIFY(worker->waitForStarted());
    m_workers[index] = std::move(worker);
}

void TstWorkStorm::strike(Random &random)
{
    const std::size_t index = random.below(m_workers.size());
    const auto pid = static_cast<pid_t>(m_workers[index]->processId());
    if (random.chance(0.5)) {
        m_workers[index]->kill();
        m_workers[index]->waitForFinished();
        launch(index);
    } else {
        ::kill(pid, SIGSTOP);
        QTest::qWait(600); // its claims run out meanwhile
        ::kill(pid, SIGCONT);
    }
}

void TstWorkStorm::storm()
{
    QFETCH(bool, onPostgres);
    m_dir = std::make_unique<QTemporaryDir>();
    StoreUri uri = StoreUri::parse("sqlite://" + path("work.db").toStdString()).value();
#ifdef TENURE_HAVE_POSTGRES
    if (onPostgres) {
        if (!PostgresServer::installed()) {
            QVERIFY2(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"), "PostgreSQL is missing");
            QSKIP("PostgreSQL is not installed");
        }
        m_server = std::make_unique<PostgresServer>();
        uri = m_server->socketUri();
    }
#endif
    m_url = QString::fromStdString(uri.secretText());
    sql("CREATE TABLE fenced(name TEXT PRIMARY KEY, token INTEGER NOT NULL, value TEXT NOT NULL)");
    const auto queue = openWorkQueue(uri, "storm").value();
    std::vector<NewItem> items;
    for (int i = 0; i < kItems; ++i)
        items.push_back({"item " + std::to_string(i), "key " + std::to_string(i), {}, 1000});
    QVERIFY(queue->enqueue(items, BootClock::now() + 60s));
    m_workers.resize(5);
    for (std::size_t i = 0; i < m_workers.size(); ++i)
        launch(i);
    Random random(qEnvironmentVariableIntValue("TENURE_SEED") + 1U);
    QElapsedTimer timer;
    timer.start();
    std::uint64_t completed = 0;
    for (int strikes = 0; completed < kItems && timer.elapsed() < 200'000; ++strikes) {
        strike(random);
        QTest::qWait(100);
#ifdef TENURE_HAVE_POSTGRES
        if (onPostgres && strikes % 4 == 2 && strikes < 40) {
            m_server->kill();
            m_server->start();
        }
#endif
        const auto counts = queue->counts(BootClock::now() + 10s);
        completed = counts ? counts->completed : completed;
    }
    for (const auto &worker : m_workers) {
        worker->kill();
        worker->waitForFinished();
    }
    m_workers.clear();
    QCOMPARE(completed, std::uint64_t{kItems});
    checkOutcome(*queue);
#ifdef TENURE_HAVE_POSTGRES
    m_server.reset();
#endif
}

void TstWorkStorm::checkOutcome(WorkQueue &queue)
{
    const auto counts = queue.counts(BootClock::now() + 30s);
    QVERIFY(counts);
    QCOMPARE(counts->pending + counts->delayed + counts->processing + counts->late + counts->dead, std::uint64_t{0});
    const auto all = queue.items(ItemState::Completed, 0, 1000, BootClock::now() + 30s);
    QVERIFY(all);
    QCOMPARE(all->size(), std::size_t{kItems});
    std::map<std::int64_t, std::uint64_t> tokens;
    int repeated = 0;
    for (const ItemView &one : *all) {
        tokens[one.id] = one.token.value;
        repeated += one.attempts > 1 ? 1 : 0;
    }
    QVERIFY2(repeated > 0, "no fault struck anybody");
    // The effect that stands is that of the claim that completed, once for each item.
    int effects = 0;
    sql("SELECT name, token FROM fenced", [&](sqlite3_stmt *row) {
        ++effects;
        QCOMPARE(static_cast<std::uint64_t>(sqlite3_column_int64(row, 1)), tokens[sqlite3_column_int64(row, 0)]);
    });
    QCOMPARE(effects, kItems);
    // Nobody was told "done" but the claim that the store has.
    QFile log(path("log"));
    QVERIFY(log.open(QIODevice::ReadOnly));
    std::set<std::int64_t> told;
    for (const QByteArray &line : log.readAll().split('\n')) {
        const QList<QByteArray> words = line.split(' ');
        if (words.size() != 2)
            continue;
        QVERIFY2(told.insert(words[0].toLongLong()).second, "completed twice");
        QCOMPARE(static_cast<std::uint64_t>(words[1].toULongLong()), tokens[words[0].toLongLong()]);
    }
    QVERIFY(told.size() > kItems / 2);
    qInfo("%d of %d items needed more than one attempt", repeated, kItems);
}

QTEST_GUILESS_MAIN(TstWorkStorm)
#include "tst_work_storm.moc"
