// SPDX-License-Identifier: GPL-3.0-or-later
// Starts three instances as processes, freezes the first, tells their pids, and waits to be killed:
// instance_host URL TENURECTL
#include "core/backend/backend.h"
#include "core/runtime/local_instances.h"

#include <cstdio>
#include <thread>

#include <unistd.h>

using namespace tenure;
using namespace std::chrono_literals;

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const StoreUri uri = StoreUri::parse(argv[1]).value();
    LocalInstances instances(makeBackend(uri).value(), SystemClock::instance(), ProcessPlace{uri, argv[2]});
    const Timing timing = Timing::make({.ttl = 2s}).value();
    for (int i = 0; i < 3; ++i) {
        if (!instances.spawn(LeaseId::observed("drill/test"), timing, {}, LocalInstances::Scope::DrillOnly, LocalInstances::As::Process))
            return 1;
    }
    const auto ready = [&] {
        for (const InstanceView &view : instances.views()) {
            if (view.pid == 0 || view.holder.empty())
                return false;
        }
        return true;
    };
    while (!ready())
        std::this_thread::sleep_for(10ms);
    instances.pause(1);
    for (const InstanceView &view : instances.views())
        std::printf("%d ", static_cast<int>(view.pid));
    std::printf("\n");
    std::fflush(stdout);
    pause();
    return 0;
}
