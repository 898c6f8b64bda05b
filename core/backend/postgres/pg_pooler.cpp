// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_pooler.h"

namespace tenure::postgres
{

Result<bool> sharesSessions(PgConnection &session, const Settings &settings, Instant deadline)
{
    if (!session.server().proxied)
        return false;
    auto other = PgConnection::open(settings, "candidate", deadline);
    if (!other)
        return fail(std::move(other.error()));
    // With a pool of transactions both get the same session, or the answers change.
    if ((*other)->server().pid == session.server().pid)
        return true;
    for (int i = 0; i < 4; ++i) {
        PgConnection &one = i % 2 == 0 ? session : **other;
        const auto pid = one.ask("SELECT pg_backend_pid()", {}, deadline);
        if (!pid)
            return fail(pid.error());
        if (pid->number(0, 0) != one.server().pid)
            return true;
    }
    return false;
}

} // namespace tenure::postgres
