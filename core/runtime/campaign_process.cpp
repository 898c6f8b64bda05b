// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/campaign_process.h"

#include "core/backend/detour.h"
#include "core/base/time_text.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure
{
namespace
{

using Json = nlohmann::json;

constexpr std::size_t kLongestLine = 64UL * 1024;

std::string timeWord(Duration duration)
{
    return std::to_string(std::chrono::duration_cast<Milliseconds>(duration).count()) + "ms";
}

std::vector<char *> pointers(std::vector<std::string> &words)
{
    std::vector<char *> out;
    for (std::string &word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

/// Ours, with the URL in it: a command line is everybody's to read.
std::vector<std::string> environmentWith(const StoreUri &uri)
{
    std::vector<std::string> out{"TENURE_URL=" + uri.secretText()};
    for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, "TENURE_URL=", 11) != 0)
            out.emplace_back(*entry);
    }
    return out;
}

std::string textOf(const Json &line, const char *name)
{
    const auto found = line.find(name);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

FencingToken tokenOf(const Json &line)
{
    const auto found = line.find("token");
    return {found != line.end() && found->is_number() ? found->get<std::uint64_t>() : 0};
}

} // namespace

/// All that the child needs, made before the fork: after it nothing may be allocated.
struct CampaignProcess::Start {
    std::vector<std::string> words, variables;
    pid_t parent = getpid();
};

std::string findTenurectl()
{
    std::array<char, 4096> self{};
    const ssize_t length = readlink("/proc/self/exe", self.data(), self.size() - 1);
    const std::string own(self.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    const std::string directory = own.substr(0, own.rfind('/') == std::string::npos ? 0 : own.rfind('/'));
    std::vector<std::string> places{directory + "/tenurectl", directory + "/../ctl/tenurectl"};
    const char *path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
        const std::size_t colon = std::min(rest.find(':'), rest.size());
        if (colon > 0)
            places.push_back(std::string(rest.substr(0, colon)) + "/tenurectl");
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    for (const std::string &place : places) {
        if (access(place.c_str(), X_OK) == 0)
            return place;
    }
    return {};
}

std::optional<ProcessPlace> processPlaceOf(const std::optional<StoreUri> &uri)
{
    return uri ? std::optional(ProcessPlace{*uri, findTenurectl()}) : std::nullopt;
}

CampaignProcess::CampaignProcess(const ProcessPlace &place, const LeaseId &lease, const std::string &id, const Timing &timing)
    : m_lease(lease)
{
    StoreUri uri = place.uri;
    if (const Result<Detour> detour = detourOf(uri)) {
        m_proxy.emplace(detour->server);
        uri = detour->through(m_proxy->port());
    } else {
        m_whyNotCut = detour.error().what;
    }
    m_report.phase = Phase::Idle;
    Start start;
    start.words = {place.program, "campaign", lease.name(), "--json", "--beats", "--id", id, "--ttl", timeWord(timing.ttl()),
        "--renew", timeWord(timing.renewEvery())};
    start.variables = environmentWith(uri);
    m_thread = std::jthread([this, start = std::move(start)] { live(start); });
}

CampaignProcess::~CampaignProcess()
{
    signal(SIGKILL);
    m_thread.join();
}

void CampaignProcess::signal(int number)
{
    const std::lock_guard lock(m_mutex);
    if (m_pid > 0)
        ::kill(m_pid, number);
    else if (!m_ended)
        m_early.push_back(number);
    if (number == SIGTERM && m_pid > 0)
        ::kill(m_pid, SIGCONT); // a stopped process could not hear it
}

/// One thread for one process: PR_SET_PDEATHSIG means the thread that forked.
void CampaignProcess::live(const Start &start)
{
    std::vector<std::string> words = start.words;
    std::vector<std::string> variables = start.variables;
    const std::vector<char *> arguments = pointers(words);
    const std::vector<char *> environment = pointers(variables);
    std::array<int, 2> out{-1, -1};
    std::array<int, 2> trouble{-1, -1}; // closed by a successful exec
    const bool piped = pipe2(out.data(), O_CLOEXEC) == 0 && pipe2(trouble.data(), O_CLOEXEC) == 0;
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const pid_t child = piped && nothing >= 0 ? fork() : -1;
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        std::signal(SIGPIPE, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
        if (getppid() != start.parent)
            _exit(127); // it died before the line above
        dup2(nothing, STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        execve(arguments[0], arguments.data(), environment.data());
        const int problem = errno;
        (void)!write(trouble[1], &problem, sizeof problem);
        _exit(127);
    }
    for (const int fd : {nothing, out[1], trouble[1]}) {
        if (fd >= 0)
            close(fd);
    }
    if (child < 0) {
        failed(start, errno);
    } else {
        {
            const std::lock_guard lock(m_mutex);
            m_pid = child;
            for (const int number : m_early)
                ::kill(child, number);
        }
        int problem = 0;
        if (read(trouble[0], &problem, sizeof problem) == sizeof problem)
            failed(start, problem);
        listen(out[0]);
        siginfo_t info{};
        while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) { }
        const std::lock_guard lock(m_mutex);
        m_pid = 0; // first: from here on the number may be another's
        m_ended = true;
        m_report.validUntil = {};
        m_report.phase = Phase::Stopped;
        waitpid(child, nullptr, 0);
    }
    for (const int fd : {out[0], trouble[0]}) {
        if (fd >= 0)
            close(fd);
    }
}

void CampaignProcess::failed(const Start &start, int problem)
{
    const std::lock_guard lock(m_mutex);
    m_report.error = fail(ErrorKind::Unavailable, std::string("It could not be started: ") + std::strerror(problem), start.words.front()).value();
    m_report.phase = Phase::Stopped;
    m_ended = true;
}

void CampaignProcess::listen(int from)
{
    std::string text;
    std::array<char, 4096> bytes{};
    while (true) {
        const ssize_t n = read(from, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text.append(bytes.data(), static_cast<std::size_t>(n));
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
            take(text.substr(0, end));
            text.erase(0, end + 1);
        }
        if (text.size() > kLongestLine)
            text.clear();
    }
}

void CampaignProcess::take(const std::string &text)
{
    const Json line = Json::parse(text, nullptr, false);
    const std::lock_guard lock(m_mutex);
    if (!line.is_object()) {
        // What it says on standard error before it ends.
        m_report.error = fail(ErrorKind::Unavailable, text, {}).value();
        return;
    }
    const std::string type = textOf(line, "type");
    if (const std::string id = textOf(line, "id"); !id.empty())
        m_holder = id;
    if (type == "started") {
        m_report.phase = Phase::Waiting;
    } else if (type == "gained") {
        m_report.phase = Phase::Leading;
        m_report.term.token = tokenOf(line);
        m_report.error.reset();
        ++m_report.gained;
    } else if (type == "renewed") {
        m_report.term.token = tokenOf(line);
        m_report.validUntil = Instant(Duration(line.value("valid_until_boot_ns", std::int64_t{0})));
        m_report.error.reset();
    } else if (type == "lost") {
        m_report.phase = Phase::Waiting;
        m_report.validUntil = {};
        ++m_report.lost;
    } else if (type == "following") {
        m_report.phase = Phase::Waiting;
        m_report.seen.emplace();
        m_report.seen->lease = m_lease;
        m_report.seen->holder = textOf(line, "holder");
        m_report.seen->token = tokenOf(line);
    } else if (type == "error") {
        m_report.error = fail(ErrorKind::Unavailable, textOf(line, "detail"), {}).value();
    }
}

void CampaignProcess::handOver()
{
    if (!holder().empty()) // before it has told that, the signal would end it
        signal(SIGUSR1);
}

void CampaignProcess::setCutOff(bool cut)
{
    if (m_proxy)
        m_proxy->setMode(cut ? TcpProxy::Mode::HalfOpen : TcpProxy::Mode::Pass);
}

bool CampaignProcess::isCutOff() const
{
    return m_proxy && m_proxy->mode() == TcpProxy::Mode::HalfOpen;
}

bool CampaignProcess::stopped() const
{
    const std::lock_guard lock(m_mutex);
    return m_ended;
}

ElectorReport CampaignProcess::report() const
{
    const std::lock_guard lock(m_mutex);
    ElectorReport out = m_report;
    out.at = BootClock::now();
    out.believes = !m_ended && out.at < out.validUntil;
    return out;
}

std::string CampaignProcess::holder() const
{
    const std::lock_guard lock(m_mutex);
    return m_holder;
}

pid_t CampaignProcess::pid() const
{
    const std::lock_guard lock(m_mutex);
    return m_pid;
}

} // namespace tenure
