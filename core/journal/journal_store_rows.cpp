// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/action_chain.h"
#include "core/journal/journal_store.h"

namespace tenure
{
namespace
{

constexpr std::size_t kKeptSpans = 64;

} // namespace

// ---- Alerts and actions -----------------------------------------------------------------------

/// Alerts of a run that ended without a word are over: nobody watches them any more.
void JournalStore::endAlertsOfOthers(const Connection& connection, std::uint64_t run, WallTime at)
{
    std::uint64_t& known = m_alertRuns[connection.id];
    if (known == run)
        return;
    known = run;
    auto step = m_db.prepared(
        "INSERT INTO alert_step(alert, at_us, state, who, reason, until_us) SELECT id, ?, 'resolved', '', "
        "'its observer ended', NULL FROM alert WHERE conn=? AND run<>? AND state<>'resolved'");
    step.bind(at).bind(connection.id).bind(run).step();
    auto end = m_db.prepared(
        "UPDATE alert SET state='resolved' WHERE conn=? AND run<>? AND state<>'resolved'");
    end.bind(connection.id).bind(run).step();
}

void JournalStore::take(const AlertRecord& record)
{
    Connection* home = mine(record.connection, record.lastAt);
    if (home == nullptr)
        return;
    endAlertsOfOthers(*home, record.run, record.lastAt);
    const Alert& alert = record.alert;
    const std::string state = alertStateWord(alert.state);
    auto known = m_db.prepared("SELECT id, state FROM alert WHERE run=? AND number=?");
    std::int64_t id = 0;
    std::string before;
    if (known.bind(record.run).bind(alert.id).step()) {
        id = known.integer();
        before = known.text();
    }
    known.reset();
    if (id == 0) {
        auto made = m_db.prepared("INSERT INTO alert(run, number, conn, lease, rule, priority, state, "
                                  "text, todo, first_us, last_us, matched) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
        made.bind(record.run).bind(alert.id).bind(home->id).bind(alert.lease.name()).bind(alert.rule);
        made.bind(std::int64_t{alert.priority}).bind(state).bind(alert.text).bind(alert.action);
        made.bind(record.firstAt).bind(record.lastAt).bind(alert.count).step();
        id = m_db.lastId();
    } else {
        auto update = m_db.prepared("UPDATE alert SET state=?, text=?, last_us=?, matched=? WHERE id=?");
        update.bind(state).bind(alert.text).bind(record.lastAt).bind(alert.count).bind(id).step();
    }
    if (before == state && !record.until)
        return;
    auto step = m_db.prepared(
        "INSERT INTO alert_step(alert, at_us, state, who, reason, until_us) VALUES(?,?,?,?,?,?)");
    step.bind(id).bind(record.lastAt).bind(state).bind(alert.by).bind(alert.reason);
    step.bind(record.until ? std::optional(record.until->time_since_epoch().count()) : std::nullopt).step();
}

void JournalStore::take(const ActionRecord& record)
{
    JournalAction action = record.action;
    auto last = m_db.prepared("SELECT id, hash FROM action ORDER BY id DESC LIMIT 1");
    std::string before;
    if (last.step()) {
        action.id = last.number();
        before = last.text();
    }
    last.reset();
    ++action.id;
    action.hash = chainedHash(before, action);
    auto row = m_db.prepared("INSERT INTO action(id, intent, at_us, who, conn, lease, verb, expected, "
                             "reason, outcome, sentence, hash) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    row.bind(action.id).bind(action.intent).bind(action.at).bind(action.by);
    row.bind(action.lease.connection).bind(action.lease.lease.name()).bind(action.verb);
    row.bind(action.expected).bind(action.reason).bind(action.outcome).bind(action.sentence);
    row.bind(action.hash).step();
    m_kept.emplace_back(&record, action.id);
}

// ---- What was gathered over the batch ---------------------------------------------------------

void JournalStore::writeBuckets()
{
    auto cell = m_db.prepared(
        "INSERT INTO density(conn, level, at, n, dark_most, dark_end, gap_us) VALUES(?,?,?,?,?,?,?) "
        "ON CONFLICT DO UPDATE SET n=n+excluded.n, dark_most=max(dark_most, excluded.dark_most), "
        "dark_end=excluded.dark_end, gap_us=max(gap_us, excluded.gap_us)");
    for (const auto& [bucket, sum] : m_cells) {
        const auto& [connection, level, at] = bucket;
        cell.bind(connection).bind(level).bind(at).bind(sum.n).bind(sum.darkMost);
        cell.bind(sum.darkEnd).bind(sum.gap).step();
        cell.reset();
    }
    m_cells.clear();
    auto gap = m_db.prepared("INSERT INTO gap(lease, at, longest_us) VALUES(?,?,?) ON CONFLICT DO UPDATE "
                             "SET longest_us=max(longest_us, excluded.longest_us)");
    for (const auto& [bucket, longest] : m_gaps) {
        gap.bind(bucket.first).bind(bucket.second).bind(longest).step();
        gap.reset();
    }
    m_gaps.clear();
    auto renewals = m_db.prepared(
        "INSERT INTO renewal(lease, level, at, n, least_us, most_us, sum_us, headroom, late, trip_least, "
        "trip_most, trip_sum) VALUES(?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET n=n+excluded.n, "
        "least_us=min(least_us, excluded.least_us), most_us=max(most_us, excluded.most_us), "
        "sum_us=sum_us+excluded.sum_us, headroom=min(headroom, excluded.headroom), "
        "late=late+excluded.late, trip_least=min(trip_least, excluded.trip_least), "
        "trip_most=max(trip_most, excluded.trip_most), trip_sum=trip_sum+excluded.trip_sum");
    for (const auto& [bucket, sum] : m_renewals) {
        const auto& [owner, level, at] = bucket;
        renewals.bind(owner).bind(level).bind(at).bind(sum.n).bind(sum.least).bind(sum.most);
        renewals.bind(sum.sum).bind(sum.headroom).bind(sum.late).bind(sum.tripLeast);
        renewals.bind(sum.tripMost).bind(sum.tripSum).step();
        renewals.reset();
    }
    m_renewals.clear();
}

void JournalStore::writeLeases()
{
    auto update = m_db.prepared(
        "UPDATE lease SET last_us=?, n=?, dark_us=?, holder=?, token=?, flags=? WHERE id=?");
    for (Lease* state : m_dirty) {
        update.bind(state->last).bind(state->n).bind(state->dark).bind(state->holder);
        update.bind(state->token).bind(state->flags).bind(state->id).step();
        update.reset();
        state->dirty = false;
    }
    m_dirty.clear();
}

void JournalStore::writeSpans()
{
    for (auto& [uid, connection] : m_connections) {
        for (Span& span : connection.spans) {
            if (!span.dirty)
                continue;
            span.dirty = false;
            if (span.id != 0) {
                auto update = m_db.prepared("UPDATE span SET from_us=?, to_us=? WHERE id=?");
                update.bind(span.from).bind(span.to).bind(span.id).step();
                continue;
            }
            auto made = m_db.prepared("INSERT INTO span(conn, from_us, to_us) VALUES(?,?,?)");
            made.bind(connection.id).bind(span.from).bind(span.to).step();
            span.id = m_db.lastId();
        }
        while (connection.spans.size() > kKeptSpans)
            connection.spans.pop_front();
    }
}

} // namespace tenure
