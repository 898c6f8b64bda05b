// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_advisory_store.h"

#include "core/backend/postgres/pg_errors.h"
#include "core/backend/postgres/pg_pooler.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenure::postgres
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kTryEvery = 2s; ///< while waiting; LockWait tells when it is free

// The token: timeline and transaction number, both of which only grow, read once the lock is ours.
// The message goes to the log of writes and nowhere else: without any write a crash would forget
// the number.
constexpr const char *kTry = R"sql(
WITH taken AS MATERIALIZED (SELECT CASE WHEN $4 = '' THEN pg_try_advisory_lock($1::bigint)
    ELSE pg_try_advisory_lock($1::bigint::int, $4::int) END AS ok)
SELECT ok, CASE WHEN ok THEN txid_current()
    + (('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint << 48) END,
  CASE WHEN ok THEN set_config('application_name', $2, false) || set_config('tcp_keepalives_idle', '5', false)
    || set_config('tcp_keepalives_interval', '2', false) || set_config('tcp_keepalives_count', '3', false)
    || pg_notify($3, 'gained:' || $5)::text || pg_logical_emit_message(true, 'tenure', '')::text END,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM taken
)sql";

constexpr const char *kStillLocked = R"sql(
SELECT pg_backend_pid(), EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND pid = pg_backend_pid() AND classid = $1::bigint::oid AND objid = $2::bigint::oid AND objsubid = $3::int
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())),
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
)sql";

constexpr const char *kUnlock = "SELECT CASE WHEN $2 = '' THEN pg_advisory_unlock($1::bigint) ELSE "
                                "pg_advisory_unlock($1::bigint::int, $2::int) END, "
                                "pg_notify($3, 'released:' || $4)";

std::string secondOf(const AdvisoryKey &key)
{
    return key.pair ? std::to_string(key.two) : std::string();
}

WallTime timeAt(const PgRows &rows, std::size_t column)
{
    return WallTime(std::chrono::microseconds(rows.number(0, column)));
}

/// The name that its candidates use, where it is known.
void callByName(LeaseRecord &record)
{
    for (const RecordFact &fact : record.facts) {
        if (fact.name == "lease")
            record.lease = LeaseId::observed(fact.value);
    }
}

LeaseId nameOfKey(const LeaseId &lease)
{
    return LeaseId::observed(advisoryName(keyOf(lease)));
}

} // namespace

AdvisoryStore::AdvisoryStore(
    std::shared_ptr<Shared> shared, std::shared_ptr<SessionWatch> watch, StoreTraits traits)
    : m_shared(std::move(shared)), m_watch(std::move(watch)), m_traits(std::move(traits)),
      m_looks(m_shared, m_traits)
{
}

AdvisoryStore::~AdvisoryStore()
{
    while (!m_held.empty())
        drop(m_held.begin());
}

void AdvisoryStore::drop(Place place)
{
    m_watch->forget(place->second.watched);
    m_held.erase(place); // ends the session, and with it the lock
}

std::vector<Result<Reply>> AdvisoryStore::execute(
    std::span<const Command> commands, Instant deadline)
{
    std::vector<Result<Reply>> out;
    out.reserve(commands.size());
    for (const Command &command : commands) {
        Command checked = command;
        if (auto *operate = std::get_if<Operate>(&checked))
            operate->kind = "tenure";
        if (auto problem = problemOf(checked, m_traits.limits, m_traits.display))
            out.emplace_back(fail(*std::move(problem)));
        else if (const auto *acquires = std::get_if<Acquire>(&command))
            out.push_back(acquire(*acquires, deadline));
        else if (const auto *renews = std::get_if<Renew>(&command))
            out.push_back(renew(*renews, deadline));
        else if (const auto *releases = std::get_if<Release>(&command))
            out.push_back(release(*releases, deadline));
        else if (const auto *reads = std::get_if<Read>(&command))
            out.push_back(peek(reads->lease, deadline));
        else
            out.push_back(look(command, deadline));
    }
    return out;
}

bool AdvisoryStore::idle(Instant deadline, const std::atomic<bool> &cancelled)
{
    if (!m_competes || !m_held.empty())
        return false;
    if (!m_spare)
        return prepareSession(deadline, &cancelled).has_value();
    return m_looks.connectAhead(deadline, cancelled);
}

