// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/sqlite/sqlite_backend.h"

#include "core/backend/sqlite/sqlite_db.h"
#include "core/backend/sqlite/sqlite_feed.h"
#include "core/base/text.h"

#include <algorithm>
#include <filesystem>

namespace tenure
{
namespace
{

bool isWrite(const Command &command)
{
    return !std::holds_alternative<Read>(command) && !std::holds_alternative<List>(command);
}

/// Only somebody who competes, or who stops everybody, makes a file.
bool mayCreate(const Command &command)
{
    const auto *operate = std::get_if<Operate>(&command);
    return std::holds_alternative<Acquire>(command)
        || (operate != nullptr && operate->verb == OperatorVerb::Hold);
}

RowTime timeNow()
{
    return {BootClock::now(), SystemClock::instance().wall()};
}

class SqliteStore final : public LeaseStore
{
public:
    SqliteStore(std::string path, StoreTraits traits)
        : m_path(std::move(path)), m_traits(std::move(traits))
    {
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }

    [[nodiscard]] std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant deadline) override
    {
        if (commands.empty())
            return {};
        SqliteOpen mode = SqliteOpen::Look;
        if (std::any_of(commands.begin(), commands.end(), isWrite))
            mode = std::any_of(commands.begin(), commands.end(), mayCreate) ? SqliteOpen::Create
                                                                            : SqliteOpen::Write;
        std::vector<Result<Reply>> results;
        auto failed = connect(mode, deadline);
        if (!failed)
            failed = transact(commands, mode, results);
        if (!failed)
            return results;
        m_db.reset(); // rolls back
        failed->where = m_traits.display;
        results.clear();
        for (const Command &command : commands) {
            Error error = *failed;
            if (m_inDoubt && isWrite(command))
                error.kind = ErrorKind::OutcomeUnknown;
            results.emplace_back(fail(std::move(error)));
        }
        return results;
    }

