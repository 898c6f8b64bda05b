// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::kube
{
namespace
{

constexpr std::size_t kErrorTail = 2048;
constexpr int kSliceMs = 20; ///< how often the process itself is looked at

struct Pipe {
    Pipe()
    {
        if (pipe2(ends.data(), O_CLOEXEC) != 0)
            ends = {-1, -1};
    }
    ~Pipe()
    {
        closeWriting();
        if (ends[0] >= 0)
            close(ends[0]);
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    void closeWriting()
    {
        if (ends[1] >= 0)
            close(ends[1]);
        ends[1] = -1;
    }
    std::array<int, 2> ends{-1, -1};
};

/// Our environment with `more` instead of, or beside, what it has.
std::vector<std::string> environmentWith(const std::vector<std::pair<std::string, std::string>> &more)
{
    std::vector<std::string> out;
    for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text(*entry);
        const std::string name = text.substr(0, text.find('='));
        if (std::none_of(more.begin(), more.end(), [&](const auto &m) { return m.first == name; }))
            out.push_back(text);
    }
    for (const auto &[name, value] : more)
        out.push_back(name + "=" + value);
    return out;
}

std::vector<char *> pointers(std::vector<std::string> &words)
{
    std::vector<char *> out;
    out.reserve(words.size() + 1);
    for (std::string &word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

/// False when the writing end is closed.
bool drain(int fd, std::string &into)
{
    std::array<char, 8192> bytes{};
    const ssize_t n = read(fd, bytes.data(), bytes.size());
    if (n > 0)
        into.append(bytes.data(), static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
}

class Child
{
public:
    ~Child() { end(); }
    Child() = default;
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    int spawn(std::vector<std::string> words, std::vector<std::string> variables, ChildInput input,
        const Pipe &out, const Pipe &err)
    {
        posix_spawn_file_actions_t actions{};
        posix_spawn_file_actions_init(&actions);
        if (input == ChildInput::Nothing)
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
        posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
        posix_spawnattr_t attributes{};
        posix_spawnattr_init(&attributes);
        sigset_t none{};
        sigset_t defaults{};
        sigemptyset(&none);
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        // A process that asks its terminal must stay in the terminal's foreground group.
        const int group = input == ChildInput::Nothing ? POSIX_SPAWN_SETPGROUP : 0;
        m_ownGroup = group != 0;
        posix_spawnattr_setflags(&attributes,
            static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
        const auto arguments = pointers(words);
        const auto environment = pointers(variables);
        const int problem = posix_spawnp(
            &m_pid, arguments[0], &actions, &attributes, arguments.data(), environment.data());
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        if (problem != 0)
            m_pid = -1;
        return problem;
    }

    bool ended()
    {
        if (m_pid > 0 && waitpid(m_pid, &m_status, WNOHANG) == m_pid)
            m_reaped = true;
        return m_reaped;
    }

    void end()
    {
        if (m_pid <= 0)
            return;
        if (m_ownGroup)
            kill(-m_pid, SIGKILL); // also what it started
        if (!m_reaped) {
            kill(m_pid, SIGKILL);
            waitpid(m_pid, &m_status, 0);
            m_reaped = true;
        }
    }

    [[nodiscard]] int exitCode() const
    {
        return WIFEXITED(m_status) ? WEXITSTATUS(m_status) : 128 + WTERMSIG(m_status);
    }

private:
    pid_t m_pid = -1;
    int m_status = 0;
    bool m_reaped = false;
    bool m_ownGroup = false;
};

} // namespace

Result<ChildOutput> runChild(const std::vector<std::string> &words,
    const std::vector<std::pair<std::string, std::string>> &environment, ChildInput input,
    Instant deadline, int cancel)
{
    Pipe out;
    Pipe err;
    Child child;
    if (out.ends[0] < 0 || err.ends[0] < 0)
        return fail(ErrorKind::Unavailable, "No pipe could be made", words.front());
    if (const int problem = child.spawn(words, environmentWith(environment), input, out, err)) {
        return fail(problem == ENOENT ? ErrorKind::NotFound : ErrorKind::Denied,
            std::string("It could not be started: ") + std::strerror(problem), words.front());
    }
    out.closeWriting();
    err.closeWriting();
    ChildOutput output;
    bool outOpen = true;
    bool errOpen = true;
    // A grandchild may keep the pipes open: the process's own end is what counts.
    while (!child.ended() || outOpen) {
        if (BootClock::now() >= deadline) {
            output.timedOut = true;
            break;
        }
        std::array<pollfd, 3> fds{pollfd{outOpen ? out.ends[0] : -1, POLLIN, 0},
            pollfd{errOpen ? err.ends[0] : -1, POLLIN, 0}, pollfd{cancel, POLLIN, 0}};
        const int ready = poll(fds.data(), fds.size(), kSliceMs);
        if (fds[2].revents != 0) {
            output.cancelled = true;
            break;
        }
        if (ready <= 0 && child.ended())
            break;
        if (fds[0].revents != 0)
            outOpen = drain(out.ends[0], output.out);
        if (fds[1].revents != 0)
            errOpen = drain(err.ends[0], output.err);
        if (output.err.size() > 2 * kErrorTail)
            output.err.erase(0, output.err.size() - kErrorTail);
        if (output.out.size() > kChildOutput) {
            output.tooLong = true;
            break;
        }
    }
    while (errOpen && !output.timedOut && !output.cancelled && !output.tooLong) {
        pollfd last{err.ends[0], POLLIN, 0};
        if (poll(&last, 1, 0) <= 0 || !drain(err.ends[0], output.err))
            break;
    }
    child.end();
    output.exitCode = child.exitCode();
    return output;
}

} // namespace tenure::kube
