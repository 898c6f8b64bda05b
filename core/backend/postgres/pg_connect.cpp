// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_connect.h"

#include "core/backend/postgres/pg_errors.h"

#include <algorithm>
#include <poll.h>

namespace tenure::postgres
{
namespace
{

constexpr auto kSlice = std::chrono::milliseconds(50); ///< how late a cancel may be noticed
constexpr std::size_t kLongestApplicationName = 63;

void set(Options &options, const char *name, std::string value)
{
    for (auto &option : options) {
        if (option.first == name) {
            option.second = std::move(value);
            return;
        }
    }
    options.emplace_back(name, std::move(value));
}

bool has(const Options &options, std::string_view name)
{
    return std::any_of(
        options.begin(), options.end(), [&](const auto &o) { return o.first == name; });
}

/// Ours beside what the URL says: nothing that a half-dead network could hang for ever on.
Options completed(const Settings &settings, std::string_view role)
{
    Options options = settings.options;
    std::string name = "tenure/" + std::string(role);
    set(options, "application_name", name.substr(0, kLongestApplicationName));
    set(options, "client_encoding", "UTF8");
    const std::pair<const char *, const char *> defaults[]
        = {{"keepalives", "1"}, {"keepalives_idle", "5"}, {"keepalives_interval", "2"},
            {"keepalives_count", "3"}, {"tcp_user_timeout", "10000"}};
    for (const auto &[key, value] : defaults) {
        if (!has(options, key))
            options.emplace_back(key, value);
    }
    return options;
}

RawSession begun(const Options &options)
{
    std::vector<const char *> names;
    std::vector<const char *> values;
    for (const auto &[name, value] : options) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    return RawSession(PQconnectStartParams(names.data(), values.data(), 0));
}

Result<RawSession> finished(
    RawSession raw, const Settings &settings, Instant deadline, const std::atomic<bool> *cancelled)
{
    if (!raw)
        return fail(
            ErrorKind::Unavailable, "There is no memory for a connection", settings.display);
    PQsetErrorVerbosity(raw.get(), PQERRORS_VERBOSE);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (true) {
        if (PQstatus(raw.get()) == CONNECTION_BAD)
            return fail(connectError(PQerrorMessage(raw.get()), settings.display));
        pollfd fd{PQsocket(raw.get()),
            static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
        const auto left = std::chrono::duration_cast<Milliseconds>(deadline - BootClock::now());
        if (left <= Milliseconds::zero() || (cancelled != nullptr && *cancelled))
            return fail(noAnswer(settings.display));
        if (poll(&fd, 1, static_cast<int>(std::min(left, kSlice).count())) <= 0)
            continue;
        state = PQconnectPoll(raw.get());
        if (state == PGRES_POLLING_OK) {
            PQsetErrorVerbosity(raw.get(), PQERRORS_DEFAULT);
            return raw;
        }
        if (state == PGRES_POLLING_FAILED)
            return fail(connectError(PQerrorMessage(raw.get()), settings.display));
    }
}

std::vector<std::string> listOf(const std::string &text)
{
    std::vector<std::string> out(1);
    for (const char c : text) {
        if (c == ',')
            out.emplace_back();
        else
            out.back() += c;
    }
    return out;
}

/// What libpq will really use, with service file and environment.
std::string effective(PGconn *raw, const char *keyword)
{
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> all(
        PQconninfo(raw), PQconninfoFree);
    for (const PQconninfoOption *o = all.get(); o != nullptr && o->keyword != nullptr; ++o) {
        if (std::string_view(o->keyword) == keyword)
            return o->val != nullptr ? o->val : "";
    }
    return {};
}

/// One host after the other, each with its share of the time: only libpq's blocking call would
/// leave a host that does not answer.
Result<RawSession> overHosts(const Options &options, RawSession first, const Settings &settings,
    Instant deadline, const std::atomic<bool> *cancelled)
{
    const auto hosts = listOf(effective(first.get(), "host"));
    const auto addresses = listOf(effective(first.get(), "hostaddr"));
    const auto ports = listOf(effective(first.get(), "port"));
    const std::size_t count = std::max(hosts.size(), addresses.size());
    const std::string wanted = effective(first.get(), "target_session_attrs");
    // Somebody who names several hosts and no role means the one that takes writes.
    std::vector<std::string> passes{wanted.empty() || wanted == "any" ? "read-write" : wanted};
    if (has(options, "target_session_attrs") && wanted == "any")
        passes = {"any"};
    else if (wanted == "prefer-standby")
        passes = {"standby", "any"};
    first.reset();
    std::optional<Error> last;
    std::size_t left = passes.size() * count;
    for (const std::string &role : passes) {
        for (std::size_t i = 0; i < count; ++i, --left) {
            Options one = options;
            set(one, "target_session_attrs", role);
            set(one, "host", hosts[std::min(i, hosts.size() - 1)]);
            set(one, "hostaddr", addresses[std::min(i, addresses.size() - 1)]);
            set(one, "port", ports[std::min(i, ports.size() - 1)]);
            const Instant now = BootClock::now();
            const auto share = (deadline - now) / static_cast<std::int64_t>(left);
            auto raw = finished(begun(one), settings, now + share, cancelled);
            if (raw)
                return raw;
            // A standby tells less than a wrong password does.
            if (!last || last->kind == ErrorKind::Unavailable)
                last = std::move(raw.error());
        }
    }
    return fail(*std::move(last));
}

} // namespace

Result<RawSession> openSession(const Settings &settings, std::string_view role, Instant deadline,
    const std::atomic<bool> *cancelled)
{
    const Options options = completed(settings, role);
    RawSession raw = begun(options);
    const bool several = raw && PQstatus(raw.get()) != CONNECTION_BAD
        && (effective(raw.get(), "host").find(',') != std::string::npos
            || effective(raw.get(), "hostaddr").find(',') != std::string::npos);
    if (several)
        return overHosts(options, std::move(raw), settings, deadline, cancelled);
    return finished(std::move(raw), settings, deadline, cancelled);
}

} // namespace tenure::postgres
