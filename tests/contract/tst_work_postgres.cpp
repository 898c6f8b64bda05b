// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/open_work_queue.h"
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

private slots:
    void initTestCase()
    {
        if (!PostgresServer::installed()) {
            QVERIFY2(!qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"), "PostgreSQL is missing");
            QSKIP("PostgreSQL is not installed");
        }
        m_server = std::make_unique<PostgresServer>();
    }
    void aRestartLosesNothing();

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

QTEST_GUILESS_MAIN(TstWorkPostgres)
#include "tst_work_postgres.moc"
