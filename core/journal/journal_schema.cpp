// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_schema.h"

namespace tenure
{

const char* journalSchemaSql()
{
    return R"(
CREATE TABLE connection(id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  url TEXT NOT NULL);
-- A lease with its state after its last change, so that writing needs no look back.
CREATE TABLE lease(id INTEGER PRIMARY KEY, conn INTEGER NOT NULL, name TEXT NOT NULL,
  last_us INTEGER NOT NULL, n INTEGER NOT NULL, dark_us INTEGER NOT NULL, holder INTEGER NOT NULL,
  token INTEGER NOT NULL, flags INTEGER NOT NULL, UNIQUE(conn, name));
CREATE TABLE holder(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- n counts the lease's changes up to this one and dark_us its time without a leader: a window's
-- counts are differences of two rows, however many lie between.
CREATE TABLE change(id INTEGER PRIMARY KEY AUTOINCREMENT, lease INTEGER NOT NULL, at_us INTEGER NOT NULL,
  server_us INTEGER, kind INTEGER NOT NULL, old_holder INTEGER NOT NULL, new_holder INTEGER NOT NULL,
  token INTEGER NOT NULL, gap_us INTEGER, flags INTEGER NOT NULL, n INTEGER NOT NULL,
  dark_us INTEGER NOT NULL, why TEXT NOT NULL);
CREATE INDEX change_lease ON change(lease, at_us);
CREATE INDEX change_at ON change(at_us);
CREATE TABLE gap(lease INTEGER NOT NULL, at INTEGER NOT NULL, longest_us INTEGER NOT NULL,
  PRIMARY KEY(lease, at)) WITHOUT ROWID;
CREATE TABLE density(conn INTEGER NOT NULL, level INTEGER NOT NULL, at INTEGER NOT NULL,
  n INTEGER NOT NULL, dark_most INTEGER NOT NULL, dark_end INTEGER NOT NULL,
  gap_us INTEGER NOT NULL, PRIMARY KEY(conn, level, at)) WITHOUT ROWID;
CREATE TABLE span(id INTEGER PRIMARY KEY, conn INTEGER NOT NULL, from_us INTEGER NOT NULL,
  to_us INTEGER NOT NULL);
CREATE INDEX span_conn ON span(conn, from_us);
CREATE TABLE renewal(lease INTEGER NOT NULL, level INTEGER NOT NULL, at INTEGER NOT NULL,
  n INTEGER NOT NULL, least_us INTEGER NOT NULL, most_us INTEGER NOT NULL, sum_us INTEGER NOT NULL,
  headroom REAL NOT NULL, late INTEGER NOT NULL, trip_least INTEGER NOT NULL,
  trip_most INTEGER NOT NULL, trip_sum INTEGER NOT NULL, PRIMARY KEY(lease, level, at)) WITHOUT ROWID;
CREATE TABLE action(id INTEGER PRIMARY KEY AUTOINCREMENT, intent INTEGER NOT NULL, at_us INTEGER NOT NULL,
  who TEXT NOT NULL, conn TEXT NOT NULL, lease TEXT NOT NULL, verb TEXT NOT NULL,
  expected TEXT NOT NULL, reason TEXT NOT NULL, outcome TEXT NOT NULL, sentence TEXT NOT NULL,
  hash TEXT NOT NULL);
CREATE TABLE alert(id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, number INTEGER NOT NULL,
  conn INTEGER NOT NULL, lease TEXT NOT NULL, rule TEXT NOT NULL, priority INTEGER NOT NULL,
  state TEXT NOT NULL, text TEXT NOT NULL, todo TEXT NOT NULL, first_us INTEGER NOT NULL,
  last_us INTEGER NOT NULL, matched INTEGER NOT NULL, UNIQUE(run, number));
CREATE INDEX alert_first ON alert(first_us);
CREATE TABLE alert_step(id INTEGER PRIMARY KEY, alert INTEGER NOT NULL, at_us INTEGER NOT NULL,
  state TEXT NOT NULL, who TEXT NOT NULL, reason TEXT NOT NULL, until_us INTEGER);
CREATE INDEX alert_step_alert ON alert_step(alert);
)";
}

} // namespace tenure
