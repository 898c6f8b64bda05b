// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"

#include <string>
#include <utility>
#include <vector>

namespace tenure::postgres
{

enum class Mode {
    Table, ///< rows of our table, judged by the server's clock
    Advisory, ///< session locks: a lease lives as long as its holder's session
};

/// Keyword and value of libpq, in order.
using Options = std::vector<std::pair<std::string, std::string>>;

/// What a postgresql URL says, ready to connect with. Immutable. `options` contain the password.
struct Settings {
    Options
        options; ///< only what the URL says; service file, PG* and .pgpass are libpq's own business
    Mode mode = Mode::Table;
    std::string schema = "tenure"; ///< where our tables are; every statement names it
    /// Names that may stand behind the hashed keys of Spring's INT_LOCK ("?roles=leader,billing").
    std::vector<std::string> roleNames;
    std::string display;
};

/// BadConfig: a parameter that is neither ours (schema, mode, roles) nor libpq's (with a near
/// miss), a value that is not possible, or one that we set ourselves.
[[nodiscard]] Result<Settings> settingsOf(const StoreUri &uri);

/// `name` in double quotes, as SQL wants an identifier.
[[nodiscard]] std::string quotedName(std::string_view name);

} // namespace tenure::postgres
