// SPDX-License-Identifier: GPL-3.0-or-later
// A COMMAND for the tests of `run` that does all it can to stay alive: it ignores every signal it can,
// forks a child into a session of its own, and both append "TOKEN HOLDER BOOT_NS" to a file until they
// are killed or, with a second argument, for so many milliseconds.
#include "core/base/clock.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    using namespace tenure;
    const char *token = std::getenv("TENURE_TOKEN");
    const char *holder = std::getenv("TENURE_HOLDER");
    if (argc < 2 || token == nullptr || holder == nullptr)
        return 2;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP})
        std::signal(signal, SIG_IGN);
    const int log = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    Instant end = Instant::max();
    if (argc > 2)
        end = BootClock::now() + Milliseconds(std::atol(argv[2]));
    if (fork() == 0) {
        setsid();
        if (fork() != 0) // and it leaves its parent
            _exit(0);
        end = Instant::max();
    }
    const std::string who = std::string(token) + " " + holder + " ";
    while (BootClock::now() < end) {
        const std::string line = who + std::to_string(BootClock::now().time_since_epoch().count()) + "\n";
        if (write(log, line.data(), line.size()) < 0)
            return 1;
        std::this_thread::sleep_for(Milliseconds(4));
    }
    return 0;
}
