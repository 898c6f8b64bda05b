// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/run_guardian.h"

#include "app/ctl/guardian_loop.h"
#include "app/ctl/process_tree.h"

#include <cerrno>
#include <cstring>
#include <thread>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

void send(int socket, const GuardOrder &order)
{
    while (::send(socket, &order, sizeof order, MSG_NOSIGNAL) < 0 && errno == EINTR) { }
}

} // namespace

Result<std::unique_ptr<Guardian>> Guardian::start(const GuardedCommand &command)
{
    int ends[2] = {-1, -1};
    sigset_t all;
    sigset_t original;
    sigfillset(&all);
    const auto failed = [](const char *what) {
        return fail(ErrorKind::Unavailable, std::string("The guardian cannot be started: ") + what + ": "
                + std::strerror(errno));
    };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return failed("socketpair");
    // What outlives the guardian comes to us.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigprocmask(SIG_SETMASK, &all, &original);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        runGuardian(ends[1], command, original);
    }
    const int error = errno;
    sigprocmask(SIG_SETMASK, &original, nullptr);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = error;
        return failed("fork");
    }
    return std::unique_ptr<Guardian>(new Guardian(ends[0], pid));
}

Guardian::~Guardian()
{
    close(m_socket);
    if (m_dead)
        return;
    // It ends by itself once the socket is closed, unless somebody stopped it.
    for (int tries = 0; tries < 2'000; ++tries) {
        if (waitpid(m_pid, nullptr, WNOHANG) != 0)
            return;
        std::this_thread::sleep_for(Milliseconds(1));
    }
    killFromOutside();
}

void Guardian::begin(FencingToken token, const GuardLimits &limits, Terminal terminal)
{
    send(m_socket, {GuardOrder::Kind::Begin, limits, token.value, 0, terminal});
}

void Guardian::extend(const GuardLimits &limits)
{
    send(m_socket, {GuardOrder::Kind::Extend, limits, 0, 0, Terminal::Leave});
}

void Guardian::pass(int signal)
{
    send(m_socket, {GuardOrder::Kind::Pass, {}, 0, signal, Terminal::Leave});
}

void Guardian::kill()
{
    send(m_socket, {GuardOrder::Kind::Kill, {}, 0, 0, Terminal::Leave});
}

std::optional<GuardNews> Guardian::news()
{
    GuardNews news;
    const ssize_t size = recv(m_socket, &news, sizeof news, MSG_DONTWAIT);
    if (size == static_cast<ssize_t>(sizeof news))
        return news;
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return std::nullopt;
    killFromOutside();
    return GuardNews();
}

void Guardian::killFromOutside()
{
    m_dead = true;
    // The guardian last: as long as it lives it keeps what its children leave behind.
    while (signalDescendants(m_pid, SIGKILL) != 0)
        std::this_thread::sleep_for(Milliseconds(1));
    ::kill(m_pid, SIGKILL);
    while (waitpid(m_pid, nullptr, 0) < 0 && errno == EINTR) { }
    // What it left came to us; nothing else is a child of ours while it lives.
    while (signalDescendants(getpid(), SIGKILL) != 0 || waitpid(-1, nullptr, WNOHANG) > 0)
        std::this_thread::sleep_for(Milliseconds(1));
}

} // namespace tenure::ctl
