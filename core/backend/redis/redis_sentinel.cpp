// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_errors.h"
#include "core/backend/redis/redis_settings.h"

#include <algorithm>
#include <charconv>

namespace tenure::redis
{
namespace
{

/// Where one sentinel says the master is.
Result<Endpoint> askSentinel(const Settings &settings, const Endpoint &sentinel, Instant deadline,
    const std::atomic<bool> *cancelled)
{
    auto connection = RespConnection::openPlain(sentinel, deadline, cancelled);
    if (!connection)
        return fail(std::move(connection.error()));
    Pipeline question;
    question.add({"SENTINEL", "get-master-addr-by-name", settings.master});
    const auto answer = (*connection)->ask(question, deadline);
    if (!answer)
        return fail(answer.error());
    const RespValue &where = answer->front();
    if (where.isError())
        return fail(errorOf(where.text, settings.display));
    if (where.items.size() != 2) {
        return fail(ErrorKind::BadConfig, "The sentinels know no master called " + settings.master,
            settings.display);
    }
    Endpoint master = settings.endpoints.front();
    master.host = where.items[0].text;
    const std::string &port = where.items[1].text;
    std::from_chars(port.data(), port.data() + port.size(), master.port);
    return master;
}

/// A sentinel may be behind: what it names must say itself that it is a master.
Result<std::unique_ptr<RespConnection>> openMaster(const Settings &settings, const Endpoint &master,
    Instant deadline, const std::atomic<bool> *cancelled)
{
    auto connection = RespConnection::open(master, settings.login, deadline, cancelled);
    if (!connection)
        return connection;
    Pipeline question;
    question.add({"ROLE"});
    const auto role = (*connection)->ask(question, deadline);
    if (!role)
        return fail(role.error());
    const RespValue &answer = role->front();
    if (!answer.items.empty() && answer.items[0].text != "master") {
        return fail(ErrorKind::Unavailable, "The sentinels named a server that is no master (yet)",
            settings.display, "A failover may be under way");
    }
    return connection;
}

} // namespace

Result<std::unique_ptr<RespConnection>> connectTo(
    const Settings &settings, Instant deadline, const std::atomic<bool> *cancelled)
{
    if (settings.master.empty()) {
        return RespConnection::open(
            settings.endpoints.front(), settings.login, deadline, cancelled);
    }
    Error last;
    last.what = "No sentinel answered";
    last.where = settings.display;
    for (std::size_t i = 0; i < settings.endpoints.size(); ++i) {
        // A dead sentinel must leave time to ask the others.
        const Instant now = BootClock::now();
        const auto share = (deadline - now) / static_cast<int>(settings.endpoints.size() - i + 1);
        const auto master = askSentinel(settings, settings.endpoints[i], now + share, cancelled);
        if (!master) {
            last = master.error();
            continue;
        }
        auto connection = openMaster(settings, *master, deadline, cancelled);
        if (connection)
            return connection;
        last = connection.error();
    }
    return fail(std::move(last));
}

} // namespace tenure::redis
