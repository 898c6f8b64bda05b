// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "ui/models/lease_source.h"

#include <QString>

namespace tenure::ui
{

enum class CopyFormat { Name, Tenurectl, RedisCli, Psql, Kubectl, Json, Markdown };

/// A lease as text for other tools. Commands are quoted for a POSIX shell and never contain a secret;
/// text out of stores is made printable. Empty when the format does not fit the backend.
[[nodiscard]] QString copyAs(CopyFormat format, const LeaseStatus &status, const ConnectionInfo &connection,
    const LinkStatus &link, const Clock &clock);
[[nodiscard]] QString title(CopyFormat format);

[[nodiscard]] bool isPostgres(const ConnectionInfo &connection);
[[nodiscard]] bool isKubernetes(const ConnectionInfo &connection);
/// Our own table there, quoted: "tenure".tenure_lease.
[[nodiscard]] QString ownTable(const ConnectionInfo &connection);
/// A question that shows the lease in PostgreSQL, for a person's own psql.
[[nodiscard]] QString psqlStatement(const LeaseStatus &status, const ConnectionInfo &connection);

} // namespace tenure::ui
