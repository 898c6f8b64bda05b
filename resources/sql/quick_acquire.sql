-- SPDX-License-Identifier: GPL-3.0-or-later
-- An acquire of one lease that is thought free, in the fewest steps. No row in the answer: acquire.sql
-- judges (there is no such row, it is not free, it was changed while this ran, a clock was set, or somebody
-- has it locked). As nobody waits for a lock here, the time is the right one. $1 name, $2 holder, $3 nonce,
-- $4 ttl in ms, $5 as $8 there.
WITH want AS MATERIALIZED (SELECT $1::text AS w_name),
@await@moment AS MATERIALIZED (SELECT clock_timestamp() AS now FROM @awaited@want),
free AS MATERIALIZED (
  SELECT l.ctid AS place, m.now
  FROM moment m, @schema@.tenure_lease l
  WHERE l.name = $1 AND l.expires_at <= m.now AND l.hold_until <= m.now AND l.ask_ms IS NULL
    AND (l.out_holder <> $2 OR l.out_until <= m.now)
    AND (l.released OR (extract(epoch FROM m.now) * 1000000 > $5::bigint) IS NOT TRUE)
  FOR NO KEY UPDATE OF l SKIP LOCKED
),
written AS (
  UPDATE @schema@.tenure_lease AS t SET holder = $2, nonce = $3,
    token = greatest(t.token + 1, (extract(epoch FROM f.now) * 1000000)::bigint), ttl_ms = $4::bigint,
    acquired_at = f.now, renewed_at = f.now, expires_at = f.now + $4::bigint * interval '1 ms',
    transitions = t.transitions + (t.holder NOT IN ('', $2))::int, released = false
  FROM free f WHERE t.ctid = f.place AND t.name = $1
  RETURNING t.*, f.now
),
