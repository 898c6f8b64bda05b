-- SPDX-License-Identifier: GPL-3.0-or-later
-- Put before every verb. $1 how long to wait for another transaction, $2 names, $3 holders, $4 nonces,
-- $5 durations in ms, $6 tokens; all names differ.
-- `locked` waits for the rows; clock_timestamp() beside the lock would be read BEFORE the wait and read
-- again only if the row was changed meanwhile. `timed` reads it beside rows that are locked already.
WITH budget AS MATERIALIZED (
  SELECT set_config('lock_timeout', $1, true) AS ms,
    CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
      THEN set_config('synchronous_commit', 'on', true) END AS durable
),
want AS MATERIALIZED (
  SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    AS w(w_name, w_holder, w_nonce, w_ms, w_token)
),
@await@locked AS MATERIALIZED (
  SELECT l.*, w.* FROM budget, @awaited@want w JOIN @schema@.tenure_lease l ON l.name = w.w_name
  ORDER BY l.name FOR NO KEY UPDATE OF l
),
timed AS MATERIALIZED (SELECT *, clock_timestamp() AS now FROM locked),
judged AS MATERIALIZED (SELECT *, now < expires_at AS held, now < hold_until AS on_hold FROM timed),
