-- SPDX-License-Identifier: GPL-3.0-or-later
-- Put first in an acquire that comes a little before the holder's end: waits for it (of several, the first),
-- at most @wait@ ms and with no row locked; what was renewed meanwhile is seen when the row is locked. pg_sleep counts whole milliseconds, so the last one is spent asking the clock, but not for long
-- when that stands still.
ending AS MATERIALIZED (
  SELECT min(greatest(l.expires_at, l.hold_until)) AS at
  FROM want w JOIN @schema@.tenure_lease l ON l.name = w.w_name
  WHERE greatest(l.expires_at, l.hold_until) < clock_timestamp() + @wait@::bigint * interval '1 ms'
),
slept AS MATERIALIZED (
  SELECT at, pg_sleep(extract(epoch FROM at - interval '1 ms' - clock_timestamp())::float8) FROM ending
),
awaited AS MATERIALIZED (
  SELECT count(*) FROM (
    SELECT FROM (SELECT at, generate_series(1, 20000) FROM slept OFFSET 0) AS asked
    WHERE at IS NULL OR clock_timestamp() >= at LIMIT 1) AS over
),
