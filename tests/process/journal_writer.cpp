// SPDX-License-Identifier: GPL-3.0-or-later
// Appends numbered changes to a journal until it is killed, and prints each number that is kept.
#include "core/journal/journal.h"

#include <cstdio>
#include <cstdlib>

using namespace tenure;

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    Journal::Options options;
    options.path = argv[1];
    options.flushEvery = std::chrono::milliseconds(1);
    const std::string connection = argv[2];
    Journal journal(options);
    journal.describe({connection, connection, "test:"});
    for (std::uint64_t n = std::strtoull(argv[3], nullptr, 10);; ++n) {
        Transition t;
        t.lease = LeaseId::observed("lease");
        t.kind = n % 2 == 0 ? TransitionKind::Expired : TransitionKind::Acquired;
        t.newHolder = n % 2 == 0 ? "" : "holder";
        t.oldHolder = n % 2 == 0 ? "holder" : "";
        t.token = FencingToken{n};
        t.at = BootClock::now();
        t.explanation = "number " + std::to_string(n);
        journal.append(connection, t);
        if (n % 50 != 0)
            continue;
        if (n % 500 == 0) {
            JournalAction action;
            action.by = connection;
            action.lease = {connection, t.lease};
            action.verb = "clear";
            if (!journal.record(action, std::chrono::seconds(30)))
                return 1;
        }
        if (!journal.flush(std::chrono::seconds(30)))
            return 1;
        std::printf("%llu\n", static_cast<unsigned long long>(n));
        std::fflush(stdout);
    }
}
