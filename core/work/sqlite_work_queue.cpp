// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/sqlite_work_queue.h"

#include "core/backend/sqlite/sqlite_db.h"
#include "core/work/sqlite_statement.h"
#include "core/work/work_rules.h"

#include <algorithm>

namespace tenure
{
namespace
{

constexpr std::size_t kReasonBytes = 1000;

constexpr const char *kSchema
    = "CREATE TABLE IF NOT EXISTS tenure_queue(name TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL,\n"
      "  boot TEXT NOT NULL, fence INTEGER NOT NULL, last_token INTEGER NOT NULL) WITHOUT ROWID;\n"
      "CREATE TABLE IF NOT EXISTS tenure_work(id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL,\n"
      "  key TEXT, payload BLOB NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,\n"
      "  max_attempts INTEGER NOT NULL, due_ns INTEGER NOT NULL, worker TEXT NOT NULL, token INTEGER NOT NULL,\n"
      "  fence INTEGER NOT NULL, created_us INTEGER NOT NULL, reason TEXT NOT NULL, UNIQUE(queue, key));\n"
      "CREATE INDEX IF NOT EXISTS tenure_work_due ON tenure_work(queue, due_ns, id) WHERE state < 2;\n"
      "CREATE INDEX IF NOT EXISTS tenure_work_state ON tenure_work(queue, state, id);\n";

// States as stored: ItemState's numbers.
constexpr const char *kQueueRow = "SELECT version, boot, fence, last_token FROM tenure_queue WHERE name=?1";
constexpr const char *kMakeQueue
    = "INSERT INTO tenure_queue(name, version, boot, fence, last_token) VALUES(?1,?2,?3,0,0)";
constexpr const char *kSaveQueue = "UPDATE tenure_queue SET boot=?2, fence=?3, last_token=?4 WHERE name=?1";
constexpr const char *kNewBoot = "UPDATE tenure_work SET due_ns=0 WHERE queue=?1 AND state<2";
constexpr const char *kInsert
    = "INSERT INTO tenure_work(queue, key, payload, state, attempts, max_attempts, due_ns, worker, token, "
      "fence, created_us, reason) VALUES(?1,?2,?3,0,0,?4,?5,'',0,0,?6,'') "
      "ON CONFLICT(queue, key) DO NOTHING RETURNING id";
constexpr const char *kFindKey = "SELECT id FROM tenure_work WHERE queue=?1 AND key=?2";
constexpr const char *kBury
    = "UPDATE tenure_work SET state=3, reason='no worker came to an end with it' "
      "WHERE queue=?1 AND state=1 AND due_ns<=?2 AND attempts>=max_attempts";
constexpr const char *kReclaim
    = "UPDATE tenure_work SET state=0 WHERE queue=?1 AND state=1 AND due_ns<=?2";
constexpr const char *kClaim
    = "UPDATE tenure_work SET state=1, attempts=attempts+1, due_ns=?3, worker=?4, token=?5, fence=?6 "
      "WHERE id IN (SELECT id FROM tenure_work WHERE queue=?1 AND state<2 AND due_ns<=?2 "
      "AND (state=0 OR attempts<max_attempts) ORDER BY due_ns, id LIMIT ?7) RETURNING id, attempts, key, payload";
constexpr const char *kLook
    = "SELECT state, attempts, max_attempts, token, due_ns FROM tenure_work WHERE id=?1 AND queue=?2";
constexpr const char *kSettle = "UPDATE tenure_work SET state=?2, due_ns=?3, reason=?4 WHERE id=?1";
constexpr const char *kRetry
    = "UPDATE tenure_work SET state=0, attempts=0, due_ns=?2 WHERE queue=?1 AND state=3 AND (?3=0 OR id=?3)";
constexpr const char *kCounts
    = "SELECT state, due_ns<=?2, count(*), min(CASE WHEN state<2 THEN created_us END) FROM tenure_work "
      "WHERE queue=?1 GROUP BY 1, 2";
constexpr const char *kItems
    = "SELECT id, key, substr(payload,1,200), length(payload), attempts, max_attempts, worker, token, fence, "
      "due_ns, created_us, reason FROM tenure_work WHERE queue=?1 AND state=?2 AND ";
constexpr const char *kInOrder = "id>?3 ORDER BY id LIMIT ?4";
constexpr const char *kNewestFirst = "id<?3 ORDER BY id DESC LIMIT ?4";

std::int64_t number(FencingToken token)
{
    return static_cast<std::int64_t>(std::min<std::uint64_t>(token.value, INT64_MAX));
}

std::int64_t nanoseconds(Instant at)
{
    return at.time_since_epoch().count();
}

std::int64_t wallNow()
{
    return SystemClock::instance().wall().time_since_epoch().count();
}

/// What the queue's own row says.
struct QueueRow {
    std::string boot;
    FencingToken fence;
    std::int64_t lastToken = 0;
};

class SqliteWorkQueue final : public WorkQueue
{
public:
    SqliteWorkQueue(std::string path, std::string display, std::string queue)
        : m_path(std::move(path)), m_display(std::move(display)), m_queue(std::move(queue))
    {
    }

    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override
    {
        if (dryRun)
            return std::string(kSchema);
        auto done = transact<bool>(SqliteOpen::Create, deadline, [](const QueueRow &) -> Result<bool> { return true; });
        if (!done)
            return fail(done.error());
        return std::string(kSchema);
    }

