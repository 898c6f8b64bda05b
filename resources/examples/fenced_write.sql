-- SPDX-License-Identifier: GPL-3.0-or-later
-- A resource that refuses older tokens: one row a thing, with the largest token that wrote it.
-- The table:
--   CREATE TABLE fenced(name text PRIMARY KEY, token bigint NOT NULL, value text NOT NULL);
-- One statement compares and writes, so that nothing can come between. $1 name, $2 token (TENURE_TOKEN, or
-- that of a claim), $3 value. A row comes back: written. None: a newer token was here, stop.
INSERT INTO fenced(name, token, value) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET token = excluded.token, value = excluded.value
WHERE fenced.token <= excluded.token
RETURNING token
