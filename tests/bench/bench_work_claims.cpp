// SPDX-License-Identifier: GPL-3.0-or-later
// Claims a second of a PostgreSQL queue beside a plain FOR UPDATE SKIP LOCKED loop on the same server, in
// turns, by the same number of sessions: bench_work_claims [ITEMS] [BATCH, default 1] [SESSIONS].
#include "bench_support.h"
#include "core/work/postgres_work_queue.h"
#include "tests/support/postgres_server.h"

#include <atomic>
#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Instant later()
{
    return BootClock::now() + 60s;
}

/// Runs `claim(session)` on each session's thread until it returns 0; claims a second.
template <typename MakeSession, typename ClaimSome>
double perSecond(int sessions, MakeSession make, ClaimSome claim)
{
    std::atomic<std::size_t> claimed = 0;
    std::vector<decltype(make())> all;
    for (int i = 0; i < sessions; ++i)
        all.push_back(make());
    const Instant began = BootClock::now();
    {
        std::vector<std::jthread> threads;
        for (auto &session : all) {
            threads.emplace_back([&] {
                while (const std::size_t got = claim(*session))
                    claimed += got;
            });
        }
    }
    return static_cast<double>(claimed) / bench::seconds(BootClock::now() - began);
}

double ours(PostgresServer &server, int items, std::size_t batch, int sessions, int round)
{
    const std::string name = "bench-" + std::to_string(round);
    const auto queue = makePostgresWorkQueue(server.socketUri(), name).value();
    for (int put = 0; put < items; put += 1000) {
        const std::vector<NewItem> some(1000, NewItem{std::string(100, 'x')});
        if (!queue->enqueue(some, later()))
            return -1;
    }
    server.script("VACUUM ANALYZE");
    const Worker worker{HolderId::parse("bench").value(), {}};
    return perSecond(
        sessions, [&] { return makePostgresWorkQueue(server.socketUri(), name).value(); },
        [&](WorkQueue &session) {
            const auto claims = session.claim(worker, batch, 10min, later());
            return claims ? claims->size() : 0;
        });
}

double plain(PostgresServer &server, int items, std::size_t batch, int sessions)
{
    server.script("DROP TABLE IF EXISTS public.plain");
    server.script("CREATE TABLE public.plain(id bigserial PRIMARY KEY, state int NOT NULL DEFAULT 0, payload bytea NOT NULL)");
    server.script("CREATE INDEX ON public.plain(id) WHERE state = 0");
    server.run("INSERT INTO public.plain(payload) SELECT convert_to(repeat('x', 100), 'UTF8') FROM generate_series(1, $1::int)",
        {std::to_string(items)});
    server.script("VACUUM ANALYZE");
    // A literal limit, as ours has: to a plan made for any limit the server takes a tenth of the table.
    const std::string sql = "UPDATE public.plain SET state = 1 WHERE id IN (SELECT id FROM public.plain WHERE state = 0 "
                            "ORDER BY id LIMIT " + std::to_string(batch) + " FOR UPDATE SKIP LOCKED) RETURNING id, payload";
    return perSecond(
        sessions, [&] { return server.session(); },
        [&](postgres::PgConnection &session) {
            const auto rows = session.ask(sql, {}, later());
            return rows ? rows->size() : 0;
        });
}

} // namespace

int main(int argc, char **argv)
{
    const int items = argc > 1 ? std::atoi(argv[1]) : 20'000;
    const auto batch = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 1);
    const int sessions = argc > 3 ? std::atoi(argv[3]) : 2;
    if (!PostgresServer::installed())
        return 1;
    PostgresServer server;
    std::vector<double> mine;
    std::vector<double> theirs;
    for (int round = 0; round < 3; ++round) {
        mine.push_back(ours(server, items, batch, sessions, round));
        theirs.push_back(plain(server, items, batch, sessions));
    }
    const double a = bench::quantile(mine, 0.5);
    const double b = bench::quantile(theirs, 0.5);
    bench::print({{"bench", "work_claims"}, {"items", items}, {"batch", batch}, {"sessions", sessions},
        {"claims_per_s", a}, {"plain_skip_locked_per_s", b}, {"share", a / b}});
    return 0;
}