    [[nodiscard]] Result<std::vector<Enqueued>> enqueue(std::span<const NewItem> items, Instant deadline) override
    {
        if (auto problem = problemOf(items, m_display))
            return fail(*std::move(problem));
        return transact<std::vector<Enqueued>>(SqliteOpen::Create, deadline, [&](const QueueRow &) { return put(items); });
    }

    [[nodiscard]] Result<std::vector<Claim>> claim(
        const Worker &worker, std::size_t limit, Milliseconds timeout, Instant deadline) override
    {
        if (auto problem = claimProblem(limit, timeout, m_display))
            return fail(*std::move(problem));
        return transact<std::vector<Claim>>(SqliteOpen::Write, deadline,
            [&](QueueRow row) { return take(std::move(row), worker, limit, timeout); });
    }

    [[nodiscard]] Result<std::vector<Settled>> settle(
        const Worker &worker, std::span<const Settlement> settlements, Instant deadline) override
    {
        if (auto problem = problemOf(settlements, m_display))
            return fail(*std::move(problem));
        return transact<std::vector<Settled>>(
            SqliteOpen::Write, deadline, [&](const QueueRow &row) -> Result<std::vector<Settled>> {
                std::vector<Settled> all;
                for (const Settlement &one : settlements) {
                    auto settled = worker.fence < row.fence ? Result<Settled>(Settled::Stale) : settleOne(one);
                    if (!settled)
                        return fail(std::move(settled.error()));
                    all.push_back(*settled);
                }
                return all;
            });
    }

    [[nodiscard]] Result<std::uint64_t> retryDead(std::int64_t id, Instant deadline) override
    {
        return transact<std::uint64_t>(SqliteOpen::Write, deadline, [&](const QueueRow &) {
            return changed(SqliteStatement(*m_db, kRetry).bind(m_queue).bind(nanoseconds(BootClock::now())).bind(id));
        });
    }

    [[nodiscard]] Result<std::uint64_t> reclaim(Instant deadline) override
    {
        return transact<std::uint64_t>(SqliteOpen::Write, deadline, [&](const QueueRow &) -> Result<std::uint64_t> {
            const std::int64_t now = nanoseconds(BootClock::now());
            const auto buried = changed(SqliteStatement(*m_db, kBury).bind(m_queue).bind(now));
            if (!buried)
                return buried;
            const auto freed = changed(SqliteStatement(*m_db, kReclaim).bind(m_queue).bind(now));
            return freed ? Result<std::uint64_t>(*freed + *buried) : freed;
        });
    }

    [[nodiscard]] Result<QueueCounts> counts(Instant deadline) override
    {
        return transact<QueueCounts>(SqliteOpen::Look, deadline, [&](const QueueRow &row) { return count(row); });
    }

