// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/postgres_backend.h"

#include "core/backend/postgres/pg_advisory_store.h"
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
        if (!isAdvisory()) {
            m_traits.awaitsEnd = Milliseconds(10);
            return;
        }
        m_traits.limits.floor = Milliseconds(500);
        m_traits.linearizable = false; // a killed session frees its lock before its holder knows
        m_traits.canAsk = m_traits.canHold = false;
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        if (isAdvisory())
            return std::make_unique<postgres::AdvisoryStore>(m_shared, m_watch, m_traits);
        return std::make_unique<postgres::PgStore>(m_shared, m_traits);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override
    {
        if (isAdvisory())
            return std::make_unique<postgres::AdvisoryFeed>(m_shared, m_watch);
        return std::make_unique<postgres::PgFeed>(m_shared);
    }

private:
    [[nodiscard]] bool isAdvisory() const
    {
        return m_shared->settings.mode == postgres::Mode::Advisory;
    }

    const std::shared_ptr<postgres::Shared> m_shared;
    const std::shared_ptr<postgres::SessionWatch> m_watch
        = std::make_shared<postgres::SessionWatch>();
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
