// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/run_session.h"

#include "app/ctl/exit_code.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

constexpr int kNotFound = 127; // as shells, env and nohup say it
constexpr int kNotExecutable = 126;

int exitCode(Exit code)
{
    return static_cast<int>(code);
}

int codeOf(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool isEnding(int signal)
{
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

} // namespace

RunSession::RunSession(Guardian &guardian) : m_guardian(guardian)
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP})
        sigaddset(&set, signal);
    m_signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGTTOU); // so that the terminal can be taken back from the background
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

RunSession::~RunSession()
{
    close(m_signals);
    close(m_nudge);
}

void RunSession::say(const std::string &sentence) const
{
    const std::string line = "tenurectl: " + printable(sentence, 2000) + "\n";
    (void)!write(STDERR_FILENO, line.data(), line.size());
}

void RunSession::whisper(const std::string &sentence) const
{
    if (m_plan->verbose)
        say(sentence);
}

// ---- On the elector's dispatcher ----------------------------------------------------------------

ElectorCallbacks RunSession::callbacks()
{
    ElectorCallbacks out;
    const auto nudge = [this] {
        const std::uint64_t one = 1;
        (void)!write(m_nudge, &one, sizeof one);
    };
    out.onGained = [this, nudge](const Term &term) {
        onGained(term);
        nudge();
    };
    out.onLost = [this, nudge](const Term &, LossReason reason) {
        onLost(reason);
        nudge();
    };
    out.onChange = [nudge](const ElectorReport &) { nudge(); };
    return out;
}

void RunSession::onGained(const Term &term)
{
    const std::lock_guard lock(m_mutex);
    m_gained = term;
    m_lost.reset();
}

/// Returns when COMMAND is gone, because the lease may be given away then.
void RunSession::onLost(LossReason reason)
{
    std::unique_lock lock(m_mutex);
    m_gained.reset();
    m_lost = reason;
    if (!m_running)
        return;
    if (reason == LossReason::TakenOver || reason == LossReason::Vanished)
        m_guardian.kill(); // validity is over already
    else
        m_guardian.pass(SIGTERM);
    const std::uint64_t one = 1;
    (void)!write(m_nudge, &one, sizeof one);
    m_ended.wait(lock, [this] { return !m_running; });
}

// ---- The main thread ----------------------------------------------------------------------------

int RunSession::run(const RunPlan &plan, std::shared_ptr<const Backend> backend)
{
    m_plan = &plan;
    const std::unique_ptr<LeaseStore> markStore = backend->makeStore();
    if (plan.every) {
        auto mark = PeriodMark::make(*markStore, plan.lease, plan.self, *plan.every, plan.timing.ttl(), plan.asked);
        if (!mark)
            return exitCode(complain(mark.error()));
        m_mark.emplace(std::move(*mark));
        if (periodIsOver())
            return exitCode(Exit::Done);
    }
    bool givenBack = false;
    {
        ElectorHost host(std::move(backend));
        Elector elector(host, plan.lease, plan.self, plan.timing, callbacks(), plan.killAfter + 5s);
        elector.start();
        m_manager.tell("READY=1\nSTATUS=competing for " + printable(plan.lease.name()));
        while (!m_result)
            turn(elector);
        m_manager.tell("STOPPING=1");
        givenBack = elector.stop();
    }
    if (!givenBack)
        say("The store did not answer in time: others wait for the lease to run out");
    if (m_wasLost && !plan.onLost.empty())
        runOnLost();
    return *m_result;
}

bool RunSession::periodIsOver()
{
    if (m_plan->againAfterFailure)
        return false; // the run that made the mark may yet fail
    const auto standing = m_mark->look();
    if (!standing || !*standing || (*standing)->remaining <= m_mark->slack())
        return false; // what cannot be read now is seen to once we lead
    whisper("this period's run was begun by " + printable((*standing)->holder, 255) + "; the next one is due in "
        + durationText((*standing)->remaining));
    return true;
}

Duration RunSession::patience() const
{
    Instant next = BootClock::now() + 10s;
    if (m_killAt)
        next = std::min(next, *m_killAt);
    if (m_markAgainAt)
        next = std::min(next, *m_markAgainAt);
    if (m_manager.watchdogEvery())
        next = std::min(next, m_watchdogAt);
    // Renewals are told to the guardian when onChange wakes us; while onLost waits for COMMAND there
    // is none, and it is looked for often.
    next = std::min(next, BootClock::now() + m_plan->timing.stopWindow() / 4);
    return next - BootClock::now();
}

