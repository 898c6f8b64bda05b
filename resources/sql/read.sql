-- SPDX-License-Identifier: GPL-3.0-or-later
-- $1 names. Takes no lock.
SELECT l.name, 'read', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, holder, nonce, token, ttl_ms,
  (extract(epoch FROM acquired_at) * 1000000)::bigint, (extract(epoch FROM renewed_at) * 1000000)::bigint,
  (extract(epoch FROM expires_at) * 1000000)::bigint, transitions, released, ask_ms, hold_by,
  (extract(epoch FROM hold_until) * 1000000)::bigint, NULL::bigint
FROM unnest($1::text[]) AS w(w_name) JOIN @schema@.tenure_lease l ON l.name = w.w_name
