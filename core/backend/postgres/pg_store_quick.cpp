// SPDX-License-Identifier: GPL-3.0-or-later
// Hand-overs and takeovers of a single lease in the fewest steps: a server that was idle needs half a
// millisecond less for them than for statements that judge every case of a whole batch.
#include "core/backend/postgres/pg_store.h"

namespace tenure::postgres
{

/// No rows: the general statement must judge, or nothing was asked at all.
Result<PgRows> PgStore::askQuickly(const Command &command, Instant deadline)
{
    // Through a pooler the session is not ours, nothing is pinned there; over a slow line another statement
    // costs more than a quick one saves.
    if (m_connection->server().proxied || lineIsSlow())
        return PgRows();
    const Statements &sql = m_shared->statements;
    if (const auto *release = std::get_if<Release>(&command); release != nullptr && release->term.token) {
        const Term &term = release->term;
        const std::string token = std::to_string(storedToken(term.token));
        return ask(sql.quickRelease, {release->lease.name(), term.holder.name(), term.nonce.hex(), token}, deadline);
    }
    const auto *acquire = std::get_if<Acquire>(&command);
    if (acquire == nullptr || !acquire->thoughtFree || m_shared->epoch.barrier(acquire->ttl))
        return PgRows();
    const Milliseconds wait = waitWithin(deadline, acquire->awaitEnd);
    std::vector<PgValue> values{acquire->lease.name(), acquire->holder.name(), acquire->nonce.hex(),
        std::to_string(acquire->ttl.count()), latestNow(acquire->ttl, wait)};
    if (wait == Milliseconds::zero())
        return ask(sql.quickAcquire, std::move(values), deadline);
    values.emplace_back(std::to_string(wait.count()));
    return ask(sql.quickAwaitingAcquire, std::move(values), deadline);
}

} // namespace tenure::postgres
