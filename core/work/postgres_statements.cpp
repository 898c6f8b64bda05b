// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/postgres_statements.h"

#include "core/backend/postgres/pg_settings.h"
#include "core/work/work_rules.h"

namespace tenure
{
namespace
{

// States are ItemState's numbers. @q@ is the quoted schema, @v@ the version of the layout. Every index
// costs each claim and each completion a write: there is none that only a look would need.
constexpr const char *kInit = R"sql(SELECT pg_advisory_xact_lock(hashtext('tenure_work'), 1);
CREATE SCHEMA IF NOT EXISTS @q@;
CREATE TABLE IF NOT EXISTS @q@.tenure_queue(name text PRIMARY KEY, version int NOT NULL,
  fence bigint NOT NULL DEFAULT 0);
CREATE SEQUENCE IF NOT EXISTS @q@.tenure_work_id;
CREATE SEQUENCE IF NOT EXISTS @q@.tenure_work_token;
CREATE TABLE IF NOT EXISTS @q@.tenure_work(id bigint PRIMARY KEY, queue text NOT NULL, key text,
  payload bytea NOT NULL, state smallint NOT NULL DEFAULT 0, attempts int NOT NULL DEFAULT 0,
  max_attempts int NOT NULL, due_at timestamptz NOT NULL, worker text NOT NULL DEFAULT '',
  token bigint NOT NULL DEFAULT 0, fence bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(), reason text NOT NULL DEFAULT '')
  WITH (fillfactor = 70);
CREATE UNIQUE INDEX IF NOT EXISTS tenure_work_key ON @q@.tenure_work(queue, key) WHERE key IS NOT NULL;
CREATE INDEX IF NOT EXISTS tenure_work_due ON @q@.tenure_work(queue, due_at, id) WHERE state < 2;
CREATE INDEX IF NOT EXISTS tenure_work_dead ON @q@.tenure_work(queue, id) WHERE state = 3;
)sql";

constexpr const char *kGuard = "SELECT version, fence FROM @q@.tenure_queue WHERE name = $1";

constexpr const char *kInsert = R"sql(WITH x AS MATERIALIZED (
  SELECT nextval('@q@.tenure_work_id') AS id, u.key, u.payload, u.most, u.delay, u.n
  FROM unnest($2::text[], $3::bytea[], $4::int[], $5::bigint[]) WITH ORDINALITY AS u(key, payload, most, delay, n)),
put AS (INSERT INTO @q@.tenure_work(id, queue, key, payload, max_attempts, due_at)
  SELECT id, $1, key, payload, most, statement_timestamp() + delay * interval '1 microsecond' FROM x ORDER BY n
  ON CONFLICT (queue, key) WHERE key IS NOT NULL DO NOTHING RETURNING id)
SELECT x.id, put.id IS NOT NULL FROM x LEFT JOIN put USING (id) ORDER BY x.n)sql";

// Of each item the token grows also when two sessions drew their numbers in the other order. The limit
// stands in the text: to a plan made for any limit the server would take a tenth of the table.
constexpr const char *kClaim = R"sql(WITH picked AS MATERIALIZED (SELECT id FROM @q@.tenure_work
  WHERE queue = $1 AND state < 2 AND due_at <= statement_timestamp()
  AND (state = 0 OR attempts < max_attempts)
  AND (SELECT version <= @v@ AND fence <= $2::bigint FROM @q@.tenure_queue WHERE name = $1)
  ORDER BY due_at, id LIMIT @n@ FOR UPDATE SKIP LOCKED)
UPDATE @q@.tenure_work w SET state = 1, attempts = w.attempts + 1,
  due_at = clock_timestamp() + $3::bigint * interval '1 millisecond', worker = $4,
  token = greatest(nextval('@q@.tenure_work_token'), w.token + 1), fence = $2::bigint
FROM picked WHERE w.id = picked.id RETURNING w.id, w.attempts, w.token, w.key, w.payload)sql";

// Locks in the order of ids, then judges what stands there by the time after the wait.
constexpr const char *kSettle = R"sql(WITH q AS MATERIALIZED (
  SELECT version, fence FROM @q@.tenure_queue WHERE name = $1),
x AS MATERIALIZED (SELECT * FROM unnest($3::bigint[], $4::bigint[], $5::int[], $6::int[], $7::bigint[], $8::text[])
  WITH ORDINALITY AS u(id, token, attempt, kind, later, reason, n)),
held AS MATERIALIZED (SELECT w.id, w.state, w.attempts, w.max_attempts, w.token, w.due_at
  FROM @q@.tenure_work w WHERE w.id IN (SELECT id FROM x) AND w.queue = $1 ORDER BY w.id FOR UPDATE),
