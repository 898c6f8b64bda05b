// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/action_chain.h"
#include "core/journal/journal_reader.h"

#include <algorithm>
#include <limits>

namespace tenure
{
namespace
{

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();

std::int64_t fromOf(const JournalFilter& filter)
{
    return filter.from ? us(*filter.from) : -kEver;
}

std::int64_t toOf(const JournalFilter& filter)
{
    return filter.to ? us(*filter.to) : kEver;
}

AlertState stateOf(const std::string& word)
{
    for (const AlertState state :
        {AlertState::Firing, AlertState::Returned, AlertState::Acknowledged, AlertState::Snoozed}) {
        if (word == alertStateWord(state))
            return state;
    }
    return AlertState::Resolved;
}

JournalEvent readEvent(JournalStatement& rows)
{
    JournalEvent event;
    event.id = rows.number();
    event.lease.connection = rows.text();
    event.lease.lease = LeaseId::observed(rows.text());
    event.at = rows.time();
    if (const auto server = rows.maybe())
        event.serverTime = wall(*server);
    event.kind = static_cast<TransitionKind>(rows.integer());
    event.oldHolder = rows.text();
    event.newHolder = rows.text();
    event.token = FencingToken{rows.number()};
    if (const auto gap = rows.maybe())
        event.gap = std::chrono::microseconds(*gap);
    event.inBlindSpot = (rows.integer() & change_flags::kInBlindSpot) != 0;
    event.explanation = rows.text();
    return event;
}

#define TENURE_EVENT_SELECT                                                                          \
    "SELECT change.id, uid, lease.name, at_us, server_us, kind, ifnull(o.name, ''), ifnull(h.name, " \
    "''), change.token, gap_us, change.flags, why FROM change JOIN lease ON lease.id=change.lease JOIN " \
    "connection ON connection.id=lease.conn LEFT JOIN holder o ON o.id=old_holder LEFT JOIN holder h " \
    "ON h.id=new_holder "

/// Where a page ends: strictly before this moment and id.
struct Before {
    std::int64_t at = kEver;
    std::uint64_t id = 0;
};

Before beforeOf(JournalDb& db, std::uint64_t before)
{
    Before out;
    if (before == 0)
        return out;
    out.id = before;
    auto known = db.prepared("SELECT at_us FROM change WHERE id=?");
    // Removed meanwhile: what is older than it was removed as well.
    out.at = known.bind(before).step() ? known.integer() : -kEver;
    return out;
}

JournalAction readAction(JournalStatement& rows)
{
    JournalAction action;
    action.id = rows.number();
    action.intent = rows.number();
    action.at = rows.time();
    action.by = rows.text();
    action.lease.connection = rows.text();
    action.lease.lease = LeaseId::observed(rows.text());
    action.verb = rows.text();
    action.expected = rows.text();
    action.reason = rows.text();
    action.outcome = rows.text();
    action.sentence = rows.text();
    action.hash = rows.text();
    return action;
}

} // namespace

Result<std::vector<JournalEvent>> JournalQuery::events(
    const JournalFilter& filter, std::uint64_t before, std::size_t limit)
{
    Snapshot snapshot(*m_reader->db);
    JournalDb& db = *m_reader->db;
    std::vector<JournalEvent> out;
    const Before end = beforeOf(db, before);
    const bool exact = !filter.connection.empty() && filter.glob.find_first_of("*?") == std::string::npos;
    if (exact) { // one lease: by its own index
        const auto lease = m_reader->find({filter.connection, LeaseId::observed(filter.glob)});
        if (!lease)
            return snapshot.done(std::move(out));
        auto rows = db.prepared(TENURE_EVENT_SELECT
            "WHERE change.lease=? AND at_us>=? AND at_us<? AND (at_us, change.id) < (?, ?) ORDER BY at_us "
            "DESC, change.id DESC LIMIT ?");
        rows.bind(lease->id).bind(fromOf(filter)).bind(toOf(filter)).bind(end.at).bind(end.id);
        rows.bind(static_cast<std::int64_t>(limit));
        while (rows.step())
            out.push_back(readEvent(rows));
        return snapshot.done(std::move(out));
    }
    auto rows = db.prepared(TENURE_EVENT_SELECT
        "WHERE at_us>=? AND at_us<? AND (at_us, change.id) < (?, ?) AND (?='' OR uid=?) AND tenure_glob(?, "
        "lease.name) ORDER BY at_us DESC, change.id DESC LIMIT ?");
    rows.bind(fromOf(filter)).bind(toOf(filter)).bind(end.at).bind(end.id);
    rows.bind(filter.connection).bind(filter.connection).bind(filter.glob);
    rows.bind(static_cast<std::int64_t>(limit));
    while (rows.step())
        out.push_back(readEvent(rows));
    return snapshot.done(std::move(out));
}

Result<std::vector<JournalAction>> JournalQuery::actions(
    const JournalFilter& filter, std::uint64_t before, std::size_t limit)
{
    Snapshot snapshot(*m_reader->db);
    std::vector<JournalAction> out;
    auto rows = m_reader->db->prepared(
        "SELECT id, intent, at_us, who, conn, lease, verb, expected, reason, outcome, sentence, hash FROM "
        "action WHERE id<? AND (?='' OR conn=?) AND (lease='' OR tenure_glob(?, lease)) AND at_us>=? AND "
        "at_us<? ORDER BY id DESC LIMIT ?");
    rows.bind(before == 0 ? kEver : static_cast<std::int64_t>(before));
    rows.bind(filter.connection).bind(filter.connection).bind(filter.glob);
    rows.bind(fromOf(filter)).bind(toOf(filter)).bind(static_cast<std::int64_t>(limit));
    while (rows.step())
        out.push_back(readAction(rows));
    return snapshot.done(std::move(out));
}

Result<std::vector<JournalAlert>> JournalQuery::alerts(
    const JournalFilter& filter, std::uint64_t before, std::size_t limit)
{
    Snapshot snapshot(*m_reader->db);
    std::vector<JournalAlert> out;
    auto rows = m_reader->db->prepared(
        "SELECT alert.id, uid, lease, rule, priority, state, text, todo, first_us, last_us, matched FROM "
        "alert JOIN connection ON connection.id=alert.conn WHERE alert.id<? AND (?='' OR uid=?) AND "
        "(lease='' OR tenure_glob(?, lease)) AND last_us>=? AND first_us<? ORDER BY alert.id DESC LIMIT ?");
    rows.bind(before == 0 ? kEver : static_cast<std::int64_t>(before));
    rows.bind(filter.connection).bind(filter.connection).bind(filter.glob);
    rows.bind(fromOf(filter)).bind(toOf(filter)).bind(static_cast<std::int64_t>(limit));
    while (rows.step()) {
        JournalAlert alert;
        alert.id = rows.number();
        alert.lease.connection = rows.text();
        alert.lease.lease = LeaseId::observed(rows.text());
        alert.rule = rows.text();
        alert.priority = static_cast<int>(rows.integer());
        alert.state = stateOf(rows.text());
        alert.text = rows.text();
        alert.action = rows.text();
        alert.firstAt = rows.time();
        alert.lastAt = rows.time();
        alert.count = rows.number();
        auto steps = m_reader->db->prepared(
            "SELECT at_us, state, who, reason, until_us FROM alert_step WHERE alert=? ORDER BY id");
        steps.bind(alert.id);
        while (steps.step()) {
            AlertStep step;
            step.at = steps.time();
            step.state = stateOf(steps.text());
            step.by = steps.text();
            step.reason = steps.text();
            if (const auto until = steps.maybe())
                step.until = wall(*until);
            alert.steps.push_back(std::move(step));
        }
        out.push_back(std::move(alert));
    }
    return snapshot.done(std::move(out));
}

Result<ChainCheck> JournalQuery::verify()
{
    Snapshot snapshot(*m_reader->db);
    ChainCheck check;
    auto rows = m_reader->db->prepared(
        "SELECT id, intent, at_us, who, conn, lease, verb, expected, reason, outcome, sentence, hash FROM "
        "action ORDER BY id");
    while (check.brokenAt == 0 && rows.step()) {
        const JournalAction action = readAction(rows);
        ++check.actions;
        // Ids have no holes: a removed action is a break too.
        if (action.id != check.actions || chainedHash(check.head, action) != action.hash)
            check.brokenAt = action.id;
        check.head = action.hash;
    }
    check.sound = check.brokenAt == 0;
    check.sentence = check.sound
        ? "The chain is sound: " + std::to_string(check.actions) + " actions"
        : "The chain is broken at action " + std::to_string(check.brokenAt)
            + ": it, or one before it, was changed or removed";
    return snapshot.done(std::move(check));
}

} // namespace tenure
