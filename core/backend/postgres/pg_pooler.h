// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_connection.h"

namespace tenure::postgres
{

/// Whether a proxy stands between that gives one session of the server to several clients in turn
/// (it pools transactions or statements), so that nothing kept in a session is ours: neither a lock
/// nor a LISTEN. Asks only when a proxy was seen at all, with a second session beside this one.
[[nodiscard]] Result<bool> sharesSessions(
    PgConnection &session, const Settings &settings, Instant deadline);

} // namespace tenure::postgres
