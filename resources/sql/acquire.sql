-- SPDX-License-Identifier: GPL-3.0-or-later
-- $7 true: new terms are refused (epoch rule). $8 the latest that the server's clock can plausibly show,
-- in us; beyond it nothing is judged to have run out (a step of that clock, or another machine's).
settled AS MATERIALIZED (
  -- A holder that was asked to step down stays out after its term for as long as it was asked to.
  SELECT j.*, j.ask_ms IS NOT NULL AND NOT j.held AS ask_over,
    CASE WHEN j.ask_ms IS NOT NULL AND NOT j.held THEN j.holder ELSE j.out_holder END AS stays_out,
    CASE WHEN j.ask_ms IS NOT NULL AND NOT j.held
      THEN j.expires_at + j.ask_ms * interval '1 ms' ELSE j.out_until END AS stays_until
  FROM judged j
),
verdicts AS MATERIALIZED (
  SELECT s.*, CASE
      WHEN held AND holder = w_holder AND nonce = w_nonce THEN 'again'
      WHEN on_hold THEN 'refused'
      -- The clock stepped back: nobody waits longer than one ttl from here.
      WHEN held AND expires_at > now + ttl_ms * interval '1 ms' THEN 'shortened'
      WHEN held THEN 'refused'
      WHEN now < stays_until AND stays_out = w_holder THEN 'refused'
      WHEN $7::boolean THEN 'barred'
      WHEN NOT released AND extract(epoch FROM now) * 1000000 > $8::bigint THEN 'jumped'
      ELSE 'granted' END AS verdict
  FROM settled s
),
decided AS MATERIALIZED (
  SELECT name, verdict, now,
    CASE verdict WHEN 'granted' THEN w_holder ELSE holder END AS n_holder,
    CASE verdict WHEN 'granted' THEN w_nonce ELSE nonce END AS n_nonce,
    CASE verdict WHEN 'granted' THEN greatest(token + 1, (extract(epoch FROM now) * 1000000)::bigint)
      ELSE token END AS n_token,
    CASE WHEN verdict IN ('granted', 'again') THEN w_ms ELSE ttl_ms END AS n_ttl_ms,
    CASE verdict WHEN 'granted' THEN now ELSE acquired_at END AS n_acquired_at,
    CASE WHEN verdict IN ('granted', 'again') THEN now ELSE renewed_at END AS n_renewed_at,
    CASE WHEN verdict IN ('granted', 'again') THEN now + w_ms * interval '1 ms'
      WHEN verdict = 'shortened' THEN now + ttl_ms * interval '1 ms' ELSE expires_at END AS n_expires_at,
    transitions + (verdict = 'granted' AND holder NOT IN ('', w_holder))::int AS n_transitions,
    released AND verdict <> 'granted' AS n_released,
    CASE WHEN verdict = 'granted' OR ask_over THEN NULL ELSE ask_ms END AS n_ask_ms,
    stays_out AS n_out_holder, stays_until AS n_out_until,
    hold_by AS n_hold_by, hold_until AS n_hold_until,
    verdict IN ('granted', 'again', 'shortened') AS writes,
    CASE verdict WHEN 'granted' THEN 'gained' END AS event, '' AS by_whom,
    CASE WHEN on_hold THEN hold_until WHEN verdict = 'shortened' THEN now + ttl_ms * interval '1 ms'
      WHEN held THEN expires_at WHEN verdict = 'refused' THEN stays_until END AS until
  FROM verdicts
),
born AS (
  INSERT INTO @schema@.tenure_lease AS l
    (name, holder, nonce, token, ttl_ms, acquired_at, renewed_at, expires_at)
  SELECT w.w_name, w.w_holder, w.w_nonce, (extract(epoch FROM w.now) * 1000000)::bigint, w.w_ms, w.now,
    w.now, w.now + w.w_ms * interval '1 ms'
  FROM (SELECT *, clock_timestamp() AS now FROM want, budget
      WHERE w_name NOT IN (SELECT name FROM locked) OFFSET 0) w
  WHERE NOT $7::boolean ORDER BY w.w_name
  ON CONFLICT (name) DO NOTHING
  RETURNING l.*
),