    [[nodiscard]] Result<std::vector<ItemView>> items(
        ItemState state, std::int64_t afterId, std::size_t limit, Instant deadline) override
    {
        return transact<std::vector<ItemView>>(SqliteOpen::Look, deadline,
            [&](const QueueRow &row) { return views(row, state, afterId, limit); });
    }

private:
    /// Opens, begins, checks the queue's row, works, commits. Whatever fails: nothing was changed,
    /// unless the error says OutcomeUnknown.
    template <typename T, typename Work>
    [[nodiscard]] Result<T> transact(SqliteOpen mode, Instant deadline, Work work)
    {
        auto done = attempt<T>(mode, deadline, work);
        if (!done) {
            done.error().where = m_display;
            m_db.reset(); // rolls back
        }
        return done;
    }

    template <typename T, typename Work>
    [[nodiscard]] Result<T> attempt(SqliteOpen mode, Instant deadline, Work &work)
    {
        if (auto failed = connect(mode, deadline))
            return fail(*std::move(failed));
        if (auto failed = m_db->run(mode == SqliteOpen::Look ? "BEGIN" : "BEGIN IMMEDIATE"))
            return fail(*std::move(failed));
        auto row = queueRow(mode);
        if (!row)
            return fail(std::move(row.error()));
        Result<T> done = work(*row);
        if (!done)
            return done;
        if (auto failed = m_db->run("COMMIT")) {
            const bool definite = mode == SqliteOpen::Look || failed->recovery == Recovery::AtOnce;
            failed->kind = definite ? failed->kind : ErrorKind::OutcomeUnknown;
            return fail(*std::move(failed));
        }
        return done;
    }

    [[nodiscard]] std::optional<Error> connect(SqliteOpen mode, Instant deadline)
    {
        if (m_db && (m_db->mode() < mode || !m_db->stillThere()))
            m_db.reset();
        if (!m_db) {
            auto db = SqliteDb::open(m_path, mode, deadline);
            if (!db)
                return std::move(db.error());
            m_db = std::move(*db);
            m_haveTables = false;
        }
        m_db->setDeadline(deadline);
        if (m_haveTables)
            return std::nullopt;
        const auto found
            = m_db->text("SELECT count(*) FROM sqlite_schema WHERE name IN ('tenure_queue', 'tenure_work')");
        if (!found)
            return found.error();
        if (*found == "0" && mode == SqliteOpen::Create) {
            m_db->preferWal();
            if (auto failed = m_db->run(kSchema))
                return failed;
        } else if (*found == "0") {
            return fail(ErrorKind::NotFound, "There is no queue in this file", {},
                "It is made when the first item is put in, or: tenurectl work init")
                .value();
        }
        m_haveTables = true;
        return std::nullopt;
    }

    /// The queue's row, made when absent; a reboot seen here ends every claim and delay.
    [[nodiscard]] Result<QueueRow> queueRow(SqliteOpen mode)
    {
        QueueRow row;
        SqliteStatement found(*m_db, kQueueRow);
        found.bind(m_queue);
        if (found.step()) {
            if (auto problem = versionProblem(static_cast<int>(found.integer()), m_display))
                return fail(*std::move(problem));
            row.boot = found.text();
            row.fence = {static_cast<std::uint64_t>(found.integer())};
            row.lastToken = found.integer();
        } else if (auto failed = found.problem()) {
            return fail(*std::move(failed));
        } else if (mode == SqliteOpen::Look) {
            return fail(ErrorKind::NotFound, "There is no queue of this name", m_queue);
        }
        if (mode == SqliteOpen::Look || row.boot == bootId())
            return row;
        const auto made = row.boot.empty()
            ? changed(SqliteStatement(*m_db, kMakeQueue).bind(m_queue).bind(std::int64_t{kQueueVersion}).bind(bootId()))
            : changed(SqliteStatement(*m_db, kNewBoot).bind(m_queue));
        row.boot = bootId();
        const auto saved = made ? save(row) : made;
        if (!saved)
            return fail(saved.error());
        return row;
    }