Result<void> AdvisoryStore::prepareSession(Instant deadline, const std::atomic<bool> *cancelled)
{
    if (m_spare && !m_spare->stillThere())
        m_spare.reset();
    if (m_spare)
        return {};
    auto made = PgConnection::open(m_shared->settings, "candidate", deadline, cancelled);
    if (!made)
        return fail(std::move(made.error()));
    const PgServer &server = (*made)->server();
    if (server.standby)
        return fail(errorOf("25006", {}, m_traits.display));
    const auto shared = sharesSessions(**made, m_shared->settings, deadline);
    if (!shared)
        return fail(shared.error());
    if (*shared) {
        return fail(ErrorKind::Unsupported,
            "A proxy that pools transactions stands between: a session lock would belong to "
            "whoever "
            "gets that session next",
            m_traits.display, "Connect to the server itself, pool sessions, or use mode=table");
    }
    m_shared->epoch.note(server);
    m_spare = std::move(*made);
    return {};
}

Result<Reply> AdvisoryStore::acquire(const Acquire &command, Instant deadline)
{
    m_competes = true;
    const auto mine = m_held.find(command.lease);
    if (mine != m_held.end()) {
        // A session may take its own lock twice: two candidates of one process must not.
        const Term &term = mine->second.term;
        auto locked = stillLocked(mine->second, command.lease, deadline);
        if (locked && *locked) {
            if (term.nonce == command.nonce && term.holder == command.holder) {
                Reply again;
                again.record.lease = command.lease;
                again.record.token = term.token;
                return again;
            }
            return refused(command.lease, deadline);
        }
        drop(mine);
    }
    if (auto ready = prepareSession(deadline); !ready)
        return fail(std::move(ready.error()));
    const PgServer &server = m_spare->server();
    Duration wait = m_shared->epoch.barrier(command.ttl).value_or(Duration::zero());
    // Locks do not outlive the server: whoever had one may still believe.
    wait = std::max<Duration>(
        wait, command.ttl - (server.uptime + (BootClock::now() - server.toldAt)));
    if (wait > Duration::zero()) {
        Reply barred;
        barred.outcome = Outcome::Refused;
        barred.record.lease = command.lease;
        barred.epochBarrier = true;
        barred.retryIn = wait;
        return barred;
    }
    const auto waits = m_waits.find(command.lease);
    if (waits != m_waits.end()) {
        if (auto won = waits->second->take())
            m_spare = std::move(won); // it has the lock; trying it again succeeds
        else if (waits->second->keep())
            return refused(command.lease, deadline);
        m_waits.erase(waits);
    }
    return tryLock(command, deadline);
}

Result<Reply> AdvisoryStore::tryLock(const Acquire &command, Instant deadline)
{
    const AdvisoryKey key = keyOf(command.lease);
    const auto rows = m_spare->ask(markedFor(command.lease, kTry),
        {std::to_string(key.one), "tenure/" + command.holder.name(), m_shared->statements.channel,
            secondOf(key), command.lease.name()},
        deadline);
    if (!rows) {
        // The session is closed with whatever it may have got: for certain nobody holds it through
        // us.
        m_spare.reset();
        return fail(rows.error());
    }
    if (!rows->truth(0, 0)) {
        m_waits[command.lease]
            = std::make_unique<LockWait>(m_shared, m_watch, command.lease, key, command.holder, command.ttl);
        return refused(command.lease, deadline);
    }
    Held held{{command.holder, command.nonce, {static_cast<std::uint64_t>(rows->number(0, 1))}},
        std::move(m_spare), 0};
    held.watched = m_watch->add(command.lease, held.session->socket());
    Reply granted;
    granted.record.lease = command.lease;
    granted.record.holder = command.holder.name();
    granted.record.nonce = command.nonce;
    granted.record.token = held.term.token;
    granted.record.acquiredAt = granted.record.renewedAt = timeAt(*rows, 3);
    granted.serverTime = timeAt(*rows, 3);
    m_held.emplace(command.lease, std::move(held));
    return granted;
}

Result<Reply> AdvisoryStore::refused(const LeaseId &lease, Instant deadline)
{
    auto reply = read(lease, deadline);
    if (reply) {
        reply->outcome = Outcome::Refused;
        reply->retryIn = kTryEvery;
    }
    return reply;
}

/// False when it is known to be gone; a session that does not answer is closed, so gone as well.
Result<bool> AdvisoryStore::stillLocked(Held &held, const LeaseId &lease, Instant deadline)
{
    if (!held.session->stillThere())
        return false;
    const AdvisoryKey key = keyOf(lease);
    const auto bits = static_cast<std::uint64_t>(key.one);
    const std::uint32_t first
        = key.pair ? static_cast<std::uint32_t>(bits) : static_cast<std::uint32_t>(bits >> 32U);
    const std::uint32_t second
        = key.pair ? static_cast<std::uint32_t>(key.two) : static_cast<std::uint32_t>(bits);
    const auto rows = held.session->ask(markedFor(lease, kStillLocked),
        {std::to_string(first), std::to_string(second), key.pair ? "2" : "1"}, deadline);
    if (!rows && held.session->usable())
        return fail(rows.error()); // the statement failed, the session stands
    return rows && rows->number(0, 0) == held.session->server().pid && rows->truth(0, 1);
}

