// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/postgres_backend.h"

#include "core/backend/postgres/pg_feed.h"
#include "core/backend/postgres/pg_store.h"

namespace tenure
{
namespace
{

class PostgresBackend final : public Backend
{
public:
    explicit PostgresBackend(postgres::Settings settings)
        : m_shared(std::make_shared<postgres::Shared>(std::move(settings)))
    {
        m_traits.scheme = "postgresql";
        m_traits.display = m_shared->settings.display;
        m_traits.limits.floor = Milliseconds(50);
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<postgres::PgStore>(m_shared, m_traits);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override
    {
        return std::make_unique<postgres::PgFeed>(m_shared);
    }

private:
    const std::shared_ptr<postgres::Shared> m_shared;
    StoreTraits m_traits;
};

} // namespace

Result<std::shared_ptr<const Backend>> makePostgresBackend(const StoreUri &uri)
{
    auto settings = postgres::settingsOf(uri);
    if (!settings)
        return fail(std::move(settings.error()));
    return std::make_shared<const PostgresBackend>(std::move(*settings));
}

} // namespace tenure
