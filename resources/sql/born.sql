-- SPDX-License-Identifier: GPL-3.0-or-later

  UNION ALL
  SELECT name, 'granted', renewed_at, holder, nonce, token, ttl_ms, acquired_at, renewed_at, expires_at,
    transitions, released, ask_ms, hold_by, hold_until, NULL::timestamptz, 'gained', '' FROM born
