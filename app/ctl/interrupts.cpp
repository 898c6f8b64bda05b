// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/interrupts.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

sigset_t endingSignals()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

} // namespace

Interrupts::Interrupts(Keys keys) : m_keys(keys)
{
    const sigset_t set = endingSignals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    m_nudges = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

Interrupts::~Interrupts()
{
    close(m_signals);
    close(m_nudges);
    const sigset_t set = endingSignals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

Interrupts::Wake Interrupts::wait(Duration timeout)
{
    // No events asked of standard output: poll then tells only that its reader is gone.
    std::array<pollfd, 4> fds{{{m_signals, POLLIN, 0}, {m_nudges, POLLIN, 0}, {STDOUT_FILENO, 0, 0},
        {m_keys == Keys::Watched ? STDIN_FILENO : -1, POLLIN, 0}}};
    const auto ms = std::chrono::ceil<Milliseconds>(timeout).count();
    poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000)));
    if ((fds[0].revents & POLLIN) != 0) {
        signalfd_siginfo info{};
        (void)!read(m_signals, &info, sizeof info);
        return Wake::Interrupted;
    }
    if (fds[2].revents != 0)
        return Wake::ReaderGone;
    if (fds[3].revents != 0)
        return Wake::Key;
    if ((fds[1].revents & POLLIN) != 0) {
        std::uint64_t count = 0;
        (void)!read(m_nudges, &count, sizeof count);
        return Wake::Nudged;
    }
    return Wake::Timeout;
}

void Interrupts::nudge()
{
    const std::uint64_t one = 1;
    (void)!write(m_nudges, &one, sizeof one);
}

} // namespace tenure::ctl