Reply AdvisoryStore::lost(const LeaseId &lease) const
{
    Reply reply;
    reply.outcome = Outcome::Lost;
    reply.record.lease = lease;
    return reply;
}

Result<Reply> AdvisoryStore::renew(const Renew &command, Instant deadline)
{
    const auto mine = m_held.find(command.lease);
    if (mine == m_held.end() || !(mine->second.term == command.term))
        return lost(command.lease);
    const auto locked = stillLocked(mine->second, command.lease, deadline);
    if (!locked)
        return fail(locked.error());
    if (!*locked) {
        drop(mine);
        return lost(command.lease);
    }
    Reply renewed;
    renewed.record.lease = command.lease;
    renewed.record.holder = command.term.holder.name();
    renewed.record.token = command.term.token;
    return renewed;
}

Result<Reply> AdvisoryStore::release(const Release &command, Instant deadline)
{
    const auto mine = m_held.find(command.lease);
    const bool same = mine != m_held.end() && mine->second.term.holder == command.term.holder
        && mine->second.term.nonce == command.term.nonce
        && (!command.term.token || mine->second.term.token == command.term.token);
    if (!same)
        return lost(command.lease);
    const AdvisoryKey key = keyOf(command.lease);
    // Whether or not the server answers: the end of the session gives the lock back.
    const auto rows = mine->second.session->ask(kUnlock,
        {std::to_string(key.one), secondOf(key), m_shared->statements.channel,
            command.lease.name()},
        deadline);
    drop(mine);
    if (!rows)
        return fail(rows.error());
    Reply released;
    released.record.lease = command.lease;
    released.record.released = true;
    return released;
}

/// A candidate that waits mostly looks: that, too, says that it still wants the lock.
Result<Reply> AdvisoryStore::peek(const LeaseId &lease, Instant deadline)
{
    const auto waits = m_waits.find(lease);
    if (waits != m_waits.end() && !waits->second->keep())
        waits->second = waits->second->again();
    return read(lease, deadline);
}

/// As the locks' own view shows it, under the name that was asked for.
Result<Reply> AdvisoryStore::read(const LeaseId &lease, Instant deadline)
{
    const Command read = Read{nameOfKey(lease), ReadDepth::Full};
    auto reply = std::move(m_looks.execute({&read, 1}, deadline).front());
    if (reply)
        reply->record.lease = lease;
    const auto mine = m_held.find(lease);
    if (reply && mine != m_held.end() && reply->record.holder) {
        reply->record.nonce = mine->second.term.nonce;
        reply->record.token = mine->second.term.token;
    }
    return reply;
}

Result<Reply> AdvisoryStore::look(const Command &command, Instant deadline)
{
    Command changed = command;
    LeaseId asked;
    if (auto *operate = std::get_if<Operate>(&changed)) {
        asked = operate->lease;
        if (!ForeignView::isForeignName(asked.name())) {
            operate->lease = nameOfKey(asked);
            operate->expected.token = {}; // ours; the view's evidence is the session
        }
    }
    std::string glob = "*";
    if (auto *list = std::get_if<List>(&changed)) {
        glob = std::exchange(list->glob, glob); // by the names that we call them
        if (list->cursor.empty())
            list->cursor = ForeignView::firstCursor(); // the table's leases are others
    }
    auto reply = std::move(m_looks.execute({&changed, 1}, deadline).front());
    if (!reply)
        return reply;
    for (LeaseRecord &record : reply->records)
        callByName(record);
    std::erase_if(reply->records,
        [&](const LeaseRecord &record) { return !globMatch(glob, record.lease.name()); });
    if (!asked.name().empty())
        reply->record.lease = asked;
    return reply;
}

Result<StoreFacts> AdvisoryStore::probe(Instant deadline)
{
    auto facts = m_looks.probe(deadline);
    if (!facts)
        return facts;
    std::erase_if(facts->notes,
        [](const std::string &note) { return note.find("tenurectl init") != std::string::npos; });
    facts->notes.emplace_back(
        "Advisory mode: a lease lives as long as its holder's session; a session "
        "that is killed frees it at once.");
    if (auto ready = prepareSession(deadline); !ready)
        facts->notes.push_back(ready.error().what + ".");
    return facts;
}

Result<std::string> AdvisoryStore::init(bool /*dryRun*/, Instant /*deadline*/)
{
    return "Nothing needs to be made: advisory locks come into being when a candidate acquires.";
}

} // namespace tenure::postgres
