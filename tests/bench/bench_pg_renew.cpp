// SPDX-License-Identifier: GPL-3.0-or-later
// Renewals of 1,000 leases in batches, on a PostgreSQL of its own with fsync on, beside pgbench
// doing single prepared updates of the same kind of row in the same run (goal: 5 x that). Then 10^6
// renewals in all: how many were heap-only (goal: over 99 %), and how large the table became.
// Usage: bench_pg_renew [SECONDS]
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"
#include "tests/bench/bench_support.h"

#include <QCoreApplication>

#include <fstream>
#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

constexpr std::size_t kLeases = 1000;
constexpr std::size_t kRenewalsInAll = 1'000'000;

std::vector<Command> renewalsOf(LeaseStore &store)
{
    const HolderId holder = HolderId::parse("bench").value();
    std::vector<Command> acquires;
    for (std::size_t i = 0; i < kLeases; ++i) {
        acquires.emplace_back(Acquire{LeaseId::observed("bench/" + std::to_string(i)), holder,
            Nonce::random(), std::chrono::hours(1)});
    }
    std::vector<Command> renewals;
    const auto replies = store.execute(acquires, BootClock::now() + 30s);
    for (std::size_t i = 0; i < replies.size(); ++i) {
        const auto &acquire = std::get<Acquire>(acquires[i]);
        if (!replies[i] || replies[i]->outcome != Outcome::Done)
            return {};
        renewals.emplace_back(Renew{acquire.lease,
            {holder, acquire.nonce, replies[i]->record.token}, std::chrono::hours(1)});
    }
    return renewals;
}

/// Renewals a second; negative when one failed. `done` counts on.
double renewFor(LeaseStore &store, const std::vector<Command> &renewals, Duration length,
    std::size_t atMost, std::size_t &done)
{
    const std::size_t before = done;
    const Instant from = BootClock::now();
    while (BootClock::now() < from + length && done < atMost) {
        for (const auto &reply : store.execute(renewals, BootClock::now() + 30s)) {
            if (!reply || reply->outcome != Outcome::Done)
                return -1;
        }
        done += renewals.size();
    }
    return static_cast<double>(done - before) / bench::seconds(BootClock::now() - from);
}

/// What pgbench reaches with one prepared update a transaction.
double singleUpdates(PostgresServer &server, int clients, int seconds)
{
    const std::string script = server.path("single.sql");
    std::ofstream(script) << "\\set id random(0, 999)\n"
                             "UPDATE bench.single SET renewed_at = clock_timestamp(), expires_at = "
                             "clock_timestamp() + interval '1 h' WHERE name = 'bench/' || :id AND "
                             "holder = 'bench' AND expires_at > clock_timestamp();\n";
    const std::string out = server.tool({"pgbench", "-h", server.socketDirectory(), "-p",
        std::to_string(server.port()), "-U", "postgres", "-n", "-M", "prepared", "-c",
        std::to_string(clients), "-T", std::to_string(seconds), "-f", script, "postgres"});
    const std::size_t at = out.find("tps = ");
    return at == std::string::npos ? -1 : std::atof(out.c_str() + at + 6);
}

} // namespace

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    const int length = argc > 1 ? std::atoi(argv[1]) : 5;
    PostgresServer server({"fsync = on", "shared_buffers = 128MB"});
    const auto store = makePostgresBackend(server.socketUri("bench")).value()->makeStore();
    if (!store->init(false, BootClock::now() + 10s))
        return 1;
    const auto renewals = renewalsOf(*store);
    if (renewals.empty())
        return 1;
    server.script(
        "CREATE TABLE bench.single (LIKE bench.tenure_lease INCLUDING ALL) WITH (fillfactor = 60);"
        "INSERT INTO bench.single SELECT * FROM bench.tenure_lease");
    std::size_t done = 0;
    // Alternating, so that both see the same machine.
    std::vector<double> ours;
    std::vector<double> single;
    for (int i = 0; i < 3; ++i) {
        ours.push_back(renewFor(*store, renewals, std::chrono::seconds(length), SIZE_MAX, done));
        single.push_back(singleUpdates(server, 1, length));
    }
    const double eight = singleUpdates(server, 8, length);
    const double batched = bench::quantile(ours, 0.5);
    const double one = bench::quantile(single, 0.5);
    bench::print({{"bench", "pg_renew_1000"}, {"per_s", batched}, {"pgbench_single_per_s", one},
        {"ratio", one > 0 ? batched / one : -1}, {"goal_ratio", 5},
        {"pgbench_8_clients_per_s", eight}});

    (void)renewFor(*store, renewals, std::chrono::minutes(10), kRenewalsInAll, done);
    std::this_thread::sleep_for(2s); // the server counts with a delay
    const auto counted = server.run(
        "SELECT n_tup_upd, n_tup_hot_upd, pg_relation_size(relid), pg_indexes_size(relid) FROM "
        "pg_stat_user_tables WHERE schemaname = 'bench' AND relname = 'tenure_lease'");
    const auto updates = static_cast<double>(counted.number(0, 0));
    bench::print({{"bench", "pg_bloat"}, {"renewals", done}, {"updates", updates},
        {"hot_share", updates > 0 ? static_cast<double>(counted.number(0, 1)) / updates : -1},
        {"goal_hot_share", 0.99}, {"table_kb", counted.number(0, 2) / 1024},
        {"index_kb", counted.number(0, 3) / 1024}});
    return batched > 0 ? 0 : 1;
}
