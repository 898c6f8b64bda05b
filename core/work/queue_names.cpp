// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/queue_names.h"

#include "core/work/open_work_queue.h"
#include "core/work/sqlite_statement.h"

#ifdef TENURE_HAVE_POSTGRES
#include "core/backend/postgres/pg_connection.h"
#endif

namespace tenure
{
namespace
{

Error noQueueYet(const std::string &where)
{
    return fail(ErrorKind::NotFound, "There is no queue here yet", where,
        "One is made when the first item is put in, or by: tenurectl work init")
        .value();
}

class SqliteQueueNames final : public QueueNames
{
public:
    explicit SqliteQueueNames(const StoreUri &uri) : m_path(uri.path), m_display(uri.display()) { }

    [[nodiscard]] Result<std::vector<std::string>> read(Instant deadline) override
    {
        auto names = look(deadline);
        if (!names) {
            names.error().where = m_display;
            m_db.reset();
        }
        return names;
    }

private:
    [[nodiscard]] Result<std::vector<std::string>> look(Instant deadline)
    {
        if (m_db && !m_db->stillThere())
            m_db.reset();
        if (!m_db) {
            auto opened = SqliteDb::open(m_path, SqliteOpen::Look, deadline);
            if (!opened)
                return fail(std::move(opened.error()));
            m_db = std::move(*opened);
        }
        m_db->setDeadline(deadline);
        const auto tables = m_db->text("SELECT count(*) FROM sqlite_schema WHERE name = 'tenure_queue'");
        if (!tables)
            return fail(tables.error());
        if (*tables == "0")
            return fail(noQueueYet(m_display));
        std::vector<std::string> names;
        SqliteStatement rows(*m_db, "SELECT name FROM tenure_queue ORDER BY name LIMIT ?1");
        rows.bind(static_cast<std::int64_t>(kMaxQueueNames));
        while (rows.step())
            names.push_back(rows.text());
        if (auto problem = rows.problem())
            return fail(*std::move(problem));
        if (names.empty())
            return fail(noQueueYet(m_display));
        return names;
    }

    const std::string m_path;
    const std::string m_display;
    std::unique_ptr<SqliteDb> m_db;
};

#ifdef TENURE_HAVE_POSTGRES
class PostgresQueueNames final : public QueueNames
{
public:
    explicit PostgresQueueNames(postgres::Settings settings)
        : m_settings(std::move(settings)),
          m_sql("SELECT name FROM " + postgres::quotedName(m_settings.schema)
              + ".tenure_queue ORDER BY name LIMIT " + std::to_string(kMaxQueueNames))
    {
    }

    [[nodiscard]] Result<std::vector<std::string>> read(Instant deadline) override
    {
        if (!m_session || !m_session->usable() || !m_session->stillThere()) {
            m_session.reset();
            auto opened = postgres::PgConnection::open(m_settings, "work", deadline);
            if (!opened)
                return fail(std::move(opened.error()));
            m_session = std::move(*opened);
        }
        auto rows = m_session->ask(m_sql, {}, deadline);
        if (!rows) {
            const std::string state = m_session->lastSqlstate();
            if (!m_session->usable())
                m_session.reset();
            const bool noTable = state == "42P01" || state == "3F000"; // nor perhaps a schema
            return fail(noTable ? noQueueYet(m_settings.display) : std::move(rows.error()));
        }
        if (rows->size() == 0)
            return fail(noQueueYet(m_settings.display));
        std::vector<std::string> names;
        for (std::size_t i = 0; i < rows->size(); ++i)
            names.emplace_back(rows->text(i, 0));
        return names;
    }

private:
    const postgres::Settings m_settings;
    const std::string m_sql;
    std::unique_ptr<postgres::PgConnection> m_session;
};
#endif

} // namespace

Result<std::unique_ptr<QueueNames>> openQueueNames(const StoreUri &uri)
{
    if (const auto any = openWorkQueue(uri, "any"); !any)
        return fail(any.error());
#ifdef TENURE_HAVE_POSTGRES
    if (uri.scheme == "postgresql") {
        auto settings = postgres::settingsOf(uri);
        if (!settings)
            return fail(std::move(settings.error()));
        return std::unique_ptr<QueueNames>(std::make_unique<PostgresQueueNames>(std::move(*settings)));
    }
#endif
    return std::unique_ptr<QueueNames>(std::make_unique<SqliteQueueNames>(uri));
}

} // namespace tenure
