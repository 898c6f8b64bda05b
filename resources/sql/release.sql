-- SPDX-License-Identifier: GPL-3.0-or-later
-- A token of 0 compares holder and nonce alone (an acquire whose answer never came).
verdicts AS MATERIALIZED (
  SELECT *, held AND holder = w_holder AND nonce = w_nonce AND w_token IN (0, token) AS own FROM judged
),
decided AS MATERIALIZED (
  SELECT name, CASE WHEN own THEN 'released' ELSE 'lost' END AS verdict, now, holder AS n_holder,
    nonce AS n_nonce, token AS n_token, ttl_ms AS n_ttl_ms, acquired_at AS n_acquired_at,
    renewed_at AS n_renewed_at, CASE WHEN own THEN now ELSE expires_at END AS n_expires_at,
    transitions AS n_transitions, released OR own AS n_released,
    CASE WHEN own THEN NULL ELSE ask_ms END AS n_ask_ms,
    CASE WHEN own AND ask_ms IS NOT NULL THEN holder ELSE out_holder END AS n_out_holder,
    CASE WHEN own AND ask_ms IS NOT NULL THEN now + ask_ms * interval '1 ms' ELSE out_until END
      AS n_out_until,
    hold_by AS n_hold_by, hold_until AS n_hold_until, own AS writes,
    CASE WHEN own THEN 'released' END AS event, '' AS by_whom, NULL::timestamptz AS until
  FROM verdicts
),