    [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override
    {
        auto failed = connect(SqliteOpen::Look, deadline);
        if (failed)
            return fail(located(*std::move(failed)));
        const Instant began = BootClock::now();
        const auto table = m_db->hasTable();
        const auto journal = m_db->text("PRAGMA journal_mode");
        if (!table || !journal) {
            const Error error = !table ? table.error() : journal.error();
            m_db.reset();
            return fail(located(error));
        }
        StoreFacts facts;
        facts.roundTrip = BootClock::now() - began;
        facts.server = std::string("SQLite ") + sqlite3_libversion() + ", journal " + *journal;
        facts.epoch = bootId();
        facts.uptime = BootClock::now().time_since_epoch();
        facts.serverTime = timeNow().wall;
        if (!*table)
            facts.notes.emplace_back("It has no table of leases yet: the first candidate or init makes it.");
        return facts;
    }

    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override
    {
        if (dryRun)
            return std::string(schemaSql());
        auto failed = connect(SqliteOpen::Create, deadline);
        if (!failed) {
            m_db->preferWal();
            failed = m_db->run(schemaSql());
        }
        if (!failed)
            return std::string(schemaSql());
        m_db.reset();
        return fail(located(*std::move(failed)));
    }

private:
    [[nodiscard]] Error located(Error error) const
    {
        error.where = m_traits.display;
        return error;
    }

    /// A connection that can do at least `mode`, to the file that the path names now.
    [[nodiscard]] std::optional<Error> connect(SqliteOpen mode, Instant deadline)
    {
        m_inDoubt = false;
        if (m_db && (m_db->mode() < mode || !m_db->stillThere()))
            m_db.reset();
        if (!m_db) {
            auto db = SqliteDb::open(m_path, mode, deadline);
            if (!db)
                return std::move(db.error());
            m_db = std::move(*db);
        }
        m_db->setDeadline(deadline);
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Error> transact(
        std::span<const Command> commands, SqliteOpen mode, std::vector<Result<Reply>> &results)
    {
        const bool writes = mode != SqliteOpen::Look;
        if (auto failed = m_db->run(writes ? "BEGIN IMMEDIATE" : "BEGIN"))
            return failed;
        auto table = m_db->hasTable();
        if (table && !*table && mode == SqliteOpen::Create) {
            // Outside of a transaction only: the log must be chosen before the table is made.
            (void)m_db->run("ROLLBACK");
            m_db->preferWal();
            if (auto failed = m_db->run("BEGIN IMMEDIATE"))
                return failed;
            if (auto failed = m_db->run(schemaSql()))
                return failed;
            table = true;
        }
        if (!table)
            return table.error();
        m_haveTable = *table;
        results.reserve(commands.size());
        for (const Command &command : commands) {
            if (auto problem = problemOf(command, m_traits.limits, m_traits.display)) {
                results.emplace_back(fail(*std::move(problem)));
                continue;
            }
            Result<Reply> reply = std::visit([this](const auto &c) { return carryOut(c); }, command);
            if (!reply && m_broken)
                return std::move(*std::exchange(m_broken, std::nullopt));
            results.push_back(std::move(reply));
        }
        return commit(writes);
    }

    [[nodiscard]] std::optional<Error> commit(bool writes)
    {
        auto failed = m_db->run("COMMIT");
        // A full disk or a lock rolls back for certain; after any other failure nobody knows.
        m_inDoubt = failed && writes && failed->kind == ErrorKind::Unavailable
            && failed->recovery != Recovery::AtOnce && failed->what.find("full") == std::string::npos;
        return failed;
    }

    /// Loads, applies `rule`, stores. An error of the file goes to m_broken: the batch is over then.
    template <typename C, typename Rule>
    [[nodiscard]] Result<Reply> onRow(const C &command, Rule rule)
    {
        LeaseRow row;
        if (m_haveTable) {
            auto loaded = m_db->load(command.lease.name());
            if (!loaded)
                return broken(std::move(loaded.error()));
            row = std::move(*loaded);
        }
        // Read after the lock was won: a renewal that waited past its expiry is late.
        const RowTime at = timeNow();
        Result<RowReply> done = rule(row, at);
        if (!done)
            return fail(located(std::move(done.error())));
        if (done->change != RowChange::None) {
            if (auto failed = m_db->save(command.lease.name(), row, at.now))
                return broken(*std::move(failed));
        }
        return std::move(done->reply);
    }

    [[nodiscard]] tl::unexpected<Error> broken(Error error)
    {
        m_broken = error;
        return fail(std::move(error));
    }

    [[nodiscard]] Result<Reply> carryOut(const Acquire &command)
    {
        return onRow(command,
            [&](LeaseRow &row, const RowTime &at) -> Result<RowReply> { return acquireRow(row, command, at); });
    }
    [[nodiscard]] Result<Reply> carryOut(const Renew &command)
    {
        return onRow(command,
            [&](LeaseRow &row, const RowTime &at) -> Result<RowReply> { return renewRow(row, command, at); });
    }
    [[nodiscard]] Result<Reply> carryOut(const Release &command)
    {
        return onRow(command,
            [&](LeaseRow &row, const RowTime &at) -> Result<RowReply> { return releaseRow(row, command, at); });
    }
    [[nodiscard]] Result<Reply> carryOut(const Operate &command)
    {
        return onRow(command,
            [&](LeaseRow &row, const RowTime &at) { return operateRow(row, command, at); });
    }
    [[nodiscard]] Result<Reply> carryOut(const Read &command)
    {
        return onRow(command, [&](LeaseRow &row, const RowTime &at) -> Result<RowReply> {
            RowReply out;
            out.reply.record = recordOf(command.lease, row, at, command.depth);
            out.reply.serverTime = at.wall;
            return out;
        });
    }

    [[nodiscard]] Result<Reply> carryOut(const List &command)
    {
        Reply reply;
        const RowTime at = timeNow();
        reply.serverTime = at.wall;
        const std::size_t page = std::clamp<std::size_t>(command.pageSize, 1, 100'000);
        std::string from = command.cursor;
        bool more = m_haveTable;
        while (more) {
            auto rows = m_db->after(from, page + 1);
            if (!rows)
                return broken(std::move(rows.error()));
            more = rows->size() > page;
            for (const NamedRow &named : *rows) {
                from = named.name;
                if (!globMatch(command.glob, named.name))
                    continue;
                if (reply.records.size() == page) {
                    reply.cursor = reply.records.back().lease.name();
                    return reply;
                }
                reply.records.push_back(recordOf(LeaseId::observed(named.name), named.row, at));
            }
        }
        return reply;
    }

    const std::string m_path;
    const StoreTraits m_traits;
    std::unique_ptr<SqliteDb> m_db;
    bool m_haveTable = false; ///< of the present batch
    bool m_inDoubt = false; ///< the last commit may or may not have happened
    std::optional<Error> m_broken;
};

class SqliteBackend final : public Backend
{
public:
    SqliteBackend(std::string path, std::string display) : m_path(std::move(path))
    {
        m_traits.scheme = "sqlite";
        m_traits.display = std::move(display);
    }
    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<SqliteStore>(m_path, m_traits);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override
    {
        return makeSqliteFeed(m_path);
    }

private:
    const std::string m_path;
    StoreTraits m_traits;
};

} // namespace

Result<std::shared_ptr<const Backend>> makeSqliteBackend(const StoreUri &uri)
{
    if (uri.path.empty() || uri.path == ":memory:") {
        return fail(ErrorKind::BadConfig, "SQLite leases need a file that several processes can open",
            uri.display(), "Write sqlite:///path/leases.db, or memory: for this process alone");
    }
    std::error_code failed;
    const auto path = std::filesystem::absolute(uri.path, failed);
    if (failed) {
        return fail(ErrorKind::BadConfig, "The path cannot be made absolute: " + failed.message(),
            uri.display());
    }
    return std::shared_ptr<const Backend>(
        std::make_shared<SqliteBackend>(path.lexically_normal().string(), uri.display()));
}

} // namespace tenure
