// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/journal_kit.h"

#include "core/journal/journal_export.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sstream>

#include <sqlite3.h>
#include <sys/resource.h>

using namespace tenure;
using namespace tenure::test;

namespace
{

void sql(const std::string& path, const char* text)
{
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    sqlite3_exec(db, text, nullptr, nullptr, nullptr);
    sqlite3_close(db);
}

JournalState stateOf(const Journal& journal)
{
    return journal.status().state;
}

} // namespace

/// What can happen to a file: each is told as a state, and nothing ever blocks.
class TestJournalFaults : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void garbageIsSetAside();
    void aDamagedPageIsSetAside();
    void aFileThatIsNoJournalIsLeftAlone();
    void aNewerSchemaIsOnlyRead();
    void aFolderThatCannotBeMade();
    void aFullDiskIsOutlived();
    void aFileThatWasRemovedIsMadeAnew();
    void oneOfTwoKeepsAConnection();
    void aBoundedQueueSaysWhatItDropped();
    void sizeIsKeptWithinItsLimit();
    void anEditedActionIsFound();
    void exportAndImportAgree();
    void spreadsheetsRunNothing();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_path;
};

void TestJournalFaults::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_path = m_folder->filePath(QStringLiteral("journal.db")).toStdString();
}

void TestJournalFaults::garbageIsSetAside()
{
    QFile file(QString::fromStdString(m_path));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(8192, 'x'));
    file.close();
    JournalKit kit(m_path);
    kit.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QVERIFY(kit.journal->flush(10s));
    const JournalStatus status = kit.journal->status();
    QVERIFY2(status.sentence.find("damaged") != std::string::npos, status.sentence.c_str());
    QFile aside(QString::fromStdString(status.setAside));
    QVERIFY(aside.open(QIODevice::ReadOnly));
    QCOMPARE(aside.readAll(), QByteArray(8192, 'x'));
    QCOMPARE(JournalQuery::open(m_path)->events({}, 0, 9)->size(), 1U);
}

void TestJournalFaults::aDamagedPageIsSetAside()
{
    {
        JournalKit kit(m_path);
        for (int i = 0; i < 2000; ++i)
            kit.tell({i * 1s, TransitionKind::TakenOver, "a", "b", static_cast<std::uint64_t>(i)});
        QVERIFY(kit.journal->flush(10s));
    }
    sql(m_path, "PRAGMA wal_checkpoint(TRUNCATE)");
    QFile file(QString::fromStdString(m_path));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.size() > 100'000);
    for (qint64 at = 8192; at + 4096 < file.size(); at += 8192) {
        file.seek(at);
        file.write(QByteArray(4096, '\xA5'));
    }
    file.close();
    JournalKit kit(m_path);
    kit.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QVERIFY(kit.journal->flush(10s));
    QVERIFY(!kit.journal->status().setAside.empty());
    QCOMPARE(JournalQuery::open(m_path)->events({}, 0, 9)->size(), 1U);
}

void TestJournalFaults::aFileThatIsNoJournalIsLeftAlone()
{
    sql(m_path, "CREATE TABLE mine(a); INSERT INTO mine VALUES(1)");
    JournalKit kit(m_path);
    kit.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QTRY_COMPARE(stateOf(*kit.journal), JournalState::ReadOnly);
    QVERIFY(!kit.journal->flush(100ms));
    QVERIFY(kit.journal->status().sentence.find("no journal") != std::string::npos);
    QVERIFY(kit.journal->status().setAside.empty());
    QVERIFY(kit.journal->status().dropped > 0);
    QCOMPARE(JournalQuery::open(m_path).error().kind, ErrorKind::BadConfig);
}

void TestJournalFaults::aNewerSchemaIsOnlyRead()
{
    {
        JournalKit kit(m_path);
        kit.tell({1s, TransitionKind::Acquired, "", "a", 1});
        QVERIFY(kit.journal->flush(10s));
    }
    sql(m_path, "PRAGMA user_version=99");
    JournalKit kit(m_path);
    QTRY_COMPARE(stateOf(*kit.journal), JournalState::ReadOnly);
    kit.tell({2s, TransitionKind::Released, "a", "", 1});
    QVERIFY2(!kit.journal->record({}, 1s).has_value(), "told that it is not kept");
    auto query = JournalQuery::open(m_path);
    QVERIFY(query.has_value());
    QCOMPARE(query->notes().size(), 1U);
    QCOMPARE(query->events({}, 0, 9)->size(), 1U);
}

