// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/guardian_loop.h"

#include "app/ctl/process_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

/// After `run` died: how long COMMAND may take to end by itself, within its validity.
constexpr Duration kOrphanGrace = 300ms;
/// What COMMAND left running when it ended gets this long.
constexpr Duration kRestGrace = 1s;
/// A process that SIGKILL did not end at once is struck again after this.
constexpr Duration kAgain = 2ms;

/// In the child, up to exec. Writes errno to `complaints` when it comes to nothing.
[[noreturn]] void become(const char *program, char *const *words, char *const *environment, const sigset_t &mask,
    Terminal terminal, pid_t parent, int complaints)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (terminal == Terminal::Take) // all signals are blocked here, SIGTTOU too
        tcsetpgrp(STDIN_FILENO, getpid());
    std::signal(SIGPIPE, SIG_DFL); // ours alone is ignored
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execve(program, words, environment);
    const int error = errno;
    (void)!write(complaints, &error, sizeof error);
    _exit(127);
}

class Loop
{
public:
    Loop(int socket, const GuardedCommand &command, const sigset_t &original)
        : m_command(command), m_original(original), m_parent(socket)
    {
        m_timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        sigset_t ended;
        sigemptyset(&ended);
        sigaddset(&ended, SIGCHLD);
        m_ended = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    }

    /// One round: waits, then sees to everything that may have happened. False: nothing is left to do.
    bool turn()
    {
        std::array<pollfd, 4> fds{{{m_timer, POLLIN, 0}, {m_ended, POLLIN, 0},
            {m_orphaned ? -1 : m_parent, POLLIN, 0}, {m_complaints, POLLIN, 0}}};
        poll(fds.data(), fds.size(), -1);
        std::array<char, 1024> drain{};
        (void)!read(m_timer, drain.data(), sizeof(std::uint64_t));
        while (read(m_ended, drain.data(), drain.size()) > 0) { }
        watchLimits(); // before anything else: time may have passed while we were stopped
        if (fds[3].revents != 0)
            hearComplaint();
        if (fds[2].revents != 0)
            takeOrders();
        reap();
        watchLimits();
        return m_child != 0 || !m_orphaned;
    }

private:
    void tell(const GuardNews &news)
    {
        if (!m_orphaned)
            (void)send(m_parent, &news, sizeof news, MSG_NOSIGNAL);
    }

    void takeOrders()
    {
        GuardOrder order;
        ssize_t size = 0;
        while ((size = recv(m_parent, &order, sizeof order, MSG_DONTWAIT)) > 0)
            take(order);
        if (size == 0 || (errno != EAGAIN && errno != EINTR))
            orphan();
    }

    void take(const GuardOrder &order)
    {
        switch (order.kind) {
        case GuardOrder::Kind::Begin:
            return begin(order);
        case GuardOrder::Kind::Extend:
            m_limits.ask = std::max(m_limits.ask, order.limits.ask);
            m_limits.kill = std::max(m_limits.kill, order.limits.kill);
            return;
        case GuardOrder::Kind::Pass:
            if (m_child != 0)
                ::kill(-m_child, order.signal);
            return;
        case GuardOrder::Kind::Kill:
            m_killAt = Instant::min();
            m_cause = m_over ? m_cause : GuardNews::Cause::Ordered;
            return;
        }
    }

    void begin(const GuardOrder &order)
    {
        if (m_child != 0)
            return;
        m_limits = order.limits;
        m_askAt = m_killAt = Instant::max();
        m_asked = m_over = false;
        m_cause = GuardNews::Cause::Itself;
        if (BootClock::now() >= m_limits.ask)
            return tell({GuardNews::Kind::Refused, GuardNews::Cause::Deadline, 0, 0});
        const int error = spawn(order);
        tell({error == 0 ? GuardNews::Kind::Started : GuardNews::Kind::Refused, m_cause, error, m_child});
    }

    /// Returns errno.
    int spawn(const GuardOrder &order)
    {
        std::vector<std::string> variables = m_command.environment;
        variables.push_back("TENURE_TOKEN=" + std::to_string(order.token));
        std::vector<char *> environment;
        const auto hidden = [&](const std::string &assignment) {
            const std::string name = assignment.substr(0, assignment.find('='));
            const auto same = [&](const std::string &v) { return v.starts_with(name + "="); };
            const auto &held = m_command.withhold;
            return std::find(held.begin(), held.end(), name) != held.end()
                || std::any_of(variables.begin(), variables.end(), same);
        };
        for (char **variable = environ; *variable != nullptr; ++variable) {
            if (!hidden(*variable))
                environment.push_back(*variable);
        }
        for (std::string &variable : variables)
            environment.push_back(variable.data());
        environment.push_back(nullptr);
        std::vector<std::string> words = m_command.words;
        std::vector<char *> arguments;
        for (std::string &word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);

        int ends[2] = {-1, -1};
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
            return errno;
        const pid_t self = getpid();
        m_child = fork();
        if (m_child == 0)
            become(m_command.program.c_str(), arguments.data(), environment.data(), m_original,
                order.terminal, self, ends[1]);
        const int error = errno;
        close(ends[1]);
        m_complaints = ends[0];
        if (m_child > 0) {
            setpgid(m_child, m_child); // whichever of us comes first
            return 0;
        }
        m_child = 0;
        hearComplaint();
        return error;
    }

