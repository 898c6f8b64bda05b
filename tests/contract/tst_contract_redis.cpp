// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_backend.h"
#include "redis_server.h"
#include "store_contract.h"

#include <QTest>

using namespace tenure;

namespace
{

/// INFO is forbidden, so that the epoch rule does not bar the long terms of these tests on a server
/// that has only just started; tst_redis_faults tests that rule itself.
class RedisFixture final : public ContractFixture
{
public:
    [[nodiscard]] std::shared_ptr<const Backend> backend() override
    {
        return makeRedisBackend(m_server.socketUri("contract:")).value();
    }

private:
    RedisServer m_server{{"--user", "default", "on", "nopass", "~*", "&*", "+@all", "-info"}};
};

} // namespace

class TstContractRedis : public StoreContract
{
    Q_OBJECT

protected:
    [[nodiscard]] std::unique_ptr<ContractFixture> makeFixture() override
    {
        return RedisServer::installed() ? std::make_unique<RedisFixture>() : nullptr;
    }
};

QTEST_GUILESS_MAIN(TstContractRedis)
#include "tst_contract_redis.moc"