    [[nodiscard]] Result<std::uint64_t> save(const QueueRow &row)
    {
        return changed(SqliteStatement(*m_db, kSaveQueue)
                           .bind(m_queue).bind(row.boot).bind(number(row.fence)).bind(row.lastToken));
    }

    [[nodiscard]] Result<std::uint64_t> changed(SqliteStatement &statement)
    {
        while (statement.step()) { }
        if (auto failed = statement.problem())
            return fail(*std::move(failed));
        return static_cast<std::uint64_t>(sqlite3_changes64(m_db->handle()));
    }

    [[nodiscard]] Result<std::vector<Enqueued>> put(std::span<const NewItem> items)
    {
        std::vector<Enqueued> all;
        const Instant now = BootClock::now();
        for (const NewItem &item : items) {
            SqliteStatement insert(*m_db, kInsert);
            insert.bind(m_queue).bindOrNull(item.key).bindBlob(item.payload).bind(std::int64_t{item.maxAttempts})
                .bind(nanoseconds(now + item.delay)).bind(wallNow());
            const bool isNew = insert.step();
            if (auto failed = insert.problem())
                return fail(*std::move(failed));
            if (isNew) {
                all.push_back({insert.integer(), true});
                continue;
            }
            SqliteStatement known(*m_db, kFindKey);
            known.bind(m_queue).bind(item.key);
            if (!known.step())
                return fail(known.problem().value_or(Error()));
            all.push_back({known.integer(), false});
        }
        return all;
    }

    [[nodiscard]] Result<std::vector<Claim>> take(
        QueueRow row, const Worker &worker, std::size_t limit, Milliseconds timeout)
    {
        if (worker.fence < row.fence)
            return fail(staleFence(row.fence, worker.fence, m_display));
        row.fence = worker.fence;
        ++row.lastToken;
        if (auto saved = save(row); !saved)
            return fail(std::move(saved.error()));
        const Instant now = BootClock::now(); // with the lock in hand
        SqliteStatement claim(*m_db, kClaim);
        claim.bind(m_queue).bind(nanoseconds(now)).bind(nanoseconds(now + timeout)).bind(worker.name.name())
            .bind(row.lastToken).bind(number(worker.fence)).bind(static_cast<std::int64_t>(limit));
        std::vector<Claim> claims;
        while (claim.step()) {
            Claim &one = claims.emplace_back();
            one.ticket.id = claim.integer();
            one.ticket.attempt = static_cast<int>(claim.integer());
            one.ticket.token = {static_cast<std::uint64_t>(row.lastToken)};
            one.key = claim.text();
            one.payload = claim.text();
            one.validUntil = now + timeout;
        }
        if (auto failed = claim.problem())
            return fail(*std::move(failed));
        if (claims.size() < limit) { // there is time to look for those that nobody may have any more
            if (auto buried = changed(SqliteStatement(*m_db, kBury).bind(m_queue).bind(nanoseconds(now))); !buried)
                return fail(std::move(buried.error()));
        }
        return claims;
    }

    [[nodiscard]] Result<Settled> settleOne(const Settlement &one)
    {
        SqliteStatement look(*m_db, kLook);
        look.bind(one.ticket.id).bind(m_queue);
        if (!look.step()) {
            if (auto failed = look.problem())
                return fail(*std::move(failed));
            return Settled::Lost;
        }
        const auto state = static_cast<ItemState>(look.integer());
        const std::int64_t attempts = look.integer();
        const std::int64_t most = look.integer();
        const bool same = attempts == one.ticket.attempt && look.integer() == number(one.ticket.token);
        const Instant now = BootClock::now();
        if (!same)
            return Settled::Lost;
        if (state == ItemState::Completed)
            return one.kind == Settlement::Kind::Complete ? Settled::Done : Settled::Lost;
        if (state == ItemState::Dead)
            return one.kind == Settlement::Kind::Fail ? Settled::Dead : Settled::Lost;
        if (state == ItemState::Pending)
            return one.kind == Settlement::Kind::Fail ? Settled::Done : Settled::Lost;
        if (look.integer() <= nanoseconds(now))
            return Settled::Lost; // it ran out, whether somebody took it already or not
        const bool last = one.kind == Settlement::Kind::Fail && attempts >= most;
        ItemState next = ItemState::Completed;
        Instant due = now;
        if (one.kind == Settlement::Kind::Heartbeat) {
            next = ItemState::Processing;
            due = now + one.timeout;
        } else if (one.kind == Settlement::Kind::Fail) {
            next = last ? ItemState::Dead : ItemState::Pending;
            due = now + one.backoff;
        }
        const auto written = changed(SqliteStatement(*m_db, kSettle).bind(one.ticket.id)
                                         .bind(static_cast<std::int64_t>(next)).bind(nanoseconds(due))
                                         .bind(one.reason.substr(0, kReasonBytes)));
        if (!written)
            return fail(written.error());
        return last ? Settled::Dead : Settled::Done;
    }

