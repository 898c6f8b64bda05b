// SPDX-License-Identifier: GPL-3.0-or-later
// A service that does something every second, but only in the one process that leads:
//   example_service sqlite:///tmp/leases.db billing
// Start it twice and stop the leader, or kill it with -9: the other one goes on.
#include <core/backend/backend.h>
#include <core/runtime/elector.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

static std::atomic<bool> ended = false;

int main(int argc, char **argv)
{
    using namespace tenure;
    using namespace std::chrono_literals;
    if (argc != 3)
        return 2;
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGTERM, [](int) { ended = true; });
    std::signal(SIGINT, [](int) { ended = true; });

    const auto uri = StoreUri::parse(argv[1]);
    const auto backend = uri ? makeBackend(*uri) : fail(uri.error());
    const auto lease = LeaseId::parse(argv[2]);
    const auto timing = Timing::make({.ttl = 5s});
    if (!backend || !lease || !timing) {
        std::fprintf(stderr, "%s\n", (!backend ? backend.error() : lease.error()).text().c_str());
        return 2;
    }

    ElectorCallbacks callbacks;
    callbacks.onLost = [](const Term &, LossReason) { std::puts("stop the work now"); };
    ElectorHost host(*backend);
    Elector elector(host, *lease, HolderId::unique("example"), *timing, callbacks);
    elector.start();
    while (!ended) {
        // The work gets a guard: to ask before every critical step, and for the token, which every
        // resource should compare (see examples/fenced_write.sql and .lua).
        runIfLeader(elector, [](const LeadershipGuard &guard) {
            if (guard.stillLeader())
                std::printf("leading, token %llu\n", static_cast<unsigned long long>(guard.token().value));
            std::fflush(stdout);
        });
        std::this_thread::sleep_for(1s);
    }
    return elector.stop() ? 0 : 1; // drains and gives the lease back
}
