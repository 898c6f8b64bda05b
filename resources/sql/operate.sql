-- SPDX-License-Identifier: GPL-3.0-or-later
-- By hand, on exactly what was seen. $3 holder seen, $4 version seen, $5 duration, $6 token seen (each an
-- array of one), $7 ask, hold or clear, $8 the operator.
verdicts AS MATERIALIZED (
  SELECT *, CASE
      WHEN token <> w_token
        OR w_holder <> CASE WHEN held AND NOT on_hold THEN holder ELSE '' END
        OR w_nonce <> CASE WHEN on_hold THEN 'hold:' || hold_by WHEN held THEN nonce ELSE '' END
        THEN 'conflict'
      WHEN $7::text = 'hold' THEN 'held'
      WHEN $7::text = 'clear' AND (held OR on_hold) THEN 'cleared'
      WHEN $7::text = 'ask' AND held AND NOT on_hold THEN 'asked'
      ELSE 'vacant' END AS verdict
  FROM judged
),
ends AS MATERIALIZED (
  SELECT *, verdict IN ('held', 'cleared') AS over,
    verdict IN ('held', 'cleared') AND ask_ms IS NOT NULL AS ask_over,
    -- A hold lasts as long as its victim may believe.
    greatest(now + w_ms * interval '1 ms', CASE WHEN held THEN expires_at END,
      CASE WHEN on_hold THEN hold_until END) AS hold_ends
  FROM verdicts
),
decided AS MATERIALIZED (
  SELECT name, verdict, now,
    CASE verdict WHEN 'held' THEN 'hold:' || $8::text ELSE holder END AS n_holder,
    CASE verdict WHEN 'held' THEN '' ELSE nonce END AS n_nonce,
    CASE verdict WHEN 'held' THEN greatest(token + 1, (extract(epoch FROM now) * 1000000)::bigint)
      ELSE token END AS n_token,
    ttl_ms AS n_ttl_ms,
    CASE verdict WHEN 'held' THEN now ELSE acquired_at END AS n_acquired_at,
    CASE verdict WHEN 'held' THEN now ELSE renewed_at END AS n_renewed_at,
    CASE WHEN over THEN least(expires_at, now) ELSE expires_at END AS n_expires_at,
    transitions + (verdict = 'held' AND holder NOT IN ('', 'hold:' || $8::text))::int AS n_transitions,
    released AND verdict <> 'held' AS n_released,
    CASE WHEN over THEN NULL WHEN verdict = 'asked' THEN w_ms ELSE ask_ms END AS n_ask_ms,
    CASE WHEN ask_over THEN holder ELSE out_holder END AS n_out_holder,
    CASE WHEN ask_over THEN least(expires_at, now) + ask_ms * interval '1 ms' ELSE out_until END
      AS n_out_until,
    CASE verdict WHEN 'held' THEN $8::text ELSE hold_by END AS n_hold_by,
    CASE verdict WHEN 'held' THEN hold_ends WHEN 'cleared' THEN least(hold_until, now) ELSE hold_until END
      AS n_hold_until,
    verdict IN ('asked', 'held', 'cleared') AS writes,
    CASE WHEN verdict IN ('asked', 'held', 'cleared') THEN verdict END AS event, $8::text AS by_whom,
    NULL::timestamptz AS until
  FROM ends
),
