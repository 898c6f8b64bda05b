// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/work/open_work_queue.h"

#include "core/work/sqlite_work_queue.h"
#include "core/work/work_rules.h"

#ifdef TENURE_HAVE_POSTGRES
#include "core/work/postgres_work_queue.h"
#endif

namespace tenure
{

Result<std::unique_ptr<WorkQueue>> openWorkQueue(const StoreUri &uri, const std::string &queue)
{
    if (auto problem = queueNameProblem(queue, uri.display()))
        return fail(*std::move(problem));
    if (uri.scheme == "sqlite")
        return makeSqliteWorkQueue(uri, queue);
#ifdef TENURE_HAVE_POSTGRES
    if (uri.scheme == "postgresql")
        return makePostgresWorkQueue(uri, queue);
#endif
    return fail(ErrorKind::Unsupported, "Work queues are kept in SQLite and PostgreSQL only", uri.display(),
        "Use a sqlite: or postgresql: URL for the queue");
}

} // namespace tenure
