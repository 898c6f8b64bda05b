// SPDX-License-Identifier: GPL-3.0-or-later
// What PgStore does besides the verbs of candidates: lists, writes by hand, facts, making the
// table.
#include "core/backend/postgres/pg_errors.h"
#include "core/backend/postgres/pg_store.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenure::postgres
{
namespace
{

constexpr std::string_view kOurCursor = "t:";

constexpr const char *kFacts = R"sql(
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
  (SELECT count(*) FROM pg_catalog.pg_stat_replication), current_user,
  n.oid IS NOT NULL, has_schema_privilege(n.oid, 'USAGE'), c.oid IS NOT NULL,
  has_table_privilege(c.oid, 'SELECT'), has_table_privilege(c.oid, 'INSERT'),
  has_column_privilege(c.oid, 'holder', 'UPDATE'), has_column_privilege(c.oid, 'hold_by', 'UPDATE'),
  current_setting('server_encoding'), pg_catalog.pg_is_in_recovery()
FROM (SELECT 1) AS one LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = $1
  LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = 'tenure_lease'
)sql";

enum Fact : std::size_t {
    kTime,
    kFsync,
    kFullPages,
    kSyncNames,
    kReplicas,
    kUser,
    kSchema,
    kUsage,
    kTable,
    kSelect,
    kInsert,
    kUpdate,
    kHold,
    kEncoding,
    kRecovery,
};

/// What would be refused, or is unwise, one sentence each.
std::vector<std::string> notesOf(
    const PgRows &facts, const PgServer &server, const Settings &settings)
{
    std::vector<std::string> notes;
    const std::string user(facts.text(0, kUser));
    const std::string table = settings.schema + ".tenure_lease";
    if (server.standby)
        notes.emplace_back("This is a standby: it shows leases and takes no writes.");
    if (server.proxied) {
        notes.emplace_back("A pooler stands between: push works only if it pools sessions, and "
                           "advisory mode not at all if it pools transactions.");
    }
    if (!facts.truth(0, kTable)) {
        notes.emplace_back("There is no table " + table + " yet: tenurectl init makes it.");
    } else if (!facts.truth(0, kUsage) || !facts.truth(0, kSelect)) {
        notes.emplace_back(user + " may not read " + table + " (role tenure_viewer).");
    } else if (!facts.truth(0, kUpdate) || !facts.truth(0, kInsert)) {
        notes.emplace_back(user
            + " may look, but neither elect nor release (roles tenure_elector, "
              "tenure_operator).");
    } else if (!facts.truth(0, kHold)) {
        notes.emplace_back(user + " may elect, but not release by hand (role tenure_operator).");
    }
    if (facts.text(0, kFsync) == "off")
        notes.emplace_back("fsync is off: a crash of the server's machine may lose leases.");
    if (facts.text(0, kSyncNames).empty() && facts.number(0, kReplicas) > 0) {
        notes.emplace_back(
            "Its standbys are asynchronous: a failover may lose acknowledged writes; "
            "then nobody acquires for one ttl.");
    }
    if (facts.text(0, kEncoding) != "UTF8")
        notes.emplace_back("The database's encoding is not UTF8: some names are impossible.");
    return notes;
}

} // namespace

/// Our leases first, then what others keep.
Result<Reply> PgStore::list(const List &command, Instant deadline)
{
    if (ForeignView::isForeignCursor(command.cursor))
        return m_foreign.list(*m_connection, command, deadline);
    Result<Reply> ours = listOurs(command, deadline);
    // Who may not read our table may still read others'.
    const bool hidden = !ours && ours.error().kind == ErrorKind::Denied && m_connection->usable();
    if (!hidden && (!ours || !ours->cursor.empty()))
        return ours;
    List others = command;
    others.cursor = ForeignView::firstCursor();
    if (hidden || ours->records.empty()) {
        auto theirs = m_foreign.list(*m_connection, others, deadline);
        const bool nothing = theirs && theirs->records.empty() && theirs->cursor.empty();
        return hidden && nothing ? ours : theirs;
    }
    ours->cursor = others.cursor;
    return ours;
}

