// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/open_work_queue.h"
#include "core/work/queue_names.h"
#include "tests/support/postgres_server.h"
#include "work_contract.h"

#include <QTest>

using namespace tenure;

class TstWorkPostgres : public WorkContract
{
    Q_OBJECT

protected:
    std::unique_ptr<WorkQueue> open(const std::string &queue) override
    {
        return std::move(*openWorkQueue(m_server->socketUri("Odd \"schema\" 'x'"), queue));
    }
    void makeNewer(const std::string &queue) override
    {
        m_server->run("UPDATE \"Odd \"\"schema\"\" 'x'\".tenure_queue SET version = 99 WHERE name = $1", {queue});
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (!PostgresServer::installed()) {
            QVERIFY2(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"), "PostgreSQL is missing");
            QSKIP("PostgreSQL is not installed");
        }
        m_server = std::make_unique<PostgresServer>();
    }
    void aRestartLosesNothing();
    void namesAreLookedAt();

private:
    std::unique_ptr<PostgresServer> m_server;
};

void TstWorkPostgres::aRestartLosesNothing()
{
    (void)put({"x"});
    const auto claims = claim(*m_queue);
    m_server->kill();
    m_server->start();
    Settlement done{Settlement::Kind::Complete, claims[0].ticket, {}, {}, {}};
    Result<std::vector<Settled>> settled = fail(ErrorKind::Unavailable, "not asked yet");
    const auto asked = [&] {
        if (!settled)
            settled = m_queue->settle({HolderId::parse("w").value(), {}}, std::span(&done, 1), soon());
        return settled.has_value();
    };
    QTRY_VERIFY_WITH_TIMEOUT(asked(), 20'000);
    QCOMPARE(settled->front(), Settled::Done);
}

void TstWorkPostgres::namesAreLookedAt()
{
    const auto uri = m_server->socketUri("names");
    const auto names = std::move(*openQueueNames(uri));
    QCOMPARE(names->read(soon()).error().kind, ErrorKind::NotFound); // no schema
    m_server->run("CREATE SCHEMA names");
    QCOMPARE(names->read(soon()).error().kind, ErrorKind::NotFound); // no table
    for (const char *name : {"zebra", "a 'x'"})
        QVERIFY((*openWorkQueue(uri, name))->enqueue(std::array{NewItem{"x"}}, soon()));
    QCOMPARE(names->read(soon()).value(), (std::vector<std::string>{"a 'x'", "zebra"}));
    m_server->kill();
    QCOMPARE(names->read(BootClock::now() + std::chrono::seconds(2)).error().kind, ErrorKind::Unavailable);
    m_server->start();
    const auto isBack = [&] { return names->read(soon()).has_value(); };
    QTRY_VERIFY_WITH_TIMEOUT(isBack(), 20'000);
}

QTEST_GUILESS_MAIN(TstWorkPostgres)
#include "tst_work_postgres.moc"
