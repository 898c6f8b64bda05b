// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/lease/identity.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tenure::ctl
{

/// What is to be run, decided before anything starts.
struct GuardedCommand {
    std::string program; ///< the file
    std::vector<std::string> words; ///< as typed: its name, then its arguments
    std::vector<std::string> environment; ///< "NAME=value" on top of our own; TENURE_TOKEN is added
    std::vector<std::string> withhold; ///< names of our environment that it shall not have
};

/// When COMMAND is asked to end (SIGTERM) and when it is made to (SIGKILL).
struct GuardLimits {
    Instant ask;
    Instant kill;
};

/// Take: COMMAND's group becomes the terminal's foreground group, as if the shell had started it.
enum class Terminal { Leave, Take };

struct GuardNews {
    enum class Kind {
        Started,
        Paused, ///< stopped by `value`, a signal of the terminal's
        Gone, ///< COMMAND and everything it started are gone; `value` is its wait status
        Refused, ///< not started: too late, or `value` is errno
        Dead, ///< the guardian itself is gone, which nobody asked for
    };
    /// Why it ended, for Gone.
    enum class Cause { Itself, Deadline, Ordered };
    Kind kind = Kind::Dead;
    Cause cause = Cause::Itself;
    int value = 0;
    pid_t pid = 0; ///< Started
};

/// COMMAND's keeper: a process of its own that starts COMMAND in its own process group, knows only
/// the deadline, and keeps it also while this process is stopped, hung or gone. It waits on a timerfd
/// of the boot clock and is a subreaper, so that nothing COMMAND forks can leave it. COMMAND in turn
/// dies with the guardian (PDEATHSIG), and so does what is left when this object ends it.
/// Orders may come from any thread; news are read by one.
class Guardian
{
public:
    /// Forks: call it before the process has threads.
    [[nodiscard]] static Result<std::unique_ptr<Guardian>> start(const GuardedCommand &command);
    /// COMMAND and guardian end; blocks until they are gone.
    ~Guardian();
    Guardian(const Guardian &) = delete;
    Guardian &operator=(const Guardian &) = delete;

    void begin(FencingToken token, const GuardLimits &limits, Terminal terminal);
    void extend(const GuardLimits &limits); ///< limits only grow
    void pass(int signal); ///< to COMMAND's group
    void kill(); ///< SIGKILL to everything, now
    /// Readable when there are news.
    [[nodiscard]] int descriptor() const { return m_socket; }
    [[nodiscard]] std::optional<GuardNews> news(); ///< does not wait
    /// The guardian did not do its duty (stopped, or killed): end what it kept, from here.
    void killFromOutside();

private:
    Guardian(int socket, pid_t pid) : m_socket(socket), m_pid(pid) { }
    int m_socket;
    pid_t m_pid;
    bool m_dead = false;
};

} // namespace tenure::ctl
