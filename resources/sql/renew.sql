-- SPDX-License-Identifier: GPL-3.0-or-later
-- Never re-creates: a term that ran out is lost, also when nobody took the lease since.
verdicts AS MATERIALIZED (
  SELECT *, held AND holder = w_holder AND nonce = w_nonce AND token = w_token AS own FROM judged
),
written AS (
  UPDATE @schema@.tenure_lease AS t SET ttl_ms = v.w_ms, renewed_at = v.now,
    expires_at = v.now + v.w_ms * interval '1 ms'
  FROM verdicts v WHERE t.name = v.name AND v.own
)
SELECT name, CASE WHEN own THEN 'renewed' ELSE 'lost' END, (extract(epoch FROM now) * 1000000)::bigint,
  holder, nonce, token, CASE WHEN own THEN w_ms ELSE ttl_ms END,
  (extract(epoch FROM acquired_at) * 1000000)::bigint,
  (extract(epoch FROM CASE WHEN own THEN now ELSE renewed_at END) * 1000000)::bigint,
  (extract(epoch FROM CASE WHEN own THEN now + w_ms * interval '1 ms' ELSE expires_at END) * 1000000)::bigint,
  transitions, released, ask_ms, hold_by, (extract(epoch FROM hold_until) * 1000000)::bigint, NULL::bigint
FROM verdicts
