// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/postgres_work_queue.h"

#include "core/backend/postgres/pg_connection.h"
#include "core/work/postgres_statements.h"
#include "core/work/work_rules.h"

#include <algorithm>
#include <map>

namespace tenure
{
namespace
{

using postgres::PgArray;
using postgres::PgConnection;
using postgres::PgRows;
using postgres::PgValue;

constexpr std::size_t kReasonBytes = 1000;

std::string number(FencingToken token)
{
    return std::to_string(std::min<std::uint64_t>(token.value, INT64_MAX));
}

FencingToken tokenAt(const PgRows &rows, std::size_t row, std::size_t column)
{
    return {static_cast<std::uint64_t>(rows.number(row, column))};
}

/// bytea as text: \x and hex digits, in both directions.
std::string byteaText(const std::string &bytes)
{
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out = "\\x";
    out.reserve(2 * bytes.size() + 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

std::string bytesOf(std::string_view bytea)
{
    const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
    std::string out;
    for (std::size_t i = 2; i + 1 < bytea.size(); i += 2)
        out += static_cast<char>(digit(bytea[i]) << 4U | digit(bytea[i + 1]));
    return out;
}

/// Cut so that no character is torn, and without what a text column refuses.
std::string reasonText(std::string text)
{
    std::erase(text, '\0');
    if (text.size() > kReasonBytes) {
        std::size_t end = kReasonBytes;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
            --end;
        text.resize(end);
    }
    return text;
}

std::string micros(Duration duration)
{
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

enum class Making { No, Allowed };

class PostgresWorkQueue final : public WorkQueue
{
public:
    PostgresWorkQueue(postgres::Settings settings, std::string queue)
        : m_settings(std::move(settings)), m_sql(m_settings.schema), m_queue(std::move(queue))
    {
    }

    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override
    {
        if (!dryRun) {
            if (const auto ready = prepare(Making::Allowed, deadline); !ready)
                return fail(ready.error());
        }
        return m_sql.init;
    }

    [[nodiscard]] Result<std::vector<Enqueued>> enqueue(std::span<const NewItem> items, Instant deadline) override
    {
        if (auto problem = problemOf(items, m_settings.display))
            return fail(*std::move(problem));
        if (const auto ready = prepare(Making::Allowed, deadline); !ready)
            return fail(ready.error());
        PgArray keys;
        PgArray payloads;
        PgArray most;
        PgArray delays;
        for (const NewItem &item : items) {
            item.key.empty() ? keys.addNull() : keys.add(item.key);
            payloads.add(byteaText(item.payload));
            most.add(std::int64_t{item.maxAttempts});
            delays.add(std::chrono::duration_cast<std::chrono::microseconds>(item.delay).count());
        }
        const auto rows = ask(m_sql.insert, {m_queue, keys.text(), payloads.text(), most.text(), delays.text()}, deadline);
        if (!rows)
            return fail(rows.error());
        std::vector<Enqueued> all;
        PgArray known;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            all.push_back({rows->number(i, 0), rows->truth(i, 1)});
            if (!all.back().isNew)
                known.add(items[i].key);
        }
        return nameKnown(items, std::move(all), known, deadline);
    }

    [[nodiscard]] Result<std::vector<Claim>> claim(
        const Worker &worker, std::size_t limit, Milliseconds timeout, Instant deadline) override
    {
        if (auto problem = claimProblem(limit, timeout, m_settings.display))
            return fail(*std::move(problem));
        if (const auto ready = connect(deadline); !ready)
            return fail(ready.error());
        if (worker.fence > m_fence) {
            if (const auto raised = ask(m_sql.raiseFence, {m_queue, number(worker.fence)}, deadline); !raised)
                return fail(raised.error());
            m_fence = worker.fence;
        }
        const Instant sentAt = BootClock::now();
        const auto rows = ask(m_sql.claim(limit),
            {m_queue, number(worker.fence), std::to_string(timeout.count()), worker.name.name()}, deadline);
        if (!rows)
            return fail(rows.error());
        std::vector<Claim> claims;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            Claim &one = claims.emplace_back();
            one.ticket = {rows->number(i, 0), tokenAt(*rows, i, 2), static_cast<int>(rows->number(i, 1))};
            one.key = rows->text(i, 3);
            one.payload = bytesOf(rows->text(i, 4));
            one.validUntil = sentAt + timeout;
        }
        if (claims.empty()) { // because there is nothing, or because this worker may not?
            const auto guard = ask(m_sql.guard, {m_queue}, deadline);
            if (!guard)
                return fail(guard.error());
            if (auto problem = guardProblem(*guard))
                return fail(*std::move(problem));
            if (const FencingToken seen = tokenAt(*guard, 0, 1); worker.fence < seen)
                return fail(staleFence(seen, worker.fence, m_settings.display));
        }
        if (claims.size() < limit) { // there is time to look for those that nobody may have any more
            if (const auto buried = ask(m_sql.bury, {m_queue}, deadline); !buried && claims.empty())
                return fail(buried.error());
        }
        return claims;
    }

    [[nodiscard]] Result<std::vector<Settled>> settle(
        const Worker &worker, std::span<const Settlement> settlements, Instant deadline) override
    {
        if (auto problem = problemOf(settlements, m_settings.display))
            return fail(*std::move(problem));
        if (const auto ready = connect(deadline); !ready)
            return fail(ready.error());
        PgArray ids;
        PgArray tokens;
        PgArray attempts;
        PgArray kinds;
        PgArray later;
        PgArray reasons;
        for (const Settlement &one : settlements) {
            ids.add(one.ticket.id);
            tokens.add(std::string_view(number(one.ticket.token)));
            attempts.add(std::int64_t{one.ticket.attempt});
            kinds.add(static_cast<std::int64_t>(one.kind));
            const Duration wait = one.kind == Settlement::Kind::Heartbeat ? Duration(one.timeout) : one.backoff;
            later.add(std::string_view(micros(one.kind == Settlement::Kind::Complete ? Duration() : wait)));
            reasons.add(reasonText(one.reason));
        }
        const auto rows = ask(m_sql.settle,
            {m_queue, number(worker.fence), ids.text(), tokens.text(), attempts.text(), kinds.text(), later.text(),
                reasons.text()},
            deadline);
        if (!rows)
            return fail(rows.error());
        if (auto problem = settlements.empty() ? std::nullopt : guardProblem(*rows))
            return fail(*std::move(problem));
        std::vector<Settled> all;
        for (std::size_t i = 0; i < rows->size(); ++i)
            all.push_back(verdict(*rows, i, worker, settlements[i].kind));
        return all;
    }

    [[nodiscard]] Result<std::uint64_t> retryDead(std::int64_t id, Instant deadline) override
    {
        return touched({&m_sql.retry}, {m_queue, std::to_string(id)}, deadline);
    }

    [[nodiscard]] Result<std::uint64_t> reclaim(Instant deadline) override
    {
        return touched({&m_sql.bury, &m_sql.reclaim}, {m_queue}, deadline);
    }

    [[nodiscard]] Result<QueueCounts> counts(Instant deadline) override
    {
        const auto rows = guarded(m_sql.counts, {m_queue}, deadline);
        if (!rows)
            return fail(rows.error());
        QueueCounts counts;
        const auto many = [&](std::size_t column) { return static_cast<std::uint64_t>(rows->number(0, column)); };
        counts.fence = tokenAt(*rows, 0, 1);
        counts.pending = many(2);
        counts.delayed = many(3);
        counts.processing = many(4);
        counts.late = many(5);
        counts.completed = many(6);
        counts.dead = many(7);
        if (!rows->isNull(0, 8))
            counts.oldestPending = std::chrono::microseconds(rows->number(0, 8));
        return counts;
    }

    [[nodiscard]] Result<std::vector<ItemView>> items(
        ItemState state, std::int64_t afterId, std::size_t limit, Instant deadline) override
    {
        const auto rows = guarded(m_sql.items(state),
            {m_queue, std::to_string(listedBehind(state, afterId)), std::to_string(std::min(limit, kMaxBatch))}, deadline);
        if (!rows)
            return fail(rows.error());
        std::vector<ItemView> all;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            ItemView &one = all.emplace_back();
            one.id = rows->number(i, 0);
            one.state = state;
            one.key = rows->text(i, 1);
            one.excerpt = bytesOf(rows->text(i, 2));
            one.bytes = static_cast<std::size_t>(rows->number(i, 3));
            one.attempts = static_cast<int>(rows->number(i, 4));
            one.maxAttempts = static_cast<int>(rows->number(i, 5));
            one.worker = rows->text(i, 6);
            one.token = tokenAt(*rows, i, 7);
            one.fence = tokenAt(*rows, i, 8);
            one.due = std::chrono::microseconds(rows->number(i, 9));
            one.age = std::chrono::microseconds(rows->number(i, 10));
            one.reason = rows->text(i, 11);
        }
        return all;
    }

private:
    [[nodiscard]] Result<void> connect(Instant deadline)
    {
        if (m_session && m_session->usable() && m_session->stillThere())
            return {};
        m_session.reset();
        m_fence = {};
        auto session = PgConnection::open(m_settings, "work", deadline);
        if (!session)
            return fail(std::move(session.error()));
        m_session = std::move(*session);
        return {};
    }

    [[nodiscard]] Result<PgRows> ask(const std::string &sql, const std::vector<PgValue> &values, Instant deadline)
    {
        auto rows = m_session->ask(sql, values, deadline);
        if (rows)
            return rows;
        const std::string state = m_session->lastSqlstate();
        if (state == "42P01" || state == "3F000")
            return fail(missing());
        if (m_session->lastAnswer() == PgConnection::Answer::Unknown)
            rows.error().kind = ErrorKind::OutcomeUnknown;
        if (!m_session->usable())
            m_session.reset();
        return rows;
    }

    [[nodiscard]] Error missing() const
    {
        return fail(ErrorKind::NotFound, "There is no queue named " + m_queue, m_settings.display,
            "It is made when the first item is put in, or: tenurectl work init")
            .value();
    }

    /// Connected, and the queue's row is there and understood.
    [[nodiscard]] Result<void> prepare(Making making, Instant deadline)
    {
        if (auto ready = connect(deadline); !ready)
            return ready;
        auto rows = ask(m_sql.guard, {m_queue}, deadline);
        if (!rows && rows.error().kind == ErrorKind::NotFound && making == Making::Allowed) {
            if (auto made = m_session->script(m_sql.init, deadline); !made)
                return made;
            rows = ask(m_sql.guard, {m_queue}, deadline);
        }
        if (rows && rows->size() == 0 && making == Making::Allowed) {
            if (auto made = ask(m_sql.makeQueue, {m_queue}, deadline); !made)
                return fail(std::move(made.error()));
            rows = ask(m_sql.guard, {m_queue}, deadline);
        }
        if (!rows)
            return fail(std::move(rows.error()));
        if (auto problem = guardProblem(*rows))
            return fail(*std::move(problem));
        return {};
    }

    /// From rows that begin with the queue's version.
    [[nodiscard]] std::optional<Error> guardProblem(const PgRows &rows) const
    {
        if (rows.size() == 0)
            return missing();
        return versionProblem(static_cast<int>(rows.number(0, 0)), m_settings.display);
    }

    [[nodiscard]] Result<PgRows> guarded(
        const std::string &sql, const std::vector<PgValue> &values, Instant deadline)
    {
        if (const auto ready = prepare(Making::No, deadline); !ready)
            return fail(ready.error());
        return ask(sql, values, deadline);
    }

    [[nodiscard]] Result<std::uint64_t> touched(
        const std::vector<const std::string *> &statements, const std::vector<PgValue> &values, Instant deadline)
    {
        std::uint64_t count = 0;
        for (const std::string *sql : statements) {
            const auto rows = guarded(*sql, values, deadline);
            if (!rows)
                return fail(rows.error());
            count += rows->size();
        }
        return count;
    }

    /// Those that were there before get the id of the older one.
    [[nodiscard]] Result<std::vector<Enqueued>> nameKnown(std::span<const NewItem> items,
        std::vector<Enqueued> all, const PgArray &known, Instant deadline)
    {
        if (std::all_of(all.begin(), all.end(), [](const Enqueued &one) { return one.isNew; }))
            return all;
        const auto rows = ask(m_sql.findKeys, {m_queue, known.text()}, deadline);
        if (!rows)
            return fail(rows.error());
        std::map<std::string_view, std::int64_t> ids;
        for (std::size_t i = 0; i < rows->size(); ++i)
            ids.emplace(rows->text(i, 1), rows->number(i, 0));
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].isNew)
                all[i].id = ids[items[i].key];
        }
        return all;
    }

    [[nodiscard]] static Settled verdict(
        const PgRows &rows, std::size_t row, const Worker &worker, Settlement::Kind kind)
    {
        if (!rows.isNull(row, 2))
            return static_cast<ItemState>(rows.number(row, 2)) == ItemState::Dead ? Settled::Dead : Settled::Done;
        if (worker.fence < tokenAt(rows, row, 1))
            return Settled::Stale;
        if (rows.isNull(row, 3) || !rows.truth(row, 4))
            return Settled::Lost;
        switch (static_cast<ItemState>(rows.number(row, 3))) { // the very same was done before
        case ItemState::Completed:
            return kind == Settlement::Kind::Complete ? Settled::Done : Settled::Lost;
        case ItemState::Dead:
            return kind == Settlement::Kind::Fail ? Settled::Dead : Settled::Lost;
        case ItemState::Pending:
            return kind == Settlement::Kind::Fail ? Settled::Done : Settled::Lost;
        case ItemState::Processing:
            break;
        }
        return Settled::Lost;
    }

    const postgres::Settings m_settings;
    const PostgresWorkStatements m_sql;
    const std::string m_queue;
    std::unique_ptr<PgConnection> m_session;
    FencingToken m_fence; ///< the queue knows at least this one
};

} // namespace

Result<std::unique_ptr<WorkQueue>> makePostgresWorkQueue(const StoreUri &uri, const std::string &queue)
{
    auto settings = postgres::settingsOf(uri);
    if (!settings)
        return fail(std::move(settings.error()));
    return std::unique_ptr<WorkQueue>(std::make_unique<PostgresWorkQueue>(std::move(*settings), queue));
}

} // namespace tenure
