-- SPDX-License-Identifier: GPL-3.0-or-later
-- $1 the name before the page, $2 how every name begins, $3 rows. Takes no lock.
SELECT name, 'read', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, holder, nonce, token, ttl_ms,
  (extract(epoch FROM acquired_at) * 1000000)::bigint, (extract(epoch FROM renewed_at) * 1000000)::bigint,
  (extract(epoch FROM expires_at) * 1000000)::bigint, transitions, released, ask_ms, hold_by,
  (extract(epoch FROM hold_until) * 1000000)::bigint, NULL::bigint
FROM @schema@.tenure_lease
WHERE name > $1 AND name >= $2 AND starts_with(name, $2) ORDER BY name LIMIT $3::bigint
