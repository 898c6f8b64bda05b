-- SPDX-License-Identifier: GPL-3.0-or-later
-- What tenurectl init makes. Rows of leases are never deleted, so that tokens only grow; room in each
-- page and no index on what a renewal changes keep renewals "heap only" (no bloat).
CREATE TABLE IF NOT EXISTS @schema@.tenure_lease (
  name text COLLATE "C" PRIMARY KEY CHECK (octet_length(name) BETWEEN 1 AND 512),
  holder text NOT NULL DEFAULT '',             -- of the present or the last term
  nonce text NOT NULL DEFAULT '',              -- of that very term
  token bigint NOT NULL DEFAULT 0,             -- fencing token, grows with each term
  ttl_ms bigint NOT NULL DEFAULT 0,
  acquired_at timestamptz NOT NULL DEFAULT 'epoch',
  renewed_at timestamptz NOT NULL DEFAULT 'epoch',
  expires_at timestamptz NOT NULL DEFAULT 'epoch',  -- held while this is in the future
  transitions bigint NOT NULL DEFAULT 0,
  released boolean NOT NULL DEFAULT false,     -- given back, not run out
  ask_ms bigint,                               -- asked to step down and to stay out this long
  out_holder text NOT NULL DEFAULT '',         -- asked earlier: stays out until out_until
  out_until timestamptz NOT NULL DEFAULT 'epoch',
  hold_by text NOT NULL DEFAULT '',
  hold_until timestamptz NOT NULL DEFAULT 'epoch',  -- nobody may lead until then
  metadata jsonb
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000);

CREATE TABLE IF NOT EXISTS @schema@.tenure_history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  lease text COLLATE "C" NOT NULL,
  event text NOT NULL,                         -- gained, released, asked, held, cleared
  holder text NOT NULL,
  token bigint NOT NULL,
  by text NOT NULL DEFAULT ''                  -- the operator
);
CREATE INDEX IF NOT EXISTS tenure_history_lease_at ON @schema@.tenure_history (lease, at);

-- Least privileges: the three roles get theirs if they exist. Make those that you want first, then
-- run this again, then grant them to the logins of your services and people:
--   CREATE ROLE tenure_elector NOLOGIN;   -- takes part in elections
--   CREATE ROLE tenure_viewer NOLOGIN;    -- only looks
--   CREATE ROLE tenure_operator NOLOGIN;  -- looks, and may release by hand
DO $roles$
DECLARE
  one text;
BEGIN
  FOR one IN SELECT rolname FROM pg_catalog.pg_roles
    WHERE rolname IN ('tenure_elector', 'tenure_viewer', 'tenure_operator')
  LOOP
    EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', @literal@, one);
    EXECUTE pg_catalog.format('GRANT SELECT ON %1$I.tenure_lease, %1$I.tenure_history TO %2$I',
      @literal@, one);
    IF one <> 'tenure_viewer' THEN
      EXECUTE pg_catalog.format('GRANT INSERT ON %1$I.tenure_lease, %1$I.tenure_history TO %2$I',
        @literal@, one);
      EXECUTE pg_catalog.format('GRANT UPDATE (holder, nonce, token, ttl_ms, acquired_at, renewed_at, '
        'expires_at, transitions, released, ask_ms, out_holder, out_until) ON %I.tenure_lease TO %I',
        @literal@, one);
    END IF;
    IF one = 'tenure_operator' THEN
      EXECUTE pg_catalog.format('GRANT UPDATE (hold_by, hold_until) ON %I.tenure_lease TO %I',
        @literal@, one);
    END IF;
  END LOOP;
END
$roles$;
-- The history grows by a row a change of leadership; for example, to keep 90 days:
--   DELETE FROM @schema@.tenure_history WHERE at < now() - interval '90 days';
