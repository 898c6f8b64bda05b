// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_backend.h"

#include "core/backend/redis/redis_feed.h"
#include "core/backend/redis/redis_store.h"

namespace tenure
{
namespace
{

class RedisBackend final : public Backend
{
public:
    explicit RedisBackend(redis::Settings settings)
        : m_settings(std::make_shared<const redis::Settings>(std::move(settings)))
    {
        m_traits.scheme = m_settings->scheme;
        m_traits.display = m_settings->display;
        m_traits.limits.floor = Milliseconds(50);
        m_traits.linearizable = false;
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<redis::RedisStore>(m_settings, m_epoch, m_traits);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override
    {
        return std::make_unique<redis::RedisFeed>(m_settings);
    }

private:
    const std::shared_ptr<const redis::Settings> m_settings;
    const std::shared_ptr<redis::EpochWatch> m_epoch = std::make_shared<redis::EpochWatch>();
    StoreTraits m_traits;
};

} // namespace

Result<std::shared_ptr<const Backend>> makeRedisBackend(const StoreUri &uri)
{
    auto settings = redis::settingsOf(uri);
    if (!settings)
        return fail(std::move(settings.error()));
    return std::make_shared<const RedisBackend>(std::move(*settings));
}

} // namespace tenure
