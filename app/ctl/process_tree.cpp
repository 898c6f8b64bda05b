// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/process_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

struct Entry {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    bool zombie = false;
};

pid_t number(std::string_view text)
{
    pid_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// From "/proc/PID/stat": "PID (any name) STATE PARENT GROUP ...". Nothing when it ended meanwhile.
Entry entryOf(pid_t pid)
{
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/stat", pid);
    std::array<char, 512> text{};
    const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return {};
    const ssize_t size = read(file, text.data(), text.size());
    close(file);
    const std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    const std::size_t name = line.rfind(')');
    if (name == std::string_view::npos || line.size() < name + 5)
        return {};
    Entry entry;
    entry.pid = pid;
    entry.zombie = line[name + 2] == 'Z' || line[name + 2] == 'X';
    const std::string_view rest = line.substr(name + 4);
    const std::size_t space = rest.find(' ');
    entry.parent = number(rest);
    entry.group = space == std::string_view::npos ? 0 : number(rest.substr(space + 1));
    return entry;
}

std::vector<Entry> allProcesses()
{
    std::vector<Entry> all;
    DIR *proc = opendir("/proc");
    if (proc == nullptr)
        return all;
    while (const dirent *item = readdir(proc)) {
        const pid_t pid = number(item->d_name);
        if (pid <= 0)
            continue;
        const Entry entry = entryOf(pid);
        if (entry.pid != 0 && !entry.zombie)
            all.push_back(entry);
    }
    closedir(proc);
    return all;
}

std::vector<Entry> below(pid_t ancestor)
{
    std::unordered_multimap<pid_t, Entry> children;
    for (const Entry &entry : allProcesses())
        children.emplace(entry.parent, entry);
    std::vector<Entry> found;
    std::vector<pid_t> waiting{ancestor};
    while (!waiting.empty()) {
        const auto [first, last] = children.equal_range(waiting.back());
        waiting.pop_back();
        for (auto child = first; child != last; ++child) {
            found.push_back(child->second);
            waiting.push_back(child->second.pid);
        }
    }
    return found;
}

} // namespace

std::vector<pid_t> descendantsOf(pid_t ancestor)
{
    std::vector<pid_t> pids;
    for (const Entry &entry : below(ancestor))
        pids.push_back(entry.pid);
    return pids;
}

std::size_t signalDescendants(pid_t ancestor, int signal, pid_t except)
{
    std::size_t count = 0;
    for (const Entry &entry : below(ancestor)) {
        if (except != 0 && entry.group == except)
            continue;
        ++count;
        kill(entry.pid, signal);
    }
    return count;
}

std::string executableOf(const std::string &command)
{
    const auto runnable = [](const std::string &path) {
        struct stat info {};
        if (stat(path.c_str(), &info) != 0)
            return false;
        if (!S_ISREG(info.st_mode)) {
            errno = EACCES;
            return false;
        }
        return access(path.c_str(), X_OK) == 0;
    };
    if (command.find('/') != std::string::npos)
        return runnable(command) ? command : std::string();
    const char *path = std::getenv("PATH");
    std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    int error = ENOENT;
    while (!command.empty()) {
        const std::size_t end = std::min(folders.find(':'), folders.size());
        const std::string folder(folders.substr(0, end));
        const std::string candidate = (folder.empty() ? "." : folder) + "/" + command;
        if (runnable(candidate))
            return candidate;
        if (errno != ENOENT && errno != ENOTDIR)
            error = errno;
        if (end == folders.size())
            break;
        folders.remove_prefix(end + 1);
    }
    errno = error;
    return {};
}

} // namespace tenure::ctl
