-- SPDX-License-Identifier: GPL-3.0-or-later
-- The usual release of one lease, in the fewest steps, since somebody waits for it. No row in the answer:
-- release.sql judges (the term is over, was asked to step down, or somebody has the row locked). As nobody
-- waits for a lock here, the time is the right one. $1 name, $2 holder, $3 nonce, $4 token.
-- Alone of all verbs its commit is not flushed: the next grant's is, and this one's with it. Lost in a crash
-- of the server, the lease runs out instead.
WITH mine AS MATERIALIZED (
  SELECT ctid AS place, clock_timestamp() AS now, set_config('synchronous_commit', 'off', true) AS commit
  FROM @schema@.tenure_lease
  WHERE name = $1 AND holder = $2 AND nonce = $3 AND token = $4::bigint AND ask_ms IS NULL
  FOR NO KEY UPDATE SKIP LOCKED
),
written AS (
  UPDATE @schema@.tenure_lease AS t SET expires_at = m.now, released = true
  FROM mine m WHERE t.ctid = m.place AND t.name = $1 AND t.expires_at > m.now
  RETURNING t.*, m.now
),