void RunSession::turn(Elector &elector)
{
    std::array<pollfd, 3> fds{
        {{m_signals, POLLIN, 0}, {m_nudge, POLLIN, 0}, {m_guardian.descriptor(), POLLIN, 0}}};
    const auto ms = std::chrono::ceil<Milliseconds>(patience()).count();
    poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(ms, 0, 10'000)));
    std::uint64_t count = 0;
    (void)!read(m_nudge, &count, sizeof count);
    if (fds[2].revents != 0)
        takeNews();
    if (!m_result && fds[0].revents != 0)
        takeSignals();
    if (!m_result)
        watchLeadership(elector);
}

void RunSession::takeSignals()
{
    signalfd_siginfo info{};
    while (!m_result && read(m_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        bool running = false;
        {
            const std::lock_guard lock(m_mutex);
            running = m_running;
        }
        if (running) {
            m_guardian.pass(signal);
            if (isEnding(signal))
                m_guardian.pass(SIGCONT);
            if (isEnding(signal) && !m_killAt)
                m_killAt = BootClock::now() + m_plan->killAfter;
        } else if (signal == SIGTSTP) {
            raise(SIGSTOP);
        } else if (isEnding(signal)) {
            m_result = 128 + signal;
        }
    }
}

void RunSession::takeNews()
{
    while (const auto news = m_guardian.news()) {
        switch (news->kind) {
        case GuardNews::Kind::Started:
            m_command = news->pid;
            whisper("leading; COMMAND runs as process " + std::to_string(news->pid));
            break;
        case GuardNews::Kind::Paused:
            paused(news->value);
            break;
        case GuardNews::Kind::Gone:
            gone(*news);
            break;
        case GuardNews::Kind::Refused:
            refused(*news);
            break;
        case GuardNews::Kind::Dead:
            say("The guardian process was killed; COMMAND was ended with it");
            gone({GuardNews::Kind::Gone, GuardNews::Cause::Ordered, SIGKILL, 0});
            m_result = exitCode(Exit::Failed);
            return;
        }
    }
}

void RunSession::gone(const GuardNews &news)
{
    std::optional<LossReason> lost;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_running)
            return; // a COMMAND that could not be executed
        m_running = false;
        lost = m_lost;
        m_ended.notify_all();
    }
    takeTerminalBack(WIFSIGNALED(news.value));
    m_killAt.reset();
    m_wasLost = lost || news.cause == GuardNews::Cause::Deadline;
    m_result = m_wasLost ? exitCode(Exit::LeadershipLost) : codeOf(news.value);
    if (m_wasLost) {
        say("Leadership of " + printable(m_plan->lease.name()) + " was lost ("
            + lossText(lost.value_or(LossReason::DeadlinePassed)) + "); COMMAND was ended");
    } else if (m_mark && m_plan->againAfterFailure && *m_result != 0) {
        if (const auto forgotten = m_mark->forget(); !forgotten)
            say("This period's mark stands although the run failed: " + forgotten.error().text());
    }
}

void RunSession::refused(const GuardNews &news)
{
    {
        const std::lock_guard lock(m_mutex);
        m_running = false;
        m_ended.notify_all();
    }
    takeTerminalBack(false);
    if (m_mark)
        (void)m_mark->forget(); // nothing was begun
    if (news.value == 0)
        return; // leadership was almost over: the elector tells its end soon
    m_result = news.value == ENOENT ? kNotFound : kNotExecutable;
    say(std::string("COMMAND cannot be run: ") + std::strerror(news.value));
}

/// Somebody pressed Ctrl-Z, or COMMAND wants the terminal from the background.
void RunSession::paused(int signal)
{
    if (signal == SIGSTOP)
        return; // meant for COMMAND alone
    const bool ours = isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
    if (signal == SIGTSTP || !ours) {
        const bool had = m_terminalTaken;
        takeTerminalBack(false);
        raise(SIGSTOP); // until the shell continues us; meanwhile only the guardian watches
        if (had && tcgetpgrp(STDIN_FILENO) == getpgrp())
            lendTerminal();
    } else {
        lendTerminal();
    }
    m_guardian.pass(SIGCONT);
}

void RunSession::lendTerminal()
{
    m_terminalTaken = tcsetpgrp(STDIN_FILENO, m_command) == 0;
}

void RunSession::takeTerminalBack(bool restoreModes)
{
    if (!m_terminalTaken)
        return;
    m_terminalTaken = false;
    tcsetpgrp(STDIN_FILENO, getpgrp());
    if (restoreModes)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &m_modes);
}

} // namespace tenure::ctl
