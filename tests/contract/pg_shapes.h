// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"

#include <map>
#include <string>

namespace tenure
{

/// The tables as their libraries make them.
inline constexpr const char *kForeignTables = R"sql(
SET search_path = public, pg_catalog;
CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL,
  locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name));
CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL, CLIENT_ID CHAR(36),
  CREATED_DATE TIMESTAMP NOT NULL, EXPIRED_AFTER TIMESTAMP NOT NULL, constraint INT_LOCK_PK primary key (LOCK_KEY, REGION));
CREATE TABLE OLD_LOCK (LOCK_KEY CHAR(36), REGION VARCHAR(100), CLIENT_ID CHAR(36), CREATED_DATE TIMESTAMP NOT NULL,
  constraint OLD_LOCK_PK primary key (LOCK_KEY, REGION));
CREATE UNLOGGED TABLE river_leader(elected_at timestamptz NOT NULL, expires_at timestamptz NOT NULL,
  leader_id text NOT NULL, name text PRIMARY KEY DEFAULT 'default',
  CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND char_length(leader_id) < 128));
CREATE UNLOGGED TABLE oban_peers(name text NOT NULL PRIMARY KEY, node text NOT NULL,
  started_at timestamp without time zone NOT NULL, expires_at timestamp without time zone NOT NULL);
CREATE TABLE locks(name character varying(255) PRIMARY KEY, record_version_number bigint, data bytea,
  owner character varying(255));
CREATE SEQUENCE locks_rvn CYCLE OWNED BY locks.record_version_number;
CREATE TABLE vault_ha_locks(ha_key TEXT COLLATE "C" NOT NULL, ha_identity TEXT COLLATE "C" NOT NULL,
  ha_value TEXT COLLATE "C", valid_until TIMESTAMP WITH TIME ZONE NOT NULL, CONSTRAINT ha_key PRIMARY KEY (ha_key));
CREATE TABLE qrtz_scheduler_state(SCHED_NAME VARCHAR(120) NOT NULL, INSTANCE_NAME VARCHAR(200) NOT NULL,
  LAST_CHECKIN_TIME BIGINT NOT NULL, CHECKIN_INTERVAL BIGINT NOT NULL, PRIMARY KEY (SCHED_NAME,INSTANCE_NAME));
)sql";

/// One lease of each, taken as its library takes it.
inline constexpr const char *kForeignRows = R"sql(
DELETE FROM shedlock; DELETE FROM int_lock; DELETE FROM old_lock; DELETE FROM river_leader; DELETE FROM oban_peers;
DELETE FROM locks; DELETE FROM vault_ha_locks; DELETE FROM qrtz_scheduler_state;
INSERT INTO shedlock(name, lock_until, locked_at, locked_by) VALUES('nightly',
  timezone('utc', CURRENT_TIMESTAMP) + interval '30 s', timezone('utc', CURRENT_TIMESTAMP), 'web-1');
INSERT INTO int_lock (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER) VALUES ('DEFAULT',
  'c444858e-0aae-3727-9a73-d2eae62321ad', '6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b', timezone('utc', now()),
  timezone('utc', now()) + interval '30 s');
INSERT INTO old_lock (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE) VALUES ('DEFAULT',
  '54c9b374-b076-35f5-84df-d448b35fa792', '6f1ed002-ab5c-4d1f-8a6b-0c1d2e3f4a5b', timezone('utc', now()) + interval '20 s');
INSERT INTO river_leader(name, leader_id, elected_at, expires_at)
  VALUES ('default', 'host_1', now() - interval '1 h', now() + interval '30 s');
INSERT INTO oban_peers VALUES('Oban', 'app@10.0.0.7', timezone('utc', now()) - interval '1 d',
  timezone('utc', now()) + interval '30 s');
INSERT INTO locks VALUES('payments', nextval('locks_rvn'), '\x00ff', 'worker-7');
INSERT INTO vault_ha_locks VALUES('core/lock', '8f14e45f-ceea-467f-9538-6a1b2c3d4e5f', 'leader-uuid', now() + interval '30 s');
INSERT INTO qrtz_scheduler_state VALUES('Sched', 'node-1', (extract(epoch from now()) * 1000)::bigint, 7500);
)sql";

inline LeaseId leaseId(const std::string &name)
{
    return LeaseId::observed(name);
}

inline Result<Reply> once(LeaseStore &store, const Command &command)
{
    return store.execute({&command, 1}, BootClock::now() + std::chrono::seconds(10)).front();
}

/// Every lease of a listing; the test ends when one is told twice.
inline std::map<std::string, LeaseRecord> listAll(LeaseStore &store, List list = {})
{
    std::map<std::string, LeaseRecord> all;
    do {
        const auto page = once(store, list);
        if (!page)
            qFatal("%s", page.error().text().c_str());
        for (const LeaseRecord &record : page->records) {
            if (!all.emplace(record.lease.name(), record).second)
                qFatal("%s was told twice", record.lease.name().c_str());
        }
        list.cursor = page->cursor;
    } while (!list.cursor.empty());
    return all;
}

inline LeaseRecord readOne(LeaseStore &store, const std::string &name)
{
    const auto reply = once(store, Read{leaseId(name)});
    if (!reply)
        qFatal("%s", reply.error().text().c_str());
    return reply->record;
}

inline Operate operateOn(const LeaseRecord &seen, OperatorVerb verb)
{
    return {verb, seen.lease, seen.kind, seen.seen(), "anna", std::chrono::seconds(20)};
}

} // namespace tenure