Result<Reply> PgStore::listOurs(const List &command, Instant deadline)
{
    const std::size_t page = std::clamp<std::size_t>(command.pageSize, 1, 10'000);
    Reply reply;
    std::string from = command.cursor.starts_with(kOurCursor)
        ? command.cursor.substr(kOurCursor.size())
        : command.cursor;
    const std::string start = literalStart(command.glob);
    while (true) {
        const auto rows
            = ask(m_shared->statements.list, {from, start, std::to_string(page + 1)}, deadline);
        const std::string &state = m_connection->lastSqlstate();
        if (!rows && (state == "42P01" || state == "3F000"))
            return reply; // no table: nothing of ours
        if (!rows)
            return fail(rows.error());
        for (std::size_t row = 0; row < rows->size(); ++row) {
            const Answered answered = answeredAt(*rows, row);
            reply.serverTime = answered.at.wall;
            if (!globMatch(command.glob, answered.name)) {
                from = answered.name;
                continue;
            }
            if (reply.records.size() == page) {
                reply.cursor = std::string(kOurCursor) + from;
                return reply;
            }
            from = answered.name;
            reply.records.push_back(recordOf(LeaseId::observed(from), answered.row, answered.at));
        }
        if (rows->size() <= page)
            return reply;
    }
}

Result<Reply> PgStore::operate(const Operate &command, Instant deadline)
{
    return command.kind == "tenure" ? operateOurs(command, deadline)
                                    : m_foreign.operate(*m_connection, command, deadline);
}

Result<Reply> PgStore::operateOurs(const Operate &command, Instant deadline)
{
    const char *verb = command.verb == OperatorVerb::Hold ? "hold"
        : command.verb == OperatorVerb::Clear             ? "clear"
                                                          : "ask";
    PgArray name;
    PgArray holder;
    PgArray version;
    PgArray duration;
    PgArray token;
    name.add(command.lease.name());
    holder.add(command.expected.holder);
    version.add(command.expected.version);
    duration.add(command.duration.count());
    token.add(static_cast<std::int64_t>(command.expected.token.value));
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - BootClock::now());
    const std::vector<PgValue> values{
        std::to_string(std::max<std::int64_t>(1, left.count() * 4 / 5)) + "ms", name.text(),
        holder.text(), version.text(), duration.text(), token.text(), verb, command.by};
    auto rows = ask(m_shared->statements.operate, values, deadline);
    const bool expectsNothing = command.expected.holder.empty() && !command.expected.token;
    if (rows && rows->size() == 0 && expectsNothing && command.verb == OperatorVerb::Hold) {
        // A hold on a name that nobody ever had.
        if (auto made
            = m_connection->ask(m_shared->statements.makeRow, {command.lease.name()}, deadline);
            !made)
            return fail(std::move(made.error()));
        rows = ask(m_shared->statements.operate, values, deadline);
    }
    if (!rows)
        return fail(rows.error());
    if (rows->size() == 0 && !expectsNothing) {
        Reply gone;
        gone.outcome = Outcome::Conflict;
        gone.record.lease = command.lease;
        return gone;
    }
    const bool vacant = rows->size() == 0 || answeredAt(*rows, 0).verdict == "vacant";
    if (vacant) {
        return fail(ErrorKind::NotFound, "Nobody holds this lease", m_traits.display,
            "There is nothing to give back");
    }
    const Answered answered = answeredAt(*rows, 0);
    return replyOf(answered, command.lease,
        answered.verdict == "conflict" ? Outcome::Conflict : Outcome::Done);
}

Result<StoreFacts> PgStore::probe(Instant deadline)
{
    if (auto connected = connect(deadline); !connected)
        return fail(std::move(connected.error()));
    const PgServer &server = m_connection->server();
    const Instant asked = BootClock::now();
    const auto rows = m_connection->ask(kFacts, {m_shared->settings.schema}, deadline);
    if (!rows) {
        Error error = rows.error();
        if (!m_connection->usable())
            m_connection.reset();
        return fail(std::move(error));
    }
    const Instant told = BootClock::now();
    if (rows->truth(0, kRecovery) != server.standby) { // promoted since we came: all is asked anew
        m_connection.reset();
        return probe(deadline);
    }
    StoreFacts facts;
    facts.roundTrip = told - asked;
    facts.serverTime = WallTime(std::chrono::microseconds(rows->number(0, kTime)));
    if (!server.standby)
        m_shared->epoch.sample(asked, told, *facts.serverTime);
    facts.server = "PostgreSQL " + server.version + (server.standby ? ", standby" : ", primary")
        + (server.proxied ? ", through a pooler" : "");
    facts.epoch = server.epoch;
    facts.uptime = server.uptime + (told - server.toldAt);
    facts.notes = notesOf(*rows, server, m_shared->settings);
    if (m_foreign.survey(*m_connection, deadline)) {
        const auto more = m_foreign.notes();
        facts.notes.insert(facts.notes.end(), more.begin(), more.end());
    }
    return facts;
}

Result<std::string> PgStore::init(bool dryRun, Instant deadline)
{
    const Statements &sql = m_shared->statements;
    if (dryRun)
        return sql.makeSchema + sql.init;
    if (auto connected = connect(deadline); !connected)
        return fail(std::move(connected.error()));
    // Only somebody who may make schemas could repeat that for one that is there.
    const auto there = m_connection->ask("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1",
        {m_shared->settings.schema}, deadline);
    std::string text = there && there->size() > 0 ? sql.init : sql.makeSchema + sql.init;
    auto done = there ? m_connection->script(text, deadline) : Result<void>(fail(there.error()));
    if (done)
        return text;
    if (!m_connection->usable())
        m_connection.reset();
    return fail(std::move(done.error()));
}

} // namespace tenure::postgres
