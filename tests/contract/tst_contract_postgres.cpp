// SPDX-License-Identifier: GPL-3.0-or-later
// What this backend cannot do: it never forgets, so there is no restart with nothing; it does not
// know who waits (a refused acquire writes nothing).
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"
#include "store_contract.h"

#include <QCoreApplication>
#include <QTest>

using namespace tenure;

namespace
{

/// One server for all tests, a schema for each.
class PostgresFixture final : public ContractFixture
{
public:
    PostgresFixture(PostgresServer &server, int number, bool thinksFree)
        : m_uri(server.socketUri("contract \"" + std::to_string(number) + "\"'s"))
        , m_thinksFree(thinksFree)
    {
    }
    [[nodiscard]] std::shared_ptr<const Backend> backend() override
    {
        return makePostgresBackend(m_uri).value();
    }

    [[nodiscard]] bool thinksFree() const override { return m_thinksFree; }

private:
    const StoreUri m_uri;
    const bool m_thinksFree;
};

} // namespace

class TstContractPostgres : public StoreContract
{
    Q_OBJECT

protected:
    [[nodiscard]] std::unique_ptr<ContractFixture> makeFixture() override
    {
        if (!PostgresServer::installed())
            return nullptr;
        if (!m_server)
            m_server = std::make_unique<PostgresServer>();
        return std::make_unique<PostgresFixture>(*m_server, ++m_fixtures, thinksFree());
    }
    [[nodiscard]] virtual bool thinksFree() const { return false; }

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(
            PostgresServer::installed() || !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS"));
    }

private:
    std::unique_ptr<PostgresServer> m_server;
    int m_fixtures = 0;
};

/// The same, each acquire with the statement for what is thought free tried first.
class TstContractPostgresThoughtFree final : public TstContractPostgres
{
    Q_OBJECT

protected:
    [[nodiscard]] bool thinksFree() const override { return true; }
};

int main(int argc, char **argv)
{
    const QCoreApplication app(argc, argv);
    TstContractPostgres plain;
    TstContractPostgresThoughtFree thoughtFree;
    return QTest::qExec(&plain, argc, argv) + QTest::qExec(&thoughtFree, argc, argv);
}

#include "tst_contract_postgres.moc"
