-- SPDX-License-Identifier: GPL-3.0-or-later
-- Put after every verb: what `decided` says is written, noted, told and answered, in one statement.
-- decided: name, verdict, now, the n_ columns (the row as it is afterwards), writes, event, by_whom, until.
written AS (
  UPDATE @schema@.tenure_lease AS t SET holder = d.n_holder, nonce = d.n_nonce, token = d.n_token,
    ttl_ms = d.n_ttl_ms, acquired_at = d.n_acquired_at, renewed_at = d.n_renewed_at,
    expires_at = d.n_expires_at, transitions = d.n_transitions, released = d.n_released,
    ask_ms = d.n_ask_ms, out_holder = d.n_out_holder, out_until = d.n_out_until@also@
  FROM decided d WHERE t.name = d.name AND d.writes
),
outcome AS MATERIALIZED (
  SELECT name, verdict, now, n_holder, n_nonce, n_token, n_ttl_ms, n_acquired_at, n_renewed_at,
    n_expires_at, n_transitions, n_released, n_ask_ms, n_hold_by, n_hold_until, until, event, by_whom
  FROM decided@born@
),
noted AS (
  INSERT INTO @schema@.tenure_history (at, lease, event, holder, token, by)
  SELECT now, name, event, n_holder, n_token, by_whom FROM outcome WHERE event IS NOT NULL
)
SELECT name, verdict, (extract(epoch FROM now) * 1000000)::bigint, n_holder, n_nonce, n_token, n_ttl_ms,
  (extract(epoch FROM n_acquired_at) * 1000000)::bigint, (extract(epoch FROM n_renewed_at) * 1000000)::bigint,
  (extract(epoch FROM n_expires_at) * 1000000)::bigint, n_transitions, n_released, n_ask_ms, n_hold_by,
  (extract(epoch FROM n_hold_until) * 1000000)::bigint, (extract(epoch FROM until) * 1000000)::bigint,
  CASE WHEN event IS NOT NULL THEN pg_notify(@channel@,
    CASE WHEN event IN ('released', 'cleared') THEN 'released:' ELSE event || ':' END || name)::text END
FROM outcome
