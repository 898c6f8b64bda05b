-- SPDX-License-Identifier: GPL-3.0-or-later
-- Put after the quick statements: what was written is noted, told and answered as answer.sql does it.
noted AS (
  INSERT INTO @schema@.tenure_history (at, lease, event, holder, token, by)
  SELECT now, name, '@event@', holder, token, '' FROM written
)
SELECT name, '@verdict@', (extract(epoch FROM now) * 1000000)::bigint, holder, nonce, token, ttl_ms,
  (extract(epoch FROM acquired_at) * 1000000)::bigint, (extract(epoch FROM renewed_at) * 1000000)::bigint,
  (extract(epoch FROM expires_at) * 1000000)::bigint, transitions, released, ask_ms, hold_by,
  (extract(epoch FROM hold_until) * 1000000)::bigint, NULL::bigint,
  pg_notify(@channel@, '@event@:' || name)::text
FROM written
