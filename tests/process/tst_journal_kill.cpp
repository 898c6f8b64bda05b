// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_query.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

#include <sqlite3.h>
#include <sys/prctl.h>

using namespace tenure;

/// Kills a process that writes to a journal, again and again (P12): what it had called kept is there,
/// in order, without a hole, and the file is sound.
class TestJournalKill : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void hundredKillsLoseNothingKept();
    void twoWritersAtOnceAndOneIsKilled();
};

namespace
{

/// tests/process/journal_writer: appends numbered changes and prints each number once it is kept.
std::unique_ptr<QProcess> writer(const QString &path, const QString &connection, std::uint64_t from)
{
    auto process = std::make_unique<QProcess>();
    process->setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
    process->start(QStringLiteral(JOURNAL_WRITER_PATH), {path, connection, QString::number(from)});
    return process;
}

std::uint64_t lastKept(const QByteArray &printed)
{
    const qsizetype end = printed.lastIndexOf('\n'); // the last line may be cut off
    return end <= 0 ? 0 : printed.left(end).mid(printed.lastIndexOf('\n', end - 1) + 1).trimmed().toULongLong();
}

/// The numbers (tokens) of a connection's changes, oldest first.
std::vector<std::uint64_t> numbersOf(const QString &path, const std::string &connection)
{
    auto query = JournalQuery::open(path.toStdString());
    std::vector<std::uint64_t> out;
    if (!query)
        return out;
    JournalFilter filter;
    filter.connection = connection;
    const auto events = query->events(filter, 0, 10'000'000);
    for (auto event = events->rbegin(); event != events->rend(); ++event)
        out.push_back(event->token.value);
    return out;
}

QByteArray soundness(const QString &path)
{
    sqlite3 *db = nullptr;
    sqlite3_open_v2(path.toUtf8().constData(), &db, SQLITE_OPEN_READONLY, nullptr);
    QByteArray said = "not asked";
    sqlite3_exec(
        db, "PRAGMA integrity_check",
        [](void *out, int, char **values, char **) {
            *static_cast<QByteArray *>(out) = values[0];
            return 0;
        },
        &said, nullptr);
    sqlite3_close(db);
    return said;
}

} // namespace

void TestJournalKill::hundredKillsLoseNothingKept()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("journal.db"));
    std::uint64_t next = 1;
    for (int round = 0; round < 100; ++round) {
        const auto process = writer(path, QStringLiteral("c"), next);
        QByteArray printed;
        // Killed at a moment that is another one each time: while opening, writing, checkpointing.
        const int lines = round % 7;
        while (printed.count('\n') < lines && process->waitForReadyRead(20'000))
            printed += process->readAllStandardOutput();
        if (lines == 0)
            QVERIFY(process->waitForStarted());
        ::kill(static_cast<pid_t>(process->processId()), SIGKILL);
        process->waitForFinished();
        printed += process->readAllStandardOutput();
        const std::uint64_t kept = lastKept(printed);
        const std::vector<std::uint64_t> there = numbersOf(path, "c");
        const std::uint64_t last = there.empty() ? 0 : there.back();
        QVERIFY2(last >= kept, qPrintable(QStringLiteral("round %1: %2 was kept, %3 is there").arg(round).arg(kept).arg(last)));
        QVERIFY2(last >= next - 1, "what an earlier round kept");
        for (std::size_t i = 0; i < there.size(); ++i)
            QCOMPARE(there[i], i + 1);
        next = last + 1;
        if (round % 10 == 9)
            QCOMPARE(soundness(path), QByteArray("ok"));
    }
    QVERIFY2(next > 100, "something was written at all");
    auto query = JournalQuery::open(path.toStdString());
    const auto chain = query->verify();
    QVERIFY2(chain->sound, chain->sentence.c_str());
    QVERIFY(chain->actions > 0);
}

void TestJournalKill::twoWritersAtOnceAndOneIsKilled()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("journal.db"));
    const auto one = writer(path, QStringLiteral("one"), 1);
    const auto two = writer(path, QStringLiteral("two"), 1);
    QByteArray printedOne;
    QByteArray printedTwo;
    while (printedOne.count('\n') < 3 && one->waitForReadyRead(20'000))
        printedOne += one->readAllStandardOutput();
    ::kill(static_cast<pid_t>(one->processId()), SIGKILL);
    one->waitForFinished();
    printedOne += one->readAllStandardOutput();
    printedTwo += two->readAllStandardOutput();
    const std::uint64_t before = lastKept(printedTwo);
    const int lines = static_cast<int>(printedTwo.count('\n')) + 3;
    while (printedTwo.count('\n') < lines && two->waitForReadyRead(20'000))
        printedTwo += two->readAllStandardOutput();
    ::kill(static_cast<pid_t>(two->processId()), SIGKILL);
    two->waitForFinished();
    printedTwo += two->readAllStandardOutput();
    QVERIFY2(lastKept(printedTwo) > before, "the other one went on");
    for (const auto &[name, printed] : {std::pair("one", printedOne), std::pair("two", printedTwo)}) {
        const std::vector<std::uint64_t> there = numbersOf(path, name);
        QVERIFY(there.size() >= lastKept(printed));
        for (std::size_t i = 0; i < there.size(); ++i)
            QCOMPARE(there[i], i + 1);
    }
    QCOMPARE(soundness(path), QByteArray("ok"));
    const auto chain = JournalQuery::open(path.toStdString())->verify();
    QVERIFY2(chain->sound, "two processes wrote to one chain");
}

QTEST_GUILESS_MAIN(TestJournalKill)
#include "tst_journal_kill.moc"
