// SPDX-License-Identifier: GPL-3.0-or-later
// One candidate of ours as a process of its own: kube_believer URL LEASE ID TTL_SECONDS. It asks itself
// each millisecond whether it leads and prints "lead FROM" when that begins and "led FROM LAST" when it
// has ended: moments of the boot clock (ns), the second the last at which the answer was yes. It gives
// back on SIGTERM.
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "core/runtime/elector.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <sys/prctl.h>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

volatile std::sig_atomic_t g_ended = 0;

long long stamp(Instant at)
{
    return static_cast<long long>(at.time_since_epoch().count());
}

/// The stamp is taken before the question, so that the claim reaches at least so far.
void watch(const Elector &elector)
{
    bool leads = false;
    Instant from, last;
    while (g_ended == 0 || leads) {
        const Instant now = BootClock::now();
        const bool does = elector.isLeader();
        if (does && !leads) {
            from = now;
            std::printf("lead %lld\n", stamp(from));
        } else if (!does && leads) {
            std::printf("led %lld %lld\n", stamp(from), stamp(last));
        }
        if (does)
            last = now;
        leads = does;
        std::this_thread::sleep_for(1ms);
    }
}

} // namespace

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc != 5)
        return 2;
    const auto uri = StoreUri::parse(argv[1]);
    const auto backend = uri ? makeKubernetesBackend(*uri) : fail(uri.error());
    const auto holder = HolderId::parse(argv[3]);
    const auto timing = Timing::make({.ttl = std::chrono::seconds(std::atoi(argv[4])), .renewEvery = {}, .renewDeadline = {}});
    if (!backend || !holder || !timing)
        return 2;
    std::signal(SIGTERM, [](int) { g_ended = 1; });
    ElectorHost host(*backend);
    Elector elector(host, LeaseId::observed(argv[2]), *holder, *timing);
    elector.start();
    std::thread watcher([&] { watch(elector); });
    while (g_ended == 0)
        std::this_thread::sleep_for(5ms);
    const bool givenBack = elector.stop();
    watcher.join();
    return givenBack ? 0 : 1;
}