    [[nodiscard]] Result<QueueCounts> count(const QueueRow &row)
    {
        QueueCounts counts;
        counts.fence = row.fence;
        const std::int64_t now = row.boot == bootId() ? nanoseconds(BootClock::now()) : INT64_MAX;
        SqliteStatement groups(*m_db, kCounts);
        groups.bind(m_queue).bind(now);
        while (groups.step()) {
            const auto state = static_cast<ItemState>(groups.integer());
            const bool due = groups.integer() != 0;
            const auto many = static_cast<std::uint64_t>(groups.integer());
            const Duration age = std::chrono::microseconds(wallNow() - groups.integer());
            if (state == ItemState::Pending)
                (due ? counts.pending : counts.delayed) = many;
            else if (state == ItemState::Processing)
                (due ? counts.late : counts.processing) = many;
            else
                (state == ItemState::Dead ? counts.dead : counts.completed) += many;
            if (due && (state == ItemState::Pending || state == ItemState::Processing))
                counts.oldestPending = std::max(counts.oldestPending.value_or(age), age);
        }
        if (auto failed = groups.problem())
            return fail(*std::move(failed));
        return counts;
    }

    [[nodiscard]] Result<std::vector<ItemView>> views(
        const QueueRow &row, ItemState state, std::int64_t afterId, std::size_t limit)
    {
        const std::int64_t now = row.boot == bootId() ? nanoseconds(BootClock::now()) : 0;
        const std::string sql = std::string(kItems) + (newestFirst(state) ? kNewestFirst : kInOrder);
        SqliteStatement rows(*m_db, sql.c_str());
        rows.bind(m_queue).bind(static_cast<std::int64_t>(state)).bind(listedBehind(state, afterId))
            .bind(static_cast<std::int64_t>(std::min(limit, kMaxBatch)));
        std::vector<ItemView> all;
        while (rows.step()) {
            ItemView &one = all.emplace_back();
            one.state = state;
            one.id = rows.integer();
            one.key = rows.text();
            one.excerpt = rows.text();
            one.bytes = static_cast<std::size_t>(rows.integer());
            one.attempts = static_cast<int>(rows.integer());
            one.maxAttempts = static_cast<int>(rows.integer());
            one.worker = rows.text();
            one.token = {static_cast<std::uint64_t>(rows.integer())};
            one.fence = {static_cast<std::uint64_t>(rows.integer())};
            const std::int64_t due = rows.integer();
            one.due = Duration(now == 0 ? 0 : due - now);
            one.age = std::chrono::microseconds(wallNow() - rows.integer());
            one.reason = rows.text();
        }
        if (auto failed = rows.problem())
            return fail(*std::move(failed));
        return all;
    }

    const std::string m_path;
    const std::string m_display;
    const std::string m_queue;
    std::unique_ptr<SqliteDb> m_db;
    bool m_haveTables = false;
};

} // namespace

Result<std::unique_ptr<WorkQueue>> makeSqliteWorkQueue(const StoreUri &uri, const std::string &queue)
{
    if (uri.path.empty() || uri.path == ":memory:") {
        return fail(ErrorKind::BadConfig, "A queue needs a file that several processes can open", uri.display(),
            "Write sqlite:///path/work.db");
    }
    return std::unique_ptr<WorkQueue>(std::make_unique<SqliteWorkQueue>(uri.path, uri.display(), queue));
}

} // namespace tenure
