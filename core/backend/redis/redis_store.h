// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/redis/redis_commands.h"
#include "core/backend/redis/redis_epoch.h"

#include <memory>

namespace tenure::redis
{

/// LeaseStore over one connection: a batch is one pipeline, a verb one Lua script.
class RedisStore final : public LeaseStore
{
public:
    RedisStore(std::shared_ptr<const Settings> settings, std::shared_ptr<EpochWatch> epoch,
        StoreTraits traits);

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant deadline) override;
    [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override;
    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override;

private:
    struct Batch;
    [[nodiscard]] Result<void> connect(Instant deadline);
    void runPipeline(Batch &batch);
    void repeatUnknownScripts(Batch &batch);
    void decode(Batch &batch);
    void readAgain(Batch &batch);
    void lost(Batch &batch, const Error &cause);
    [[nodiscard]] SendAs howToSend(const Script *script);

    const std::shared_ptr<const Settings> m_settings;
    const std::shared_ptr<EpochWatch> m_epoch;
    const StoreTraits m_traits;
    std::unique_ptr<RespConnection> m_connection;
};

} // namespace tenure::redis
