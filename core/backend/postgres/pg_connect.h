// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_settings.h"
#include "core/base/clock.h"

#include <atomic>
#include <libpq-fe.h>
#include <memory>

namespace tenure::postgres
{

struct PgFinish {
    void operator()(PGconn *raw) const { PQfinish(raw); }
};
using RawSession = std::unique_ptr<PGconn, PgFinish>;

/// Opens a session by libpq's own means (service files, PG*, .pgpass, TLS, several hosts), but
/// never past the deadline, and with verbose errors so that they can be told apart in any language.
/// Looking up a name may take as long as the system's resolver does.
[[nodiscard]] Result<RawSession> openSession(const Settings &settings, std::string_view role,
    Instant deadline, const std::atomic<bool> *cancelled);

} // namespace tenure::postgres