done AS (UPDATE @q@.tenure_work w SET
  state = CASE x.kind WHEN 0 THEN 1 WHEN 1 THEN 2 ELSE CASE WHEN h.attempts >= h.max_attempts THEN 3 ELSE 0 END END,
  due_at = clock_timestamp() + x.later * interval '1 microsecond', reason = x.reason
  FROM x JOIN held h ON h.id = x.id WHERE w.id = h.id AND h.token = x.token AND h.attempts = x.attempt
  AND h.state = 1 AND h.due_at > clock_timestamp() AND (SELECT version <= @v@ AND fence <= $2::bigint FROM q)
  RETURNING w.id, w.state)
SELECT q.version, q.fence, d.state, h.state, h.token = x.token AND h.attempts = x.attempt
FROM q CROSS JOIN x LEFT JOIN held h ON h.id = x.id LEFT JOIN done d ON d.id = x.id ORDER BY x.n)sql";

constexpr const char *kCounts = R"sql(SELECT q.version, q.fence,
  count(*) FILTER (WHERE w.state = 0 AND w.due_at <= statement_timestamp()),
  count(*) FILTER (WHERE w.state = 0 AND w.due_at > statement_timestamp()),
  count(*) FILTER (WHERE w.state = 1 AND w.due_at > statement_timestamp()),
  count(*) FILTER (WHERE w.state = 1 AND w.due_at <= statement_timestamp()),
  count(*) FILTER (WHERE w.state = 2), count(*) FILTER (WHERE w.state = 3),
  (extract(epoch FROM statement_timestamp() - min(w.created_at) FILTER (
    WHERE w.state < 2 AND w.due_at <= statement_timestamp())) * 1000000)::bigint
FROM @q@.tenure_queue q LEFT JOIN @q@.tenure_work w ON w.queue = q.name WHERE q.name = $1
GROUP BY q.version, q.fence)sql";

constexpr const char *kItems = R"sql(SELECT id, key, substr(payload, 1, 200), length(payload), attempts, max_attempts,
  worker, token, fence, (extract(epoch FROM due_at - statement_timestamp()) * 1000000)::bigint,
  (extract(epoch FROM statement_timestamp() - created_at) * 1000000)::bigint, reason
FROM @q@.tenure_work WHERE queue = $1 AND state = @n@ AND @page@ LIMIT $3::int)sql";

std::string filled(std::string text, const std::string &schema)
{
    const auto replace = [&text](const std::string &mark, const std::string &value) {
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
            text.replace(at, mark.size(), value);
    };
    replace("@q@", schema);
    replace("@v@", std::to_string(kQueueVersion));
    return text;
}

std::string withNumber(std::string text, std::size_t number)
{
    return text.replace(text.find("@n@"), 3, std::to_string(number));
}

/// A schema's name inside of a string constant: nextval('"a".seq').
std::string inConstant(const std::string &text)
{
    std::string out;
    for (const char c : text)
        out += c == '\'' ? std::string("''") : std::string(1, c);
    return out;
}

} // namespace

PostgresWorkStatements::PostgresWorkStatements(const std::string &schema)
{
    const std::string quoted = postgres::quotedName(schema);
    const auto make = [&](std::string text) {
        const std::string mark = "nextval('@q@";
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
            text.replace(at, mark.size(), "nextval('" + inConstant(quoted));
        return filled(std::move(text), quoted);
    };
    init = make(kInit);
    makeQueue = make("INSERT INTO @q@.tenure_queue(name, version) VALUES ($1, @v@) ON CONFLICT (name) DO NOTHING");
    guard = make(kGuard);
    raiseFence = make("UPDATE @q@.tenure_queue SET fence = $2::bigint WHERE name = $1 AND fence < $2::bigint");
    insert = make(kInsert);
    findKeys = make("SELECT id, key FROM @q@.tenure_work WHERE queue = $1 AND key = ANY($2::text[])");
    m_claim = make(kClaim);
    settle = make(kSettle);
    bury = make("UPDATE @q@.tenure_work SET state = 3, reason = 'no worker came to an end with it' WHERE queue = $1 "
                "AND state = 1 AND due_at <= statement_timestamp() AND attempts >= max_attempts RETURNING id");
    reclaim = make("UPDATE @q@.tenure_work SET state = 0 WHERE queue = $1 AND state = 1 "
                   "AND due_at <= statement_timestamp() RETURNING id");
    retry = make("UPDATE @q@.tenure_work SET state = 0, attempts = 0, due_at = clock_timestamp() WHERE queue = $1 "
                 "AND state = 3 AND ($2::bigint = 0 OR id = $2::bigint) RETURNING id");
    counts = make(kCounts);
    m_items = make(kItems);
}

std::string PostgresWorkStatements::claim(std::size_t limit) const
{
    return withNumber(m_claim, limit);
}

std::string PostgresWorkStatements::items(ItemState state) const
{
    std::string text = withNumber(m_items, static_cast<std::size_t>(state));
    return text.replace(text.find("@page@"), 6,
        newestFirst(state) ? "id < $2::bigint ORDER BY id DESC" : "id > $2::bigint ORDER BY id");
}

} // namespace tenure