    /// The pipe is closed by a successful exec, or brings errno.
    void hearComplaint()
    {
        int error = 0;
        if (read(m_complaints, &error, sizeof error) == static_cast<ssize_t>(sizeof error))
            tell({GuardNews::Kind::Refused, GuardNews::Cause::Itself, error, 0});
        close(m_complaints);
        m_complaints = -1;
    }

    /// `run` is gone: nobody renews any more.
    void orphan()
    {
        m_orphaned = true;
        if (m_child == 0)
            return;
        m_askAt = Instant::min();
        m_killAt = std::min(m_killAt, BootClock::now() + kOrphanGrace);
        arm();
    }

    /// Asks and strikes when it is time, and sets the timer for what comes next.
    void watchLimits()
    {
        if (m_child == 0)
            return;
        const Instant now = BootClock::now();
        if (!m_asked && now >= std::min(m_askAt, m_limits.ask)) {
            m_asked = true;
            if (!m_over && !m_orphaned)
                m_cause = GuardNews::Cause::Deadline;
            askAll(SIGTERM);
        }
        if (now >= killAt())
            strike();
        arm();
    }

    /// Stopped ones must wake to hear it.
    void askAll(int signal) const
    {
        if (!m_over)
            ::kill(-m_child, signal);
        signalDescendants(getpid(), signal, m_over ? 0 : m_child);
        if (!m_over)
            ::kill(-m_child, SIGCONT);
        signalDescendants(getpid(), SIGCONT, m_over ? 0 : m_child);
    }

    void strike()
    {
        // The group in one go, which no fork can outrun, then whoever left it.
        if (!m_over)
            ::kill(-m_child, SIGKILL);
        signalDescendants(getpid(), SIGKILL);
        m_again = BootClock::now() + kAgain;
    }

    [[nodiscard]] Instant killAt() const { return std::min(m_killAt, m_limits.kill); }

    void arm()
    {
        const Instant now = BootClock::now();
        Instant next = now >= killAt() ? m_again : killAt();
        if (!m_asked)
            next = std::min({next, m_askAt, m_limits.ask});
        const auto ns = std::max<std::int64_t>(next.time_since_epoch().count(), 1);
        itimerspec when{};
        when.it_value.tv_sec = ns / 1'000'000'000;
        when.it_value.tv_nsec = ns % 1'000'000'000;
        timerfd_settime(m_timer, TFD_TIMER_ABSTIME, &when, nullptr);
    }

    void reap()
    {
        int status = 0;
        pid_t pid = 0;
        while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
            if (pid != m_child || m_over)
                continue;
            if (WIFSTOPPED(status)) {
                tell({GuardNews::Kind::Paused, m_cause, WSTOPSIG(status), 0});
                continue;
            }
            m_over = true;
            m_status = status;
            if (m_complaints >= 0)
                hearComplaint();
            // What it started does not outlive it: the next leader starts its own.
            m_asked = false;
            m_askAt = Instant::min();
            m_killAt = std::min(m_killAt, BootClock::now() + kRestGrace);
        }
        if (pid < 0 && errno == ECHILD && m_over) {
            m_child = 0;
            tell({GuardNews::Kind::Gone, m_cause, m_status, 0});
        }
    }

    const GuardedCommand &m_command;
    const sigset_t &m_original;
    const int m_parent;
    int m_timer = -1;
    int m_ended = -1;
    int m_complaints = -1; ///< of a COMMAND that cannot be executed
    pid_t m_child = 0; ///< COMMAND, which leads its group; 0 when nothing of it is left
    bool m_over = false; ///< it ended; something it started may still run
    int m_status = 0;
    GuardLimits m_limits;
    Instant m_askAt = Instant::max(); ///< sooner than the limits for another reason
    Instant m_killAt = Instant::max();
    Instant m_again;
    bool m_asked = false;
    bool m_orphaned = false;
    GuardNews::Cause m_cause = GuardNews::Cause::Itself;
};

} // namespace

void runGuardian(int socket, const GuardedCommand &command, const sigset_t &original)
{
    prctl(PR_SET_NAME, "tenure-guardian");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setpgid(0, 0); // a Ctrl-C or Ctrl-Z in the terminal is not meant for it
    Loop loop(socket, command, original);
    while (loop.turn()) { }
    _exit(0);
}

} // namespace tenure::ctl
