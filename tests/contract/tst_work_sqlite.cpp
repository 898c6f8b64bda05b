// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/open_work_queue.h"
#include "core/work/queue_names.h"
#include "work_contract.h"

#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>

using namespace tenure;

class TstWorkSqlite : public WorkContract
{
    Q_OBJECT

protected:
    std::unique_ptr<WorkQueue> open(const std::string &queue) override
    {
        const auto uri = StoreUri::parse("sqlite://" + path());
        return std::move(*openWorkQueue(*uri, queue));
    }
    void makeNewer(const std::string &queue) override
    {
        run("UPDATE tenure_queue SET version=99 WHERE name='" + queue + "'");
    }

private Q_SLOTS:
    void aRebootEndsEveryClaim();
    void otherStoresAreRefused();
    void namesAreLookedAt();

private:
    [[nodiscard]] std::string path() const { return m_dir.filePath(QStringLiteral("work.db")).toStdString(); }
    void run(const std::string &sql) const
    {
        sqlite3 *db = nullptr;
        QCOMPARE(sqlite3_open(path().c_str(), &db), SQLITE_OK);
        QCOMPARE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(db);
    }
    QTemporaryDir m_dir;
};

void TstWorkSqlite::aRebootEndsEveryClaim()
{
    (void)put({"claimed"});
    (void)put({"delayed", {}, std::chrono::hours(1)});
    const auto old = claim(*m_queue, 1, std::chrono::hours(1));
    QCOMPARE(old.size(), std::size_t{1});
    run("UPDATE tenure_queue SET boot='another boot'");
    QCOMPARE(settle(*m_queue, {Settlement::Kind::Complete, old[0].ticket}), Settled::Lost);
    QCOMPARE(claim(*m_queue).size(), std::size_t{2});
}

void TstWorkSqlite::otherStoresAreRefused()
{
    const auto redis = openWorkQueue(*StoreUri::parse("redis://localhost"), "q");
    QVERIFY(!redis);
    QCOMPARE(redis.error().kind, ErrorKind::Unsupported);
    QCOMPARE(openWorkQueue(*StoreUri::parse("sqlite:///x/y.db"), "").error().kind, ErrorKind::BadConfig);
}

void TstWorkSqlite::namesAreLookedAt()
{
    QCOMPARE(openQueueNames(*StoreUri::parse("redis://localhost")).error().kind, ErrorKind::Unsupported);
    const QString file = m_dir.filePath(QStringLiteral("names.db"));
    const auto uri = *StoreUri::parse("sqlite://" + file.toStdString());
    const auto names = std::move(*openQueueNames(uri));
    QCOMPARE(names->read(soon()).error().kind, ErrorKind::NotFound);
    QVERIFY(!QFile::exists(file)); // a look makes nothing
    for (const char *name : {"zebra", "a \xc3\xa4 'x'"})
        QVERIFY(openWorkQueue(uri, name).value()->init(false, soon()));
    QCOMPARE(names->read(soon()).value(), (std::vector<std::string>{"a \xc3\xa4 'x'", "zebra"}));
    QVERIFY(QFile::remove(file));
    QCOMPARE(names->read(soon()).error().kind, ErrorKind::NotFound); // not what an unlinked file still says
}

QTEST_GUILESS_MAIN(TstWorkSqlite)
#include "tst_work_sqlite.moc"