void TestJournalFaults::aFolderThatCannotBeMade()
{
    QFile file(m_folder->filePath(QStringLiteral("plain")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    JournalKit kit(m_folder->filePath(QStringLiteral("plain/journal.db")).toStdString());
    QTRY_COMPARE(stateOf(*kit.journal), JournalState::ReadOnly);
    kit.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QVERIFY(!kit.journal->flush(1s));
    QVERIFY(!kit.journal->status().sentence.empty());
}

void TestJournalFaults::aFullDiskIsOutlived()
{
    JournalKit kit(m_path);
    kit.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QVERIFY(kit.journal->flush(10s));
    // A limit on file sizes answers like a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit tight{4096, usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    for (int i = 2; i < 500; ++i)
        kit.tell({i * 1s, TransitionKind::TakenOver, "a", "b", static_cast<std::uint64_t>(i)});
    const bool kept = kit.journal->flush(500ms);
    const JournalState state = stateOf(*kit.journal);
    const std::string sentence = kit.journal->status().sentence;
    setrlimit(RLIMIT_FSIZE, &usual);
    QVERIFY(!kept);
    QCOMPARE(state, JournalState::Failing);
    QVERIFY(!sentence.empty());
    QTRY_VERIFY_WITH_TIMEOUT(kit.journal->flush(100ms), 20'000);
    QCOMPARE(stateOf(*kit.journal), JournalState::Writing);
    QCOMPARE(kit.journal->status().dropped, 0U);
    QCOMPARE(JournalQuery::open(m_path)->events({}, 0, 9999)->size(), 499U);
}

void TestJournalFaults::aFileThatWasRemovedIsMadeAnew()
{
    JournalKit kit(m_path);
    kit.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QVERIFY(kit.journal->flush(10s));
    for (const QString& name : QDir(m_folder->path()).entryList(QDir::Files))
        QVERIFY(QFile::remove(m_folder->filePath(name)));
    kit.tell({2s, TransitionKind::Released, "a", "", 1});
    QVERIFY(kit.journal->flush(10s));
    QCOMPARE(JournalQuery::open(m_path)->events({}, 0, 9)->size(), 1U);
}

void TestJournalFaults::oneOfTwoKeepsAConnection()
{
    JournalKit one(m_path);
    one.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QVERIFY(one.journal->flush(10s));
    JournalKit two(m_path);
    two.tell({1s, TransitionKind::Acquired, "", "a", 1});
    QVERIFY(two.journal->flush(10s));
    QCOMPARE(two.journal->status().elsewhere, std::vector<std::string>{"c1"});
    QVERIFY(one.journal->status().elsewhere.empty());
    JournalAction action;
    action.verb = "clear";
    QVERIFY2(two.journal->record(action, 10s).has_value(), "deeds are kept by whoever did them");
    QCOMPARE(JournalQuery::open(m_path)->events({}, 0, 9)->size(), 1U);
    one.journal.reset(); // its process ends: the other takes over
    two.tell({2s, TransitionKind::Released, "a", "", 1});
    QVERIFY(two.journal->flush(10s));
    QVERIFY(two.journal->status().elsewhere.empty());
    QCOMPARE(JournalQuery::open(m_path)->events({}, 0, 9)->size(), 2U);
}

void TestJournalFaults::aBoundedQueueSaysWhatItDropped()
{
    QFile file(QString::fromStdString(m_path));
    QVERIFY(QDir().mkpath(QString::fromStdString(m_path) + QStringLiteral("-wal"))); // cannot be opened
    ManualClock clock;
    Journal::Options options;
    options.path = m_path;
    options.queueLimit = 100;
    Journal journal(options, clock);
    for (int i = 0; i < 300; ++i)
        journal.append("c1", transition({1s, TransitionKind::Acquired, "", "a", 1}, clock.now()));
    QTRY_VERIFY(stateOf(journal) != JournalState::Opening);
    QVERIFY(!journal.flush(100ms));
    QVERIFY2(journal.status().dropped >= 100, "more than the queue holds was told");
}

void TestJournalFaults::sizeIsKeptWithinItsLimit()
{
    ManualClock clock;
    Journal::Options options;
    options.path = m_path;
    options.sizeLimit = 2'000'000;
    Journal journal(options, clock);
    JournalAction action;
    action.verb = "clear";
    QVERIFY(journal.record(action, 10s).has_value());
    std::uint64_t token = 0;
    for (int batch = 0; batch < 40; ++batch) {
        for (int i = 0; i < 1000; ++i) {
            clock.advance(10s);
            journal.append("c1", transition({0s, TransitionKind::TakenOver, "a", "b", ++token}, clock.now()));
        }
        QVERIFY(journal.flush(20s));
    }
    auto query = JournalQuery::open(m_path);
    const auto shrunk = [&] {
        const auto kept = query->events({}, 0, 100'000);
        return kept && kept->size() < 25'000 && journal.status().bytes < 2'600'000;
    };
    QTRY_VERIFY_WITH_TIMEOUT(shrunk(), 90'000);
    const auto newest = query->events({}, 0, 1);
    QCOMPARE(newest->front().token.value, token);
    QCOMPARE(query->actions({}, 0, 10)->size(), 1U);
    // Numbers of a window whose beginning is gone are still those of the window.
    const TimeWindow all{clock.wall() - 400'000s, clock.wall() + 1s};
    const auto sum = query->summary({"c1", LeaseId::observed("jobs/leader")}, all);
    QCOMPARE(sum->transitions, query->events({}, 0, 100'000)->size());
}

void TestJournalFaults::anEditedActionIsFound()
{
    {
        JournalKit kit(m_path);
        JournalAction action;
        action.verb = "clear";
        action.by = "op1";
        for (int i = 0; i < 5; ++i)
            QVERIFY(kit.journal->record(action, 10s).has_value());
    }
    QVERIFY(JournalQuery::open(m_path)->verify()->sound);
    sql(m_path, "UPDATE action SET who='op2' WHERE id=3");
    const auto edited = JournalQuery::open(m_path)->verify();
    QVERIFY(!edited->sound);
    QCOMPARE(edited->brokenAt, 3U);
    sql(m_path, "UPDATE action SET who='op1' WHERE id=3; DELETE FROM action WHERE id=2");
    QVERIFY(!JournalQuery::open(m_path)->verify()->sound);
}

void TestJournalFaults::exportAndImportAgree()
{
    JournalKit kit(m_path);
    kit.watched(0s, 100s);
    kit.tell({0s, TransitionKind::Appeared, "", "a", 7});
    kit.tell({20s, TransitionKind::Expired, "a", "", 7});
    kit.tell({25s, TransitionKind::Acquired, "", "b\n\"; DROP", 8, 5s});
    QVERIFY(kit.journal->flush(10s));
    auto query = JournalQuery::open(m_path);
    std::string lines = observedJsonLine("prod-eu", kit.window(0s, 100s)) + "\n";
    QVERIFY(eachEvent(*query, {}, [&](const JournalEvent& event) {
        lines += eventJsonLine(event, "prod-eu") + "\n";
        return true;
    }).has_value());
    lines += "no json\n{\"type\":\"other\"}\n";
    std::istringstream in(lines);
    const std::string copy = m_path + ".copy";
    const auto imported = importLines(in, copy);
    QVERIFY(imported.has_value());
    QCOMPARE(imported->taken, 4U);
    QCOMPARE(imported->passedOver, 2U);
    auto theirs = JournalQuery::open(copy);
    const auto sum = theirs->summary({"prod-eu", LeaseId::observed("jobs/leader")}, kit.window(0s, 100s));
    QCOMPARE(sum->transitions, 2U);
    QCOMPARE(sum->leaderless, Duration(5s));
    QCOMPARE(theirs->events({}, 0, 1)->front().newHolder, std::string("b\n\"; DROP"));
    QCOMPARE(theirs->events({}, 0, 1)->front().at, kit.wall(25s));
}

void TestJournalFaults::spreadsheetsRunNothing()
{
    QCOMPARE(csvField("=1+1"), std::string("'=1+1"));
    QCOMPARE(csvField("@SUM(A1)"), std::string("'@SUM(A1)"));
    QCOMPARE(csvField("-2"), std::string("'-2"));
    QCOMPARE(csvField("+a,b"), std::string("\"'+a,b\""));
    QCOMPARE(csvField("say \"hi\""), std::string("\"say \"\"hi\"\"\""));
    QCOMPARE(csvField("a=b"), std::string("a=b"));
    QCOMPARE(csvField("two\nlines").find('\n'), std::string::npos);
    JournalEvent event;
    event.lease.lease = LeaseId::observed("=cmd|' /C calc'!A0");
    event.explanation = "a, b";
    const std::string line = eventCsvLine(event, "c");
    QVERIFY(line.find(",'=cmd") != std::string::npos || line.find(",\"'=cmd") != std::string::npos);
    QCOMPARE(eventCsvHeader().find("at,server_time"), 0U);
}

QTEST_GUILESS_MAIN(TestJournalFaults)
#include "tst_journal_faults.moc"
