// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/sqlite/sqlite_backend.h"
#include "store_contract.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>

#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

std::shared_ptr<const Backend> backendOf(const QString &path)
{
    StoreUri uri;
    uri.scheme = "sqlite";
    uri.path = path.toStdString();
    return makeSqliteBackend(uri).value();
}

class SqliteFixture final : public ContractFixture
{
public:
    [[nodiscard]] std::shared_ptr<const Backend> backend() override
    {
        return backendOf(m_directory.filePath(QStringLiteral("leases.db")));
    }
    [[nodiscard]] bool showsCandidates() const override { return true; }

private:
    QTemporaryDir m_directory;
};

/// Another program that works on the same file.
class Rival
{
public:
    explicit Rival(const QString &path) { sqlite3_open(path.toUtf8().constData(), &m_db); }
    Rival(const Rival &) = delete;
    Rival &operator=(const Rival &) = delete;
    ~Rival() { sqlite3_close(m_db); }
    bool run(const char *sql) { return sqlite3_exec(m_db, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }

private:
    sqlite3 *m_db = nullptr;
};

Result<Reply> once(LeaseStore &store, const Command &command, Duration limit = 5s)
{
    return store.execute({&command, 1}, BootClock::now() + limit).front();
}

Acquire acquireBy(const char *holder, Milliseconds ttl = kLongTtl)
{
    return {leaseNamed("x"), holderNamed(holder), Nonce::random(), ttl};
}

} // namespace

class TstContractSqlite : public StoreContract
{
    Q_OBJECT

protected:
    [[nodiscard]] std::unique_ptr<ContractFixture> makeFixture() override
    {
        return std::make_unique<SqliteFixture>();
    }

private Q_SLOTS:
    void lookingMakesNoFileAndNoTable();
    void aRebootEndsEveryLease();
    void aRenewalThatWaitedPastItsExpiryIsLost();
    void aLockedFileIsUnavailableAtTheDeadline();
    void aFileThatIsNoDatabaseIsCorrupt();
    void aForeignTableOfOurNameIsCorrupt();
    void aFileThatWasReplacedIsNoticed();
};

void TstContractSqlite::lookingMakesNoFileAndNoTable()
{
    QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("leases.db"));
    const auto store = backendOf(path)->makeStore();
    const auto nothing = once(*store, Read{leaseNamed("x")});
    QVERIFY(!nothing);
    QCOMPARE(nothing.error().kind, ErrorKind::NotFound);
    QVERIFY(!once(*store, List{}));
    QVERIFY(!store->probe(soon()));
    QVERIFY(store->init(true, soon()));
    QVERIFY(!once(*store, Release{leaseNamed("x"), {holderNamed("a"), Nonce::random(), {}}}));
    QVERIFY(QDir(directory.path()).isEmpty());

    QVERIFY(Rival(path).run("CREATE TABLE other(x)"));
    const auto list = once(*store, List{});
    QVERIFY(list && list->records.empty());
    QVERIFY(once(*store, Read{leaseNamed("x")}));
    const auto facts = store->probe(soon());
    QVERIFY(facts && !facts->notes.empty());
    QVERIFY(Rival(path).run("CREATE TABLE tenure_lease(x)"));
}

void TstContractSqlite::aRebootEndsEveryLease()
{
    QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("leases.db"));
    const auto store = backendOf(path)->makeStore();
    const Acquire first = acquireBy("a");
    const auto granted = once(*store, first);
    QVERIFY(granted && granted->outcome == Outcome::Done);
    QVERIFY(Rival(path).run("UPDATE tenure_lease SET boot = 'an earlier one'"));
    const Term term{first.holder, first.nonce, granted->record.token};
    QCOMPARE(once(*store, Renew{first.lease, term, kLongTtl})->outcome, Outcome::Lost);
    QVERIFY(!once(*store, Read{first.lease})->record.holder);
    const auto next = once(*store, acquireBy("b"));
    QCOMPARE(next->outcome, Outcome::Done);
    QVERIFY(next->record.token > term.token);
}

void TstContractSqlite::aRenewalThatWaitedPastItsExpiryIsLost()
{
    QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("leases.db"));
    const auto store = backendOf(path)->makeStore();
    const Acquire first = acquireBy("a", 300ms);
    const auto granted = once(*store, first);
    QVERIFY(granted && granted->outcome == Outcome::Done);
    const Term term{first.holder, first.nonce, granted->record.token};
    Rival rival(path);
    QVERIFY(rival.run("BEGIN IMMEDIATE"));
    std::jthread ender([&rival] {
        std::this_thread::sleep_for(400ms);
        rival.run("COMMIT");
    });
    const auto late = once(*store, Renew{first.lease, term, kLongTtl});
    QVERIFY2(late, late ? "" : late.error().text().c_str());
    QCOMPARE(late->outcome, Outcome::Lost);
}

void TstContractSqlite::aLockedFileIsUnavailableAtTheDeadline()
{
    QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("leases.db"));
    const auto store = backendOf(path)->makeStore();
    QVERIFY(once(*store, acquireBy("a")));
    Rival rival(path);
    QVERIFY(rival.run("BEGIN IMMEDIATE"));
    const Instant began = BootClock::now();
    const auto busy = once(*store, acquireBy("b"), 200ms);
    QVERIFY(!busy);
    QCOMPARE(busy.error().kind, ErrorKind::Unavailable);
    QCOMPARE(busy.error().recovery, Recovery::AtOnce);
    QVERIFY(BootClock::now() - began >= 200ms);
    QVERIFY(BootClock::now() - began < 2s);
    QVERIFY(once(*store, Read{leaseNamed("x")})); // looking does not wait for a writer
    QVERIFY(rival.run("COMMIT"));
    QVERIFY(once(*store, acquireBy("b")));
}

void TstContractSqlite::aFileThatIsNoDatabaseIsCorrupt()
{
    QTemporaryDir directory;
    QFile file(directory.filePath(QStringLiteral("letter.txt")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const QByteArray text(5000, 'x');
    file.write(text);
    file.close();
    const auto store = backendOf(file.fileName())->makeStore();
    for (const Command &command : {Command(Read{leaseNamed("x")}), Command(acquireBy("a"))}) {
        const auto result = once(*store, command);
        QVERIFY(!result);
        QCOMPARE(result.error().kind, ErrorKind::Corrupt);
    }
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), text);
}

void TstContractSqlite::aForeignTableOfOurNameIsCorrupt()
{
    QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("leases.db"));
    QVERIFY(Rival(path).run("CREATE TABLE tenure_lease(something)"));
    const auto store = backendOf(path)->makeStore();
    const auto result = once(*store, acquireBy("a"));
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::Corrupt);
}

void TstContractSqlite::aFileThatWasReplacedIsNoticed()
{
    QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("leases.db"));
    const auto store = backendOf(path)->makeStore();
    QVERIFY(once(*store, acquireBy("a")));
    for (const char *tail : {"", "-wal", "-shm"})
        QFile::remove(path + QLatin1String(tail));
    const auto other = backendOf(path)->makeStore();
    QCOMPARE(once(*other, acquireBy("b"))->outcome, Outcome::Done);
    QCOMPARE(once(*store, Read{leaseNamed("x")})->record.holder, "b");
}

QTEST_GUILESS_MAIN(TstContractSqlite)
#include "tst_contract_sqlite.moc"
